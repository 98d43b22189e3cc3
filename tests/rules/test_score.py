"""Match points, level points and 004's points."""

from typing import Any

import msgspec
import pytest

from controller.messages import Side
from controller.rules.deal_result import parse_finish
from controller.rules.match_end import EndReason, MatchVerdict, level_points, match_score
from controller.rules.match_standing import MatchStanding, PerSide, PlayedDeal, standing_after_deal
from controller.rules.profile import GuandanProfile
from controller.rules.ranks import ACE, PAST_A, TWO
from tests.guandan import load_guandan
from tests.rows import each_row

INTL = load_guandan("international-000")
N = load_guandan("huainan-2013-003")
B = load_guandan("bcta-004")


def standing(ns: int, ew: int, **more: Any) -> MatchStanding:
    """Two sides at their levels, NS's deal."""
    return msgspec.structs.replace(MatchStanding(PerSide(ns, ew), "NS"), **more)


def scored(profile: GuandanProfile, **score: Any) -> GuandanProfile:
    """A rulebook with other points."""
    return msgspec.structs.replace(profile, score=msgspec.structs.replace(profile.score, **score))


@pytest.mark.parametrize(
    ("winner", "how", "points"),
    [
        ("NS", "level", PerSide(2, 0)),
        ("EW", "past_a", PerSide(0, 2)),
        (None, "draw", PerSide(1, 1)),
        ("EW", "forfeit", PerSide(0, 2)),
        ("NS", "disqualified", PerSide(2, 0)),
    ],
)
def test_a_win_is_two_match_points_and_a_draw_one(
    winner: Side | None, how: EndReason, points: PerSide
) -> None:
    assert match_score(INTL, standing(9, 9), MatchVerdict(winner, how)).match_points == points


@pytest.mark.parametrize(
    ("ns", "ew", "points"),
    [
        (9, 9, PerSide(13, 13)),
        (10, 9, PerSide(14, 12)),
        (9, 10, PerSide(12, 14)),
        (PAST_A, TWO, PerSide(26, 0)),
        (TWO, PAST_A, PerSide(0, 26)),
        (PAST_A, ACE, PerSide(14, 12)),
    ],
)
def test_level_points_follow_the_difference_of_levels(ns: int, ew: int, points: PerSide) -> None:
    winner: Side | None = None if ns == ew else "NS" if ns > ew else "EW"
    score = match_score(INTL, standing(ns, ew), MatchVerdict(winner, "level"))
    assert score.level_points == points
    assert "score.level_points" in score.rests_on


def test_all_level_points_add_up_to_26() -> None:
    assert [sum(level_points(INTL, difference)) for difference in range(14)] == [26] * 14


def test_a_forfeit_is_18_to_nothing() -> None:
    score = match_score(INTL, standing(9, 9), MatchVerdict("EW", "forfeit"))
    assert score.level_points == PerSide(0, 18)


@pytest.mark.parametrize(
    ("lead", "points"), [(0, 18), (4, 18), (5, 18), (6, 19), (9, 22), (10, 23), (12, 25)]
)
def test_the_innocent_side_keeps_its_better_points(lead: int, points: int) -> None:
    score = match_score(INTL, standing(TWO + lead, TWO), MatchVerdict("NS", "forfeit"))
    assert score.level_points == PerSide(points, 0)
    rests = {"score.level_points", "score.forfeit_keeps"} & set(score.rests_on)
    assert len(rests) == (2 if lead else 0), "without a lead 18 stands in the text alone"


def test_by_the_other_reading_it_keeps_a_difference_above_18() -> None:
    margin = scored(INTL, forfeit_keeps="margin")
    for lead, points in ((9, 18), (10, 23)):  # differences of 18 and 20
        score = match_score(margin, standing(TWO + lead, TWO), MatchVerdict("NS", "forfeit"))
        assert score.level_points == PerSide(points, 0)
    none = scored(INTL, forfeit_keeps="none")
    score = match_score(none, standing(ACE, TWO), MatchVerdict("NS", "forfeit"))
    assert score.level_points == PerSide(18, 0)


def test_a_side_that_was_behind_gets_the_18() -> None:
    score = match_score(INTL, standing(TWO, ACE), MatchVerdict("NS", "forfeit"))
    assert score.level_points == PerSide(18, 0)


def test_against_a_disqualified_side_the_score_is_the_fixed_one() -> None:
    score = match_score(INTL, standing(ACE, TWO), MatchVerdict("NS", "disqualified"))
    assert score.level_points == PerSide(18, 0)
    assert "score.forfeit_keeps" not in score.rests_on


def test_003_has_a_winner_and_no_points() -> None:
    score = match_score(N, standing(9, 4), MatchVerdict("NS", "level"))
    assert (score.match_points, score.level_points, score.deal_points, score.total) == (None,) * 4
    assert score.rests_on == ()


def test_004_adds_200_to_the_points_of_its_deals() -> None:
    score = match_score(B, standing(9, 4, points=PerSide(55, 20)), MatchVerdict("NS", "level"))
    assert (score.match_points, score.level_points) == (PerSide(200, 0), None)
    assert (score.deal_points, score.total) == (PerSide(55, 20), PerSide(255, 20))
    drawn = match_score(B, standing(9, 9, points=PerSide(55, 20)), MatchVerdict(None, "draw"))
    assert drawn.total == PerSide(155, 120)


NEAR_A = (
    (12, "NS", 15, 25),
    (12, "NES", 15, 15),
    (10, "NS", 25, 25),
    (13, "NS", 5, 25),
    (ACE, "NEW", 0, 5),
    (ACE, "NS", 25, 25),
)
"""North and South's level, who goes out, points by the levels climbed, and by the result."""


@each_row(("level", "order", "climbed", "by_result"), NEAR_A)
def test_points_of_a_deal_go_by_the_levels_climbed_unless_the_event_says_otherwise(
    level: int, order: str, climbed: int, by_result: int
) -> None:
    played = PlayedDeal(level, "NS", parse_finish(order))
    for profile, points in ((B, climbed), (scored(B, deal_points_by="result"), by_result)):
        after = standing_after_deal(profile, standing(level, TWO), played, 1)
        assert after.points.of("NS") == points
    assert "score.deal_points_by" in B.provisional


def test_a_default_in_004_is_200_to_nothing() -> None:
    score = match_score(B, standing(2, 2), MatchVerdict("EW", "forfeit"))
    assert (score.match_points, score.total) == (PerSide(0, 200), PerSide(0, 200))
