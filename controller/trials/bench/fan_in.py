"""What a console's lines cost: hearing the tables of a hall, and joining them while they run."""

import asyncio
import statistics
from collections.abc import Coroutine
from typing import Any, Final, TypeVar

import click

from controller.trials.bench.registry import (
    FigureUnit,
    FigureValue,
    bench_options,
    choose_size,
    valued_figure,
)
from controller.trials.fan_in import DrainCost, JoinCost, measure_drain, measure_joins
from controller.trials.hall import HallError

_FEEDS: Final = (50, 200, 400)
_FEW_FEEDS: Final = ()
_SECONDS: Final = 5.0
_SMALL_SECONDS: Final = 2.0
_AIMS_CORES: Final = {400: 0.25, 1_000: 0.5}
"""Of a core, by feeds."""
_JOINED: Final = 200
_FEW_JOINED: Final = 40
_ROUNDS: Final = 5
_FEW_ROUNDS: Final = 2
_AIM_S: Final = 1.0
_AIM_US: Final = 2_000.0

Result = TypeVar("Result")


@valued_figure("fan_in")
def measure_feeds() -> list[FigureValue]:
    """A console's lines without its pages, 10 states a second a table, against decoding them."""
    tables = sorted({*choose_size(_FEEDS, _FEW_FEEDS), bench_options.feeds})
    return [
        _drain_value(_run(measure_drain(feeds, choose_size(_SECONDS, _SMALL_SECONDS))))
        for feeds in tables
    ]


@valued_figure("join")
def measure_late_join() -> list[FigureValue]:
    """From opening 200 lines to running tables until nothing is missing, against bare lines."""
    tables = choose_size(_JOINED, _FEW_JOINED)
    whole, bare = _run(measure_joins(tables, choose_size(_ROUNDS, _FEW_ROUNDS)))
    return [
        FigureValue(
            what=f"{tables} tables",
            value=statistics.median(one.seconds for one in whole),
            floor=statistics.median(one.seconds for one in bare),
            unit=FigureUnit.S,
            documented=4.0,
            aim_value=_AIM_S,
        ),
        FigureValue(
            what="processor time a table",
            value=_cpu_us_per_table(whole, tables),
            floor=_cpu_us_per_table(bare, tables),
            unit=FigureUnit.US,
            documented=7.0,
            aim_value=_AIM_US,
        ),
    ]


def _drain_value(came: DrainCost) -> FigureValue:
    """Return what draining cost. A state or an event that did not come is no number: it raises."""
    if wrong := came.violations():
        raise click.ClickException(f"fan_in: {came.feeds} feeds: {'; '.join(wrong)}")
    return FigureValue(
        what=f"{came.feeds} tables",
        value=came.cores,
        floor=came.floor_cores,
        unit=FigureUnit.CORES,
        documented=2.0,
        aim_value=_AIMS_CORES.get(came.feeds),
    )


def _cpu_us_per_table(joined: list[JoinCost], tables: int) -> float:
    return statistics.median(one.cpu_s for one in joined) / tables * 1e6


def _run(work: Coroutine[Any, Any, Result]) -> Result:
    try:
        return asyncio.run(work)
    except HallError as error:
        raise click.ClickException(f"fan_in: {error}") from error
    except TimeoutError as error:
        raise click.ClickException(
            "fan_in: they are not all heard: this computer has no time for so many feeds now"
        ) from error
