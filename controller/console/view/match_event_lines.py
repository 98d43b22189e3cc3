"""The events of a match in words: deals and cards, rulings, corrections, time, signatures."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from controller.console.view import phrases
from controller.console.view.phrases import (
    DealContext,
    DescribeEvent,
    EventData,
    constant_line,
    fault_words,
    join_words,
    leader_line,
    name_of,
    offence_words,
    reason_line,
    seat_line,
    template_line,
    value_words,
)
from controller.rules.deal_result import FinishError, parse_finish
from controller.rules.penalties.penalty_record import Penalty
from controller.rules.penalties.proposals import Consequences, penalty_words
from controller.seats import SEAT_NAMES, SIDE_NAMES
from controller.words import ROLE_WORDS, Words, decided_by_words, reason_words
from controller.words import signer_words as by_words


def describe_seat_taken(data: EventData, context: DealContext) -> Words:
    """Describe a taken seat, with the person if the event names one."""
    who, person = name_of(SEAT_NAMES, data.get("seat")), data.get("person")
    if person is None:
        return Words(f"{who.en} is seated", f"{who.zh}已就位")
    return Words(f"{who.en} is seated: {person}", f"{who.zh}已就位：{person}")


def describe_match_cut(data: EventData, context: DealContext) -> Words:
    """Describe how many cards were cut and by which seat, or that the set was not cut."""
    seat, n = data.get("seat"), data.get("n")
    if n is None:
        return Words("the deal continues without a cut", "本副未切牌")
    ahead = Words(" (for the next deal)", "（用于下一副）") if data.get("ahead") else Words("", "")
    if seat is None:
        return Words(f"cut at {n} cards{ahead.en}", f"切牌{n}张{ahead.zh}")
    who = name_of(SEAT_NAMES, seat)
    return Words(f"{who.en} cut {n} cards{ahead.en}", f"{who.zh}切{n}张{ahead.zh}")


def describe_turned_up_card(data: EventData, context: DealContext) -> Words:
    """Describe which card was turned up."""
    card = phrases.card_name(data.get("card"))
    return Words(f"turned up: {card.en}", f"翻牌：{card.zh}")


def describe_misdeal(data: EventData, context: DealContext) -> Words:
    """Describe a misdeal with its reasons."""
    why = fault_words(data.get("reasons", ()))
    return Words(f"dealt again: {why.en}", f"重新发牌：{why.zh}")


def describe_recount(data: EventData, context: DealContext) -> Words:
    """Describe how many cards a count found in each hand."""
    told = _by_seat(data.get("counts", {}))
    found = Words(", a card was found", "，找到遗落的牌") if data.get("found") else Words("", "")
    by = decided_by_words(data.get("by"), data.get("entered_by"))
    return Words(f"counted by {by.en}: {told.en}{found.en}", f"{by.zh}清点：{told.zh}{found.zh}")


def _by_seat(counts: EventData) -> Words:
    """Return the number of each seat in one line, in playing order."""
    ordered = sorted(counts.items(), key=lambda one: "NWSE".find(one[0]))
    named = [(name_of(SEAT_NAMES, seat), n) for seat, n in ordered]
    return join_words(Words(f"{who.en} {n}", f"{who.zh}{n}") for who, n in named)


def describe_anti_tribute(data: EventData, context: DealContext) -> Words:
    """Describe whether an anti-tribute (抗贡) is valid."""
    if data.get("stands"):
        return Words("anti-tribute applies: no tribute is paid", "抗贡成立，不进贡")
    return Words("no anti-tribute: tribute is paid", "抗贡不成立，进贡")


def describe_tribute_values(data: EventData, context: DealContext) -> Words:
    """Describe which value each tribute must have."""
    due = [
        (name_of(SEAT_NAMES, seat), value_words(counts))
        for seat, counts in data.get("values", {}).items()
    ]
    told = join_words(Words(f"{who.en} {card.en}", f"{who.zh}{card.zh}") for who, card in due)
    return Words(f"tribute due: {told.en}", f"应贡：{told.zh}")


def return_line(en: str, zh: str) -> DescribeEvent:
    """Return a function that describes a return, with its rank if the event contains it."""

    def tell(data: EventData, before: DealContext) -> Words:
        who, counts = name_of(SEAT_NAMES, data.get("seat")), data.get("value")
        told = Words(en.format(seat=who.en), zh.format(seat=who.zh))
        if counts is None:
            return told
        card = value_words(counts)
        return Words(f"{told.en}: {card.en}", f"{told.zh}：{card.zh}")

    return tell


def describe_seat_out(data: EventData, context: DealContext) -> Words:
    """Describe a seat that is out, with its place if all places before it are known."""
    seat, place = data.get("seat"), len(context.outs)
    who = name_of(SEAT_NAMES, seat)
    if not context.whole or seat in context.outs or place >= len(phrases.PLACE_NAMES):
        return Words(f"{who.en} is out", f"{who.zh}出完")
    return Words(
        f"{who.en} is out, {phrases.PLACE_NAMES[place].en}", f"{who.zh}出完，第{place + 1}名"
    )


def describe_places(order: Any) -> Words:
    """Return the seat of each place, and the class of the win if the order is a valid finish."""
    named = zip(phrases.PLACE_NAMES, [name_of(SEAT_NAMES, seat) for seat in order], strict=False)
    told = join_words(Words(f"{place.en} {who.en}", f"{place.zh}{who.zh}") for place, who in named)
    try:
        won = name_of(phrases.RESULT_CLASSES, parse_finish(order).result_class)
    except FinishError:
        return told
    return Words(f"{told.en} ({won.en})", f"{told.zh}（{won.zh}）")


def describe_result(data: EventData, context: DealContext) -> Words:
    """Describe the places that were entered."""
    told = describe_places(data.get("order", ()))
    return Words(f"places entered: {told.en}", f"录入名次：{told.zh}")


def describe_cards_left(data: EventData, context: DealContext) -> Words:
    """Describe how many cards each seat has left."""
    told = _by_seat(data.get("left", {}))
    return Words(f"cards left: {told.en}", f"剩余张数：{told.zh}")


def describe_seat_answer(data: EventData, context: DealContext) -> Words:
    """Describe a seat's answer to a question of Big Two."""
    who = name_of(SEAT_NAMES, data.get("seat"))
    yes = Words("yes", "是") if data.get("yes") else Words("no", "否")
    return Words(f"{who.en} answers: {yes.en}", f"{who.zh}表态：{yes.zh}")


def describe_result_confirmation(data: EventData, context: DealContext) -> Words:
    """Describe who confirmed the result."""
    by = data.get("by")
    if by == "referee":
        return Words("the referee confirmed the result", "裁判员确认成绩")
    who = name_of(SIDE_NAMES, by)
    return Words(f"{who.en} confirmed the result", f"{who.zh}确认成绩")


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
    "Seated": describe_seat_taken,
    "Started": constant_line("the match is open", "开赛"),
    "DealtByHand": reason_line("this deal is dealt by hand", "本副人工发牌"),
    "Shuffled": seat_line("{seat} has shuffled", "{seat}已洗牌"),
    "Cut": describe_match_cut,
    "TurnedUp": describe_turned_up_card,
    "Dealt": leader_line("all four hands are complete", "四手牌已备齐"),
    "Misdealt": describe_misdeal,
    "ReleaseOrdered": constant_line("the hands are being released", "放行中"),
    "Released": leader_line("the hands are released: the deal begins", "手牌已放行，本副开始"),
    "Counted": seat_line("{seat} has counted: the number is right", "{seat}清点无误"),
    "CountClaimed": seat_line("{seat} claims a wrong count", "{seat}申告张数不符"),
    "Recounted": describe_recount,
    "DealVoided": reason_line("the deal is void and dealt again", "本副作废，重新发牌"),
    "AntiAnswered": describe_anti_tribute,
    "TributeLaid": seat_line("{seat} has laid the tribute", "{seat}已贡牌"),
    "TributeValued": describe_tribute_values,
    "TributeChosen": template_line(
        "UP takes the tribute of {payer}", "上游收{payer}的贡牌", payer=SEAT_NAMES
    ),
    "ReturnLaid": return_line("{seat} has given a card back", "{seat}已还牌"),
    "ReturnCorrected": return_line("{seat} gave another card back instead", "{seat}更换还牌"),
    "ReturnsSwapped": constant_line("the losers took each other's return card", "双方互换还牌"),
    "Led": constant_line("the first lead is on the table", "已领出牌"),
    "OutSaid": seat_line("{seat} reports going out", "{seat}报出完，待确认"),
    "Out": describe_seat_out,
    "OutWithdrawn": seat_line("{seat} is not out after all", "{seat}并未出完，已撤回"),
    "ResultEntered": describe_result,
    "CardsLeft": describe_cards_left,
    "Answered": describe_seat_answer,
    "Confirmed": describe_result_confirmation,
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


_CONTEXT_CHANGES: Final[Mapping[str, Callable[[EventData, DealContext], DealContext]]] = {
    "DealtByHand": lambda data, before: DealContext(by_hand=True),
    "Released": _start_deal,
    "Dealt": lambda data, before: _start_deal(data, before) if before.by_hand else before,
    "Out": _add_out,
    "OutWithdrawn": lambda data, before: msgspec.structs.replace(
        before, outs=tuple(seat for seat in before.outs if seat != data.get("seat"))
    ),
    "ResultEntered": lambda data, before: msgspec.structs.replace(
        before, outs=tuple(data.get("order", ()))
    ),
    "DealVoided": lambda data, before: DealContext(),
    "Misdealt": lambda data, before: DealContext(by_hand=before.by_hand),
    "DealStopped": lambda data, before: DealContext(),
}
