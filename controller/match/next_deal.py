"""The step after a deal: the next deal, an extra deal, or the end of the match."""

from typing import Any, TypeVar, cast

from msgspec.structs import replace

from controller.match.clocks import match_clock
from controller.match.match_effects import DealDue, Effects, RefereeCalled
from controller.match.match_state import AnyMatch, BigTwoMatch, GuandanMatch, SignedVersion
from controller.match.phase import BEFORE_RELEASE, MatchPhase
from controller.match.rulings import is_in_force
from controller.match.sheet_rows import EndRow, SheetRow, apply_row, last_deal_row
from controller.messages import Seat
from controller.rules.deal_duties import DealDuties, duties_before_deal
from controller.rules.deal_result import ForfeitedDeal
from controller.rules.match_end import (
    EndReason,
    ExtraDealNeeded,
    MatchVerdict,
    decide_match,
    match_score,
)
from controller.rules.match_standing import level_due
from controller.rules.penalties.proposals import MatchLost, PairDisqualified
from controller.seats import other_side


def match_outcome(match: GuandanMatch, at_ms: int) -> MatchVerdict | ExtraDealNeeded | None:
    """Return the verdict if the match must end now, ExtraDealNeeded if an extra deal must decide
    the match, or None if the match continues without an extra deal.
    """
    last = last_deal_row(match.sheet)
    return verdict_by_ruling(match) or decide_match(
        match.profile,
        match.standing,
        time_up=_is_out_of_time(match, at_ms),
        knockout=match.meeting.stage == "knockout",
        extra_result=last.result if last is not None and last.extra else None,
    )


def verdict_by_ruling(match: GuandanMatch) -> MatchVerdict | None:
    """Return the verdict (winner and reason) if a ruling ended the match, or None if none did.

    A match is lost once, and the first such ruling counts. If neither pair came, there is no winner
    (both provisional).
    """
    verdicts = []
    for ruling in filter(is_in_force, match.rulings):
        effects = ruling.proposal.effects
        expelled = any(isinstance(effect, PairDisqualified) for effect in effects)
        how: EndReason = "disqualified" if expelled else "forfeit"
        lost = [effect.side for effect in effects if isinstance(effect, MatchLost)]
        verdicts += [MatchVerdict(other_side(side), how) for side in lost[:1]]
    if not match.deal and len({end.winner for end in verdicts}) > 1:
        return MatchVerdict(None, "both_lost")
    return verdicts[0] if verdicts else None


def is_time_up_for_deals(match: AnyMatch, at_ms: int) -> bool:
    """Return whether the time limit forbids the deal that is due, or ends the deal that has begun.

    An extra deal does not depend on time. A deal that had begun and is dealt again is not a new
    deal (seed 003 N4.4), but by the text of seed 000 A14.2.3–4 time ends that deal, too. A release
    that was ordered in time continues.
    """
    extra = isinstance(match, GuandanMatch) and match.extra
    if extra or match.is_being_released or (match.begun and not match.clock.stops_deals):
        return False
    return not match_clock.has_time_for_deal(match.clock, at_ms)


def is_added_time_open(match: AnyMatch, at_ms: int) -> bool:
    """Return whether a referee must still decide how much time to add for interruptions."""
    later = match.clock.stops[match.settled_stops :]
    costly = any(match_clock.cost_ms(match.clock, stop, at_ms) for stop in later)
    return costly and match_clock.added_time_due(match.clock, at_ms) is not None


def _is_out_of_time(match: GuandanMatch, at_ms: int) -> bool:
    """Return whether the match ends now because its time is up.

    A deal that has begun is played out, unless the end of time stops a running deal
    (`stops_deals`). The match also waits for a referee who must decide about lost time. Neither
    exception holds for an extra deal, because an extra deal is due only after time is up.
    """
    if match.extra:
        out_of_time = not match_clock.has_time_for_deal(match.clock, at_ms)
        return out_of_time and not match.is_being_released
    due = match.phase in BEFORE_RELEASE | {MatchPhase.FORFEIT}
    return is_time_up_for_deals(match, at_ms) and not (due and is_added_time_open(match, at_ms))


MatchT = TypeVar("MatchT", bound=AnyMatch)
StepResult = tuple[AnyMatch, Effects]
"""A match after an event, and the effects of the event."""


def begin_deal(match: AnyMatch, *, extra: bool = False) -> StepResult:
    """Return the match at the start of its next deal, and the request that the machine deals it.

    Source: seed 000 A5, seed 002 A5.
    """
    number = match.deal + 1
    fresh = replace(match, deal=number, misdeals=0, by_hand=False, began_ms=None, **_EMPTY_ATTEMPT)
    if isinstance(fresh, GuandanMatch):
        fresh = follow_standing(fresh)
        fresh = replace(fresh, extra=extra, exchange=None, gone=(), outs=(), dead=())
    elif isinstance(fresh, BigTwoMatch):
        fresh = replace(fresh, choices=None, left={})
    return begin_attempt(fresh)


def begin_attempt(match: AnyMatch) -> StepResult:
    """Return the match at the start of a new attempt at its deal, and the request that the machine
    or people deal the cards (DealDue).
    """
    due = deal_duties_of(match)
    fresh = replace(
        match,
        phase=MatchPhase.SHUFFLE if match.by_hand else MatchPhase.CUT,
        duties=due,
        **_EMPTY_ATTEMPT,
    )
    return fresh, (DealDue(fresh.deal, fresh.by_hand, due),)


def deal_duties_of(match: AnyMatch, shuffler: Seat | None = None) -> DealDuties:
    """Return the duties before the present deal: who shuffles, cuts and draws the first card.

    `shuffler` is the seat that has shuffled, or None before that.
    """
    if isinstance(match, GuandanMatch):
        number = 1 if match.follows is None else match.deal
        return duties_before_deal(
            match.profile, number, match.follows, by_hand=match.by_hand, shuffler=shuffler
        )
    profile, rows = match.profile, cast(BigTwoMatch, match).rows
    cuts = profile.cuts()
    out_first = [seat for seat, cards in rows[-1].left.items() if not cards] if rows else []
    return DealDuties(
        shufflers=(),
        cutters=(out_first[0] if rows else profile.cutter_first,),
        shuffles=profile.shuffles_later if rows else profile.shuffles_first,
        cuts=(cuts[0], cuts[-1]),
        turnup=False,
        first_drawer=None,
        keys=("cutter_later" if rows else "cutter_first",),
    )


def add_row(match: GuandanMatch, row: SheetRow) -> GuandanMatch:
    """Return the match with one more row on its score sheet. The row must not be a correction."""
    standing = apply_row(match.profile, match.standing, row)
    return replace(match, sheet=(*match.sheet, row), standing=standing)


def next_row_number(match: GuandanMatch) -> int:
    """Return the number of the next row of the score sheet."""
    return len(match.sheet) + 1


def continue_match(match: GuandanMatch, at_ms: int) -> StepResult:
    """Return the match moved to its next step: a new deal, a person's decision, or the end.

    The decision is the name of a leader, or the chief's decision about an extra deal.
    """
    match = replace(match, begun=False, outs=())
    end = match_outcome(match, at_ms)
    if isinstance(end, MatchVerdict):
        return end_match(match, end, at_ms)
    match = replace(match, verdict=None, score=None, extra=False)
    if isinstance(end, ExtraDealNeeded):
        return replace(match, phase=MatchPhase.MATCH_CHECK), (RefereeCalled("extra_deal"),)
    if not match.deal:
        return replace(match, phase=MatchPhase.SETUP), ()
    if is_leader_unnamed(match):
        return replace(match, phase=MatchPhase.FORFEIT), (RefereeCalled("name_leader"),)
    return begin_deal(match)


def follow_standing(match: GuandanMatch) -> GuandanMatch:
    """Return the match with `level`, `owner` and `follows` (the last result) from its standing."""
    standing = match.standing
    level = level_due(match.profile, standing)
    return replace(match, level=level, owner=standing.owner, follows=standing.previous)


def is_leader_unnamed(match: GuandanMatch) -> bool:
    """Return whether the last deal was forfeited and the next leader is not named yet."""
    previous = match.standing.previous
    return isinstance(previous, ForfeitedDeal) and previous.leader is None


def end_match(match: GuandanMatch, end: MatchVerdict, at_ms: int) -> StepResult:
    """Return the ended match, with its verdict and score as the last row of the score sheet."""
    score = match_score(match.profile, match.standing, end)
    row = EndRow(row=next_row_number(match), at_ms=at_ms, verdict=end, score=score)
    over = replace(
        add_row(match, row),
        phase=MatchPhase.OVER,
        verdict=end,
        score=score,
        begun=False,
        outs=(),
        clocks=(),
        suspended=None,
        claimed=None,
    )
    return over, ()


def open_new_version(match: GuandanMatch) -> GuandanMatch:
    """Return an ended match with a new version of its score sheet, which needs new signatures.

    The old version stays, with its signatures. A match that has not ended is returned unchanged.
    """
    if not match.verdict:
        return match
    rows = max(row.row for row in match.sheet if isinstance(row, EndRow))
    old = SignedVersion(match.version, rows, match.signatures)
    return replace(match, signatures=(), version=match.version + 1, replaced=(*match.replaced, old))


def reconsider_match(match: GuandanMatch, at_ms: int) -> StepResult:
    """Decide again how the match continues, after its score sheet was changed.

    The change may end the match, or change what is due. A deal that has begun stays as it is, and
    the check waits for its end. A deal that is only due follows the new sheet.
    """
    if match.is_deal_under_way or match.phase is MatchPhase.SETUP:
        return match, ()
    if match.phase not in BEFORE_RELEASE:
        return continue_match(open_new_version(match), at_ms)
    if instead := outcome_instead_of_deal(match, at_ms):
        return instead
    fresh = follow_standing(match)
    # If deals became void, those are due instead of an extra deal.
    if not match_outcome(fresh, at_ms):
        fresh = replace(fresh, extra=False)
    same = fresh.follows == match.follows
    return replace(fresh, duties=match.duties if same else deal_duties_of(fresh)), ()


def outcome_instead_of_deal(match: GuandanMatch, at_ms: int) -> StepResult | None:
    """Return the match in the phase that replaces the next deal, or None if that deal is due.

    The match ends, or it waits until the next leader is named. An extra deal that the chief ordered
    after a draw is not cancelled by the same draw.
    """
    end = match_outcome(match, at_ms)
    if isinstance(end, MatchVerdict) and not (match.extra and end.how == "draw"):
        return end_match(match, end, at_ms)
    if is_leader_unnamed(match):
        waiting = replace(match, phase=MatchPhase.FORFEIT, deal=match.deal - 1, **_EMPTY_ATTEMPT)
        return waiting, (RefereeCalled("name_leader"),)
    return None


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
"""The fields that an attempt resets."""
