"""What happened in a match, in a line of plain words: the table of all its events.

Pure. What is told needs no other entry, but who is out at which place and who cut: `Before`.
"""

from collections.abc import Callable, Mapping
from typing import Final

import msgspec

from controller.console.view import told_deal as deal
from controller.console.view import told_rulings as rulings
from controller.console.view.telling import (
    DealContext,
    DescribeEvent,
    EventData,
    constant_line,
    reason_line,
    seat_line,
)
from controller.words import Words


def describe_match_event(data: EventData, context: DealContext) -> Words:
    """Return what an event of a match says; of a later version's, what it is called."""
    event = str(data.get("event"))
    teller = LINE_BY_MATCH_EVENT.get(event)
    return Words(event, event) if teller is None else teller(data, context)


def advance_match_context(data: EventData, context: DealContext) -> DealContext:
    """Return what is told of the deal behind an event."""
    change = _CONTEXT_CHANGES.get(str(data.get("event")))
    if change is None:
        return context
    return msgspec.structs.replace(change(data, context), charged=_deals_of_charges(data, context))


def _deals_of_charges(data: EventData, context: DealContext) -> Mapping[str, int]:
    if data.get("event") != "RulingProposed":
        return context.charged
    return {**context.charged, str(data.get("id")): data["charge"]["deal"]}


def is_quiet(data: EventData, context: DealContext) -> bool:
    """Tell whether the line says what the machine's own entry beside it says already."""
    event = data.get("event")
    return event == "Ticked" or (event in _ALSO_MACHINE_EVENTS and not context.by_hand)


LINE_BY_MATCH_EVENT: Final[Mapping[str, DescribeEvent]] = {
    "Seated": deal.describe_seat_taken,
    "Started": constant_line("the match is open", "开赛"),
    "DealtByHand": reason_line("this deal is dealt by hand", "本副人工发牌"),
    "Shuffled": seat_line("{seat} has shuffled", "{seat}已洗牌"),
    "Cut": deal.describe_match_cut,
    "TurnedUp": deal.describe_turned_up_card,
    "Dealt": deal.describe_hands_dealt,
    "Misdealt": deal.describe_misdeal,
    "ReleaseOrdered": constant_line("the hands are being released", "放行中"),
    "Released": deal.describe_hands_released,
    "Counted": seat_line("{seat} has counted, right", "{seat}清点无误"),
    "CountClaimed": seat_line("{seat} claims a wrong count", "{seat}申告张数不符"),
    "Recounted": deal.describe_recount,
    "DealVoided": reason_line("the deal is void and dealt again", "本副作废，重新发牌"),
    "AntiAnswered": deal.describe_anti_tribute,
    "TributeLaid": seat_line("{seat} has laid the tribute", "{seat}已贡牌"),
    "TributeValued": deal.describe_tribute_values,
    "TributeChosen": deal.describe_tribute_choice,
    "ReturnLaid": deal.return_line("{seat} has given a card back", "{seat}已还牌"),
    "ReturnCorrected": deal.return_line("{seat} gave another card back instead", "{seat}更换还牌"),
    "ReturnsSwapped": constant_line("the losers took each other's return card", "双方互换还牌"),
    "Led": constant_line("the first lead is on the table", "已领出牌"),
    "OutSaid": seat_line("{seat} says that he is out", "{seat}报出完，待确认"),
    "Out": deal.describe_seat_out,
    "OutWithdrawn": seat_line("{seat} is not out after all", "{seat}并未出完，已撤回"),
    "ResultEntered": deal.describe_result,
    "CardsLeft": deal.describe_cards_left,
    "Answered": deal.describe_seat_answer,
    "Confirmed": deal.describe_result_confirmation,
    "LeaderNamed": seat_line("{seat} is named to lead", "指定{seat}领出牌"),
    "ExtraDealOrdered": reason_line("an extra deal is ordered", "加打一副"),
    "DealStopped": reason_line("the deal is stopped and does not count", "终止本副，本副不计"),
    "Corrected": rulings.describe_correction,
    "CorrectionConfirmed": rulings.describe_correction_confirmation,
    "Suspended": rulings.describe_suspension,
    "Resumed": constant_line("play goes on", "恢复比赛"),
    "AreaPaused": rulings.describe_area_stop,
    "AreaResumed": constant_line("the area's clocks run again", "全区恢复计时"),
    "TimeAdded": rulings.describe_added_time,
    "PlayCalled": seat_line("the clock is started for {seat}", "对{seat}读秒"),
    "PlayWarned": seat_line("{seat} was warned", "已警告{seat}超时"),
    "PlayMade": seat_line("{seat} has played or passed", "{seat}已出牌或过牌"),
    "Ticked": constant_line("time passed", "计时"),
    "RulingProposed": rulings.describe_ruling_proposal,
    "RulingApproved": rulings.describe_ruling_approval,
    "RulingRejected": rulings.ruling_line("ruling {id} rejected by {by}", "{by}驳回判罚{id}"),
    "VerbalConfirmed": rulings.ruling_line(
        "ruling {id}: the word is confirmed by {by}", "{by}确认判罚{id}的口头裁定"
    ),
    "Signed": rulings.describe_signature,
}
"""Every event of a match."""
_ALSO_MACHINE_EVENTS: Final = frozenset({"Cut", "Dealt", "Misdealt", "ReleaseOrdered"})


def _start_deal(data: EventData, context: DealContext) -> DealContext:
    return DealContext(whole=True, by_hand=context.by_hand)


def _end_deal(data: EventData, context: DealContext) -> DealContext:
    return DealContext()


def _add_out(data: EventData, context: DealContext) -> DealContext:
    seat = str(data.get("seat"))
    outs = context.outs if seat in context.outs else (*context.outs, seat)
    return msgspec.structs.replace(context, outs=outs)


def _remove_out(data: EventData, context: DealContext) -> DealContext:
    outs = tuple(seat for seat in context.outs if seat != data.get("seat"))
    return msgspec.structs.replace(context, outs=outs)


_CONTEXT_CHANGES: Final[Mapping[str, Callable[[EventData, DealContext], DealContext]]] = {
    "DealtByHand": lambda data, before: DealContext(by_hand=True),
    "Released": _start_deal,
    "Dealt": lambda data, before: _start_deal(data, before) if before.by_hand else before,
    "Out": _add_out,
    "OutWithdrawn": _remove_out,
    "ResultEntered": lambda data, before: msgspec.structs.replace(
        before, outs=tuple(data.get("order", ()))
    ),
    "Confirmed": lambda data, before: before,
    "DealVoided": _end_deal,
    "Misdealt": lambda data, before: DealContext(by_hand=before.by_hand),
    "DealStopped": _end_deal,
    "RulingProposed": lambda data, before: before,
}
