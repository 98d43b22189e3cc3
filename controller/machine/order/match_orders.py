"""What an order means to the match: one function for each command that becomes an event.

Pure: whether the event is taken is `step`'s to say. A command that is not in the table is
the machine's own business, or one of reading.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from controller.arguments import (
    Args,
    AtSeat,
    ConfirmArgs,
    HoldArgs,
    Nothing,
    ReasonArgs,
    ResumeArgs,
    SeatArgs,
)
from controller.commands import convert_value
from controller.machine.order import card_orders, ruling_orders
from controller.machine.order.who import CommandSigner
from controller.match import events, presses
from controller.match.authority import REFEREES
from controller.match.events import MatchEvent
from controller.match.meeting import Meeting, Pair
from controller.match.phase import WORDS, called
from controller.match.refusals import refuse
from controller.match.state import Match
from controller.match_arguments import (
    AddTimeArgs,
    AdjustArgs,
    Answering,
    AntiArgs,
    CardsLeftArgs,
    ChooseArgs,
    CutByHandArgs,
    HandsDealtArgs,
    PairDetails,
    RecountArgs,
    ResultArgs,
    SetMatchArgs,
    Signing,
    TurnedUpArgs,
    VerbalReasonArgs,
)
from controller.messages import Role, Seat
from controller.rules.penalties.records import Record
from controller.words import Words, named

Meaning = Callable[[Any, CommandSigner, Match, int], MatchEvent | tuple[MatchEvent, ...]]


def events_of(
    cmd: str, args: Args, who: CommandSigner, match: Match, at_ms: int
) -> tuple[MatchEvent, ...]:
    """Return what a command means to the match at `at_ms`, of the table's clock.

    `args`: as `parse_args` gives them. Several events belong together: all happen, or none.
    Raises RefusedError for what cannot be, LookupError for a command that is not in EVENTS.
    """
    meant = EVENTS[cmd](args, who, match, at_ms)
    return meant if isinstance(meant, tuple) else (meant,)


def meeting_of(said: SetMatchArgs) -> tuple[Meeting, Record]:
    """Return the match that was laid out, and what its pairs bring from earlier ones.

    Raises BadArgs for an entry of the record that is none.
    """
    meeting = Meeting(
        match_id=said.match_id,
        event=said.event,
        round=said.round,
        match_no=said.match_no,
        table_no=said.table_no,
        stage=said.stage,
        pairs={"NS": _pair(said.pairs.NS), "EW": _pair(said.pairs.EW)},
    )
    return meeting, convert_value({"record": said.record}, _EarlierRecord).record


class _EarlierRecord(msgspec.Struct, frozen=True):
    record: Record


def _pair(said: PairDetails) -> Pair:
    return Pair(said.id, said.name, msgspec.convert(said.players, dict[Seat, str]))


# -- the players --------------------------------------------------------------


def _seat(said: SeatArgs, who: CommandSigner, match: Match, at_ms: int) -> MatchEvent:
    return events.SeatTaken(at_ms=at_ms, seat=said.seat, person=said.person)


def _confirm(said: ConfirmArgs, who: CommandSigner, match: Match, at_ms: int) -> MatchEvent:
    """Press the green button of a seat; a referee without one confirms for both sides.

    Who says in which phase he means it is refused in another one: two players who touch the same
    words say them twice, and the second time they would be others.
    """
    if said.phase not in (None, match.phase):
        refuse("WRONG_PHASE", called(match.phase), named([str(said.phase)], WORDS))
    if said.seat is not None:
        return presses.pressed(match, said.seat, at_ms)
    if who.role not in REFEREES:
        refuse("NOT_A_REFEREE")
    return events.ResultConfirmed(at_ms=at_ms, by="referee")


def _out(said: AtSeat, who: CommandSigner, match: Match, at_ms: int) -> MatchEvent:
    """Say that a player is out; a referee's word needs no opponent."""
    if who.role in REFEREES:
        return events.Out(at_ms=at_ms, seat=said.seat)
    return presses.held(match, said.seat, at_ms)


def _answer(said: Answering, who: CommandSigner, match: Match, at_ms: int) -> MatchEvent:
    return events.Answered(at_ms=at_ms, seat=said.seat, yes=said.yes)


def _choose(said: ChooseArgs, who: CommandSigner, match: Match, at_ms: int) -> MatchEvent:
    return events.TributeChosen(at_ms=at_ms, payer=said.payer)


def _at_seat(kind: Callable[..., MatchEvent]) -> Meaning:
    """Return the meaning of a command that names a seat and nothing else."""
    return lambda said, who, match, at_ms: kind(at_ms=at_ms, seat=said.seat)


# -- the table ----------------------------------------------------------------


def _start_match(said: Nothing, who: CommandSigner, match: Match, at_ms: int) -> MatchEvent:
    return events.MatchStarted(at_ms=at_ms)


def _hold(said: HoldArgs, who: CommandSigner, match: Match, at_ms: int) -> MatchEvent:
    """Stop the table, or the whole area, which is the chief's."""
    if not said.area:
        return events.TableSuspended(at_ms=at_ms, reason=said.reason)
    _require_chief(who)
    return events.AreaPaused(at_ms=at_ms, reason=said.reason, by=who.by)


def _resume(said: ResumeArgs, who: CommandSigner, match: Match, at_ms: int) -> MatchEvent:
    if not said.area:
        return events.TableResumed(at_ms=at_ms)
    _require_chief(who)
    return events.AreaResumed(at_ms=at_ms)


def _require_chief(who: CommandSigner) -> None:
    if who.role is not Role.CHIEF:
        refuse("NEEDS_CHIEF")


def _recount(said: RecountArgs, who: CommandSigner, match: Match, at_ms: int) -> MatchEvent:
    counts = said.counts.by_seat()
    return events.HandsRecounted(
        at_ms=at_ms,
        counts=counts,
        found=said.found,
        by=who.decided_by(said),
        role=who.role,
        verbal=said.verbal,
        entered_by=who.enters(said),
    )


def _add_time(said: AddTimeArgs, who: CommandSigner, match: Match, at_ms: int) -> MatchEvent:
    return events.TimeAdded(at_ms=at_ms, seconds=said.seconds, role=who.role)


def _sign(said: Signing, who: CommandSigner, match: Match, at_ms: int) -> MatchEvent:
    if said.version not in (None, match.version):
        refuse("STALE", _sheet_version(said.version), _sheet_version(match.version))
    return events.Signed(at_ms=at_ms, signer=said.signer, person=said.person)


def _sheet_version(version: int | None) -> Words:
    return Words(f"version {version} of the sheet", f"记分表第{version}版")


# -- results ------------------------------------------------------------------


def _result(said: ResultArgs, who: CommandSigner, match: Match, at_ms: int) -> MatchEvent:
    return events.ResultEntered(at_ms=at_ms, order=said.order, ended_ms=said.ended_ms)


def _left(said: CardsLeftArgs, who: CommandSigner, match: Match, at_ms: int) -> MatchEvent:
    return events.CardsLeftEntered(at_ms=at_ms, left=said.left.by_seat())


def _adjust(said: AdjustArgs, who: CommandSigner, match: Match, at_ms: int) -> MatchEvent:
    return events.Corrected(
        at_ms=at_ms,
        deal=said.deal,
        order=said.order,
        choice=said.choice,
        by=who.decided_by(said),
        reason=said.reason,
        role=who.role,
        verbal=said.verbal,
        entered_by=who.enters(said),
    )


def _stop_deal(said: ReasonArgs, who: CommandSigner, match: Match, at_ms: int) -> MatchEvent:
    return events.DealStopped(at_ms=at_ms, reason=said.reason, by=who.by, role=who.role)


def _verbal_decision(kind: Callable[..., MatchEvent]) -> Meaning:
    """Return the meaning of a decision with a reason, which may be the chief's word."""

    def meaning(said: VerbalReasonArgs, who: CommandSigner, match: Match, at_ms: int) -> MatchEvent:
        return kind(
            at_ms=at_ms,
            reason=said.reason,
            by=who.decided_by(said),
            role=who.role,
            verbal=said.verbal,
            entered_by=who.enters(said),
        )

    return meaning


# -- by hand ------------------------------------------------------------------


def _dealt_by_hand(said: ReasonArgs, who: CommandSigner, match: Match, at_ms: int) -> MatchEvent:
    return events.HandDealOrdered(at_ms=at_ms, reason=said.reason)


def _cut_by_hand(said: CutByHandArgs, who: CommandSigner, match: Match, at_ms: int) -> MatchEvent:
    """Cut a set that lies on the table; the machine's cut is its own."""
    if not match.by_hand:
        refuse("NOT_BY_HAND")
    return events.Cut(at_ms=at_ms, seat=said.seat, n=said.n)


def _turned_up(said: TurnedUpArgs, who: CommandSigner, match: Match, at_ms: int) -> MatchEvent:
    return events.CardTurnedUp(at_ms=at_ms, card=said.card)


def _hands_dealt(said: HandsDealtArgs, who: CommandSigner, match: Match, at_ms: int) -> MatchEvent:
    if not match.by_hand:
        refuse("NOT_BY_HAND")
    return events.Dealt(at_ms=at_ms, turned_to=said.turned_to, turned_up=said.turned_up)


def _anti(said: AntiArgs, who: CommandSigner, match: Match, at_ms: int) -> MatchEvent:
    return events.AntiTributeAnswered(at_ms=at_ms, stands=said.stands)


def _swap_returns(said: Nothing, who: CommandSigner, match: Match, at_ms: int) -> MatchEvent:
    return events.ReturnsSwapped(at_ms=at_ms)


EVENTS: dict[str, Meaning] = {
    "seat": _seat,
    "confirm": _confirm,
    "out": _out,
    "claim_count": _at_seat(events.CountClaimed),
    "answer": _answer,
    "choose": _choose,
    "start_match": _start_match,
    "hold": _hold,
    "resume": _resume,
    "recount": _recount,
    "tribute": card_orders.enter_tribute,
    "return": card_orders.enter_return,
    "anti": _anti,
    "swap_returns": _swap_returns,
    "withdraw_out": _at_seat(events.OutWithdrawn),
    "result": _result,
    "left": _left,
    "name_leader": _at_seat(events.LeaderNamed),
    "stop_deal": _stop_deal,
    "call_clock": _at_seat(events.PlayClockStarted),
    "warn": _at_seat(events.PlayerWarned),
    "add_time": _add_time,
    "propose": ruling_orders.propose,
    "approve": ruling_orders.approve,
    "reject": ruling_orders.reject,
    "confirm_verbal": ruling_orders.confirm_verbal,
    "forfeit": ruling_orders.forfeit,
    "extra_deal": _verbal_decision(events.ExtraDealOrdered),
    "redeal": _verbal_decision(events.DealVoided),
    "adjust": _adjust,
    "dealt_by_hand": _dealt_by_hand,
    "shuffled": _at_seat(events.Shuffled),
    "cut_by_hand": _cut_by_hand,
    "turned_up": _turned_up,
    "hands_dealt": _hands_dealt,
    "sign": _sign,
}
"""Every command that becomes events of the match, and how."""
