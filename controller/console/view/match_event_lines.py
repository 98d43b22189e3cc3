"""The events of a match in words: rulings, corrections, time, signatures."""

from collections.abc import Callable, Mapping
from typing import Final

import msgspec

from controller.console.view import deal_event_lines as deal
from controller.console.view import phrases
from controller.console.view.deal_event_lines import describe_places
from controller.console.view.phrases import (
    DealContext,
    DescribeEvent,
    EventData,
    constant_line,
    leader_line,
    name_of,
    offence_words,
    reason_line,
    seat_line,
    template_line,
)
from controller.rules.penalties.penalty_record import Penalty
from controller.rules.penalties.proposals import Consequences, penalty_words
from controller.seats import SEAT_NAMES, SIDE_NAMES
from controller.words import ROLE_WORDS, Words, decided_by_words, reason_words
from controller.words import signer_words as by_words


def describe_correction(data: EventData, context: DealContext) -> Words:
    """Describe a corrected result, and how the later deals are treated."""
    told = describe_places(data.get("order", ()))
    choice = name_of(phrases.CORRECTION_CHOICES, data.get("choice"))
    deal, why = data.get("deal"), data.get("reason")
    by = decided_by_words(data.get("by"), data.get("entered_by"))
    return Words(
        f"deal {deal} corrected: {told.en}; {choice.en}: {why} ({by.en})",
        f"更正第{deal}副：{told.zh}；{choice.zh}：{why}（{by.zh}）",
    )


def describe_suspension(data: EventData, context: DealContext) -> Words:
    """Describe a suspension of play with its reason."""
    why = reason_words(str(data.get("reason", "")))
    return Words(f"suspended: {why.en}", f"暂停待裁：{why.zh}")


def describe_area_stop(data: EventData, context: DealContext) -> Words:
    """Describe a stop of the area's clocks with its reason, and who ordered it."""
    why, by = reason_words(str(data.get("reason") or "")), by_words(data.get("by") or "")
    reason = Words(f": {why.en}", f"：{why.zh}") if why.en else why
    whose = Words(f" ({by.en})", f"（{by.zh}）") if by.en else by
    return Words(
        f"the area's clocks are stopped{reason.en}{whose.en}",
        f"全区停表{reason.zh}{whose.zh}",
    )


def describe_added_time(data: EventData, context: DealContext) -> Words:
    """Describe how much time is added, in minutes and seconds."""
    seconds = data.get("seconds", 0)
    if not seconds:
        return Words("no time is added", "不补时")
    minutes = f"{seconds // 60}:{seconds % 60:02}"
    return Words(f"time added: {minutes}", f"补时{minutes}")


def describe_ruling_proposal(data: EventData, context: DealContext) -> Words:
    """Describe a proposed ruling: who is charged, with which offence, and the penalty."""
    charge, proposal = data.get("charge", {}), data.get("proposal", {})
    side, seat = charge.get("side"), charge.get("seat")
    who = name_of(SIDE_NAMES, side) if seat is None else name_of(SEAT_NAMES, seat)
    what, penalty = offence_words(str(charge.get("offence"))), _penalty_words(proposal)
    number, by = _ruling_number(data, charge.get("deal")), by_words(data.get("by"))
    return Words(
        f"ruling {number.en} proposed by {by.en}: {who.en}, {what.en}: {penalty.en}",
        f"{by.zh}报判罚{number.zh}：{who.zh}，{what.zh}，{penalty.zh}",
    )


def _penalty_words(proposal: EventData) -> Words:
    penalty = msgspec.convert(proposal.get("penalty"), Penalty)
    return penalty_words(penalty, msgspec.convert(proposal.get("effects", ()), Consequences))


def _ruling_number(data: EventData, deal: int | None) -> Words:
    """Return a ruling's number, with the deal of the offence if it is known."""
    number = str(data.get("id"))
    if deal is None:
        return Words(number, number)
    return Words(f"{number} (deal {deal})", f"{number}（第{deal}副）")


def describe_ruling_approval(data: EventData, context: DealContext) -> Words:
    """Describe an approved ruling: who approved it, and the penalty if it was changed."""
    by, proposal = decided_by_words(data.get("by"), data.get("entered_by")), data.get("proposal")
    changed = Words("", "")
    if proposal is not None:
        penalty = _penalty_words(proposal)
        changed = Words(f", as {penalty.en}", f"，改判{penalty.zh}")
    entered = data.get("entered_by") is not None
    spoken = data.get("verbal") and not entered
    word = Words(" orally", "口头") if spoken else Words("", "：" if entered else "")
    number = _ruling_number(data, context.charged.get(str(data.get("id"))))
    return Words(
        f"ruling {number.en} approved{word.en} by {by.en}{changed.en}",
        f"{by.zh}{word.zh}同意判罚{number.zh}{changed.zh}",
    )


def ruling_line(en: str, zh: str) -> DescribeEvent:
    """Return a function that describes a decision on a ruling: its number, and who decided."""

    def tell(data: EventData, before: DealContext) -> Words:
        by = decided_by_words(data.get("by"), data.get("entered_by"))
        colon = "：" if data.get("entered_by") is not None else ""
        number = _ruling_number(data, before.charged.get(str(data.get("id"))))
        return Words(
            en.format(id=number.en, by=by.en),
            zh.format(id=number.zh, by=f"{by.zh}{colon}"),
        )

    return tell


def describe_signature(data: EventData, context: DealContext) -> Words:
    """Describe a signature: who signed the sheet, and for which seat, side or role."""
    signer, person = data.get("signer"), data.get("person")
    known = {**SEAT_NAMES, **SIDE_NAMES, "referee": ROLE_WORDS["referee"]}
    who = name_of(known, signer)
    return Words(f"signed for {who.en}: {person}", f"{who.zh}签名：{person}")


def describe_match_event(data: EventData, context: DealContext) -> Words:
    """Return an event of a match in words. An event of a later version is described by its name."""
    event = str(data.get("event"))
    teller = LINE_BY_MATCH_EVENT.get(event)
    return Words(event, event) if teller is None else teller(data, context)


def advance_match_context(data: EventData, context: DealContext) -> DealContext:
    """Return the context after an event."""
    event, charged = str(data.get("event")), context.charged
    if event == "RulingProposed":
        charged = {**charged, str(data.get("id")): data["charge"]["deal"]}
    change = _CONTEXT_CHANGES.get(event)
    after = context if change is None else change(data, context)
    return msgspec.structs.replace(after, charged=charged)


def is_quiet(data: EventData, context: DealContext) -> bool:
    """Return True if the machine's own entry contains the same as this event."""
    event = data.get("event")
    return event == "Ticked" or (event in _ALSO_MACHINE_EVENTS and not context.by_hand)


LINE_BY_MATCH_EVENT: Final[Mapping[str, DescribeEvent]] = {
    "Seated": deal.describe_seat_taken,
    "Started": constant_line("the match is open", "开赛"),
    "DealtByHand": reason_line("this deal is dealt by hand", "本副人工发牌"),
    "Shuffled": seat_line("{seat} has shuffled", "{seat}已洗牌"),
    "Cut": deal.describe_match_cut,
    "TurnedUp": deal.describe_turned_up_card,
    "Dealt": leader_line("all four hands are complete", "四手牌已备齐"),
    "Misdealt": deal.describe_misdeal,
    "ReleaseOrdered": constant_line("the hands are being released", "放行中"),
    "Released": leader_line("the hands are released: the deal begins", "手牌已放行，本副开始"),
    "Counted": seat_line("{seat} has counted: the number is right", "{seat}清点无误"),
    "CountClaimed": seat_line("{seat} claims a wrong count", "{seat}申告张数不符"),
    "Recounted": deal.describe_recount,
    "DealVoided": reason_line("the deal is void and dealt again", "本副作废，重新发牌"),
    "AntiAnswered": deal.describe_anti_tribute,
    "TributeLaid": seat_line("{seat} has laid the tribute", "{seat}已贡牌"),
    "TributeValued": deal.describe_tribute_values,
    "TributeChosen": template_line(
        "UP takes the tribute of {payer}", "上游收{payer}的贡牌", payer=SEAT_NAMES
    ),
    "ReturnLaid": deal.return_line("{seat} has given a card back", "{seat}已还牌"),
    "ReturnCorrected": deal.return_line("{seat} gave another card back instead", "{seat}更换还牌"),
    "ReturnsSwapped": constant_line("the losers took each other's return card", "双方互换还牌"),
    "Led": constant_line("the first lead is on the table", "已领出牌"),
    "OutSaid": seat_line("{seat} reports going out", "{seat}报出完，待确认"),
    "Out": deal.describe_seat_out,
    "OutWithdrawn": seat_line("{seat} is not out after all", "{seat}并未出完，已撤回"),
    "ResultEntered": deal.describe_result,
    "CardsLeft": deal.describe_cards_left,
    "Answered": deal.describe_seat_answer,
    "Confirmed": deal.describe_result_confirmation,
    "LeaderNamed": seat_line("{seat} is named to lead", "指定{seat}领出牌"),
    "ExtraDealOrdered": reason_line("an extra deal is ordered", "加打一副"),
    "DealStopped": reason_line("the deal is stopped and does not count", "终止本副，本副不计"),
    "Corrected": describe_correction,
    "CorrectionConfirmed": template_line(
        "the oral correction of deal {deal} is confirmed by {by}",
        "{by}确认第{deal}副成绩的口头更正",
    ),
    "Suspended": describe_suspension,
    "Resumed": constant_line("play continues", "恢复比赛"),
    "AreaPaused": describe_area_stop,
    "AreaResumed": constant_line("the area's clocks run again", "全区恢复计时"),
    "TimeAdded": describe_added_time,
    "PlayCalled": seat_line("the clock is started for {seat}", "对{seat}读秒"),
    "PlayWarned": seat_line("{seat} was warned", "已警告{seat}超时"),
    "PlayMade": seat_line("{seat} has played or passed", "{seat}已出牌或过牌"),
    "Ticked": constant_line("time passed", "计时"),
    "RulingProposed": describe_ruling_proposal,
    "RulingApproved": describe_ruling_approval,
    "RulingRejected": ruling_line("ruling {id} rejected by {by}", "{by}驳回判罚{id}"),
    "VerbalConfirmed": ruling_line(
        "ruling {id}: the oral decision is confirmed by {by}", "{by}确认判罚{id}的口头裁定"
    ),
    "Signed": describe_signature,
}
"""The line of every event of a match."""
_ALSO_MACHINE_EVENTS: Final = frozenset({"Cut", "Dealt", "Misdealt", "ReleaseOrdered"})


def _start_deal(data: EventData, context: DealContext) -> DealContext:
    return DealContext(whole=True, by_hand=context.by_hand)


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
    "DealVoided": lambda data, before: DealContext(),
    "Misdealt": lambda data, before: DealContext(by_hand=before.by_hand),
    "DealStopped": lambda data, before: DealContext(),
}
