"""When a match is over, and who has won it."""

from typing import Any

import msgspec
import pytest

from controller.messages import Side
from controller.rules.deal_result import parse_finish
from controller.rules.match_end import ExtraDealNeeded, MatchVerdict, decide_match, is_limit_reached
from controller.rules.match_standing import LevelReached, MatchStanding, PerSide
from controller.rules.profile import GuandanProfile
from controller.rules.ranks import ACE, PAST_A
from tests.guandan import load_guandan

INTL = load_guandan("international-000")
N = load_guandan("huainan-2013-003")
B = load_guandan("bcta-004")


def by(method: str, profile: GuandanProfile = INTL, **more: Any) -> GuandanProfile:
    """A rulebook whose matches end another way."""
    ending = msgspec.structs.replace(profile.ending, method=method, **more)
    return msgspec.structs.replace(profile, ending=ending)


TIMED = by("timed")


def standing(ns: int, ew: int, **more: Any) -> MatchStanding:
    """Two sides at their levels, NS's deal."""
    return msgspec.structs.replace(MatchStanding(PerSide(ns, ew), "NS"), **more)


@pytest.mark.parametrize(
    ("profile", "deals", "time_up", "reached"),
    [
        (by("play_to_A"), 99, True, False),
        (by("deals", deals=8), 7, True, False),
        (by("deals", deals=8), 8, False, True),
        (TIMED, 99, False, False),
        (TIMED, 1, True, True),
        (B, 11, False, True),
        (B, 10, False, False),
        (B, 3, True, True),
    ],
)
def test_a_match_has_had_its_deals_or_its_time(
    profile: GuandanProfile, deals: int, time_up: bool, reached: bool
) -> None:
    assert is_limit_reached(profile, deals, time_up=time_up) == reached


@pytest.mark.parametrize("method", ["play_to_A", "timed", "timed_deals", "deals"])
def test_whoever_passes_a_has_won_by_any_method(method: str) -> None:
    won = standing(PAST_A, ACE, won="NS", deals=1)
    found = decide_match(by(method, deals=8), won, time_up=False, knockout=True)
    assert found == MatchVerdict("NS", "past_a")


def test_whoever_failed_too_often_at_a_has_lost() -> None:
    lost = standing(ACE, 6, won="EW")
    assert decide_match(B, lost, time_up=False, knockout=False) == MatchVerdict("EW", "failures")


def test_a_match_goes_on_until_its_limit() -> None:
    assert decide_match(TIMED, standing(9, 4, deals=9), time_up=False, knockout=True) is None


@pytest.mark.parametrize(("ns", "ew", "winner"), [(9, 4, "NS"), (4, 9, "EW"), (3, 2, "NS")])
def test_at_the_limit_the_higher_level_wins(ns: int, ew: int, winner: Side) -> None:
    for knockout in (False, True):
        found = decide_match(TIMED, standing(ns, ew), time_up=True, knockout=knockout)
        assert found == MatchVerdict(winner, "level")


def test_equal_levels_are_a_draw_but_in_a_knockout() -> None:
    equal = standing(9, 9)
    assert decide_match(TIMED, equal, time_up=True, knockout=False) == MatchVerdict(None, "draw")
    assert decide_match(TIMED, equal, time_up=True, knockout=True) == ExtraDealNeeded()
    always = by("timed", equal="extra_deal")
    assert decide_match(always, equal, time_up=True, knockout=False) == ExtraDealNeeded()


@pytest.mark.parametrize("knockout", [False, True])
@pytest.mark.parametrize(
    ("reached", "winner"), [(PerSide(3, 5), "NS"), (PerSide(5, 3), "EW"), (PerSide(0, 3), "NS")]
)
def test_in_003_the_first_to_reach_the_level_wins(
    reached: PerSide, winner: Side, knockout: bool
) -> None:
    climbs = (LevelReached("NS", 9, reached.NS), LevelReached("EW", 9, reached.EW))
    found = decide_match(N, standing(9, 9, reached=climbs), time_up=True, knockout=knockout)
    assert found == MatchVerdict(winner, "first_to_reach")


def test_where_neither_left_the_start_nobody_was_first() -> None:
    assert decide_match(N, standing(2, 2), time_up=True, knockout=False) == ExtraDealNeeded()


def test_up_of_the_extra_deal_wins_it_at_a_against_a_too() -> None:
    equal = standing(ACE, ACE)  # example 81
    found = decide_match(
        TIMED, equal, time_up=True, knockout=True, extra_result=parse_finish("WNS")
    )
    assert found == MatchVerdict("EW", "extra_deal")
    passed = standing(PAST_A, ACE, won="NS")
    found = decide_match(
        TIMED, passed, time_up=True, knockout=True, extra_result=parse_finish("NS")
    )
    assert found == MatchVerdict("NS", "past_a")
