"""Events of the match for each command.

A referee can enter tributes and returns only if the machine does not know the hands. Otherwise the
vault answers whether a card is right (controller/vault/dealt_hands.py), and no event follows.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from controller.cards import parse_face
from controller.commands.argument_values import Args, VerbalReasonArgs
from controller.commands.match_arguments import (
    AddTimeArgs,
    AnswerArgs,
    AntiArgs,
    CardsLeftArgs,
    ChooseArgs,
    CutByHandArgs,
    HandsDealtArgs,
    PairDetails,
    RecountArgs,
    ResultArgs,
    ReturnArgs,
    SetMatchArgs,
    SignArgs,
    TributeArgs,
    TurnedUpArgs,
)
from controller.commands.registry import convert_value
from controller.commands.ruling_arguments import AdjustArgs
from controller.commands.table_arguments import (
    ConfirmArgs,
    HoldArgs,
    OneSeatArgs,
    ReasonArgs,
    ResumeArgs,
    SeatArgs,
)
from controller.machine.commands import ruling_commands
from controller.machine.commands.command_request import CommandSigner
from controller.machine.commands.ruling_commands import require_guandan
from controller.match import match_events, seat_buttons
from controller.match.match_events import MatchEvent, ReturnCorrected, ReturnLaid, TributeValued
from controller.match.match_state import AnyMatch, GuandanMatch, MatchPair, Meeting
from controller.match.phase import PHASE_WORDS, phase_words
from controller.match.refusals import refuse
from controller.match.rulings import REFEREE_ROLES
from controller.messages import Role, Seat
from controller.rules.penalties.penalty_record import PenaltyRecord
from controller.rules.ranks import value_at_level
from controller.rules.tribute import finish_owing_tribute
from controller.rules.tribute_returns import return_visibility
from controller.words import Words, quoted_words


def enter_tribute(
    args: TributeArgs, signer: CommandSigner, match: AnyMatch, at_ms: int
) -> MatchEvent:
    """Return the event of a tribute that a referee saw, or the event that corrects one.

    If two seats pay, the other tribute stays as it was entered before, unless the command contains
    it too.
    """
    played = require_guandan(match)
    exchange = played.exchange
    if exchange is None or args.seat not in exchange.payers:
        refuse("NOT_HIS_DUTY", " / ".join(exchange.payers) if exchange else "")
    cards = {args.seat: args.card}
    others = [seat for seat in exchange.payers if seat != args.seat]
    if args.other is not None:
        cards |= dict.fromkeys(others, args.other)
    entered = {seat: _card_value(played, card) for seat, card in cards.items()}
    return TributeValued(at_ms=at_ms, values=exchange.values | entered)


def enter_return(
    args: ReturnArgs, signer: CommandSigner, match: AnyMatch, at_ms: int
) -> MatchEvent:
    """Return the event of a return that a referee saw, or the event that corrects one.

    If the rulebook keeps returns secret (暗还, seed 004 CN5), the card is not published.
    """
    played = require_guandan(match)
    owed = finish_owing_tribute(played.profile, played.follows)
    secret = owed is not None and return_visibility(played.profile, owed) == "secret"
    counts = _card_value(played, args.card)
    told = None if secret else counts
    given = played.exchange.given if played.exchange else ()
    kind = ReturnCorrected if args.seat in given else ReturnLaid
    return kind(at_ms=at_ms, seat=args.seat, value=told)


def _card_value(match: GuandanMatch, card: str) -> int:
    try:
        return value_at_level(parse_face(card), match.level)
    except ValueError:
        refuse("NO_SUCH_CARD", card)


EventMaker = Callable[[Any, CommandSigner, AnyMatch, int], MatchEvent | tuple[MatchEvent, ...]]


def events_of_command(
    cmd: str, args: Args, signer: CommandSigner, match: AnyMatch, at_ms: int
) -> tuple[MatchEvent, ...]:
    """Return the events of a command for the match at `at_ms` of the table's clock.

    `args` are the parsed arguments of the command. Several events belong together: all are applied,
    or none. Raises RefusedError for an impossible command, LookupError for a command that is not in
    EVENT_MAKERS.
    """
    meant = EVENT_MAKERS[cmd](args, signer, match, at_ms)
    return meant if isinstance(meant, tuple) else (meant,)


def meeting_of(args: SetMatchArgs) -> tuple[Meeting, PenaltyRecord]:
    """Return the match of the command `set_match`, and the earlier penalties of its pairs.

    Raises BadArgs for a wrong entry of the record.
    """
    meeting = Meeting(
        match_id=args.match_id,
        event=args.event,
        round=args.round,
        match_no=args.match_no,
        table_no=args.table_no,
        stage=args.stage,
        pairs={"NS": _pair(args.pairs.NS), "EW": _pair(args.pairs.EW)},
    )
    return meeting, convert_value({"record": args.record}, _EarlierRecord).record


class _EarlierRecord(msgspec.Struct, frozen=True):
    record: PenaltyRecord


def _pair(args: PairDetails) -> MatchPair:
    return MatchPair(args.id, args.name, msgspec.convert(args.players, dict[Seat, str]))


# The players


def _seat(args: SeatArgs, signer: CommandSigner, match: AnyMatch, at_ms: int) -> MatchEvent:
    return match_events.SeatTaken(at_ms=at_ms, seat=args.seat, person=args.person)


def _confirm(args: ConfirmArgs, signer: CommandSigner, match: AnyMatch, at_ms: int) -> MatchEvent:
    """Return the event that a press of a green button causes.

    A referee without a seat confirms for both sides.

    A phase in the command must be the present phase. Two players who touch the same words send the
    command twice, and the second one would otherwise confirm something else.
    """
    if args.phase not in (None, match.phase):
        refuse(
            "WRONG_PHASE", phase_words(match.phase), quoted_words([str(args.phase)], PHASE_WORDS)
        )
    if args.seat is not None:
        return seat_buttons.meaning_of_short_press(match, args.seat, at_ms)
    if signer.role not in REFEREE_ROLES:
        refuse("NOT_A_REFEREE")
    return match_events.ResultConfirmed(at_ms=at_ms, by="referee")


def _out(args: OneSeatArgs, signer: CommandSigner, match: AnyMatch, at_ms: int) -> MatchEvent:
    """Return the event of a player who reports to be out.

    A referee needs no confirmation by an opponent.
    """
    if signer.role in REFEREE_ROLES:
        return match_events.OutConfirmed(at_ms=at_ms, seat=args.seat)
    return seat_buttons.meaning_of_long_press(match, args.seat, at_ms)


def _answer(args: AnswerArgs, signer: CommandSigner, match: AnyMatch, at_ms: int) -> MatchEvent:
    return match_events.ChoiceAnswered(at_ms=at_ms, seat=args.seat, yes=args.yes)


def _choose(args: ChooseArgs, signer: CommandSigner, match: AnyMatch, at_ms: int) -> MatchEvent:
    return match_events.TributeChosen(at_ms=at_ms, payer=args.payer)


def _at_seat(kind: Callable[..., MatchEvent]) -> EventMaker:
    """Return the function that makes the event of a command whose only argument is a seat."""
    return lambda said, who, match, at_ms: kind(at_ms=at_ms, seat=said.seat)


# The table


def _hold(args: HoldArgs, signer: CommandSigner, match: AnyMatch, at_ms: int) -> MatchEvent:
    """Return the event that pauses the table, or the whole area if the chief wants that."""
    if not args.area:
        return match_events.TableSuspended(at_ms=at_ms, reason=args.reason)
    _require_chief(signer)
    return match_events.AreaPaused(at_ms=at_ms, reason=args.reason, by=signer.signed_text)


def _resume(args: ResumeArgs, signer: CommandSigner, match: AnyMatch, at_ms: int) -> MatchEvent:
    if not args.area:
        return match_events.TableResumed(at_ms=at_ms)
    _require_chief(signer)
    return match_events.AreaResumed(at_ms=at_ms)


def _require_chief(signer: CommandSigner) -> None:
    if signer.role is not Role.CHIEF:
        refuse("NEEDS_CHIEF")


def _recount(args: RecountArgs, signer: CommandSigner, match: AnyMatch, at_ms: int) -> MatchEvent:
    counts = args.counts.by_seat()
    return match_events.HandsRecounted(
        at_ms=at_ms,
        counts=counts,
        found=args.found,
        by=signer.decided_by(args),
        role=signer.role,
        verbal=args.verbal,
        entered_by=signer.entered_by(args),
    )


def _add_time(args: AddTimeArgs, signer: CommandSigner, match: AnyMatch, at_ms: int) -> MatchEvent:
    return match_events.TimeAdded(at_ms=at_ms, seconds=args.seconds, role=signer.role)


def _sign(args: SignArgs, signer: CommandSigner, match: AnyMatch, at_ms: int) -> MatchEvent:
    if args.version not in (None, match.version):
        refuse("STALE", _sheet_version(args.version), _sheet_version(match.version))
    return match_events.SheetSigned(at_ms=at_ms, signer=args.signer, person=args.person)


def _sheet_version(version: int | None) -> Words:
    return Words(f"version {version} of the sheet", f"记分表第{version}版")


# Results


def _result(args: ResultArgs, signer: CommandSigner, match: AnyMatch, at_ms: int) -> MatchEvent:
    return match_events.ResultEntered(at_ms=at_ms, order=args.order, ended_ms=args.ended_ms)


def _left(args: CardsLeftArgs, signer: CommandSigner, match: AnyMatch, at_ms: int) -> MatchEvent:
    return match_events.CardsLeftEntered(at_ms=at_ms, left=args.left.by_seat())


def _adjust(args: AdjustArgs, signer: CommandSigner, match: AnyMatch, at_ms: int) -> MatchEvent:
    return match_events.ResultCorrected(
        at_ms=at_ms,
        deal=args.deal,
        order=args.order,
        choice=args.choice,
        by=signer.decided_by(args),
        reason=args.reason,
        role=signer.role,
        verbal=args.verbal,
        entered_by=signer.entered_by(args),
    )


def _stop_deal(args: ReasonArgs, signer: CommandSigner, match: AnyMatch, at_ms: int) -> MatchEvent:
    return match_events.DealStopped(
        at_ms=at_ms, reason=args.reason, by=signer.signed_text, role=signer.role
    )


def _verbal_decision(kind: Callable[..., MatchEvent]) -> EventMaker:
    """Return the function that makes the event of a decision that may be verbal."""

    def meaning(
        args: VerbalReasonArgs, signer: CommandSigner, match: AnyMatch, at_ms: int
    ) -> MatchEvent:
        return kind(
            at_ms=at_ms,
            reason=args.reason,
            by=signer.decided_by(args),
            role=signer.role,
            verbal=args.verbal,
            entered_by=signer.entered_by(args),
        )

    return meaning


# By hand


def _dealt_by_hand(
    args: ReasonArgs, signer: CommandSigner, match: AnyMatch, at_ms: int
) -> MatchEvent:
    return match_events.HandDealOrdered(at_ms=at_ms, reason=args.reason)


def _cut_by_hand(
    args: CutByHandArgs, signer: CommandSigner, match: AnyMatch, at_ms: int
) -> MatchEvent:
    """Return the event of a cut by hand. A cut in the machine is another command."""
    if not match.by_hand:
        refuse("NOT_BY_HAND")
    return match_events.SetCut(at_ms=at_ms, seat=args.seat, n=args.n)


def _turned_up(
    args: TurnedUpArgs, signer: CommandSigner, match: AnyMatch, at_ms: int
) -> MatchEvent:
    return match_events.CardTurnedUp(at_ms=at_ms, card=args.card)


def _hands_dealt(
    args: HandsDealtArgs, signer: CommandSigner, match: AnyMatch, at_ms: int
) -> MatchEvent:
    if not match.by_hand:
        refuse("NOT_BY_HAND")
    return match_events.HandsDealt(at_ms=at_ms, turned_to=args.turned_to, turned_up=args.turned_up)


def _anti(args: AntiArgs, signer: CommandSigner, match: AnyMatch, at_ms: int) -> MatchEvent:
    return match_events.AntiTributeAnswered(at_ms=at_ms, stands=args.stands)


EVENT_MAKERS: dict[str, EventMaker] = {
    "seat": _seat,
    "confirm": _confirm,
    "out": _out,
    "claim_count": _at_seat(match_events.CountClaimed),
    "answer": _answer,
    "choose": _choose,
    "start_match": lambda args, signer, match, at_ms: match_events.MatchStarted(at_ms=at_ms),
    "hold": _hold,
    "resume": _resume,
    "recount": _recount,
    "tribute": enter_tribute,
    "return": enter_return,
    "anti": _anti,
    "swap_returns": lambda args, signer, match, at_ms: match_events.ReturnsSwapped(at_ms=at_ms),
    "withdraw_out": _at_seat(match_events.OutWithdrawn),
    "result": _result,
    "left": _left,
    "name_leader": _at_seat(match_events.LeaderNamed),
    "stop_deal": _stop_deal,
    "call_clock": _at_seat(match_events.PlayClockStarted),
    "warn": _at_seat(match_events.PlayerWarned),
    "add_time": _add_time,
    "propose": ruling_commands.propose,
    "approve": ruling_commands.approve,
    "reject": ruling_commands.reject,
    "confirm_verbal": ruling_commands.confirm_verbal,
    "forfeit": ruling_commands.forfeit,
    "extra_deal": _verbal_decision(match_events.ExtraDealOrdered),
    "redeal": _verbal_decision(match_events.DealVoided),
    "adjust": _adjust,
    "dealt_by_hand": _dealt_by_hand,
    "shuffled": _at_seat(match_events.SetShuffled),
    "cut_by_hand": _cut_by_hand,
    "turned_up": _turned_up,
    "hands_dealt": _hands_dealt,
    "sign": _sign,
}
"""The event maker of every command that becomes events of the match."""
