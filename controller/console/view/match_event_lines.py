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
    optional_words,
    reason_line,
    seat_line,
    template_line,
    value_words,
)
from controller.rules.deal_result import FinishError, parse_finish
from controller.rules.penalties.penalty_record import Penalty
from controller.rules.penalties.proposals import Consequences, penalty_words
from controller.seats import SEAT_NAMES, SIDE_NAMES, SIGNER_NAMES
from controller.words import Words, decided_by_words, reason_words, signer_words


def describe_match_cut(data: EventData, context: DealContext) -> Words:
    """Describe how many cards were cut and by which seat, or that the set was not cut."""
    if data.get("n") is None:
        return Words("the deal continues without a cut", "本副未切牌")
    told = phrases.cut_words(data["n"], data.get("seat"))
    if data.get("ahead"):
        return Words(f"{told.en} (for the next deal)", f"{told.zh}（用于下一副）")
    return told


def _by_seat(counts: EventData) -> Words:
    """Return one line with the number of cards of each seat, in playing order."""
    ordered = sorted(counts.items(), key=lambda one: "NWSE".find(one[0]))
    named = [(name_of(SEAT_NAMES, seat), n) for seat, n in ordered]
    return join_words(Words(f"{who.en} {n}", f"{who.zh}{n}") for who, n in named)


def _tribute_values(values: EventData) -> Words:
    due = [(name_of(SEAT_NAMES, seat), value_words(value)) for seat, value in values.items()]
    return join_words(Words(f"{who.en} {card.en}", f"{who.zh}{card.zh}") for who, card in due)


_RETURN_VALUE: Final = optional_words(": {}", "：{}", value_words)


def describe_seat_out(data: EventData, context: DealContext) -> Words:
    """Describe that a player has no cards left, with the place (such as first) if it is known."""
    seat, place = data.get("seat"), len(context.outs)
    who = name_of(SEAT_NAMES, seat)
    if not context.whole or seat in context.outs or place >= len(phrases.PLACE_NAMES):
        return Words(f"{who.en} is out", f"{who.zh}出完")
    return Words(
        f"{who.en} is out, {phrases.PLACE_NAMES[place].en}", f"{who.zh}出完，第{place + 1}名"
    )


def describe_places(order: Any) -> Words:
    """Describe in one line which seat took which place, and the kind of win if it is known."""
    named = zip(phrases.PLACE_NAMES, [name_of(SEAT_NAMES, seat) for seat in order], strict=False)
    told = join_words(Words(f"{place.en} {who.en}", f"{place.zh}{who.zh}") for place, who in named)
    try:
        won = name_of(phrases.RESULT_CLASSES, parse_finish(order).result_class)
    except FinishError:
        return told
    return Words(f"{told.en} ({won.en})", f"{told.zh}（{won.zh}）")


def describe_added_time(data: EventData, context: DealContext) -> Words:
    """Describe how much time is added, in minutes and seconds."""
    seconds = data.get("seconds", 0)
    if not seconds:
        return Words("no time is added", "不补时")
    minutes = f"{seconds // 60}:{seconds % 60:02}"
    return Words(f"time added: {minutes}", f"补时{minutes}")


def describe_ruling_proposal(data: EventData, context: DealContext) -> Words:
    """Describe a proposed ruling: its number, who proposed it, the charge, and the penalty."""
    charge, proposal = data.get("charge", {}), data.get("proposal", {})
    side, seat = charge.get("side"), charge.get("seat")
    who = name_of(SIDE_NAMES, side) if seat is None else name_of(SEAT_NAMES, seat)
    what, penalty = phrases.offence_words(str(charge.get("offence"))), _penalty_words(proposal)
    number, by = _ruling_number(data, charge.get("deal")), signer_words(data.get("by"))
    return Words(
        f"ruling {number.en} proposed by {by.en}: {who.en}, {what.en}: {penalty.en}",
        f"{by.zh}报判罚{number.zh}：{who.zh}，{what.zh}，{penalty.zh}",
    )


def _penalty_words(proposal: EventData) -> Words:
    penalty = msgspec.convert(proposal.get("penalty"), Penalty)
    return penalty_words(penalty, msgspec.convert(proposal.get("effects", ()), Consequences))


def _ruling_number(data: EventData, deal: int | None) -> Words:
    """Return the number of a ruling, and the deal of its offence if this deal is known."""
    number = str(data.get("id"))
    if deal is None:
        return Words(number, number)
    return Words(f"{number} (deal {deal})", f"{number}（第{deal}副）")


def describe_ruling_approval(data: EventData, context: DealContext) -> Words:
    """Describe an approved ruling: its number, who approved it, and the penalty if it changed."""
    by, proposal = decided_by_words(data.get("by"), data.get("entered_by")), data.get("proposal")
    changed = phrases.NO_WORDS
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
    """Return a function that replaces {id} in a text by a ruling's number, {by} by the decider."""

    def tell(data: EventData, before: DealContext) -> Words:
        by = decided_by_words(data.get("by"), data.get("entered_by"))
        colon = "：" if data.get("entered_by") is not None else ""
        number = _ruling_number(data, before.charged.get(str(data.get("id"))))
        return Words(
            en.format(id=number.en, by=by.en), zh.format(id=number.zh, by=f"{by.zh}{colon}")
        )

    return tell


def describe_match_event(data: EventData, context: DealContext) -> Words:
    """Describe an event of a match in words. An unknown event is described by its name."""
    event = str(data.get("event"))
    teller = LINE_BY_MATCH_EVENT.get(event)
    return Words(event, event) if teller is None else teller(data, context)


def advance_match_context(data: EventData, context: DealContext) -> DealContext:
    """Return `context` updated with an event of a match."""
    event, charged = str(data.get("event")), context.charged
    if event == "RulingProposed":
        charged = {**charged, str(data.get("id")): data["charge"]["deal"]}
    change = _CONTEXT_CHANGES.get(event)
    after = context if change is None else change(data, context)
    return msgspec.structs.replace(after, charged=charged)


def is_quiet(data: EventData, context: DealContext) -> bool:
    """Return True if an event needs no line: a clock tick, or one that a machine entry reports."""
    event = str(data.get("event"))
    return event == "Ticked" or (event in _ALSO_MACHINE_EVENTS and not context.by_hand)


LINE_BY_MATCH_EVENT: Final[Mapping[str, DescribeEvent]] = {
    "Seated": template_line(
        "{seat} is seated{person}",
        "{seat}已就位{person}",
        seat=SEAT_NAMES,
        person=optional_words(": {}", "：{}", lambda person: Words(person, person)),
    ),
    "Started": constant_line("the match is open", "开赛"),
    "DealtByHand": reason_line("this deal is dealt by hand", "本副人工发牌"),
    "Shuffled": seat_line("{seat} has shuffled", "{seat}已洗牌"),
    "Cut": describe_match_cut,
    "TurnedUp": template_line("turned up: {card}", "翻牌：{card}", card=phrases.card_name),
    "Dealt": leader_line("all four hands are complete", "四手牌已备齐"),
    "Misdealt": template_line("dealt again: {reasons}", "重新发牌：{reasons}", reasons=fault_words),
    "ReleaseOrdered": constant_line("the hands are being released", "放行中"),
    "Released": leader_line("the hands are released: the deal begins", "手牌已放行，本副开始"),
    "Counted": seat_line("{seat} has counted: the number is right", "{seat}清点无误"),
    "CountClaimed": seat_line("{seat} claims a wrong count", "{seat}申告张数不符"),
    "Recounted": template_line(
        "counted by {by}: {counts}{found}",
        "{by}清点：{counts}{found}",
        counts=_by_seat,
        found=phrases.words_if(", a card was found", "，找到遗落的牌"),
    ),
    "DealVoided": reason_line("the deal is void and dealt again", "本副作废，重新发牌"),
    "AntiAnswered": template_line(
        "{stands}",
        "{stands}",
        stands=phrases.words_if(
            "anti-tribute applies: no tribute is paid",
            "抗贡成立，不进贡",
            Words("no anti-tribute: tribute is paid", "抗贡不成立，进贡"),
        ),
    ),
    "TributeLaid": seat_line("{seat} has laid the tribute", "{seat}已贡牌"),
    "TributeValued": template_line(
        "tribute due: {values}", "应贡：{values}", values=_tribute_values
    ),
    "TributeChosen": template_line(
        "UP takes the tribute of {payer}", "上游收{payer}的贡牌", payer=SEAT_NAMES
    ),
    "ReturnLaid": template_line(
        "{seat} has given a card back{value}",
        "{seat}已还牌{value}",
        seat=SEAT_NAMES,
        value=_RETURN_VALUE,
    ),
    "ReturnCorrected": template_line(
        "{seat} gave another card back instead{value}",
        "{seat}更换还牌{value}",
        seat=SEAT_NAMES,
        value=_RETURN_VALUE,
    ),
    "ReturnsSwapped": constant_line("the losers took each other's return card", "双方互换还牌"),
    "Led": constant_line("the first lead is on the table", "已领出牌"),
    "OutSaid": seat_line("{seat} reports going out", "{seat}报出完，待确认"),
    "Out": describe_seat_out,
    "OutWithdrawn": seat_line("{seat} is not out after all", "{seat}并未出完，已撤回"),
    "ResultEntered": template_line(
        "places entered: {order}", "录入名次：{order}", order=describe_places
    ),
    "CardsLeft": template_line("cards left: {left}", "剩余张数：{left}", left=_by_seat),
    "Answered": template_line(
        "{seat} answers: {yes}",
        "{seat}表态：{yes}",
        seat=SEAT_NAMES,
        yes=phrases.words_if("yes", "是", Words("no", "否")),
    ),
    "Confirmed": template_line(
        "{by} confirmed the result",
        "{by}确认成绩",
        by={**SIDE_NAMES, "referee": Words("the referee", "裁判员")},
    ),
    "LeaderNamed": seat_line("{seat} is named to lead", "指定{seat}领出牌"),
    "ExtraDealOrdered": reason_line("an extra deal is ordered", "加打一副"),
    "DealStopped": reason_line("the deal is stopped and does not count", "终止本副，本副不计"),
    "Corrected": template_line(
        "deal {deal} corrected: {order}; {choice}: {reason} ({by})",
        "更正第{deal}副：{order}；{choice}：{reason}（{by}）",
        order=describe_places,
        choice=phrases.CORRECTION_CHOICES,
    ),
    "CorrectionConfirmed": template_line(
        "the oral correction of deal {deal} is confirmed by {by}",
        "{by}确认第{deal}副成绩的口头更正",
    ),
    "Suspended": template_line("suspended: {reason}", "暂停待裁：{reason}", reason=reason_words),
    "Resumed": constant_line("play continues", "恢复比赛"),
    "AreaPaused": template_line(
        "the area's clocks are stopped{reason}{by}",
        "全区停表{reason}{by}",
        reason=optional_words(": {}", "：{}", reason_words),
        by=optional_words(" ({})", "（{}）", signer_words),
    ),
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
    "Signed": template_line(
        "signed for {signer}: {person}", "{signer}签名：{person}", signer=SIGNER_NAMES
    ),
}
"""The line of every event of a match."""
_ALSO_MACHINE_EVENTS: Final = frozenset({"Cut", "Dealt", "Misdealt", "ReleaseOrdered"})


def _add_out(data: EventData, context: DealContext) -> DealContext:
    seat = str(data.get("seat"))
    outs = context.outs if seat in context.outs else (*context.outs, seat)
    return msgspec.structs.replace(context, outs=outs)


_CONTEXT_CHANGES: Final[Mapping[str, Callable[[EventData, DealContext], DealContext]]] = {
    "DealtByHand": lambda data, before: DealContext(by_hand=True),
    "Released": lambda data, before: DealContext(whole=True, by_hand=before.by_hand),
    "Dealt": lambda data, before: (
        DealContext(whole=True, by_hand=True) if before.by_hand else before
    ),
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
