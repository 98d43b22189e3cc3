"""What `bench console` measures: a short run, and what it makes of what it saw."""

import msgspec
import pytest

from controller.trials.console_load import Load, console_load, times, until_drawn_ms
from controller.trials.feeds import Called, Chain, example_state
from controller.trials.pixels import Drawn

CALLED = [Called("T1", 1_000, True), Called("T1", 2_000, False), Called("T2", 1_500, True)]


def test_a_change_is_drawn_so_long_after_it_was_said() -> None:
    drawn = [Drawn("T1", True, 1_100), Drawn("T1", False, 2_050), Drawn("T2", True, 1_600)]
    assert until_drawn_ms(CALLED, drawn) == [100, 50, 100]


def test_what_was_overtaken_before_it_was_drawn_is_no_time() -> None:
    assert until_drawn_ms(CALLED, [Drawn("T1", True, 2_100), Drawn("T1", True, 900)]) == []


def test_times_are_told_by_their_hundredths() -> None:
    said = times([float(n) for n in range(1, 102)])
    assert said is not None
    assert (said.count, said.p50_ms, said.p95_ms, said.most_ms) == (101, 51.0, 96.0, 101.0)
    assert times([]) is None


def test_a_simulated_tables_events_are_one_chain() -> None:
    chain = Chain(example_state())
    events = [chain.grow("now") for _ in range(5)]
    assert [one.prev for one in events[1:]] == [one.head for one in events[:-1]]
    assert chain.since(2) == events[2:]


@pytest.mark.timeout(180)
async def test_a_console_under_a_small_load_loses_no_event_and_reloads_no_page() -> None:
    seen = await console_load(Load(feeds=40, browsers=1, seconds=3))
    assert seen.events > 0
    assert seen.lost == 0
    assert seen.reloads == 0
    assert seen.cores > 0
    assert seen.floor_cores > 0
    assert seen.pixels is not None
    assert seen.pixels.count > 10
    assert seen.bare_pixels is not None
    msgspec.json.encode(seen)
