"""When a match is over and who has won it (seed 000 A14, 003 N4.3, 004 CN5)."""

from collections.abc import Sequence
from typing import Literal

import msgspec

from controller.messages import Side
from controller.rules.levels import PAST_A
from controller.rules.profile import GuandanProfile
from controller.rules.result import DealResult
from controller.rules.seats import SIDES
from controller.rules.standing import MatchStanding

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
    """How a match ended. `winner` is None after a draw.

    "disqualified": the losing pair may not play on in the event (seed 000 A15.3.5).
    """

    winner: Side | None
    how: EndReason


class ExtraDealNeeded(msgspec.Struct, frozen=True, gc=False):
    """The limit is reached and nobody has won: an extra deal decides (加打一副)."""


def decide_match(
    profile: GuandanProfile,
    standing: MatchStanding,
    *,
    time_up: bool,
    knockout: bool,
    extra_result: DealResult | None = None,
) -> MatchVerdict | ExtraDealNeeded | None:
    """Return how the match has ended after a deal; None: it goes on.

    `time_up`: its time is over. `knockout`: it must have a winner (seed 000 A14.5).
    `extra`: the result of the extra deal that was just played; who took UP in it wins, at
    A v A as elsewhere (provisional).
    """
    if standing.won is not None:
        past_a = standing.levels.of(standing.won) == PAST_A
        return MatchVerdict(standing.won, "past_a" if past_a else "failures")
    if extra_result is not None:
        return MatchVerdict(extra_result.winners, "extra_deal")
    if not is_limit_reached(profile, standing.deals, time_up=time_up):
        return None
    return _decide_by_level(profile, standing, knockout=knockout)


def is_limit_reached(profile: GuandanProfile, deals: int, *, time_up: bool) -> bool:
    """Tell whether a match has had its deals or its time (seed 000 A14.2)."""
    method, rules = profile.ending.method, profile.ending
    by_deals = method in ("deals", "timed_deals") and deals >= rules.deals
    return by_deals or (method in ("timed", "timed_deals") and time_up)


def round_winner(profile: GuandanProfile, matches: Sequence[MatchVerdict]) -> Side | None:
    """Return who has won a round by its matches so far, the best of `ending.matches`.

    Seed 000 A14.3. None: nobody has more than half of them yet, or the round is drawn.
    """
    for side in SIDES:
        if sum(one.winner == side for one in matches) > profile.ending.matches / 2:
            return side
    return None


def _decide_by_level(
    profile: GuandanProfile, standing: MatchStanding, *, knockout: bool
) -> MatchVerdict | ExtraDealNeeded:
    ahead = standing.levels.NS - standing.levels.EW
    if ahead:
        return MatchVerdict("NS" if ahead > 0 else "EW", "level")
    equal = profile.ending.equal_knockout if knockout else profile.ending.equal
    if equal == "draw":
        return MatchVerdict(None, "draw")
    first = _first_to_reach(standing) if equal == "first_to_reach" else None
    return MatchVerdict(first, "first_to_reach") if first else ExtraDealNeeded()


def _first_to_reach(standing: MatchStanding) -> Side | None:
    """Return who came to the equal level first; None where neither has left the start."""
    level = standing.levels.NS
    ns, ew = standing.first_row_at_level("NS", level), standing.first_row_at_level("EW", level)
    if ns == ew:
        return None
    return "NS" if ns < ew else "EW"
