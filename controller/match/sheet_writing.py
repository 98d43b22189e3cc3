"""Changes of the score sheet: rows of deals, corrections, stopped deals, and signatures."""

from msgspec.structs import replace

from controller.match import sheet_rows
from controller.match.match_events import CorrectionConfirmed, ResultCorrected, SheetSigned
from controller.match.match_state import AnyMatch, GuandanMatch, SheetSignature, TributeExchange
from controller.match.next_deal import (
    StepResult,
    add_row,
    continue_match,
    next_row_number,
    reconsider_match,
)
from controller.match.phase import MatchPhase
from controller.match.refusals import refuse, refuse_finish
from controller.match.rulings import DecidedAct, require_authority
from controller.rules import ranks
from controller.rules.deal_result import DealResult, FinishError, parse_finish
from controller.rules.match_standing import PlayedDeal, standing_after_deal
from controller.rules.tribute import finish_owing_tribute
from controller.rules.tribute_returns import return_visibility
from controller.seats import SEATS

_JOKERS = {ranks.SMALL_JOKER_VALUE: "SJ", ranks.BIG_JOKER_VALUE: "BJ"}


def make_deal_row(match: GuandanMatch, result: DealResult, at_ms: int) -> sheet_rows.DealRow:
    """Return the row for the match's present deal, which ended with `result`."""
    number = next_row_number(match)
    played = PlayedDeal(match.level, match.owner, result, match.extra)
    after = standing_after_deal(match.profile, match.standing, played, number)
    exchange = match.exchange
    # The machine deals in its own order (seed 000 A5.3), so no seat draws the first card.
    duties = match.duties if match.by_hand else None
    return sheet_rows.DealRow(
        row=number,
        at_ms=at_ms,
        deal=match.deal,
        level=match.level,
        owner=match.owner,
        result=result,
        extra=match.extra,
        by_hand=match.by_hand,
        cutter=match.cutter,
        cut=match.cut,
        first_drawer=(match.first_drawer or duties.first_drawer) if duties else None,
        leader=match.leader,
        turned_up=match.turned_up,
        anti=exchange is not None and exchange.anti,
        tribute=() if exchange is None else published_tribute(exchange, match.level),
        returns=() if exchange is None else published_returns(match, exchange),
        dead=match.dead,
        misdeals=match.misdeals,
        began_ms=match.began_ms,
        levels=after.levels,
        failures=after.failures,
        points=after.points,
    )


def rank_text_of_value(counts: int, level: ranks.Level) -> str:
    """Return the rank, for example "K", of a card that has the value `counts` at the level `level`.

    Jokers are "BJ" and "SJ".
    """
    if counts in _JOKERS:
        return _JOKERS[counts]
    return ranks.level_text(level if counts == ranks.LEVEL_VALUE else counts)


def published_tribute(
    exchange: TributeExchange, level: ranks.Level
) -> tuple[sheet_rows.CardGiven, ...]:
    """Return each tribute card (giver, receiver, rank), or () while the receivers are not known."""
    if exchange.plan is None:
        return ()
    return tuple(
        sheet_rows.CardGiven(payer, to, rank_text_of_value(exchange.values[payer], level))
        for payer, to in exchange.plan.payments
    )


def published_returns(
    match: GuandanMatch, exchange: TributeExchange
) -> tuple[sheet_rows.CardGiven, ...]:
    """Return the return cards that were already given, each with giver, receiver and rank.

    The ranks are left out if they are secret (暗还, seed 004 CN5).
    """
    owed = finish_owing_tribute(match.profile, match.follows)
    if exchange.plan is None or owed is None:
        return ()
    secret = return_visibility(match.profile, owed) == "secret"
    told = {} if secret else exchange.returned
    return tuple(
        sheet_rows.CardGiven(
            giver, to, rank_text_of_value(told[to], match.level) if to in told else None
        )
        for giver, to in exchange.plan.returns
        if giver in exchange.given
    )


def correct_deal(match: GuandanMatch, event: ResultCorrected) -> StepResult:
    """Correct the result of a deal on the score sheet. The facts of later deals stay.

    A referee may do this until a later deal begins or the sheet has a signature. After that, only
    the chief may do it.
    """
    last = sheet_rows.last_deal_row(match.sheet)
    later = match.is_deal_under_way or (last is not None and last.deal > event.deal)
    act: DecidedAct = "late_correction" if later else "correction"
    require_authority("signed_sheet" if match.signatures else act, event.role, verbal=event.verbal)
    try:
        result = parse_finish(event.order)
    except FinishError as mistake:
        refuse_finish(mistake)
    if event.entered_by is not None:
        match = replace(match, spoken=match.spoken | {next_row_number(match): None})
    return correct_result(
        match,
        event.deal,
        result,
        event.choice,
        by=event.by,
        entered_by=event.entered_by,
        reason=event.reason,
        at_ms=event.at_ms,
    )


def confirm_correction(match: GuandanMatch, event: CorrectionConfirmed) -> StepResult:
    """Record the chief's written confirmation of a verbal correction. The sheet stays unchanged."""
    require_authority("late_correction", event.role)
    if match.spoken.get(event.row, "nobody's") is not None:
        refuse("NOT_VERBAL", str(event.row))
    return replace(match, spoken=match.spoken | {event.row: event.by}), ()


def correct_result(
    match: GuandanMatch,
    deal: int,
    result: DealResult,
    choice: sheet_rows.CorrectionChoice,
    *,
    by: str,
    reason: str,
    at_ms: int,
    entered_by: str | None = None,
    ruling: str | None = None,
) -> StepResult:
    """Return the match with a corrected result of `deal`, and the effects of the correction.

    Raises RefusedError if the sheet has no such deal.
    """
    was = sheet_rows.find_deal_row(match.sheet, deal)
    if was is None:
        refuse("NO_SUCH_DEAL", str(deal))
    row = sheet_rows.CorrectionRow(
        row=next_row_number(match),
        at_ms=at_ms,
        deal=deal,
        was=was.result,
        result=result,
        choice=choice,
        by=by,
        reason=reason,
        entered_by=entered_by,
        ruling=ruling,
    )
    sheet = (*match.sheet, row)
    match = replace(match, sheet=sheet, standing=sheet_rows.replay_sheet(match.profile, sheet))
    if choice != "void_later" or not match.is_deal_under_way:
        return reconsider_match(match, at_ms)
    return continue_match(stop_deal_under_way(match, "void_later", at_ms), at_ms)


def stop_deal_under_way(match: GuandanMatch, reason: str, at_ms: int) -> GuandanMatch:
    """Return the match with its present deal stopped, and recorded as a deal that does not count.

    If no deal has begun, the match is returned unchanged.
    """
    if not match.is_deal_under_way:
        return match
    number = next_row_number(match)
    row = sheet_rows.StoppedRow(row=number, at_ms=at_ms, deal=match.deal, reason=reason)
    return add_row(replace(match, clocks=(), suspended=None, claimed=None), row)


def sign_sheet(match: AnyMatch, event: SheetSigned) -> StepResult:
    """Add a signature to the score sheet. The last signature closes the sheet.

    `roles.signers` of the profile lists the signers.
    """
    due = sheet_signers(match)
    if event.signer not in due or event.signer in {one.signer for one in match.signatures}:
        refuse("NO_SIGNER", event.signer)
    names = (*match.signatures, SheetSignature(event.signer, event.person, event.at_ms))
    phase = MatchPhase.SIGNED if len(names) == len(due) else MatchPhase.OVER
    return replace(match, signatures=names, phase=phase), ()


def sheet_signers(match: AnyMatch) -> tuple[str, ...]:
    """Return the signers that the score sheet of a match needs: sides, seats or "referee"."""
    if isinstance(match, GuandanMatch):
        return tuple(match.profile.roles.signers)
    return (*SEATS, "referee")  # In Big Two each player has their own score (provisional).
