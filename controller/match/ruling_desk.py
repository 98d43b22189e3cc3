"""Penalties: a referee proposes a penalty, an authorised person decides, and the match changes.

A decision changes the deal, the levels and the match by the consequences of its proposal, with one
function for each kind. controller/rules/penalties/proposals.py lists the kinds, and the penalties
that have them. Everything else about a ruling is in rulings.py.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, get_args

from msgspec.structs import replace

from controller.match import match_events as events
from controller.match import rulings, sheet_rows
from controller.match.deal_end import update_places
from controller.match.match_effects import Effects
from controller.match.match_state import GuandanMatch, TributeExchange
from controller.match.next_deal import (
    StepResult,
    add_row,
    continue_match,
    end_match,
    next_row_number,
    open_new_version,
    reconsider_match,
    verdict_by_ruling,
)
from controller.match.phase import BEFORE_RELEASE, ENDED_PHASES, MatchPhase
from controller.match.refusals import refuse, refuse_finish
from controller.match.sheet_writing import (
    correct_result,
    make_deal_row,
    rank_text_of_value,
    stop_deal_under_way,
)
from controller.match.tribute_exchange import is_withholding
from controller.rules import deal_result
from controller.rules.penalties.charges import Charge
from controller.rules.penalties.offences import find_offence
from controller.rules.penalties.penalty_record import Penalty, PenaltyRecord
from controller.rules.penalties.proposals import (
    Consequence,
    DeadHand,
    DealLost,
    LevelDown,
    LevelUp,
    MatchLost,
    PairDisqualified,
    PenaltyProposal,
    TurnLost,
    discretionary_proposal,
    propose_penalties,
)
from controller.rules.profile import GuandanProfile
from controller.rules.ranks import Level, level_text
from controller.rules.tribute import tribute_payers
from controller.rules.tribute_returns import MAX_LOW_RANK, WrongCardKind, return_rule_between
from controller.seats import side_of

_WRONG_CARD_OFFENCES: Final[Mapping[str, WrongCardKind]] = {
    "wrong_tribute": "tribute",
    "wrong_tribute_in_play": "tribute",
    "wrong_return": "return",
    "wrong_return_in_play": "return",
}
"""Offences about a wrong card, and which card each concerns."""
_TEN_OR_LESS: Final = frozenset(map(str, range(2, MAX_LOW_RANK + 1)))


def current_record(match: GuandanMatch) -> PenaltyRecord:
    """Return the penalties of both pairs, from earlier matches and from rulings in force."""
    return rulings.record_with_rulings(match.record, match.rulings)


def legal_proposals(match: GuandanMatch, charge: Charge) -> tuple[PenaltyProposal, ...]:
    """Return the penalties that are possible in this match for a charge (an accusation).

    The first is the next step on the rulebook's ladder of penalties. Raises RefusedError if there
    are none.
    """
    try:
        return propose_penalties(match.profile, current_record(match), charge)
    except LookupError:
        refuse("NOT_LEGAL")


class _DueCards(NamedTuple):
    """The tribute and return cards that were due in a deal, as far as the table recorded them.

    `level` is the level of the deal.
    """

    level: Level
    tribute: tuple[sheet_rows.CardGiven, ...]
    returns: tuple[sheet_rows.CardGiven, ...]


def require_possible_charge(match: GuandanMatch, charge: Charge) -> None:
    """Raise RefusedError if a charge (an accusation) contradicts the known facts of its deal.

    The charge is a wrong card, but the player had none to give, or the return is right. A deal
    without a row, and a deal whose hands are not released, contradict nothing. A return
    that is not public yet is not checked, because the refusal would reveal its card.
    """
    kind = _WRONG_CARD_OFFENCES.get(charge.offence)
    deal = None if kind is None else _due_cards(match, rulings.deal_of_charge(charge))
    if deal is None:
        return
    due = deal.tribute if kind == "tribute" else deal.returns
    charged = [
        one
        for one in due
        if one.giver == charge.seat or (charge.seat is None and side_of(one.giver) == charge.side)
    ]
    if not charged:
        givers = " / ".join(one.giver for one in due)
        refuse("NO_CARD_OF_HIS", charge.seat or charge.side, givers)
    if kind == "return" and all(_is_return_right(match.profile, deal, one) for one in charged):
        refuse("RETURN_IS_RIGHT", charged[0].card or "")


def propose_ruling(match: GuandanMatch, event: events.RulingProposed) -> StepResult:
    """Add a proposed ruling to the match. Nothing happens until a person decides about it."""
    if any(ruling.id == event.id for ruling in match.rulings):
        refuse("TWICE", event.id)
    charge = event.charge
    if charge.match != match.meeting.match_id or charge.pair != match.meeting.pairs[charge.side].id:
        refuse("OTHER_SIDE", charge.pair)
    require_possible_charge(match, charge)
    _require_legal(match, charge, event.proposal)
    ruling = rulings.propose(event.id, charge, event.proposal, event.by, event.at_ms)
    return replace(match, rulings=(*match.rulings, ruling)), ()


def approve_ruling(match: GuandanMatch, event: events.RulingApproved) -> StepResult:
    """Put a proposed ruling into force: record its penalty and apply its consequences.

    The chief decides about changes of a signed sheet (seed 002 A15).
    """
    ruling = find_ruling(match, event.id)
    if match.signatures:
        rulings.require_authority("signed_sheet", event.role, verbal=event.verbal)
    # More of the deal is known now than when the ruling was proposed.
    require_possible_charge(match, ruling.charge)
    if event.proposal is not None:
        _require_legal(match, ruling.charge, event.proposal)
    decided = rulings.approve(
        ruling, event.by, event.role, event.verbal, event.proposal, entered_by=event.entered_by
    )
    match = _add_penalty_row(_replace_ruling(match, decided), decided, event.at_ms)
    effects: Effects = ()
    for consequence in decided.proposal.effects:
        handler = _CONSEQUENCE_HANDLERS[type(consequence)]
        after, more = handler(match, decided, consequence, event.at_ms)
        assert isinstance(after, GuandanMatch)  # The game of a match never changes.
        match, effects = after, (*effects, *more)
    moved = any(isinstance(effect, (LevelUp, LevelDown)) for effect in decided.proposal.effects)
    # Rows after the end of a finished sheet require a new end, and new signatures.
    has_ended = match.phase in ENDED_PHASES
    if moved or (has_ended and not isinstance(match.sheet[-1], sheet_rows.EndRow)):
        after, more = reconsider_match(match, event.at_ms)
        return after, (*effects, *more)
    return match, effects


def reject_ruling(match: GuandanMatch, event: events.RulingRejected) -> StepResult:
    """Reject a ruling that is not decided, or overturn a decided one and undo its consequences."""
    ruling = find_ruling(match, event.id)
    overturned = ruling.state == "decided"
    after = rulings.reject(ruling, event.by, event.role, event.verbal, entered_by=event.entered_by)
    match = _replace_ruling(match, after)
    if not overturned:
        return match, ()
    restored, _ = undo_consequences(match, ruling)
    assert isinstance(restored, GuandanMatch)  # The game of a match never changes.
    match = restored
    row = sheet_rows.OverturnedRow(row=next_row_number(match), at_ms=event.at_ms, ruling=event.id)
    sheet = (*match.sheet, row)
    standing = sheet_rows.replay_sheet(match.profile, sheet)
    return reconsider_match(replace(match, sheet=sheet, standing=standing), event.at_ms)


def confirm_verbal_ruling(match: GuandanMatch, event: events.VerbalRulingConfirmed) -> StepResult:
    """Record the chief's written confirmation of a ruling that was approved verbally."""
    ruling = find_ruling(match, event.id)
    return _replace_ruling(match, rulings.confirm_verbal(ruling, event.by, event.role)), ()


def find_ruling(match: GuandanMatch, ruling_id: str) -> rulings.MatchRuling:
    """Return the ruling of the match that has this id. Raises RefusedError if there is none."""
    for ruling in match.rulings:
        if ruling.id == ruling_id:
            return ruling
    refuse("NO_SUCH_RULING", ruling_id)


def _due_cards(match: GuandanMatch, deal: int) -> _DueCards | None:
    """Return the tribute and return cards that were due in the deal with the number `deal`.

    Return None if this deal is neither under way nor on the score sheet.
    """
    if deal != match.deal or not match.is_deal_under_way:
        row = sheet_rows.find_deal_row(match.sheet, deal)
        return None if row is None else _DueCards(row.level, row.tribute, row.returns)
    payers = tribute_payers(match.profile, match.follows)
    exchange = match.exchange or TributeExchange(payers=payers)
    owed = () if exchange.anti else exchange.payers
    due = () if exchange.plan is None else exchange.plan.returns
    seen = {} if is_withholding(match) else exchange.returned
    told = {to: rank_text_of_value(counts, match.level) for to, counts in seen.items()}
    return _DueCards(
        level=match.level,
        tribute=tuple(sheet_rows.CardGiven(payer, payer) for payer in owed),
        returns=tuple(sheet_rows.CardGiven(giver, to, told.get(to)) for giver, to in due),
    )


def _is_return_right(
    profile: GuandanProfile, deal: _DueCards, returned: sheet_rows.CardGiven
) -> bool:
    """Return True if a return card is certainly allowed, and False if it is wrong or may be wrong.

    It is allowed if the rules allow any card, or if it is 10 or less. A card of the level is not
    certain, because it may count above A.
    """
    double = len(deal.tribute) > 1
    rule = return_rule_between(profile, returned.giver, returned.to, double=double)
    low = returned.card in _TEN_OR_LESS and returned.card != level_text(deal.level)
    return rule == "any" or low


def _require_legal(match: GuandanMatch, charge: Charge, proposal: PenaltyProposal) -> None:
    penalties: tuple[Penalty, ...] = get_args(Penalty)
    if proposal not in legal_proposals(match, charge) and proposal not in [
        discretionary_proposal(match.profile, charge, penalty) for penalty in penalties
    ]:
        refuse("NOT_LEGAL")


def _replace_ruling(match: GuandanMatch, ruling: rulings.MatchRuling) -> GuandanMatch:
    after = tuple(ruling if one.id == ruling.id else one for one in match.rulings)
    return replace(match, rulings=after)


def _add_penalty_row(match: GuandanMatch, ruling: rulings.MatchRuling, at_ms: int) -> GuandanMatch:
    """Return the match with the penalty of a decided ruling on the score sheet."""
    charge, proposal = ruling.charge, ruling.proposal
    if proposal.penalty == "none":
        return match
    row = sheet_rows.RulingRow(
        row=next_row_number(match),
        at_ms=at_ms,
        ruling=ruling.id,
        person=charge.person,
        seat=charge.seat,
        side=charge.side,
        deal=charge.deal,
        offence=charge.offence,
        offence_ms=charge.at_ms,
        penalty=proposal.penalty,
        article=proposal.article,
    )
    return add_row(match, row)


def _lose_deal(
    match: GuandanMatch, ruling: rulings.MatchRuling, what: DealLost, at_ms: int
) -> StepResult:
    """Record that the side `what.side` lost the deal in which the offence happened.

    It is the present deal, or a deal that is on the score sheet already. A deal is forfeited once:
    the first ruling counts (provisional).
    """
    if not match.deal:
        refuse("NOT_BEGUN")
    lost, deal = deal_result.ForfeitedDeal(what.side), rulings.deal_of_charge(ruling.charge)
    due = match.is_deal_under_way or match.phase in BEFORE_RELEASE
    if deal != match.deal or not due:
        was = sheet_rows.find_deal_row(match.sheet, deal)
        if was is not None and isinstance(was.result, deal_result.ForfeitedDeal):
            return match, ()
        return _correct_result(match, ruling, deal, lost, at_ms)
    row = make_deal_row(match, lost, at_ms)
    over = replace(match, phase=MatchPhase.FORFEIT, clocks=(), suspended=None, claimed=None)
    return continue_match(add_row(over, row), at_ms)


def _correct_result(
    match: GuandanMatch,
    ruling: rulings.MatchRuling,
    deal: int,
    result: deal_result.DealResult,
    at_ms: int,
) -> StepResult:
    by, reason = ruling.approved_by or ruling.by, find_offence(ruling.charge.offence).en
    return correct_result(
        match,
        deal,
        result,
        "from_now",
        by=by,
        entered_by=ruling.entered_by,
        ruling=ruling.id,
        reason=reason,
        at_ms=at_ms,
    )


def _move_level(
    match: GuandanMatch, ruling: rulings.MatchRuling, what: LevelUp | LevelDown, at_ms: int
) -> StepResult:
    steps = what.steps if isinstance(what, LevelUp) else -what.steps
    row = sheet_rows.ShiftRow(
        row=next_row_number(match), at_ms=at_ms, ruling=ruling.id, side=what.side, steps=steps
    )
    return add_row(match, row), ()


def _lose_match(
    match: GuandanMatch, ruling: rulings.MatchRuling, what: MatchLost, at_ms: int
) -> StepResult:
    end = verdict_by_ruling(match)
    assert end is not None  # The ruling is in force now.
    stopped = stop_deal_under_way(match, "match_lost", at_ms)
    return end_match(open_new_version(stopped), end, at_ms)


def _make_hand_dead(
    match: GuandanMatch, ruling: rulings.MatchRuling, what: DeadHand, at_ms: int
) -> StepResult:
    """Declare the hand of the seat `what.seat` dead: out of play and last. Later places move up.

    If the deal is written already, its row changes. In a forfeited deal no seat has a place
    (provisional). If the deal was dealt again since the offence, the hand no longer exists. Source:
    seed 000 A18.4.
    """
    if not match.deal:
        refuse("NOT_BEGUN")
    deal = rulings.deal_of_charge(ruling.charge)
    if any(
        isinstance(row, sheet_rows.RedealtRow)
        and row.deal == deal
        and row.at_ms > ruling.charge.at_ms
        for row in match.sheet
    ):
        return match, ()
    if deal == match.deal and match.phase in _PLAY_PHASES:
        return update_places(replace(match, dead=(*match.dead, what.seat)), match.ended_ms)
    was = sheet_rows.find_deal_row(match.sheet, deal)
    if was is None:
        refuse("NOT_BEGUN")
    if not isinstance(was.result, deal_result.FinishOrder):
        return match, ()
    try:
        result = deal_result.finish_with_dead_hands(was.result.places, (*was.dead, what.seat))
    except deal_result.FinishError as mistake:
        refuse_finish(mistake)
    return _correct_result(match, ruling, deal, result, at_ms)


_CONSEQUENCE_HANDLERS: dict[
    type[Consequence], Callable[[GuandanMatch, rulings.MatchRuling, Any, int], StepResult]
] = {
    DealLost: _lose_deal,
    LevelUp: _move_level,
    LevelDown: _move_level,
    MatchLost: _lose_match,
    DeadHand: _make_hand_dead,
    # The event handles an expelled pair, and the referee a lost turn.
    PairDisqualified: lambda match, ruling, what, at_ms: (match, ()),
    TurnLost: lambda match, ruling, what, at_ms: (match, ()),
}


def undo_consequences(match: GuandanMatch, ruling: rulings.MatchRuling) -> StepResult:
    """Return the match without the consequences that an overturned ruling had for its deal.

    While the deal of a dead hand is played, the hand is in play again, with the place it had. If
    that deal is being dealt again, none of its hands is dead. Raises RefusedError for a deal that
    is written: correct its result instead.
    """
    final = [one for one in ruling.proposal.effects if isinstance(one, DealLost | DeadHand)]
    if not final:
        return match, ()
    due = match.is_deal_under_way or match.phase in BEFORE_RELEASE
    hands = [one.seat for one in final if isinstance(one, DeadHand)]
    if rulings.deal_of_charge(ruling.charge) != match.deal or not due or len(hands) < len(final):
        refuse("IT_ENDED_A_DEAL", ruling.id)
    if match.phase not in _PLAY_PHASES:
        return match, ()
    dead = list(match.dead)
    for seat in hands:
        if seat in dead:  # The seat is not dead if the deal was dealt again since.
            dead.remove(seat)  # once: another ruling may have made the same hand dead
    return update_places(replace(match, dead=tuple(dead)), match.ended_ms)


_PLAY_PHASES = (MatchPhase.PLAY, MatchPhase.RESULT)
