"""What `bench console` makes of what it saw. The figures `console` and `pixels` run it."""

import click
import msgspec
import pytest
from click.testing import CliRunner
from pytest_mock import MockerFixture

from sim.bench import console_figures
from sim.bench.browser_pages import DrawnChange
from sim.bench.console_load import (
    MIN_SLOPE_S,
    ConsoleLoad,
    ConsoleLoadResult,
    LoadPhase,
    MemoryUse,
    PageFigures,
    TimeSummary,
    draw_delays_ms,
    summarize_memory,
    summarize_times,
)
from sim.bench.figure_registry import load_figures
from sim.bench.simulated_feeds import CallChange, PublicEventChain, read_example_state
from sim.cli.bench import command

pytestmark = pytest.mark.slow

CALLED = [
    CallChange("T1", 1_000, True),
    CallChange("T2", 1_500, True),
    CallChange("T1", 2_000, False),
]


def test_a_change_is_drawn_so_long_after_it_was_said() -> None:
    drawn = [
        DrawnChange("T1", True, 1_100),
        DrawnChange("T1", False, 2_050),
        DrawnChange("T2", True, 1_600),
    ]
    assert draw_delays_ms(CALLED, drawn) == [100, 50, 100]


def test_what_was_overtaken_before_it_was_drawn_is_no_time() -> None:
    assert (
        draw_delays_ms(CALLED, [DrawnChange("T1", True, 2_100), DrawnChange("T1", True, 900)]) == []
    )


def test_what_was_drawn_of_a_table_that_said_nothing_is_no_time() -> None:
    assert draw_delays_ms(CALLED, [DrawnChange("T3", True, 1_600)]) == []


def test_times_are_told_by_their_hundredths() -> None:
    said = summarize_times([float(n) for n in range(1, 102)])
    assert said is not None
    assert (said.count, said.p50_ms, said.p95_ms, said.most_ms) == (101, 51.0, 96.0, 101.0)
    assert summarize_times([]) is None
    assert summarize_times([7.04]) == TimeSummary(1, 7.0, 7.0, 7.0)


def test_memory_is_told_by_its_slope_over_the_last_two_thirds() -> None:
    start = [(at_s, 60 + at_s / 10) for at_s in range(0, 600, 10)]  # it fills its caches
    then = [(at_s, 120 + at_s / 1_800) for at_s in range(600, 1_810, 10)]
    seen = summarize_memory([*start, *then])
    assert (seen.first_mib, seen.last_mib, seen.most_mib) == (60, 121, 121)
    assert seen.mib_per_hour == pytest.approx(2, abs=0.01)


def test_memory_that_comes_and_goes_is_no_slope() -> None:
    samples = [(at_s, 60.0 + 50 * (at_s > 900 and at_s % 200 < 60)) for at_s in range(0, 1_200, 10)]
    assert summarize_memory(samples).mib_per_hour == 0
    assert summarize_memory(samples).most_mib == 110


def test_memory_that_was_looked_at_for_a_short_time_has_no_slope() -> None:
    assert summarize_memory([(0, 60), (150, 65), (MIN_SLOPE_S - 1, 70)]).mib_per_hour is None
    assert summarize_memory([(0, 60), (150, 65), (MIN_SLOPE_S, 70)]).mib_per_hour == pytest.approx(
        120
    )
    assert summarize_memory([(0, 60)]).most_mib == 60


def test_a_long_run_has_its_slope_within_a_moment() -> None:
    day = [(at_s, at_s / 3_600) for at_s in range(0, 86_400, 10)]
    assert summarize_memory(day).mib_per_hour == pytest.approx(1)


def test_alone_it_is_watched_for_half_as_long_and_not_longer_than_the_help_says() -> None:
    assert [ConsoleLoad(seconds=s).alone_s for s in (1, 3, 20, 1_800)] == [2, 2, 10, 20]
    told = " ".join(CliRunner().invoke(command, ["--help"]).output.split())
    assert "without browsers for half that time: at least 2 s, at most 20 s." in told


def test_a_simulated_tables_events_are_one_chain() -> None:
    chain = PublicEventChain(read_example_state())
    events = [chain.append_event("now") for _ in range(5)]
    assert [one.prev for one in events[1:]] == [one.head for one in events[:-1]]
    assert chain.events_after(2) == events[2:]


PHASE = LoadPhase(3.0, 0.2, MemoryUse(60, 61, 61, None))
PAGES = PageFigures(
    drawn=None, bare=None, reloads=0, heap=PHASE.memory, nodes=(40, 40), listeners=(9, 9)
)
CONSOLE = ConsoleLoadResult(
    load=ConsoleLoad(),
    with_browsers=PHASE,
    pages=PAGES,
    alone=PHASE,
    floor_cores=0.1,
    states_per_s=400.0,
    events=70,
    lost=0,
)


def test_a_console_that_loses_an_event_or_reloads_a_page_is_wrong() -> None:
    pages = msgspec.structs.replace(PAGES, reloads=2)
    assert CONSOLE.violations() == []
    assert msgspec.structs.replace(CONSOLE, pages=None).violations() == []
    assert msgspec.structs.replace(CONSOLE, lost=1, pages=pages).violations() == [
        "1 of 70 events are not in the archive",
        "pages were loaded again by themselves, 2 times",
    ]


@pytest.mark.parametrize("name", ["console", "pixels"])
def test_no_figure_is_made_of_a_console_that_was_wrong(name: str, mocker: MockerFixture) -> None:
    wrong = msgspec.structs.replace(CONSOLE, lost=1)
    mocker.patch.object(console_figures, "measure_console", mocker.AsyncMock(return_value=wrong))
    uncached = console_figures._measure_load.__wrapped__
    mocker.patch.object(console_figures, "_measure_load", uncached)
    with pytest.raises(click.ClickException, match="1 of 70 events are not in the archive"):
        load_figures()[name].run()
