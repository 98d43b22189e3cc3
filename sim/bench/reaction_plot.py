"""The plot of reaction times: the share of cards whose answer took longer than each time."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

_STYLES = ("-", "--", "-.", ":")


def draw_distribution(times_us: Mapping[str, Sequence[float]], file: Path) -> None:
    """Write an SVG with a curve for each name's times (µs). The first name is the floor.

    Raises OSError if the file cannot be written.
    """
    figure = Figure(figsize=(8, 5), layout="constrained")
    FigureCanvasSVG(figure)
    axes = figure.subplots()
    for number, (name, all_us) in enumerate(times_us.items()):
        longer = 1 - np.arange(len(all_us)) / len(all_us)
        style = "k-" if number == 0 else _STYLES[number // 10 % len(_STYLES)]
        axes.step(np.sort(all_us), longer, style, where="post", label=name, linewidth=1.2)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("µs from the card's event to its route on the line")
    axes.set_ylabel("share of cards that took longer")
    axes.grid(which="both", alpha=0.2)
    axes.legend(fontsize="small")
    # The same times must produce the same file, so the file contains no date and no random ids.
    with matplotlib.rc_context({"svg.hashsalt": "reaction", "svg.fonttype": "none"}):
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
