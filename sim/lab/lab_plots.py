"""The pictures of a report, as PNG: the counts found, and the counts expected in fair deals."""

import io
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from controller.cards import FACE_COUNT, face_text
from controller.seats import SEATS
from sim.lab import deal_statistics
from sim.lab.chances import PAIR, four_cards_at_seat, longest_run_chances, pairs_variance
from sim.lab.collected_deals import CARDS, CollectedDeals
from sim.lab.deal_measures import JOKERS, DealMeasures, Ints
from sim.lab.family import FamilyJudgement
from sim.lab.order_tests import SAME_SEAT_VARIANCE, pair_degrees

_DPI = 110
_MIN_CHANCE = 1e-12


class ReportPicture(NamedTuple):
    """One picture: its name, its caption and its PNG."""

    name: str
    caption: str
    png: bytes


def draw_pictures(deals: CollectedDeals, judgement: FamilyJudgement) -> tuple[ReportPicture, ...]:
    """Draw all pictures of a report."""
    seen = DealMeasures(deals)
    drawn: list[tuple[str, str, Callable[[], Figure]]] = [
        ("chances", "The chance of each test's value in fair deals, beside its bound.",
         lambda: _draw_chances(judgement)),
        ("type-seat", "Each face at each seat: how many deviations from n/2.",
         lambda: _draw_by_label(deals, FACE_COUNT)),
        ("index-seat", "Each feed index at each seat: how many deviations from n/4.",
         lambda: _draw_by_label(deals, CARDS)),
        ("pairs", "Figures of each deal (bars) and their chances (line).",
         lambda: _draw_pairs(seen)),
        ("runs-jokers", "The longest run of a pocket, and a seat's jokers, beside exact chances.",
         lambda: _draw_runs_and_jokers(seen)),
    ]  # fmt: skip
    return tuple(ReportPicture(name, caption, _png(draw())) for name, caption, draw in drawn)


def _png(figure: Figure) -> bytes:
    out = io.BytesIO()
    FigureCanvasAgg(figure)
    figure.savefig(out, format="png", dpi=_DPI)
    return out.getvalue()


def _figure(width: float, height: float) -> Figure:
    return Figure(figsize=(width, height), layout="constrained")


def _draw_chances(judgement: FamilyJudgement) -> Figure:
    figure = _figure(8, 6)
    axes = figure.subplots()
    asked = [result for result in judgement.results if result.p is not None]
    names = [result.name for result in reversed(asked)]
    chances = [max(result.p or 0.0, _MIN_CHANCE) for result in reversed(asked)]
    bounds = [result.bound for result in reversed(asked)]
    lines = np.arange(len(names))
    axes.scatter(bounds, lines, marker="|", s=120, color="firebrick", label="Holm's bound")
    axes.scatter(chances, lines, color="navy", s=18, label="p")
    axes.set_xscale("log")
    axes.set_yticks(lines, names)
    axes.set_xlabel("chance in fair deals")
    axes.grid(axis="x", alpha=0.3)
    figure.legend(loc="outside upper right", ncols=2)
    return figure


def _draw_by_label(deals: CollectedDeals, labels: int) -> Figure:
    found = deal_statistics.SeatCounts(labels)
    for block in deals.blocks():
        found.add(
            block.cards % FACE_COUNT if labels == FACE_COUNT else np.arange(CARDS), block.seats
        )
    expected = np.maximum(found.expected, 1)[:, None]
    off = (found.counts - expected) / np.sqrt(expected * 3 / 4)
    figure = _figure(11, 2.6)
    axes = figure.subplots()
    image = axes.imshow(off.T, cmap="RdBu", vmin=-4, vmax=4, aspect="auto")
    axes.set_yticks(range(len(SEATS)), SEATS)
    if labels == FACE_COUNT:
        axes.set_xticks(
            range(FACE_COUNT), [face_text(face) for face in range(FACE_COUNT)], rotation=90
        )
    else:
        axes.set_xticks(range(8, CARDS, 9), [str(place) for place in range(9, CARDS + 1, 9)])
    figure.colorbar(image, ax=axes, label="deviations")
    return figure


def _draw_pairs(seen: DealMeasures) -> Figure:
    half = float(PAIR)
    shown: list[tuple[str, Ints | None, float, float]] = [
        ("neighbours in the feed order, one pocket", seen.adjacent, 107 * half,
         pairs_variance(pair_degrees(1))),
        ("twins in one hand", seen.twins, 54 * half, pairs_variance([1] * CARDS)),
        ("neighbours in the stack, one hand", seen.neighbours_together, 107 * half,
         pairs_variance(pair_degrees(1))),
        ("cards at the seat of the deal before", seen.carried_over, 27.0, SAME_SEAT_VARIANCE),
    ]  # fmt: skip
    figure = _figure(9, 6)
    for axes, (title, figures, mean, variance) in zip(
        figure.subplots(2, 2).ravel(), shown, strict=True
    ):
        _draw_histogram(axes, title, figures, mean, variance)
    return figure


def _draw_histogram(
    axes: Axes, title: str, figures: Ints | None, mean: float, variance: float
) -> None:
    axes.set_title(title, fontsize=10)
    if figures is None or not len(figures):
        axes.text(0.5, 0.5, "not in these deals", ha="center", va="center")
        axes.set_axis_off()
        return
    counts = np.bincount(figures)
    axes.bar(np.arange(len(counts)), counts / len(figures), color="lightsteelblue")
    over = np.arange(mean - 5 * variance**0.5, mean + 5 * variance**0.5, 0.25)
    normal = np.exp(-((over - mean) ** 2) / (2 * variance)) / (2 * np.pi * variance) ** 0.5
    axes.plot(over, normal, color="firebrick")


def _draw_runs_and_jokers(seen: DealMeasures) -> Figure:
    figure = _figure(9, 3.2)
    left, right = figure.subplots(1, 2)
    exact = [float(chance) for chance in longest_run_chances()[:13]]
    _draw_side_by_side(
        left, "longest run of one pocket", np.bincount(seen.longest, minlength=13)[:13], exact
    )
    held = seen.seat_of[:, list(JOKERS)]
    counts = sum(np.bincount((held == seat).sum(1), minlength=5) for seat in range(len(SEATS)))
    chances = [float(chance) for chance in four_cards_at_seat()]
    _draw_side_by_side(right, "jokers of a seat", np.asarray(counts), chances)
    return figure


def _draw_side_by_side(axes: Axes, title: str, counts: Ints, chances: list[float]) -> None:
    places = np.arange(len(chances))
    axes.set_title(title, fontsize=10)
    axes.bar(places - 0.2, counts / max(1, counts.sum()), 0.4, color="steelblue", label="found")
    axes.bar(places + 0.2, chances, 0.4, color="lightgray", label="exact chance")
    axes.set_xticks(places)
    axes.legend()
