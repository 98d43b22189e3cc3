from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.match.clocks import match_clock as mc
from controller.match.clocks.match_clock import MatchClock, TableStop
from controller.match.clocks.stopwatch import ClockReport
from controller.rules.profile import GuandanProfile
from tests.guandan import load_guandan

INTERNATIONAL = load_guandan("international-000")
HUAINAN = load_guandan("huainan-2013-003")
BCTA = load_guandan("bcta-004")

START_MS = 500_000
MINUTE = 60_000
HOUR = 60 * MINUTE


def _with(profile: GuandanProfile, **ending: object) -> GuandanProfile:
    return msgspec.structs.replace(
        profile, ending=msgspec.structs.replace(profile.ending, **ending)
    )


def _running(profile: GuandanProfile) -> MatchClock:
    return mc.start(mc.new_match_clock(profile), START_MS)


def _told(clock: MatchClock, at_ms: int) -> list[tuple[str, int]]:
    return [(due.kind, due.at_ms - START_MS) for due in mc.tick(clock, at_ms)[1]]


TIMED = _with(INTERNATIONAL, method="timed")
BY_THE_LETTER = _with(TIMED, at_time="stop_now")


# ----- a deal at time ----------------------------------------------------------------------


def test_a_deal_whose_hands_were_released_before_time_is_played_out() -> None:
    clock = _running(HUAINAN)
    released = START_MS + HOUR - 1
    assert mc.has_time_for_deal(clock, released)
    assert mc.left_ms(clock, released + 1) == 0
    assert not mc.is_deal_stopped(clock, released + 1)
    assert not mc.has_time_for_deal(clock, released + 1)


def test_by_the_letter_a_deal_ends_with_the_time() -> None:
    clock = _running(BY_THE_LETTER)
    assert not mc.is_deal_stopped(clock, START_MS + HOUR - 1)
    assert mc.is_deal_stopped(clock, START_MS + HOUR)


@pytest.mark.parametrize("profile", [TIMED, HUAINAN, BCTA])
def test_as_it_is_proposed_a_deal_under_way_is_finished(profile: GuandanProfile) -> None:
    assert not mc.is_deal_stopped(_running(profile), START_MS + 2 * HOUR)


def test_shortly_before_time_no_deal_begins_where_the_event_has_a_margin() -> None:
    clock = _running(_with(TIMED, last_start_margin_s=180))
    assert mc.has_time_for_deal(clock, START_MS + 57 * MINUTE - 1)
    assert not mc.has_time_for_deal(clock, START_MS + 57 * MINUTE)
    _, dues = mc.tick(clock, START_MS + 57 * MINUTE)
    assert (dues[-1].kind, dues[-1].key) == ("last_deal", "ending.last_start_margin_s")


@pytest.mark.parametrize("method", ["play_to_A", "deals"])
def test_a_match_without_a_time_limit_has_all_the_time(method: str) -> None:
    clock = _running(_with(INTERNATIONAL, method=method, deals=11))
    late = START_MS + 24 * HOUR
    assert mc.left_ms(clock, late) is None
    assert mc.left_ms(clock, late) != 0
    assert not mc.is_deal_stopped(clock, late)
    assert mc.has_time_for_deal(clock, late)
    assert mc.next_due_ms(clock) is None
    assert mc.tick(clock, late) == (clock, ())
    stopped = mc.stop_table(clock, "JAM", START_MS)
    assert mc.added_time_due(stopped, late) is None


# ----- what is announced -------------------------------------------------------------------


def test_an_hour_is_announced_at_15_5_and_1_minutes_and_at_its_end() -> None:
    assert _told(_running(HUAINAN), START_MS + 2 * HOUR) == [
        ("announce_15", 45 * MINUTE),
        ("announce_5", 55 * MINUTE),
        ("announce_1", 59 * MINUTE),
        ("last_deal", HOUR),
        ("time_up", HOUR),
    ]


def test_by_the_letter_there_is_no_last_deal_to_announce() -> None:
    kinds = [kind for kind, _ in _told(_running(BY_THE_LETTER), START_MS + HOUR)]
    assert kinds == ["announce_15", "announce_5", "announce_1", "time_up"]


def test_what_a_short_match_never_has_left_is_not_announced() -> None:
    clock = _running(_with(TIMED, time_s=300))
    assert _told(clock, START_MS) == []
    assert [kind for kind, _ in _told(clock, START_MS + HOUR)] == [
        "announce_1",
        "last_deal",
        "time_up",
    ]


@pytest.mark.parametrize(("profile", "article"), [(HUAINAN, "N4.4"), (BCTA, "CN5"), (TIMED, None)])
def test_what_happens_at_time_names_its_article(
    profile: GuandanProfile, article: str | None
) -> None:
    _, dues = mc.tick(_running(profile), START_MS + HOUR)
    assert dues[-1] == ClockReport(
        kind="time_up", at_ms=START_MS + HOUR, key="ending.at_time", article=article
    )


def test_an_event_that_settles_what_happens_at_time_is_named(tmp_path: Path) -> None:
    event = tmp_path / "event.toml"
    event.write_text(
        'profile = "international-000"\ntitle_en = "Spring Cup"\ntitle_zh = "春季杯"\n'
        'organizer = "Club"\n[ending]\nmethod = "timed"\ntime_s = 3000\nat_time = "stop_now"\n',
        encoding="utf-8",
    )
    clock = _running(load_guandan("international-000", event))
    assert mc.is_deal_stopped(clock, START_MS + 50 * MINUTE)
    _, dues = mc.tick(clock, START_MS + 50 * MINUTE)
    assert (dues[-1].kind, dues[-1].article) == ("time_up", "Spring Cup")


# ----- standing still ----------------------------------------------------------------------


def test_while_the_area_stands_still_no_time_is_lost() -> None:
    clock = mc.pause(_running(HUAINAN), START_MS + 10 * MINUTE)
    assert mc.left_ms(clock, START_MS + HOUR) == 50 * MINUTE
    assert mc.next_due_ms(clock) is None
    clock = mc.resume(clock, START_MS + 30 * MINUTE)
    assert mc.next_due_ms(clock) == START_MS + 65 * MINUTE


def test_the_areas_start_counts_once() -> None:
    clock = _running(HUAINAN)
    assert mc.start(clock, START_MS + MINUTE) == clock


def test_before_the_start_there_is_nothing_to_stop() -> None:
    clock = mc.new_match_clock(HUAINAN)
    assert mc.pause(clock, START_MS) == clock
    assert mc.resume(clock, START_MS) == clock
    assert mc.left_ms(clock, START_MS) == HOUR
    assert mc.next_due_ms(clock) is None


HISTORIES = st.lists(
    st.tuples(st.sampled_from(("tick", "tick", "pause", "resume")), st.integers(0, 5 * HOUR)),
    max_size=12,
).map(lambda history: sorted(history, key=lambda moment: moment[1]))


@given(HISTORIES)
def test_asked_late_or_twice_it_says_the_same_each_once(history: list[tuple[str, int]]) -> None:
    often = once = _running(HUAINAN)
    told: list[ClockReport] = []
    for what, at_ms in history:
        if what == "pause":
            often, once = mc.pause(often, at_ms), mc.pause(once, at_ms)
        elif what == "resume":
            often, once = mc.resume(often, at_ms), mc.resume(once, at_ms)
        else:
            moment = mc.next_due_ms(often)
            often, dues = mc.tick(often, at_ms)
            assert bool(dues) == (moment is not None and moment <= at_ms)
            told += dues
            assert mc.tick(often, at_ms) == (often, ())
    often, dues = mc.tick(often, 5 * HOUR)
    assert mc.tick(once, 5 * HOUR) == (often, (*told, *dues))
    assert len({due.kind for due in (*told, *dues)}) == len((*told, *dues))


@given(st.integers(0, 90), st.integers(0, 90))
def test_time_left_never_grows_by_itself(early: int, later: int) -> None:
    clock = _running(HUAINAN)
    first, second = sorted((early, later))
    before = mc.left_ms(clock, START_MS + first * MINUTE)
    after = mc.left_ms(clock, START_MS + second * MINUTE)
    assert before is not None
    assert after is not None
    assert 0 <= after <= before <= HOUR


# ----- added time --------------------------------------------------------------------------


def _after_a_stop(minutes: int) -> MatchClock:
    clock = mc.stop_table(_running(HUAINAN), "JAM", START_MS + 10 * MINUTE)
    return mc.resume_table(clock, START_MS + (10 + minutes) * MINUTE)


@pytest.mark.parametrize(("minutes", "needs"), [(3, "referee"), (5, "referee"), (6, "chief")])
def test_time_a_table_lost_is_proposed_to_be_added(minutes: int, needs: str) -> None:
    clock = _after_a_stop(minutes)
    proposed = mc.added_time_due(clock, START_MS + HOUR)
    assert proposed is not None
    assert (proposed.add_ms, proposed.needs) == (minutes * MINUTE, needs)
    assert [stop.reason for stop in proposed.stops] == ["JAM"]
    assert (proposed.key, proposed.article) == ("clocks.added_time_chief_s", None)


def test_a_stop_that_lasts_counts_until_now() -> None:
    clock = mc.stop_table(_running(HUAINAN), "JAM", START_MS)
    proposed = mc.added_time_due(clock, START_MS + MINUTE)
    assert proposed is not None
    assert proposed.add_ms == MINUTE


def test_added_time_is_the_tables_and_is_proposed_once() -> None:
    clock = mc.add_time(_after_a_stop(3), 3 * MINUTE, START_MS + 20 * MINUTE)
    assert mc.left_ms(clock, START_MS + HOUR) == 3 * MINUTE
    assert mc.added_time_due(clock, START_MS + HOUR) is None
    assert mc.left_ms(clock, START_MS + 63 * MINUTE - 1) != 0
    assert mc.left_ms(clock, START_MS + 63 * MINUTE) == 0


def test_small_pieces_of_added_time_come_to_the_chief_together() -> None:
    clock = mc.add_time(_running(HUAINAN), 4 * MINUTE, START_MS)
    assert mc.added_time_authority(clock, MINUTE) == "referee"
    assert mc.added_time_authority(clock, MINUTE + 1) == "chief"


def test_a_stop_costs_nothing_while_the_whole_area_stands_still() -> None:
    clock = mc.pause(_running(HUAINAN), START_MS + 10 * MINUTE)
    clock = mc.stop_table(clock, "JAM", START_MS + 11 * MINUTE)
    clock = mc.resume(clock, START_MS + 20 * MINUTE)
    clock = mc.resume_table(clock, START_MS + 22 * MINUTE)
    assert mc.cost_ms(clock, clock.stops[0], START_MS + HOUR) == 2 * MINUTE


def test_a_stop_that_began_when_time_was_up_costs_nothing() -> None:
    clock = mc.stop_table(_running(HUAINAN), "JAM", START_MS + HOUR)
    assert mc.added_time_due(clock, START_MS + 2 * HOUR) is None


def test_a_stop_within_a_stop_is_one() -> None:
    clock = mc.stop_table(_running(HUAINAN), "JAM", START_MS)
    assert mc.stop_table(clock, "LID", START_MS + MINUTE) == clock
    clock = mc.resume_table(clock, START_MS + 2 * MINUTE)
    assert clock.stops == (TableStop("JAM", START_MS, START_MS + 2 * MINUTE),)
    assert mc.resume_table(clock, START_MS + 3 * MINUTE) == clock


def test_what_the_clock_said_holds_until_time_is_added() -> None:
    clock = _running(HUAINAN)
    said = {}
    for minute in (0, 44, 45, 55, 59, 60):
        clock, _ = mc.tick(clock, START_MS + minute * MINUTE)
        said[minute] = mc.last_announcement(clock)
    assert said == {
        0: None, 44: None, 45: "announce_15", 55: "announce_5", 59: "announce_1", 60: "time_up",
    }  # fmt: skip
    added = {
        minutes: mc.last_announcement(mc.add_time(clock, minutes * MINUTE, START_MS + HOUR))
        for minutes in (1, 4, 10, 20)
    }
    assert added == {1: "announce_1", 4: "announce_5", 10: "announce_15", 20: None}


def test_what_added_time_puts_off_is_told_again() -> None:
    clock, _ = mc.tick(_running(HUAINAN), START_MS + HOUR)
    clock = mc.add_time(clock, 3 * MINUTE, START_MS + HOUR)
    assert mc.has_time_for_deal(clock, START_MS + HOUR)
    assert _told(clock, START_MS + 2 * HOUR) == [
        ("announce_1", 62 * MINUTE),
        ("last_deal", 63 * MINUTE),
        ("time_up", 63 * MINUTE),
    ]


def test_what_was_announced_with_as_much_time_left_is_not_told_again() -> None:
    clock, _ = mc.tick(_running(HUAINAN), START_MS + HOUR)
    clock = mc.add_time(clock, MINUTE, START_MS + HOUR)
    assert [kind for kind, _ in _told(clock, START_MS + 2 * HOUR)] == ["last_deal", "time_up"]


def test_added_time_can_be_corrected_but_never_below_what_the_match_has() -> None:
    at_ms = START_MS + MINUTE
    clock = mc.add_time(_running(HUAINAN), 50 * MINUTE, at_ms)
    assert mc.add_time(clock, -45 * MINUTE, at_ms).added_ms == 5 * MINUTE
    assert mc.add_time(clock, -90 * MINUTE, at_ms) == _running(HUAINAN)


def test_time_taken_back_is_announced_as_if_it_had_never_been_there() -> None:
    at_ms = START_MS + 50 * MINUTE
    clock = mc.add_time(_running(HUAINAN), 20 * MINUTE, START_MS)
    assert _told(clock, at_ms) == []
    clock = mc.add_time(clock, -20 * MINUTE, at_ms)
    assert _told(clock, at_ms) == [("announce_15", 45 * MINUTE)]
