"""What happened in a match, in a line of plain words: the table of all its events.

Pure. What is told needs no other entry, but who is out at which place and who cut: `Before`.
"""

from collections.abc import Callable, Mapping
from typing import Final

import msgspec

from controller.console.view import told_deal as deal
from controller.console.view import told_rulings as rulings
from controller.console.view.telling import Before, Data, Teller, because, plain, seat_line
from controller.words import Words


def describe_match_event(data: Data, before: Before) -> Words:
    """Return what an event of a match says; of a later version's, what it is called."""
    event = str(data.get("event"))
    teller = MATCH.get(event)
    return Words(event, event) if teller is None else teller(data, before)


def after(data: Data, before: Before) -> Before:
    """Return what is told of the deal behind an event."""
    change = _CONTEXT_CHANGES.get(str(data.get("event")))
    if change is None:
        return before
    return msgspec.structs.replace(change(data, before), charged=_deals_of_charges(data, before))


def _deals_of_charges(data: Data, before: Before) -> Mapping[str, int]:
    if data.get("event") != "RulingProposed":
        return before.charged
    return {**before.charged, str(data.get("id")): data["charge"]["deal"]}


def is_quiet(data: Data, before: Before) -> bool:
    """Tell whether the line says what the machine's own entry beside it says already."""
    event = data.get("event")
    return event == "Ticked" or (event in _ALSO_MACHINE_EVENTS and not before.by_hand)


MATCH: Final[Mapping[str, Teller]] = {
    "Seated": deal.seated,
    "Started": plain("the match is open", "开赛"),
    "DealtByHand": because("this deal is dealt by hand", "本副人工发牌"),
    "Shuffled": seat_line("{seat} has shuffled", "{seat}已洗牌"),
    "Cut": deal.cut,
    "TurnedUp": deal.turned_up,
    "Dealt": deal.dealt,
    "Misdealt": deal.misdealt,
    "ReleaseOrdered": plain("the hands are being released", "放行中"),
    "Released": deal.released,
    "Counted": seat_line("{seat} has counted, right", "{seat}清点无误"),
    "CountClaimed": seat_line("{seat} claims a wrong count", "{seat}申告张数不符"),
    "Recounted": deal.recounted,
    "DealVoided": because("the deal is void and dealt again", "本副作废，重新发牌"),
    "AntiAnswered": deal.anti,
    "TributeLaid": seat_line("{seat} has laid the tribute", "{seat}已贡牌"),
    "TributeValued": deal.valued,
    "TributeChosen": deal.chosen,
    "ReturnLaid": deal.returns("{seat} has given a card back", "{seat}已还牌"),
    "ReturnCorrected": deal.returns("{seat} gave another card back instead", "{seat}更换还牌"),
    "ReturnsSwapped": plain("the losers took each other's return card", "双方互换还牌"),
    "Led": plain("the first lead is on the table", "已领出牌"),
    "OutSaid": seat_line("{seat} says that he is out", "{seat}报出完，待确认"),
    "Out": deal.out,
    "OutWithdrawn": seat_line("{seat} is not out after all", "{seat}并未出完，已撤回"),
    "ResultEntered": deal.result,
    "CardsLeft": deal.left,
    "Answered": deal.answered,
    "Confirmed": deal.confirmed,
    "LeaderNamed": seat_line("{seat} is named to lead", "指定{seat}领出牌"),
    "ExtraDealOrdered": because("an extra deal is ordered", "加打一副"),
    "DealStopped": because("the deal is stopped and does not count", "终止本副，本副不计"),
    "Corrected": rulings.corrected,
    "CorrectionConfirmed": rulings.correction_confirmed,
    "Suspended": rulings.suspended,
    "Resumed": plain("play goes on", "恢复比赛"),
    "AreaPaused": rulings.area_stopped,
    "AreaResumed": plain("the area's clocks run again", "全区恢复计时"),
    "TimeAdded": rulings.added,
    "PlayCalled": seat_line("the clock is started for {seat}", "对{seat}读秒"),
    "PlayWarned": seat_line("{seat} was warned", "已警告{seat}超时"),
    "PlayMade": seat_line("{seat} has played or passed", "{seat}已出牌或过牌"),
    "Ticked": plain("time passed", "计时"),
    "RulingProposed": rulings.proposed,
    "RulingApproved": rulings.approved,
    "RulingRejected": rulings.ruling("ruling {id} rejected by {by}", "{by}驳回判罚{id}"),
    "VerbalConfirmed": rulings.ruling(
        "ruling {id}: the word is confirmed by {by}", "{by}确认判罚{id}的口头裁定"
    ),
    "Signed": rulings.signed,
}
"""Every event of a match."""
_ALSO_MACHINE_EVENTS: Final = frozenset({"Cut", "Dealt", "Misdealt", "ReleaseOrdered"})


def _start_deal(data: Data, before: Before) -> Before:
    return Before(whole=True, by_hand=before.by_hand)


def _over(data: Data, before: Before) -> Before:
    return Before()


def _add_out(data: Data, before: Before) -> Before:
    seat = str(data.get("seat"))
    outs = before.outs if seat in before.outs else (*before.outs, seat)
    return msgspec.structs.replace(before, outs=outs)


def _remove_out(data: Data, before: Before) -> Before:
    outs = tuple(seat for seat in before.outs if seat != data.get("seat"))
    return msgspec.structs.replace(before, outs=outs)


_CONTEXT_CHANGES: Final[Mapping[str, Callable[[Data, Before], Before]]] = {
    "DealtByHand": lambda data, before: Before(by_hand=True),
    "Released": _start_deal,
    "Dealt": lambda data, before: _start_deal(data, before) if before.by_hand else before,
    "Out": _add_out,
    "OutWithdrawn": _remove_out,
    "ResultEntered": lambda data, before: msgspec.structs.replace(
        before, outs=tuple(data.get("order", ()))
    ),
    "Confirmed": lambda data, before: before,
    "DealVoided": _over,
    "Misdealt": lambda data, before: Before(by_hand=before.by_hand),
    "DealStopped": _over,
    "RulingProposed": lambda data, before: before,
}
