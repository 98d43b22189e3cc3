"""The standing of two sides in a match, and its changes after a deal or a penalty.

The levels, the rules of A and the choice of the level: seed 000 A3.10–11, A14.2. Failures at A: 003
R5.5 and 004 CN5. This module does not depend on how a deal was played.
"""

from collections.abc import Callable

import msgspec
from msgspec.structs import replace

from controller.messages import Side
from controller.rules.deal_result import DealResult, ForfeitedDeal
from controller.rules.profile import GuandanProfile
from controller.rules.ranks import ACE, PAST_A, Level, parse_level
from controller.seats import other_side


class PerSide(msgspec.Struct, frozen=True, gc=False):
    """A pair of numbers, one for each side."""

    NS: int = 0
    EW: int = 0

    def of(self, side: Side) -> int:
        """Return the number that belongs to `side`."""
        return self.NS if side == "NS" else self.EW

    def replace(self, side: Side, number: int) -> "PerSide":
        """Return both numbers, with the number of `side` replaced by `number`."""
        return PerSide(number, self.EW) if side == "NS" else PerSide(self.NS, number)

    def add(self, side: Side, number: int) -> "PerSide":
        """Return both numbers with `number` added to the number of `side`."""
        return self.replace(side, self.of(side) + number)


class PlayedDeal(msgspec.Struct, frozen=True, gc=False):
    """The facts of a deal that change the standing: level, owner of the level, and result.

    `level` is the level that was really played, even if the sheet changes later. `owner`: the side
    whose level was played, None in the first deal. `extra`: a deal that only decides the match.
    """

    level: Level
    owner: Side | None
    result: DealResult
    extra: bool = False


class LevelReached(msgspec.Struct, frozen=True, gc=False):
    """The fact that `side` reached `level` in row `row` of the score sheet. Row 0 is the start."""

    side: Side
    level: Level
    row: int


class MatchStanding(msgspec.Struct, frozen=True, gc=False):
    """The score of a match between two deals: levels, points and failures at A.

    `owner`: the side whose level is played next, None before the first deal. `failures`: deals in
    which a side did not pass its own A. `reached`: the rows in which sides reached levels.
    `points`: the deal points of 004. `won`: the side that passed A, or whose opponents failed too
    often at A. `previous`: the result of the last deal.
    """

    levels: PerSide
    owner: Side | None = None
    failures: PerSide = PerSide()
    reached: tuple[LevelReached, ...] = ()
    points: PerSide = PerSide()
    won: Side | None = None
    deals: int = 0
    previous: DealResult | None = None

    def first_row_at_level(self, side: Side, level: Level) -> int:
        """Return the first row of the score sheet in which `side` was at `level` or higher.

        Row 0 is the start. A level that a penalty took away again still counts as reached (seed 003
        N4.3).
        """
        rows = [climb.row for climb in self.reached if climb.side == side and climb.level >= level]
        return min(rows, default=0)


def level_due(profile: GuandanProfile, standing: MatchStanding) -> Level:
    """Return the level of the next deal: first the starting level, later the last winners' level.

    This rule is provisional. The first deal is played at the starting level, even after a penalty
    (003 N4.3).
    """
    if standing.owner is None:
        return parse_level(profile.levels.start)
    return min(standing.levels.of(standing.owner), ACE)


def initial_standing(profile: GuandanProfile) -> MatchStanding:
    """Return the standing before the first deal. Source: seed 000 A3.10.1."""
    start = parse_level(profile.levels.start)
    there = LevelReached("NS", start, 0), LevelReached("EW", start, 0)
    return MatchStanding(levels=PerSide(start, start), reached=there)


def standing_after_deal(
    profile: GuandanProfile, standing: MatchStanding, played: PlayedDeal, row: int
) -> MatchStanding:
    """Return the standing after the deal `played`, which is row `row` of the score sheet."""
    winners, steps = played.result.winners, levels_gained(profile, played.result)
    passed = has_passed_a(profile, standing, played)
    level = PAST_A if passed else _climb(profile, standing.levels.of(winners), steps)
    climbed = steps if passed else level - standing.levels.of(winners)
    points = standing.points.add(winners, _deal_points(profile, played.result, climbed))
    after = replace(
        _move_to_level(standing, winners, level, row),
        owner=winners,
        points=points,
        won=standing.won or (winners if passed else None),
        deals=standing.deals + 1,
        previous=played.result,
    )
    return _count_failure(profile, after, standing, played, row)


def levels_gained(profile: GuandanProfile, result: DealResult) -> int:
    """Return the number of levels that a result is worth. Source: seed 000 A3.10.2."""
    steps: int = getattr(profile.levels.upgrade, result.result_class)
    return steps


def _deal_points(profile: GuandanProfile, result: DealResult, climbed: int) -> int:
    """Return the deal points for `result`, by which the winners climbed `climbed` levels.

    They depend on these levels, or on the result (004 CN5). The text "升一级5分" is ambiguous
    if fewer levels are left up to A than the result is worth (provisional). A side that passes A
    counts as climbing the full worth of the result.
    """
    points: dict[str, int] = msgspec.structs.asdict(profile.score.deal_points)
    if profile.score.deal_points_by == "result":
        return points[result.result_class]
    worth: dict[str, int] = msgspec.structs.asdict(profile.levels.upgrade)
    return max((points[name] for name in points if worth[name] <= climbed), default=0)


def has_passed_a(profile: GuandanProfile, standing: MatchStanding, played: PlayedDeal) -> bool:
    """Return True if the winners of a deal pass A, the last level, and so win the match.

    A may not be jumped, so the deal must have been played at A, and the winners must have been at
    A. With `a_own_level_only` it must also have been the winners' own A (provisional). Source: seed
    000 A14.2.1.
    """
    rules, winners = profile.levels, played.result.winners
    if standing.levels.of(winners) != ACE or played.level != ACE:
        return False
    if rules.a_own_level_only and played.owner != winners:
        return False
    if isinstance(played.result, ForfeitedDeal):
        return rules.a_forfeited_deal_passes
    return played.result.result_class in rules.a_pass


def apply_level_penalty(
    profile: GuandanProfile, standing: MatchStanding, side: Side, steps: int, row: int
) -> MatchStanding:
    """Return the standing after a penalty moves `side` up by `steps` levels (down if negative).

    The new level stays within the bounds of the profile, and a penalty never lifts a side past A. A
    side past A does not come back, because that side has won (provisional). The level of a deal in
    progress does not change. Source: seed 003 R6.2–3.
    """
    if standing.levels.of(side) == PAST_A:
        return standing
    least, most = map(parse_level, profile.penalties.level_bounds)
    level = standing.levels.of(side)
    return _move_to_level(
        standing, side, max(least, min(most, level + steps)) if steps else level, row
    )


def _climb(profile: GuandanProfile, level: Level, steps: int) -> Level:
    """Return the level that a side at `level` reaches if it climbs by `steps` levels.

    It stops at a level that must be played. Seed 000 A14.2.1 names A, and an event may name other
    levels.
    """
    if level >= ACE:
        return level
    stops = [parse_level(rank) for rank in profile.levels.must_play]
    return min([level + steps, *(stop for stop in stops if stop > level)])


def _move_to_level(standing: MatchStanding, side: Side, level: Level, row: int) -> MatchStanding:
    if standing.levels.of(side) == level:
        return standing
    return replace(
        standing,
        levels=standing.levels.replace(side, level),
        reached=(*standing.reached, LevelReached(side, level, row)),
    )


def _count_failure(
    profile: GuandanProfile,
    after: MatchStanding,
    before: MatchStanding,
    played: PlayedDeal,
    row: int,
) -> MatchStanding:
    """Return `after`, with a failure added if a side played its own A and did not pass A.

    The last allowed failure has a consequence (`_AFTER_LAST_FAILURE`). An extra deal is never a
    failure, because UP wins it (provisional). Source: 003 R5.5, 004 CN5.
    """
    owner, rules = played.owner, profile.levels
    if played.extra:
        return after
    if rules.a_fail_counts == "consecutive":
        at_a = owner if played.level == ACE else None
        kept = PerSide() if at_a is None else PerSide().replace(at_a, after.failures.of(at_a))
        after = replace(after, failures=kept)
    if owner is None or played.level != ACE or after.won or not rules.a_fail_limit:
        return after
    if before.levels.of(owner) != ACE:
        return after
    failed = after.failures.of(owner) + 1
    bonus = rules.a_fail_points[failed - 1] if failed <= len(rules.a_fail_points) else 0
    after = replace(
        after,
        failures=after.failures.replace(owner, failed),
        points=after.points.add(other_side(owner), bonus),
    )
    if failed < rules.a_fail_limit:
        return after
    return _AFTER_LAST_FAILURE[rules.a_fail_then](profile, after, owner, row)


def _return_to_start(
    profile: GuandanProfile, after: MatchStanding, owner: Side, row: int
) -> MatchStanding:
    back = _move_to_level(after, owner, parse_level(profile.levels.start), row)
    return replace(
        back,
        failures=back.failures.replace(owner, 0),
        reached=tuple(climb for climb in back.reached if climb.side != owner or not climb.row),
    )


_AFTER_LAST_FAILURE: dict[
    str, Callable[[GuandanProfile, MatchStanding, Side, int], MatchStanding]
] = {
    "back_to_2": _return_to_start,
    "opponents_win": lambda profile, after, owner, row: replace(after, won=other_side(owner)),
}
"""The consequence of the last allowed failure at A."""
