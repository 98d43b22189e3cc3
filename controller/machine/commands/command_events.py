"""The events of the match that each command causes.

A referee can enter tributes and returns only if the machine does not know the hands. Otherwise the
vault answers whether a card is right (controller/vault/dealt_hands.py), and no event follows.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from controller.cards import parse_face
from controller.commands.argument_values import Args
from controller.commands.match_arguments import (
    PairDetails,
    ReturnArgs,
    SetMatchArgs,
    SignArgs,
    TributeArgs,
)
from controller.commands.registry import convert_value
from controller.commands.table_arguments import ConfirmArgs, HoldArgs, OneSeatArgs, ResumeArgs
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
    """Return the event that enters or replaces the tribute card that a referee saw.

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
    """Return the event that enters or replaces the return card that a referee saw.

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
    """Return the match events that the command `cmd` causes at `at_ms` of the table's clock.

    `args` are the parsed arguments of the command. Several events belong together: all are applied,
    or none. Raises RefusedError for an impossible command, LookupError for a command that is not in
    EVENT_MAKERS.
    """
    meant = EVENT_MAKERS[cmd](args, signer, match, at_ms)
    return meant if isinstance(meant, tuple) else (meant,)


def meeting_of(args: SetMatchArgs) -> tuple[Meeting, PenaltyRecord]:
    """Return the match that `set_match` describes, and the earlier penalties of its pairs.

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


def _event_from_args(kind: Callable[..., MatchEvent], *names: str) -> EventMaker:
    """Return a function that makes an event `kind` from the arguments `names` of a command."""
    return lambda args, signer, match, at_ms: kind(
        at_ms=at_ms, **{name: getattr(args, name) for name in names}
    )


def _confirm(args: ConfirmArgs, signer: CommandSigner, match: AnyMatch, at_ms: int) -> MatchEvent:
    """Return the event of the command `confirm`, which a seat or a referee may give.

    A referee without a seat confirms the result for both sides. A phase in the command must be the
    present phase. Two players who touch the same words send two commands, and the second command
    would otherwise confirm something else.
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
    """Return the event for a player who is out (has played all cards).

    A referee needs no confirmation by an opponent.
    """
    if signer.role in REFEREE_ROLES:
        return match_events.OutConfirmed(at_ms=at_ms, seat=args.seat)
    return seat_buttons.meaning_of_long_press(match, args.seat, at_ms)


# The table


def _hold(args: HoldArgs, signer: CommandSigner, match: AnyMatch, at_ms: int) -> MatchEvent:
    """Return the event that pauses this table, or the area if the command has `area`."""
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


def _sign(args: SignArgs, signer: CommandSigner, match: AnyMatch, at_ms: int) -> MatchEvent:
    if args.version not in (None, match.version):
        refuse("STALE", _sheet_version(args.version), _sheet_version(match.version))
    return match_events.SheetSigned(at_ms=at_ms, signer=args.signer, person=args.person)


def _sheet_version(version: int | None) -> Words:
    return Words(f"version {version} of the sheet", f"记分表第{version}版")


# Results


def _verbal_decision(kind: Callable[..., MatchEvent], *names: str) -> EventMaker:
    """Return a function that makes a `kind` from the arguments `names` and the decision fields."""
    return lambda args, signer, match, at_ms: kind(
        at_ms=at_ms, **{name: getattr(args, name) for name in names}, **signer.decision_fields(args)
    )


# By hand


def _by_hand(kind: Callable[..., MatchEvent], *names: str) -> EventMaker:
    """Return a function that makes an event `kind`, or refuses the command if the machine deals."""

    def meaning(args: Args, signer: CommandSigner, match: AnyMatch, at_ms: int) -> MatchEvent:
        if not match.by_hand:
            refuse("NOT_BY_HAND")
        return kind(at_ms=at_ms, **{name: getattr(args, name) for name in names})

    return meaning


EVENT_MAKERS: dict[str, EventMaker] = {
    "seat": _event_from_args(match_events.SeatTaken, "seat", "person"),
    "confirm": _confirm,
    "out": _out,
    "claim_count": _event_from_args(match_events.CountClaimed, "seat"),
    "answer": _event_from_args(match_events.ChoiceAnswered, "seat", "yes"),
    "choose": _event_from_args(match_events.TributeChosen, "payer"),
    "start_match": _event_from_args(match_events.MatchStarted),
    "hold": _hold,
    "resume": _resume,
    "recount": lambda args, signer, match, at_ms: match_events.HandsRecounted(
        at_ms=at_ms, counts=args.counts.by_seat(), found=args.found, **signer.decision_fields(args)
    ),
    "tribute": enter_tribute,
    "return": enter_return,
    "anti": _event_from_args(match_events.AntiTributeAnswered, "stands"),
    "swap_returns": _event_from_args(match_events.ReturnsSwapped),
    "withdraw_out": _event_from_args(match_events.OutWithdrawn, "seat"),
    "result": _event_from_args(match_events.ResultEntered, "order", "ended_ms"),
    "left": lambda args, signer, match, at_ms: match_events.CardsLeftEntered(
        at_ms=at_ms, left=args.left.by_seat()
    ),
    "name_leader": _event_from_args(match_events.LeaderNamed, "seat"),
    "stop_deal": lambda args, signer, match, at_ms: match_events.DealStopped(
        at_ms=at_ms, reason=args.reason, by=signer.signed_text, role=signer.role
    ),
    "call_clock": _event_from_args(match_events.PlayClockStarted, "seat"),
    "warn": _event_from_args(match_events.PlayerWarned, "seat"),
    "add_time": lambda args, signer, match, at_ms: match_events.TimeAdded(
        at_ms=at_ms, seconds=args.seconds, role=signer.role
    ),
    "propose": ruling_commands.propose,
    "approve": ruling_commands.approve,
    "reject": ruling_commands.reject,
    "confirm_verbal": ruling_commands.confirm_verbal,
    "forfeit": ruling_commands.forfeit,
    "extra_deal": _verbal_decision(match_events.ExtraDealOrdered, "reason"),
    "redeal": _verbal_decision(match_events.DealVoided, "reason"),
    "adjust": _verbal_decision(match_events.ResultCorrected, "deal", "order", "choice", "reason"),
    "dealt_by_hand": _event_from_args(match_events.HandDealOrdered, "reason"),
    "shuffled": _event_from_args(match_events.SetShuffled, "seat"),
    "cut_by_hand": _by_hand(match_events.SetCut, "seat", "n"),
    "turned_up": _event_from_args(match_events.CardTurnedUp, "card"),
    "hands_dealt": _by_hand(match_events.HandsDealt, "turned_to", "turned_up"),
    "sign": _sign,
}
"""The event maker of every command that becomes events of the match."""
