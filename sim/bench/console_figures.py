"""Benchmark figures of a console that shows a large hall: its processor time and page delays."""

import asyncio
from functools import cache

import click
import msgspec

from sim.bench.browser_pages import find_missing_program
from sim.bench.console_load import (
    ConsoleLoad,
    ConsoleLoadResult,
    PageFigures,
    TimeSummary,
    measure_console,
)
from sim.bench.figure_registry import bench_options, timed_figure
from sim.tables.table_processes import HallError


def _run_console_load() -> ConsoleLoadResult:
    """Return the result of a console under load, measured once for all figures of this file."""
    browsers = 0 if find_missing_program() else bench_options.browsers
    result = _measure_load(
        ConsoleLoad(feeds=bench_options.feeds, browsers=browsers, seconds=bench_options.seconds)
    )
    if wrong := result.violations():
        raise click.ClickException(f"console: {'; '.join(wrong)}")
    return result


@cache
def _measure_load(load: ConsoleLoad) -> ConsoleLoadResult:
    try:
        result = asyncio.run(
            measure_console(load, lambda line: click.echo(f"console: {line}", err=True))
        )
    except HallError as error:
        raise click.ClickException(f"console: {error}") from error
    click.echo(msgspec.json.encode(result), err=True)
    return result


@timed_figure("console", floor=lambda: _run_console_load().floor_cores, documented=2.5, rounds=1)
def drain_feeds() -> float:
    """Measure how much of one core a console uses for 400 feeds. The floor only decodes."""
    return _run_console_load().alone.cores


def _missing_browser() -> str | None:
    return find_missing_program() or (
        None if bench_options.browsers else "there are no browsers (--browsers 0)"
    )


@timed_figure(
    "pixels",
    floor=lambda: _p95_s(_page_figures().bare),
    documented=3.7,
    rounds=1,
    find_missing=_missing_browser,
)
def measure_drawing() -> float:
    """Measure the time until five browsers show a call for a referee (95th percentile).

    The floor is a minimal page.
    """
    return _p95_s(_page_figures().drawn)


def _page_figures() -> PageFigures:
    pages = _run_console_load().pages
    if pages is None:
        raise click.ClickException(f"pixels: {_missing_browser()}")
    return pages


def _p95_s(seen: TimeSummary | None) -> float:
    if seen is None:
        raise click.ClickException("pixels: no page has drawn a change")
    return seen.p95_ms / 1000
