"""One timer is enough: what a tick at the right moments says, ticks in between do not add to."""

import random
from collections.abc import Callable

import pytest

from controller.match import match_events
from controller.match.clocks.stopwatch import ClockReportKind
from controller.match.match_effects import ClockReported, Effects
from controller.match.match_state import AnyMatch
from controller.match.phase import MatchPhase
from controller.match.reducer import new_match, step
from controller.match.timing import next_tick_ms
from controller.messages import Role
from controller.rules.profile import GuandanProfile, Profile
from controller.rules.profile_files import load_profile, profile_names

from .people import People, meeting
from .table import BIG_TWO, MINUTE_MS, Table, timed, varied

SECOND_MS = 1_000


def kinds(table: Table) -> list[ClockReportKind]:
    """What the clocks said with the last event."""
    return [effect.report.kind for effect in table.effects(ClockReported)]


def test_before_the_start_nothing_is_due() -> None:
    assert next_tick_ms(Table().state) is None
    assert next_tick_ms(Table(BIG_TWO).started().state) is None


def test_the_next_word_of_the_areas_clock_is_due() -> None:
    table = Table(timed()).started()
    assert table.state.clock.watch is not None
    start_ms = table.state.clock.watch.starts_ms
    assert next_tick_ms(table.state) == start_ms + 45 * MINUTE_MS
    assert next_tick_ms(table.does(match_events.AreaPaused).state) is None


def test_the_clock_of_a_seat_is_due_a_millisecond_after_its_last_one() -> None:
    table = (
        Table()
        .started()
        .played("NS")
        .counted()
        .does(match_events.AntiTributeAnswered, stands=False)
    )
    assert next_tick_ms(table.state) == table.at_ms + 15 * SECOND_MS + 1
    assert next_tick_ms(table.does(match_events.TableSuspended, reason="call").state) is None


def test_a_silent_choice_of_big_two_is_due_unless_the_table_stands() -> None:
    table = Table(BIG_TWO).started().dealt("W").does(match_events.HandsReleased)
    due_ms = next_tick_ms(table.state)
    assert due_ms is not None
    assert next_tick_ms(table.does(match_events.TableSuspended, reason="call").state) is None
    table.does(match_events.TableResumed)
    assert next_tick_ms(table.state) == due_ms + 100
    table.tick(due_ms + 100 - table.at_ms)
    assert table.big_two.choices is not None
    assert table.big_two.choices.doubling is not None


def test_a_deal_that_has_no_time_any_more_is_due_at_once_when_the_table_goes_on() -> None:
    table = Table(timed(at_time="stop_now")).started().played("NS")
    table.does(match_events.TableSuspended, reason="call").at_minute(61)
    assert next_tick_ms(table.state) is None
    table.does(match_events.TableResumed)
    assert next_tick_ms(table.state) is None  # the stop has cost time: a referee is asked
    table.does(match_events.TimeAdded, seconds=0, role=Role.REFEREE)
    assert next_tick_ms(table.state) == table.at_ms
    assert table.tick().phase is MatchPhase.OVER


def test_a_deal_that_is_due_ends_with_the_margin() -> None:
    table = Table(timed(last_start_margin_s=180)).started().played("NS").at_minute(56)
    assert table.state.clock.watch is not None
    moment = table.state.clock.watch.starts_ms + 57 * MINUTE_MS
    assert next_tick_ms(table.state) == moment
    table.tick(moment - 1 - table.at_ms)
    assert table.phase is MatchPhase.CUT
    assert table.tick(1).phase is MatchPhase.OVER


@pytest.mark.slow
@pytest.mark.parametrize("name", profile_names())
def test_ticks_at_the_due_moments_say_and_change_all_that_ticks_each_second_do(
    name: str, scale: Callable[[int], int]
) -> None:
    said = 0
    for seed in range(scale(1_500)):
        rng = random.Random(f"{name} {seed}")
        profile = _short(load_profile(name), rng)
        people = People(rng, wild=rng.choice((0.1, 0.3)), pace=rng.choice((1, 5)))
        match = new_match(profile, meeting(rng.choice(("swiss", "knockout"))))
        for _ in range(400):
            if match.phase is MatchPhase.SIGNED:
                break
            event = people.next_event(match)
            seldom, told = _at_due_moments(match, event.at_ms)
            often, heard = _each_second(match, event.at_ms)
            assert told == heard
            assert seldom == often
            said += len(told) + (seldom.phase is not match.phase)
            match, _ = step(seldom, event)
    assert said


def _short(profile: Profile, rng: random.Random) -> Profile:
    """The rulebook with matches of few minutes, by some event's word."""
    if not isinstance(profile, GuandanProfile):
        return profile
    methods = [way for way in profile.ending.methods if way.startswith("timed")]
    return varied(
        profile.name,
        ending={
            "method": rng.choice(methods or profile.ending.methods),
            "deals": 6,
            "time_s": rng.choice((120, 300, 900)),
            "at_time": rng.choice(("stop_now", "finish_started")),
            "last_start_margin_s": rng.choice((0, 60)),
        },
    )


def _at_due_moments(match: AnyMatch, until_ms: int) -> tuple[AnyMatch, Effects]:
    """The match just before `until_ms`, ticked when something is due and at the end."""
    told: Effects = ()
    ticks = 0
    while (moment := next_tick_ms(match)) is not None and moment < until_ms:
        before = match
        match, effects = step(match, match_events.TimePassed(at_ms=moment))
        assert effects or _timeless(before) != _timeless(match), "a tick for nothing"
        told += effects
        ticks += 1
        assert ticks < 1_000, "the timer does not come to an end"
    match, effects = step(match, match_events.TimePassed(at_ms=until_ms))
    return match, (*told, *effects)


def _timeless(match: AnyMatch) -> tuple[object, ...]:
    fields = match.__struct_fields__
    return tuple(getattr(match, name) for name in fields if name != "now_ms")


def _each_second(match: AnyMatch, until_ms: int) -> tuple[AnyMatch, Effects]:
    """The match just before `until_ms`, ticked each second, when something is due, at the end."""
    told: Effects = ()
    while match.now_ms < until_ms:
        moment = match.now_ms + SECOND_MS
        due = next_tick_ms(match)
        moment = min(moment, until_ms, moment if due is None else due)
        match, effects = step(match, match_events.TimePassed(at_ms=moment))
        told += effects
    return match, told
