"""The registry of figures: costs as multiples of a floor measured in the same run.

A multiple means the same on a fast and a slow machine, so it can be compared with a limit. Figures
and floors take turns, and the median of their rounds counts.
"""

import importlib
import pkgutil
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

import msgspec

from sim import bench

Work = Callable[[], object]
"""A function to time. If it returns a float, that is its time in seconds."""

W = TypeVar("W", bound=Work)


class FigureUnit(StrEnum):
    """The unit of a value."""

    US = "µs"
    S = "s"
    BYTES = "B"
    KIB = "KiB"
    MIB = "MiB"
    CORES = "of a core"
    COMMITS = "commits"
    PER_S = "a second"


class FigureValue(msgspec.Struct, frozen=True, kw_only=True):
    """One value of a figure and its floor, both in `unit`.

    `documented` is the multiple in BENCHMARKS.md; --check allows three times as much. `aim` is the
    largest wanted multiple. `aim_value` is the largest wanted value, or the smallest if `unit` is a
    rate.
    """

    what: str = ""
    value: float
    floor: float
    unit: FigureUnit
    documented: float
    aim: float | None = None
    aim_value: float | None = None


def _nothing_missing() -> str | None:
    return None


class BenchFigure(msgspec.Struct, frozen=True):
    """A figure: its name, its description, and the function that measures it.

    `find_missing` returns the missing requirement of the figure on this computer in one line, or
    None.
    """

    name: str
    description: str
    run: Callable[[], Sequence[FigureValue]]
    find_missing: Callable[[], str | None] = _nothing_missing


class FigureResult(msgspec.Struct, frozen=True):
    """The result for one value. `times_floor` is the ratio to the floor: higher is worse.

    `ok` is the condition of --check. `met` is True if every aim is reached, and None without an
    aim.
    """

    figure: str
    what: str
    value: float
    floor: float
    unit: FigureUnit
    times_floor: float
    most: float
    ok: bool
    aim: str
    met: bool | None


class BenchOptions:
    """Options of the command line for all figures.

    They are the load and the duration for a console, and `plot`, the file of `reaction`. `small`:
    every figure does the least work that can still be measured. See `choose_size`.
    """

    seconds, feeds, browsers = 20.0, 400, 5
    small = False
    plot: Path | None = None


bench_options = BenchOptions()
"""The options, as set by the command line."""

CHECK_FACTOR = 3.0
"""The factor over the documented multiple that --check allows.

The factor is large enough that only a regression exceeds it, not noise.
"""

_FIGURES: dict[str, BenchFigure] = {}

Size = TypeVar("Size")


def choose_size(full: Size, small: Size) -> Size:
    """Return the amount of work of a figure: `full`, or `small` with --small."""
    return small if bench_options.small else full


def timed_figure(
    name: str,
    *,
    floor: Work,
    documented: float,
    per: int = 1,
    rounds: int = 15,
    aim: float | None = None,
    find_missing: Callable[[], str | None] = _nothing_missing,
) -> Callable[[W], W]:
    """Register the decorated function as the figure `name`, timed in turns with its floor.

    Each does the same work `per` times a round. The docstring is the description. `find_missing`:
    see BenchFigure.
    """

    def register(work: W) -> W:
        def run() -> list[FigureValue]:
            value, least = time_in_turns_us(work, floor, per, rounds)
            return [
                FigureValue(
                    value=value, floor=least, unit=FigureUnit.US, documented=documented, aim=aim
                )
            ]

        _register(name, work.__doc__, run, find_missing)
        return work

    return register


F = TypeVar("F", bound=Callable[[], Sequence[FigureValue]])


def valued_figure(name: str) -> Callable[[F], F]:
    """Register the decorated function, which returns several values, as the figure `name`."""

    def register(run: F) -> F:
        _register(name, run.__doc__, run)
        return run

    return register


def load_figures() -> Mapping[str, BenchFigure]:
    """Return every figure by name, from all files of this package."""
    for file in pkgutil.iter_modules(bench.__path__):
        importlib.import_module(f"{bench.__name__}.{file.name}")
    return _FIGURES


def measure(asked: BenchFigure) -> Iterator[FigureResult]:
    """Run a figure and yield its results."""
    for value in asked.run():
        yield _compare(asked.name, _without_aims(value) if bench_options.small else value)


def time_in_turns_us(work: Work, floor: Work, per: int, rounds: int) -> tuple[float, float]:
    """Run both in turns, after one round that does not count.

    Return the medians per unit of `per`.
    """
    taken = [(time_s(floor), time_s(work)) for _ in range(rounds + 1)]
    floor_s, work_s = (statistics.median(times) for times in zip(*taken[1:], strict=True))
    return work_s / per * 1e6, floor_s / per * 1e6


def now_s() -> float:
    """Return the stopwatch's time in seconds."""
    return time.perf_counter()


def time_s(work: Work) -> float:
    """Run `work`. Return its time in seconds, from its result or from the stopwatch."""
    begun_s = now_s()
    own = work()
    return own if isinstance(own, float) else now_s() - begun_s


def _register(
    name: str,
    doc: str | None,
    run: Callable[[], Sequence[FigureValue]],
    find_missing: Callable[[], str | None] = _nothing_missing,
) -> None:
    _FIGURES[name] = BenchFigure(name, (doc or "").strip().splitlines()[0], run, find_missing)


def _without_aims(value: FigureValue) -> FigureValue:
    """Return `value` without its aims, which apply to the full size only."""
    return msgspec.structs.replace(value, aim=None, aim_value=None)


def _compare(name: str, value: FigureValue) -> FigureResult:
    rate = value.unit is FigureUnit.PER_S
    times = value.floor / value.value if rate else value.value / value.floor
    most = CHECK_FACTOR * value.documented
    aims = []
    if value.aim is not None:
        aims.append((f"{value.aim:g} ×", times <= value.aim))
    if value.aim_value is not None:
        reached = value.value >= value.aim_value if rate else value.value <= value.aim_value
        aims.append((f"{value.aim_value:g} {value.unit}", reached))
    return FigureResult(
        figure=name,
        what=value.what,
        value=round(value.value, 3),
        floor=round(value.floor, 3),
        unit=value.unit,
        times_floor=round(times, 4),
        most=round(most, 4),
        ok=times <= most,
        aim=" and ".join(says for says, _ in aims),
        met=all(reached for _, reached in aims) if aims else None,
    )
