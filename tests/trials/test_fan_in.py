"""What `bench fan_in` and `bench join` measure: short runs, and what they make of what they saw."""

from pathlib import Path

import click
import msgspec
import pytest
from pytest_mock import MockerFixture

from controller.trials.bench import fan_in as figures
from controller.trials.bench import registry
from controller.trials.bench.registry import Value
from controller.trials.beside import feeds_beside
from controller.trials.fan_in import Drained, Join, drained, joins
from controller.trials.lone_lines import Span, lone_lines

pytestmark = pytest.mark.slow

FEW = 5


def numbered(seq: int) -> bytes:
    return msgspec.json.encode({"seq": seq})


def came(**other: float) -> Drained:
    said = Drained(feeds=400, seconds=5, cores=0.2, floor_cores=0.1, states=1, missing=0, lost=0)
    return msgspec.structs.replace(said, **other)


def test_states_that_were_left_out_are_told_by_their_numbers() -> None:
    assert Span(numbered(7), numbered(9), 3).missing == 0
    assert Span(numbered(7), numbered(12), 3).missing == 3
    assert Span(numbered(7), numbered(7), 1).missing == 0


def test_draining_is_a_share_of_a_core_against_a_bare_drains() -> None:
    value = figures._cores(came())
    assert (value.what, value.value, value.floor) == ("400 tables", 0.2, 0.1)
    assert value.aim_value == 0.25
    assert figures._cores(came(feeds=30)).aim_value is None


@pytest.mark.parametrize(
    ("wrong", "says"),
    [({"missing": 2}, "2 states never came"), ({"lost": 1}, "1 events are not in the archive")],
)
def test_what_did_not_come_is_an_error_and_no_number(wrong: dict[str, float], says: str) -> None:
    with pytest.raises(click.ClickException, match=says):
        figures._cores(came(**wrong))


def test_as_many_feeds_as_were_asked_for_are_drained_too(mocker: MockerFixture) -> None:
    asked: list[int] = []

    async def drain(feeds: int, seconds: float) -> Drained:
        asked.append(feeds)
        return came(feeds=feeds)

    mocker.patch.object(figures, "drained", drain)
    mocker.patch.object(registry.watch, "feeds", 1_000)
    assert [value.what for value in figures.hear_feeds()][-1] == "1000 tables"
    assert asked == [50, 200, 400, 1_000]


def test_joining_is_told_by_its_time_and_its_processor_time_a_table(mocker: MockerFixture) -> None:
    async def join(feeds: int, rounds: int) -> tuple[list[Join], list[Join]]:
        return [Join(0.5, 0.2), Join(9.0, 0.9), Join(0.4, 0.1)], [Join(0.1, 0.02)] * 3

    mocker.patch.object(figures, "joins", join)
    times: list[Value] = figures.join_late()
    assert [(one.value, one.floor) for one in times] == [(0.5, 0.1), (1_000, 100)]


@pytest.mark.timeout(120)
async def test_a_few_feeds_are_drained_without_a_gap() -> None:
    seen = await drained(FEW, 1.0)
    assert seen.wrong() == []
    assert seen.states > FEW
    assert seen.cores > 0
    assert seen.floor_cores > 0


@pytest.mark.timeout(120)
async def test_who_joins_late_has_what_was_said_before(tmp_path: Path) -> None:
    past = 30
    async with feeds_beside(FEW, 10.0, past=past) as feeds, lone_lines(tmp_path) as lines:
        assert lines.events() == 0
        lines.open(feeds.at)
        await lines.coherent()
        assert lines.events() >= FEW * past
        assert len(lines.spans()) == FEW


@pytest.mark.timeout(120)
async def test_joining_takes_turns_with_bare_lines() -> None:
    whole, bare = await joins(FEW, 2, past=3)
    assert len(whole) == len(bare) == 2
    assert all(one.seconds > 0 and one.cpu_s > 0 for one in (*whole, *bare))


def test_a_computer_that_has_no_time_for_it_says_so_in_a_line(mocker: MockerFixture) -> None:
    async def drain(feeds: int, seconds: float) -> Drained:
        raise TimeoutError

    mocker.patch.object(figures, "drained", drain)
    with pytest.raises(click.ClickException, match="no time for so many feeds"):
        figures.hear_feeds()
