"""The benchmark figures. A figure divides the cost of a task by the cost of a simpler task.

The simpler task is the least work that could do the same. Its cost is the floor. The quotient is
the same on fast and slow computers, so a limit can be set for it. Figures and floors are measured
in turns, and the median of the rounds counts.
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
"""A function to be timed. If it returns a float, this is the time taken, in seconds."""

W = TypeVar("W", bound=Work)


class FigureUnit(StrEnum):
    """The unit of a measured value."""

    US = "µs"
    S = "s"
    BYTES = "B"
    KIB = "KiB"
    MIB = "MiB"
    CORES = "of a core"
    COMMITS = "commits"
    PER_S = "a second"


class FigureValue(msgspec.Struct, frozen=True):
    """One measured value of a benchmark figure, and the floor: the value of a simpler task.

    Both values are in `unit`. `documented` is the usual multiple of the floor; --check accepts up
    to three times as much. `aim` is the largest multiple that is still good. `aim_value` is the
    largest value that is still good, or the smallest if `unit` is a rate.
    """

    what: str
    value: float
    floor: float
    unit: FigureUnit
    documented: float
    aim: float | None = None
    aim_value: float | None = None


class BenchFigure(msgspec.Struct, frozen=True):
    """One benchmark figure: its name, its description and the function that measures it.

    `find_missing` returns one line about what this computer lacks for the figure, or None.
    """

    name: str
    description: str
    run: Callable[[], Sequence[FigureValue]]
    find_missing: Callable[[], str | None] = lambda: None


class FigureResult(msgspec.Struct, frozen=True):
    """One measured value of a benchmark figure, and whether --check accepts the value.

    `times_floor` is the ratio by which the value is worse than the floor, and `most` the limit of
    this ratio. `ok`: True if --check accepts the value. `aim`: the aims as text. `met`: True if the
    value reaches every aim, None if there is no aim.
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
    """The options of `dealtable bench`, set by the command line.

    `seconds`, `feeds` and `browsers` are the load on a console and its duration. `plot`: the file
    in which `reaction` draws its plot. `small`: True if every figure does as little work as
    possible (see `choose_size`).
    """

    seconds, feeds, browsers = 20.0, 400, 5
    small = False
    plot: Path | None = None


bench_options = BenchOptions()
"""The options that the command line sets."""

CHECK_FACTOR = 3.0
"""The factor by which --check lets a figure exceed its documented multiple.

Noise stays below this factor, and regressions exceed it.
"""

_FIGURES: dict[str, BenchFigure] = {}

Size = TypeVar("Size")


def choose_size(full: Size, small: Size) -> Size:
    """Return `small`, the smaller amount of work, if --small was given, else return `full`."""
    return small if bench_options.small else full


def timed_figure(
    name: str,
    *,
    floor: Work,
    documented: float,
    per: int = 1,
    rounds: int = 15,
    aim: float | None = None,
    find_missing: Callable[[], str | None] = lambda: None,
) -> Callable[[W], W]:
    """Return a decorator: the benchmark figure `name` is the time of the decorated function.

    The function and the simpler task `floor` are called alternately, `rounds` times. Each does its
    work `per` times in one call. The function's docstring describes the figure. `documented`, `aim`
    and `find_missing` are as in FigureValue and BenchFigure.
    """

    def register(work: W) -> W:
        def run() -> list[FigureValue]:
            value, least = time_in_turns_us(work, floor, per, rounds)
            return [FigureValue("", value, least, FigureUnit.US, documented, aim)]

        _FIGURES[name] = BenchFigure(name, _first_line(work), run, find_missing)
        return work

    return register


F = TypeVar("F", bound=Callable[[], Sequence[FigureValue]])


def valued_figure(name: str) -> Callable[[F], F]:
    """Return a decorator: the decorated function measures the benchmark figure `name`."""

    def register(run: F) -> F:
        _FIGURES[name] = BenchFigure(name, _first_line(run), run)
        return run

    return register


def load_figures() -> Mapping[str, BenchFigure]:
    """Return all benchmark figures by name, from every file of this package."""
    for file in pkgutil.iter_modules(bench.__path__):
        importlib.import_module(f"{bench.__name__}.{file.name}")
    return _FIGURES


def measure(asked: BenchFigure) -> Iterator[FigureResult]:
    """Measure the figure `asked`, and yield a result for each measured value of the figure."""
    for value in asked.run():
        rate = value.unit is FigureUnit.PER_S
        times = value.floor / value.value if rate else value.value / value.floor
        most = CHECK_FACTOR * value.documented
        aims = []
        if value.aim is not None:
            aims.append((f"{value.aim:g} ×", times <= value.aim))
        if value.aim_value is not None:
            reached = value.value >= value.aim_value if rate else value.value <= value.aim_value
            aims.append((f"{value.aim_value:g} {value.unit}", reached))
        if bench_options.small:
            aims = []  # they apply only to the full size
        yield FigureResult(
            figure=asked.name,
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


def time_in_turns_us(work: Work, floor: Work, per: int, rounds: int) -> tuple[float, float]:
    """Return the times in µs of `work` and of the simpler task `floor`, in this order.

    Both functions are called alternately, `rounds` times, after one round that does not count. One
    call does the work `per` times, so the median time of the calls is divided by `per`.
    """
    taken = [(time_s(floor), time_s(work)) for _ in range(rounds + 1)]
    floor_s, work_s = (statistics.median(times) for times in zip(*taken[1:], strict=True))
    return work_s / per * 1e6, floor_s / per * 1e6


def now_s() -> float:
    """Return the present time of the stopwatch, in seconds."""
    return time.perf_counter()


def time_s(work: Work) -> float:
    """Call `work` and return its duration in seconds.

    If `work` returns a number, this number is the duration.
    """
    begun_s = now_s()
    own = work()
    return own if isinstance(own, float) else now_s() - begun_s


def _first_line(figure: Callable[[], object]) -> str:
    return (figure.__doc__ or "").strip().splitlines()[0]
