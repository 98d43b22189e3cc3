from typing import Literal, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.match.clocks import duty_clocks
from controller.match.clocks.duty_clocks import (
    ClockDuty,
    ClockLimit,
    DutyClock,
    DutyClocks,
    clocks_for_duty,
    first_due_ms,
    next_due_ms,
    pause_all,
    remove_done,
    restart_all_from_warning,
    restart_from_warning,
    resume_all,
    tick,
    tick_all,
)
from controller.match.clocks.stopwatch import ClockOffence, ClockReport, Stopwatch
from controller.messages import Seat
from controller.rules.penalties.offences import offence_catalogue
from controller.rules.profile import GuandanProfile
from tests.guandan import load_guandan

GUANDAN = ("international-000", "huaian-2017-001", "huainan-2013-003", "bcta-004")
INTERNATIONAL = load_guandan("international-000")
HUAIAN = load_guandan("huaian-2017-001")
HUAINAN = load_guandan("huainan-2013-003")
BCTA = load_guandan("bcta-004")

START_MS = 1_000_000


def _with(profile: GuandanProfile, **clocks: object) -> GuandanProfile:
    return msgspec.structs.replace(
        profile, clocks=msgspec.structs.replace(profile.clocks, **clocks)
    )


def _play(profile: GuandanProfile, seat: Seat = "E") -> DutyClock:
    clock = duty_clocks.play_clock(profile, seat, START_MS, called=True)
    assert clock is not None
    return clock


def _kinds(clock: DutyClock, after_s: float) -> list[str]:
    """What is proposed when the duty is done `after_s` seconds after its start."""
    _, dues = tick(clock, START_MS + round(after_s * 1000))
    return [due.kind for due in dues]


def _tribute(profile: GuandanProfile, seat: Seat = "E") -> DutyClock:
    (clock,) = duty_clocks.tribute_clocks(profile, (seat,), START_MS)
    return clock


def _return(profile: GuandanProfile, seat: Seat = "N") -> DutyClock:
    clock = duty_clocks.return_clock(profile, seat, START_MS)
    assert clock is not None
    return clock


# ----- limits ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("after_s", "expected"),
    [
        (0, []),
        (15, []),
        (15.001, ["tribute_warning"]),
        (16, ["tribute_warning"]),
        (30, ["tribute_warning"]),
        (30.001, ["tribute_warning", "tribute_violation"]),
        (46, ["tribute_warning", "tribute_violation", "tribute_violation"]),
    ],
)
def test_tribute_has_15_seconds_then_a_warning_then_a_violation_each_15_more(
    after_s: float, expected: list[str]
) -> None:
    assert _kinds(_tribute(INTERNATIONAL), after_s) == expected


@pytest.mark.parametrize(
    ("after_s", "expected"),
    [
        (30, []),
        (31, ["return_warning"]),
        (45, ["return_warning"]),
        (46, ["return_warning", "return_violation"]),
        (61, ["return_warning", "return_violation", "return_violation"]),
    ],
)
def test_a_return_has_30_seconds_then_a_warning_then_a_violation_each_15_more(
    after_s: float, expected: list[str]
) -> None:
    assert _kinds(_return(INTERNATIONAL), after_s) == expected


@pytest.mark.parametrize(
    ("after_s", "expected"),
    [
        (19, []),
        (20, []),
        (21, ["play_warning"]),
        (30, ["play_warning"]),
        (30.001, ["play_warning", "play_violation"]),
        (3_600, ["play_warning", "play_violation"]),
    ],
)
def test_a_play_has_20_seconds_then_a_warning_and_after_10_more_a_violation_that_ends_it(
    after_s: float, expected: list[str]
) -> None:
    assert _kinds(_play(INTERNATIONAL), after_s) == expected


def test_who_is_late_to_play_under_huainan_is_so_after_30_seconds() -> None:
    assert _kinds(_play(HUAINAN), 30) == []
    assert _kinds(_play(HUAINAN), 31) == ["play_warning"]


def test_the_violation_counts_from_the_warning_that_was_spoken() -> None:
    clock, dues = tick(_play(INTERNATIONAL), START_MS + 24_000)
    assert [due.kind for due in dues] == ["play_warning"]
    clock = restart_from_warning(clock, START_MS + 24_000)
    assert tick(clock, START_MS + 34_000)[1] == ()
    assert [due.kind for due in tick(clock, START_MS + 34_001)[1]] == ["play_violation"]


def test_a_warning_nobody_owes_and_one_after_the_violation_move_nothing() -> None:
    fresh = _play(INTERNATIONAL)
    assert restart_from_warning(fresh, START_MS + 5_000) == fresh
    over, _ = tick(fresh, START_MS + 60_000)
    assert restart_from_warning(over, START_MS + 60_000) == over


def test_a_delayed_tribute_counts_on_whenever_the_warning_was_spoken() -> None:
    clock, _ = tick(_tribute(INTERNATIONAL), START_MS + 20_000)
    assert restart_all_from_warning((clock,), "tribute", START_MS + 20_000) == (clock,)


def test_a_warning_concerns_the_seat_that_was_warned() -> None:
    clocks, _ = tick_all((_play(INTERNATIONAL, "E"), _play(INTERNATIONAL, "W")), START_MS + 20_001)
    east, west = restart_all_from_warning(clocks, "play", START_MS + 25_000, "W")
    assert next_due_ms(east) == START_MS + 30_001
    assert next_due_ms(west) == START_MS + 35_001


def test_a_proposal_names_whom_what_and_where_it_is_written() -> None:
    _, (warning, violation) = tick(_play(INTERNATIONAL), START_MS + 40_000)
    assert warning == ClockReport(
        kind="play_warning",
        at_ms=START_MS + 20_001,
        seat="E",
        side="EW",
        offence="delay_play",
        step=1,
        key="clocks.play_s",
        article="A21.1",
    )
    assert (violation.key, violation.article) == ("clocks.play_warned_s", "A21.1")


def test_every_overrun_says_which_one_it_is() -> None:
    _, dues = tick(_tribute(INTERNATIONAL), START_MS + 46_000)
    assert [due.step for due in dues] == [1, 2, 3]


def test_a_proposed_limit_has_no_article() -> None:
    _, dues = tick(_tribute(BCTA), START_MS + 40_000)
    assert [(due.key, due.article) for due in dues] == [
        ("clocks.tribute_s", None),
        ("clocks.overrun_s", None),
    ]


# ----- which clocks there are --------------------------------------------------------------


@pytest.mark.parametrize(
    ("mode", "called", "runs"),
    [
        ("off", False, False),
        ("off", True, False),
        ("on_call", False, False),
        ("on_call", True, True),
        ("every_play", False, True),
        ("every_play", True, True),
    ],
)
def test_the_play_clock_runs_as_the_event_wants_it(
    mode: Literal["off", "on_call", "every_play"], called: bool, runs: bool
) -> None:
    profile = _with(INTERNATIONAL, play_clock=mode)
    assert (duty_clocks.play_clock(profile, "N", START_MS, called=called) is not None) is runs


@pytest.mark.parametrize("name", GUANDAN)
def test_nobody_counts_seconds_of_a_play_unless_a_referee_does(name: str) -> None:
    assert duty_clocks.play_clock(load_guandan(name), "N", START_MS, called=False) is None


def test_the_first_lead_is_within_the_opening_where_that_has_a_limit() -> None:
    assert duty_clocks.play_clock(HUAINAN, "N", START_MS, called=True, first_lead=True) is None
    assert (
        duty_clocks.play_clock(INTERNATIONAL, "N", START_MS, called=True, first_lead=True)
        is not None
    )


def test_no_limit_is_no_clock() -> None:
    none = _with(INTERNATIONAL, play_s=0, tribute_s=0, return_s=0, sort_s=0, opening_s=0, late_s=0)
    assert duty_clocks.play_clock(none, "N", START_MS, called=True) is None
    assert duty_clocks.tribute_clocks(none, ("N", "S"), START_MS) == ()
    assert duty_clocks.return_clock(none, "N", START_MS) is None
    assert duty_clocks.sort_clock(none, START_MS) is None
    assert duty_clocks.opening_clock(none, START_MS) is None
    assert duty_clocks.late_clocks(none, START_MS) == ()


def test_without_a_second_limit_there_is_a_warning_and_no_more() -> None:
    profile = _with(INTERNATIONAL, play_warned_s=0, overrun_s=0)
    assert _kinds(_play(profile), 100) == ["play_warning"]
    assert _kinds(_tribute(profile), 100) == ["tribute_warning"]


def test_after_a_double_down_each_payer_has_a_clock_of_his_own() -> None:
    clocks = duty_clocks.tribute_clocks(INTERNATIONAL, ("E", "W"), START_MS)
    assert tick_all(clocks, START_MS + 10_000) == (clocks, ())
    clocks = remove_done(clocks, "tribute", "E")
    assert [clock.seat for clock in clocks] == ["W"]
    _, dues = tick_all(clocks, START_MS + 16_000)
    assert [(due.kind, due.seat) for due in dues] == [("tribute_warning", "W")]


def test_sorting_ends_by_itself_and_blames_nobody() -> None:
    clock = duty_clocks.sort_clock(INTERNATIONAL, START_MS)
    assert clock is not None
    _, (over,) = tick(clock, START_MS + 60_001)
    assert (over.kind, over.seat, over.side) == ("sort_over", None, None)
    assert (over.offence, over.step) == (None, None)
    assert over.article is None


def test_the_opening_has_three_minutes_under_huainan_only() -> None:
    clock = duty_clocks.opening_clock(HUAINAN, START_MS)
    assert clock is not None
    assert tick(clock, START_MS + 180_000)[1] == ()
    _, (over,) = tick(clock, START_MS + 180_001)
    assert (over.kind, over.offence, over.article) == ("opening_over", "delay_play", "R4.6")
    assert [
        duty_clocks.opening_clock(profile, START_MS) for profile in (INTERNATIONAL, HUAIAN, BCTA)
    ] == [None] * 3


@pytest.mark.parametrize(("profile", "minutes", "article"), [(HUAINAN, 5, "R6.1"), (BCTA, 10, "C")])
def test_a_side_that_does_not_come_loses_by_default(
    profile: GuandanProfile, minutes: int, article: str
) -> None:
    clocks = remove_done(duty_clocks.late_clocks(profile, START_MS), "late", side="NS")
    _, dues = tick_all(clocks, START_MS + minutes * 60_000)
    assert dues == ()
    _, (late,) = tick_all(clocks, START_MS + minutes * 60_000 + 1)
    assert (late.kind, late.seat, late.side) == ("late_default", None, "EW")
    assert (late.offence, late.article) == ("late", article)


def test_what_a_late_pair_gets_the_international_rules_leave_to_the_event() -> None:
    assert duty_clocks.late_clocks(INTERNATIONAL, START_MS) == ()
    clocks = duty_clocks.late_clocks(_with(INTERNATIONAL, late_s=900), START_MS)
    _, dues = tick_all(clocks, START_MS + 1_000_000)
    assert [(due.kind, due.side) for due in dues] == [
        ("late_regulations", "NS"),
        ("late_regulations", "EW"),
    ]


def test_a_clock_proposes_only_offences_that_the_catalogue_has() -> None:
    assert set(get_args(ClockOffence)) <= set(offence_catalogue())


# ----- late, twice, for nothing ------------------------------------------------------------

LIMITS = st.lists(st.integers(0, 400), min_size=1, max_size=3).map(
    lambda all_ms: tuple(
        ClockLimit(within_ms=ms + 1, kind="play_warning", key="clocks.play_s", article=None)
        for ms in all_ms
    )
)
COUNTDOWNS = st.builds(
    DutyClock,
    duty=st.just("play"),
    seat=st.sampled_from(("N", "E")),
    watch=st.integers(0, 500).map(Stopwatch),
    limits=LIMITS,
    repeats=st.booleans(),
)
HISTORIES = st.lists(
    st.tuples(st.sampled_from(("tick", "tick", "pause", "resume")), st.integers(0, 3_000)),
    max_size=12,
).map(lambda history: sorted(history, key=lambda moment: moment[1]))


def _lived(
    clocks: DutyClocks, history: list[tuple[str, int]], *, ticking: bool
) -> tuple[DutyClocks, list[ClockReport]]:
    told: list[ClockReport] = []
    for what, at_ms in history:
        if what == "pause":
            clocks = pause_all(clocks, at_ms)
        elif what == "resume":
            clocks = resume_all(clocks, at_ms)
        elif ticking:
            clocks, dues = tick_all(clocks, at_ms)
            clocks, again = tick_all(clocks, at_ms)
            assert again == ()
            told += dues
    clocks, dues = tick_all(clocks, 3_000)
    return clocks, told + list(dues)


@given(st.lists(COUNTDOWNS, max_size=3).map(tuple), HISTORIES)
def test_asked_late_or_twice_clocks_say_the_same_each_once(
    clocks: DutyClocks, history: list[tuple[str, int]]
) -> None:
    often, told_often = _lived(clocks, history, ticking=True)
    once, told_once = _lived(clocks, history, ticking=False)
    assert often == once
    assert sorted(told_often, key=_order) == sorted(told_once, key=_order)
    moments = [due.at_ms for due in told_often]
    assert moments == sorted(moments)


def _order(due: ClockReport) -> tuple[int, str]:
    return due.at_ms, due.seat or ""


@given(COUNTDOWNS, HISTORIES)
def test_the_next_moment_is_exactly_when_something_falls_due(
    clock: DutyClock, history: list[tuple[str, int]]
) -> None:
    clocks, _ = _lived((clock,), history, ticking=True)
    moment = first_due_ms(clocks)
    if moment is None:
        assert tick_all(clocks, 10**9)[1] == ()
    else:
        assert tick_all(clocks, moment - 1)[1] == ()
        assert [due.at_ms for due in tick_all(clocks, moment)[1]][:1] == [moment]


def test_while_play_is_suspended_no_time_runs() -> None:
    clocks: DutyClocks = (_play(INTERNATIONAL), _tribute(INTERNATIONAL))
    clocks = pause_all(clocks, START_MS + 10_000)
    assert first_due_ms(clocks) is None
    assert tick_all(clocks, START_MS + 500_000) == (clocks, ())
    clocks = resume_all(clocks, START_MS + 100_000)
    assert first_due_ms(clocks) == START_MS + 105_001


def test_nothing_is_due_where_no_clock_runs() -> None:
    assert first_due_ms(()) is None
    assert tick_all((), START_MS) == ((), ())


def test_a_duty_done_late_is_still_answered_for() -> None:
    running = (_play(INTERNATIONAL, "E"), _play(INTERNATIONAL, "W"))
    clocks, dues = tick_all(running, START_MS + 21_000)
    assert [due.seat for due in dues] == ["E", "W"]
    clocks = remove_done(clocks, "play", "E")
    assert [(clock.seat, clock.told) for clock in clocks] == [("W", 1)]


@pytest.mark.parametrize("duty", ["play", "tribute"])
def test_the_clocks_of_one_duty_are_found_and_ended_together(duty: ClockDuty) -> None:
    clocks = (
        _play(INTERNATIONAL),
        *duty_clocks.tribute_clocks(INTERNATIONAL, ("N", "S"), START_MS),
    )
    found = tuple(clocks_for_duty(clocks, duty))
    assert {clock.duty for clock in found} == {duty}
    rest = remove_done(clocks, duty)
    assert len(rest) + len(found) == 3
    assert not tuple(clocks_for_duty(rest, duty))
