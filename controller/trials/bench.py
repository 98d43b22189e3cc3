"""Figures: what something costs, as a multiple of a floor measured in the same run.

A multiple means the same on a fast and a slow machine, so it can be held. Figures
and floors take turns, and the median of their rounds counts.
"""

import importlib
import statistics
import time
from collections.abc import Callable, Mapping
from typing import TypeVar

import msgspec

Work = Callable[[], object]
"""Something to be timed; a float that it returns is the time it took, in seconds."""

W = TypeVar("W", bound=Work)


class Figure(msgspec.Struct, frozen=True):
    """What is measured: `work` against `floor`, each doing the same `per` times a round.

    `most` is the highest multiple of the floor that --check lets pass.
    """

    name: str
    says: str
    work: Work
    floor: Work
    most: float
    per: int
    rounds: int


class Measured(msgspec.Struct, frozen=True):
    """One figure as it came out; times in microseconds each."""

    name: str
    us: float
    floor_us: float
    times_floor: float
    most: float
    ok: bool


class Watch:
    """What a console is watched under, and for how many seconds."""

    seconds, feeds, browsers = 20.0, 400, 5


watch = Watch()
"""What the command line sets."""

_FIGURES: dict[str, Figure] = {}


def figure(
    name: str, *, floor: Work, most: float, per: int = 1, rounds: int = 15
) -> Callable[[W], W]:
    """Register the decorated function as the figure `name`; its docstring says what it is."""

    def register(work: W) -> W:
        says = (work.__doc__ or "").strip().splitlines()[0]
        _FIGURES[name] = Figure(name, says, work, floor, most, per, rounds)
        return work

    return register


def figures() -> Mapping[str, Figure]:
    """Return every figure there is, by its name."""
    importlib.import_module("controller.trials.figures")
    return _FIGURES


def measure(asked: Figure) -> Measured:
    """Run a figure and its floor in turns, after one unmeasured round of each."""
    rounds = [(_seconds(asked.floor), _seconds(asked.work)) for _ in range(asked.rounds + 1)]
    floor_s, work_s = (statistics.median(times) for times in zip(*rounds[1:], strict=True))
    return Measured(
        name=asked.name,
        us=round(work_s / asked.per * 1e6, 3),
        floor_us=round(floor_s / asked.per * 1e6, 3),
        times_floor=round(work_s / floor_s, 2),
        most=asked.most,
        ok=work_s <= asked.most * floor_s,
    )


def _seconds(work: Work) -> float:
    begun = time.perf_counter()
    own = work()
    return own if isinstance(own, float) else time.perf_counter() - begun
