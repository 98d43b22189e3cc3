"""The end of a match, its winner and its score. Source: seed 000 A13.3, A14, 003 N4.3, 004 CN5."""

from typing import Literal

import msgspec

from controller.messages import Side
from controller.rules.deal_result import DealResult
from controller.rules.match_standing import MatchStanding, PerSide
from controller.rules.profile import GuandanProfile
from controller.rules.ranks import PAST_A
from controller.seats import other_side

EndReason = Literal[
    "past_a",
    "failures",
    "level",
    "first_to_reach",
    "draw",
    "extra_deal",
    "forfeit",
    "disqualified",
    "both_lost",
]


class MatchVerdict(msgspec.Struct, frozen=True, gc=False):
    """The winner of a match, and the way in which the match ended.

    `winner` is None after a draw. After "disqualified" the losing pair may not continue in the
    event (seed 000 A15.3.5).
    """

    winner: Side | None
    how: EndReason


class ExtraDealNeeded(msgspec.Struct, frozen=True, gc=False):
    """An outcome: the sides are equal at the match's limit, so an extra deal decides (加打一副)."""


def decide_match(
    profile: GuandanProfile,
    standing: MatchStanding,
    *,
    time_up: bool,
    knockout: bool,
    extra_result: DealResult | None = None,
) -> MatchVerdict | ExtraDealNeeded | None:
    """Return the verdict, ExtraDealNeeded if an extra deal decides, or None if the match continues.

    `time_up`: the time of the match is over. `knockout`: the match must have a winner (seed 000
    A14.5). `extra_result`: the result of the extra deal that was just played. The side that
    finishes first in the extra deal wins the match, also if both sides are at A (provisional).
    """
    if standing.won is not None:
        past_a = standing.levels.of(standing.won) == PAST_A
        return MatchVerdict(standing.won, "past_a" if past_a else "failures")
    if extra_result is not None:
        return MatchVerdict(extra_result.winners, "extra_deal")
    if not is_limit_reached(profile, standing.deals, time_up=time_up):
        return None
    ahead = standing.levels.NS - standing.levels.EW
    if ahead:
        return MatchVerdict("NS" if ahead > 0 else "EW", "level")
    equal = profile.ending.equal_knockout if knockout else profile.ending.equal
    if equal == "draw":
        return MatchVerdict(None, "draw")
    sides: tuple[Side, Side] = ("NS", "EW")
    ns, ew = (standing.first_row_at_level(side, standing.levels.NS) for side in sides)
    if equal == "extra_deal" or ns == ew:  # Equal rows: neither side has left the start.
        return ExtraDealNeeded()
    return MatchVerdict("NS" if ns < ew else "EW", "first_to_reach")


def is_limit_reached(profile: GuandanProfile, deals: int, *, time_up: bool) -> bool:
    """Return True if a match has reached its limit of deals or time. Source: seed 000 A14.2."""
    method, rules = profile.ending.method, profile.ending
    by_deals = method in ("deals", "timed_deals") and deals >= rules.deals
    return by_deals or (method in ("timed", "timed_deals") and time_up)


PENALTY_END_REASONS = frozenset({"forfeit", "disqualified", "both_lost"})
"""Reasons for an end without a comparison of levels.

A forfeit keeps the better real points (A15.3.4).
"""


class MatchScore(msgspec.Struct, frozen=True, gc=False):
    """The points that both sides get for a match.

    A field is None if the rulebook has no points of that kind. `total`: match points plus deal
    points. `rests_on`: the provisional keys that these numbers depend on, printed beside the
    numbers.
    """

    match_points: PerSide | None
    level_points: PerSide | None
    deal_points: PerSide | None
    total: PerSide | None
    rests_on: tuple[str, ...]


def match_score(profile: GuandanProfile, standing: MatchStanding, end: MatchVerdict) -> MatchScore:
    """Return the points of a match that ended with `end`. Source: seed 000 A13.3, 004 CN5."""
    match_points = _match_points(profile, end)
    level_points, by_table = _level_points(profile, standing, end)
    worth = profile.score.deal_points
    deal_points = standing.points if any((worth.R12, worth.R13, worth.R14)) else None
    total = None
    if profile.score.total == "sum" and deal_points is not None and match_points is not None:
        total = PerSide(deal_points.NS + match_points.NS, deal_points.EW + match_points.EW)
    used = {
        "score.match_points": match_points is not None,
        "score.level_points": by_table,
        "score.forfeit_keeps": by_table and end.how == "forfeit",
        "score.total": total is not None,
    }
    rests_on = tuple(key for key, is_used in used.items() if is_used and not profile.article(key))
    return MatchScore(match_points, level_points, deal_points, total, rests_on)


def level_points(profile: GuandanProfile, difference: int) -> tuple[int, int]:
    """Return the level points of winner and loser if their levels differ by `difference` (0…13)."""
    return profile.score.level_points[difference]


def _match_points(profile: GuandanProfile, end: MatchVerdict) -> PerSide | None:
    points = profile.score.match_points
    if end.how in PENALTY_END_REASONS and profile.score.forfeit_match_points:
        win, loss = profile.score.forfeit_match_points
        return _points_by_side(end.winner, win, loss)
    if not points:
        return None
    win, draw, loss = points
    return PerSide(draw, draw) if end.how == "draw" else _points_by_side(end.winner, win, loss)


def _level_points(
    profile: GuandanProfile, standing: MatchStanding, end: MatchVerdict
) -> tuple[PerSide | None, bool]:
    """Return each side's level points, or None, and whether `score.level_points` decides them.

    The points are None if that list is empty. After a penalty they may be fixed numbers. Source:
    seed 000 A15.3.4.
    """
    levels, score = standing.levels, profile.score
    if not score.level_points:
        return None, False
    fixed = score.forfeit_level_points if end.how in PENALTY_END_REASONS else []
    if end.how == "both_lost":
        return PerSide(), not fixed
    if not fixed:
        ahead: Side = "NS" if levels.NS >= levels.EW else "EW"
        return _points_by_side(ahead, *level_points(profile, abs(levels.NS - levels.EW))), True
    win, loss = fixed
    if end.how != "forfeit" or end.winner is None:
        return _points_by_side(end.winner, win, loss), False
    lead = levels.of(end.winner) - levels.of(other_side(end.winner))
    win = _forfeit_points(profile, lead, win)
    return _points_by_side(end.winner, win, loss), lead > 0


def _forfeit_points(profile: GuandanProfile, lead: int, fixed: int) -> int:
    """Return the level points of a winner by forfeit: `fixed`, or the real points if better.

    The winner is `lead` levels above the loser. With `forfeit_keeps` = "higher" the real points of
    the winner are compared with the fixed points. With "margin" the difference between the real
    points of both sides is compared with the fixed points. Source: seed 000 A15.3.4.
    """
    if lead <= 0 or profile.score.forfeit_keeps == "none":
        return fixed
    real, theirs = level_points(profile, lead)
    counts = real if profile.score.forfeit_keeps == "higher" else real - theirs
    return real if counts > fixed else fixed


def _points_by_side(winner: Side | None, win: int, loss: int) -> PerSide:
    """Return `win` points for the winner and `loss` points for each side that did not win."""
    if winner is None:
        return PerSide(loss, loss)
    return PerSide(win, loss) if winner == "NS" else PerSide(loss, win)
