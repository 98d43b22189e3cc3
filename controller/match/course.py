"""From deal to deal: which one is next, and when there is none any more."""

from typing import Any, TypeVar, cast

import msgspec

from controller.match.effects import (
    DealDue,
    Effects,
    ExtraDealDue,
    HandsVoided,
    RefereeCalled,
    Written,
)
from controller.match.judging import judged
from controller.match.phase import BEFORE_RELEASE, Phase
from controller.match.sheet import EndRow, SheetRow, advanced
from controller.match.state import BigTwoMatch, GuandanMatch, Match, SignedVersion
from controller.messages import Seat
from controller.rules.ceremony import DealDuties, duties
from controller.rules.ending import ExtraDealNeeded, Verdict
from controller.rules.result import ForfeitedDeal
from controller.rules.score import match_score
from controller.rules.standing import level_due

M = TypeVar("M", bound=Match)
Stepped = tuple[Match, Effects]
"""A match after an event, and what that leads to."""


def changed(match: M, **changes: Any) -> M:
    """Return a match with some of its fields replaced."""
    return msgspec.structs.replace(match, **changes)


def begin_deal(match: Match, *, extra: bool = False) -> Stepped:
    """Return the match with its next deal due, by the machine (seed 000 A5, 002 A5)."""
    fresh = changed(
        match,
        deal=match.deal + 1,
        misdeals=0,
        by_hand=False,
        began_ms=None,
        **_EMPTY_ATTEMPT,
    )
    if isinstance(fresh, GuandanMatch):
        fresh = changed(
            follow_standing(fresh),
            extra=extra,
            exchange=None,
            gone=(),
            outs=(),
            dead=(),
        )
    elif isinstance(fresh, BigTwoMatch):
        fresh = changed(fresh, choices=None, left={})
    return begin_attempt(fresh)


def begin_attempt(match: Match) -> Stepped:
    """Return the match with an attempt of its present deal due, nothing done for it yet."""
    due = deal_duties_of(match)
    fresh = changed(
        match,
        phase=Phase.SHUFFLE if match.by_hand else Phase.CUT,
        duties=due,
        **_EMPTY_ATTEMPT,
    )
    return fresh, (DealDue(fresh.deal, fresh.by_hand, due),)


def deal_duties_of(match: Match, shuffler: Seat | None = None) -> DealDuties:
    """Return who does what before the present deal."""
    if isinstance(match, GuandanMatch):
        number = 1 if match.follows is None else match.deal
        return duties(
            match.profile, number, match.follows, by_hand=match.by_hand, shuffler=shuffler
        )
    profile, rows = match.profile, cast(BigTwoMatch, match).rows
    cuts = profile.cuts()
    return DealDuties(
        shufflers=(),
        cutters=(_seat_out_first(rows[-1].left),) if rows else (profile.cutter_first,),
        shuffles=profile.shuffles_later if rows else profile.shuffles_first,
        cuts=(cuts[0], cuts[-1]),
        turnup=False,
        first_drawer=None,
        keys=("cutter_later" if rows else "cutter_first",),
    )


def written(match: GuandanMatch, row: SheetRow) -> tuple[GuandanMatch, Effects]:
    """Return the match with a row more on its sheet, which is no correction."""
    standing = advanced(match.profile, match.standing, row)
    return changed(match, sheet=(*match.sheet, row), standing=standing), (Written(row),)


def next_row_number(match: GuandanMatch) -> int:
    """Return the number of the sheet's next row."""
    return len(match.sheet) + 1


def go_on(match: GuandanMatch, at_ms: int) -> Stepped:
    """Return what comes after a row was written: the next deal, a name, or the end."""
    match = changed(match, begun=False, outs=())
    end = judged(match, at_ms)
    if isinstance(end, Verdict):
        return ended(match, end, at_ms)
    void = void_hands(match, "time_up")
    match = changed(match, verdict=None, score=None, extra=False)
    if isinstance(end, ExtraDealNeeded):
        waiting = changed(match, phase=Phase.MATCH_CHECK)
        return waiting, (*void, ExtraDealDue(), RefereeCalled("extra_deal"))
    if not match.deal:
        return changed(match, phase=Phase.SETUP), ()
    if is_leader_unnamed(match):
        return changed(match, phase=Phase.FORFEIT), (RefereeCalled("name_leader"),)
    return begin_deal(match)


def follow_standing(match: GuandanMatch) -> GuandanMatch:
    """Return the match with its present deal at the level and after the result of the sheet."""
    standing = match.standing
    level = level_due(match.profile, standing)
    return changed(match, level=level, owner=standing.owner, follows=standing.previous)


def is_leader_unnamed(match: GuandanMatch) -> bool:
    """Tell whether the next deal's leader has to be named: the last deal was forfeited."""
    previous = match.standing.previous
    return isinstance(previous, ForfeitedDeal) and previous.leader is None


def ended(match: GuandanMatch, end: Verdict, at_ms: int) -> Stepped:
    """Return the match over, with its score on the sheet."""
    score = match_score(match.profile, match.standing, end)
    row = EndRow(row=next_row_number(match), at_ms=at_ms, verdict=end, score=score)
    over, effects = written(match, row)
    over = changed(
        over,
        phase=Phase.OVER,
        verdict=end,
        score=score,
        begun=False,
        outs=(),
        clocks=(),
        suspended=None,
        claimed=None,
    )
    return over, (*effects, *void_hands(match, "match_over"))


def void_hands(match: Match, reason: str) -> tuple[HandsVoided, ...]:
    """Return the effect that voids what is dealt for a deal not begun; () where none is due."""
    return (HandsVoided(reason),) if match.phase in BEFORE_RELEASE else ()


def unsigned(match: GuandanMatch) -> GuandanMatch:
    """Return a match that was over with its sheet as a new version, to be signed anew.

    The version before it stays, with its signatures.
    """
    if not match.verdict:
        return match
    rows = max(row.row for row in match.sheet if isinstance(row, EndRow))
    old = SignedVersion(match.version, rows, match.signatures)
    return changed(match, signatures=(), version=match.version + 1, replaced=(*match.replaced, old))


def reopened(match: GuandanMatch, at_ms: int) -> Stepped:
    """Return the match after its sheet was changed behind it: over or not, and what is due.

    A deal that has begun stays what it is, and the check waits for its end. One that is
    only due is due as the new sheet says.
    """
    if match.under_way or match.phase is Phase.SETUP:
        return match, ()
    if match.phase not in BEFORE_RELEASE:
        return go_on(unsigned(match), at_ms)
    if instead := outcome_instead_of_deal(match, at_ms):
        return instead
    fresh = follow_standing(match)
    if not judged(fresh, at_ms):  # deals became void: those are due, and no extra one
        fresh = changed(fresh, extra=False)
    same = fresh.follows == match.follows
    return changed(fresh, duties=match.duties if same else deal_duties_of(fresh)), ()


def outcome_instead_of_deal(match: GuandanMatch, at_ms: int) -> Stepped | None:
    """Return what comes by the sheet instead of the deal that was due; None: that deal.

    An extra deal that the chief ordered after a draw is not taken back by the same draw.
    """
    end = judged(match, at_ms)
    if isinstance(end, Verdict) and not (match.extra and end.how == "draw"):
        return ended(match, end, at_ms)
    if is_leader_unnamed(match):
        waiting = changed(match, phase=Phase.FORFEIT, deal=match.deal - 1, **_EMPTY_ATTEMPT)
        return waiting, (*void_hands(match, "name_leader"), RefereeCalled("name_leader"))
    return None


def _seat_out_first(left: dict[Seat, int]) -> Seat:
    return next(seat for seat, cards in left.items() if not cards)


_EMPTY_ATTEMPT: dict[str, Any] = {
    "shuffler": None,
    "cutter": None,
    "cut": None,
    "turned_up": None,
    "turned_to": None,
    "let_go": False,
    "first_drawer": None,
    "leader": None,
    "led": False,
    "ended_ms": None,
    "counted": (),
    "claimed": None,
    "confirmed": (),
    "clocks": (),
}
"""What an attempt begins without."""
