"""What a match is worth: match points (场分), level points (级分) and 004's points."""

import msgspec

from controller.messages import Side
from controller.rules.ending import MatchVerdict
from controller.rules.profile import GuandanProfile
from controller.rules.seats import other_side
from controller.rules.standing import MatchStanding, PerSide

PENALTY_END_REASONS = frozenset({"forfeit", "disqualified", "both_lost"})
"""Ends without a level to compare; a forfeit keeps the better real points (A15.3.4)."""


class MatchScore(msgspec.Struct, frozen=True, gc=False):
    """A match in points. None: the rulebook has no points of that kind.

    `total`: match points and deal points together. `rests_on`: the provisional keys behind
    these numbers, to be printed beside them.
    """

    match_points: PerSide | None
    level_points: PerSide | None
    deal_points: PerSide | None
    total: PerSide | None
    rests_on: tuple[str, ...]


def match_score(profile: GuandanProfile, standing: MatchStanding, end: MatchVerdict) -> MatchScore:
    """Return the points of a match that ended with `end` (seed 000 A13.3, 004 CN5)."""
    match_points = _match_points(profile, end)
    level_points = _level_points(profile, standing, end)
    deal_points = standing.points if _has_deal_points(profile) else None
    total = None
    if profile.score.total == "sum" and deal_points is not None and match_points is not None:
        total = PerSide(deal_points.NS + match_points.NS, deal_points.EW + match_points.EW)
    by_table = level_points is not None and not _has_fixed_level_points(profile, end, standing)
    used = {
        "score.match_points": match_points is not None,
        "score.level_points": by_table,
        "score.forfeit_keeps": by_table and end.how == "forfeit",
        "score.total": total is not None,
    }
    rests_on = tuple(key for key, is_used in used.items() if is_used and not profile.article(key))
    return MatchScore(match_points, level_points, deal_points, total, rests_on)


def level_points(profile: GuandanProfile, difference: int) -> tuple[int, int]:
    """Return winner's and loser's level points for a difference of 0…13 levels."""
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
) -> PerSide | None:
    if not profile.score.level_points:
        return None
    if end.how == "both_lost":
        return PerSide()
    if end.how in PENALTY_END_REASONS and profile.score.forfeit_level_points:
        win, loss = profile.score.forfeit_level_points
        if end.how == "forfeit" and end.winner is not None:
            win = _forfeit_points(profile, standing, end.winner, win)
        return _points_by_side(end.winner, win, loss)
    ahead: Side = "NS" if standing.levels.NS >= standing.levels.EW else "EW"
    return _points_by_side(
        ahead, *level_points(profile, abs(standing.levels.NS - standing.levels.EW))
    )


def _has_fixed_level_points(
    profile: GuandanProfile, end: MatchVerdict, standing: MatchStanding
) -> bool:
    """Tell whether level points are those of a forfeit, whatever the table says (A15.3.4)."""
    if end.how not in PENALTY_END_REASONS or not profile.score.forfeit_level_points:
        return False
    if end.winner is None or end.how != "forfeit":
        return True
    return standing.levels.of(end.winner) <= standing.levels.of(other_side(end.winner))


def _forfeit_points(
    profile: GuandanProfile, standing: MatchStanding, winner: Side, fixed: int
) -> int:
    """Return the innocent side's level points: its real ones where they are more (A15.3.4).

    `forfeit_keeps`: "higher" compares the points themselves, "margin" both sides' difference.
    """
    lead = standing.levels.of(winner) - standing.levels.of(other_side(winner))
    if lead <= 0 or profile.score.forfeit_keeps == "none":
        return fixed
    real, theirs = level_points(profile, lead)
    counts = real if profile.score.forfeit_keeps == "higher" else real - theirs
    return real if counts > fixed else fixed


def _has_deal_points(profile: GuandanProfile) -> bool:
    points = profile.score.deal_points
    return any((points.R12, points.R13, points.R14))


def _points_by_side(winner: Side | None, win: int, loss: int) -> PerSide:
    """Return both sides' points; without a winner both have lost."""
    if winner is None:
        return PerSide(loss, loss)
    return PerSide(win, loss) if winner == "NS" else PerSide(loss, win)
