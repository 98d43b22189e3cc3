"""What happened in a match, in a line of plain words: one function for each event of a match.

Pure. What is told needs no other entry, but who is out at which place and who cut: `Before`.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from controller.console.view import called
from controller.console.view.called import by_words, of, several
from controller.faults import catalogue
from controller.rules.order import BIG_JOKER_VALUE, LEVEL_VALUE, SMALL_JOKER_VALUE, rank_text
from controller.rules.penalties.offences import offence
from controller.rules.result import FinishError, finish
from controller.rules.words import Words


class Before(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """What was told of the present deal so far. `outs`: who is out, in turn.

    `whole`: it was told from its beginning, so that places are known. `by_hand`: no machine
    tells of its cut and its hands.
    """

    whole: bool = False
    by_hand: bool = False
    outs: tuple[str, ...] = ()


Data = Mapping[str, Any]
Teller = Callable[[Data, Before], Words]


def match_words(data: Data, before: Before) -> Words:
    """Return what an event of a match says; of a later version's, what it is called."""
    event = str(data.get("event"))
    teller = MATCH.get(event)
    return Words(event, event) if teller is None else teller(data, before)


def after(data: Data, before: Before) -> Before:
    """Return what is told of the deal behind an event."""
    change = _AFTER.get(str(data.get("event")))
    return before if change is None else change(data, before)


def is_quiet(data: Data, before: Before) -> bool:
    """Tell whether the line says what the machine's own entry beside it says already."""
    event = data.get("event")
    return event == "Ticked" or (event in _MACHINES_TOO and not before.by_hand)


def fault_words(names: Any) -> Words:
    """Return the causes of faults in one line; one that nobody knows as it is called."""
    return several(_cause(str(name)) for name in names)


def _cause(name: str) -> Words:
    row = catalogue().get(name)
    return Words(name, name) if row is None else Words(row.cause(), row.cause(language="zh"))


def value_words(counts: Any) -> Words:
    """Return a card's value: a rank, the level's, or a joker."""
    named = _VALUES.get(counts)
    if named is not None:
        return named
    rank = rank_text(counts) if isinstance(counts, int) and 2 <= counts <= 14 else str(counts)
    return Words(rank, rank)


_VALUES: Final = {
    LEVEL_VALUE: Words("the level card", "级牌"),
    SMALL_JOKER_VALUE: Words("small joker", "小王"),
    BIG_JOKER_VALUE: Words("big joker", "大王"),
}


def _plain(en: str, zh: str) -> Teller:
    return lambda data, before: Words(en, zh)


def _seat(en: str, zh: str) -> Teller:
    """Return a teller with the seat in its line."""

    def tell(data: Data, before: Before) -> Words:
        who = of(called.SEATS, data.get("seat"))
        return Words(en.format(seat=who.en), zh.format(seat=who.zh))

    return tell


def _because(en: str, zh: str, field: str = "reason") -> Teller:
    """Return a teller with a reason, and who answers for it where that is said."""

    def tell(data: Data, before: Before) -> Words:
        why, by = data.get(field, ""), by_words(data.get("by", ""))
        whose = Words(f" ({by.en})", f"（{by.zh}）") if by.en else by
        return Words(f"{en}: {why}{whose.en}", f"{zh}：{why}{whose.zh}")

    return tell


def _seated(data: Data, before: Before) -> Words:
    who, person = of(called.SEATS, data.get("seat")), data.get("person")
    if person is None:
        return Words(f"{who.en} is seated", f"{who.zh}已就位")
    return Words(f"{who.en} is seated: {person}", f"{who.zh}已就位：{person}")


def _cut(data: Data, before: Before) -> Words:
    seat, n = data.get("seat"), data.get("n")
    if n is None:
        return Words("the deal goes on uncut", "本副未切牌")
    who = Words("cut", "切牌") if seat is None else of(called.SEATS, seat)
    ahead = Words(" (for the next deal)", "（用于下一副）") if data.get("ahead") else Words("", "")
    if seat is None:
        return Words(f"cut at {n} cards{ahead.en}", f"切牌{n}张{ahead.zh}")
    return Words(f"{who.en} cut {n} cards{ahead.en}", f"{who.zh}切{n}张{ahead.zh}")


def _turned_up(data: Data, before: Before) -> Words:
    card = called.card(data.get("card"))
    return Words(f"turned up: {card.en}", f"翻牌：{card.zh}")


def _dealt(data: Data, before: Before) -> Words:
    return _with_lead(data, Words("four right hands are there", "四手牌已备齐"))


def _released(data: Data, before: Before) -> Words:
    return _with_lead(data, Words("the hands are out: the deal begins", "手牌已放行，本副开始"))


def _with_lead(data: Data, told: Words) -> Words:
    """Add who leads, by which card, where the event says it."""
    return with_lead(told, data.get("turned_to"), data.get("turned_up"))


def with_lead(told: Words, seat: Any, turned_up: Any) -> Words:
    """Return a line with who leads, by which card, where that is known."""
    if seat is None:
        return told
    who = of(called.SEATS, seat)
    if turned_up is None:
        return Words(f"{told.en}, {who.en} leads", f"{told.zh}，{who.zh}先出")
    card = called.card(turned_up)
    return Words(f"{told.en}; {card.en}, {who.en} leads", f"{told.zh}；翻牌{card.zh}，{who.zh}先出")


def _misdealt(data: Data, before: Before) -> Words:
    why = fault_words(data.get("reasons", ()))
    return Words(f"dealt again: {why.en}", f"重新发牌：{why.zh}")


def _recounted(data: Data, before: Before) -> Words:
    counts = data.get("counts", {})
    told = several(
        Words(f"{of(called.SEATS, seat).en} {n}", f"{of(called.SEATS, seat).zh}{n}")
        for seat, n in sorted(counts.items(), key=lambda one: "NWSE".find(one[0]))
    )
    found = Words(", a card was found", "，找到遗落的牌") if data.get("found") else Words("", "")
    by = by_words(data.get("by"))
    return Words(f"counted by {by.en}: {told.en}{found.en}", f"{by.zh}清点：{told.zh}{found.zh}")


def _anti(data: Data, before: Before) -> Words:
    if data.get("stands"):
        return Words("anti-tribute stands: no tribute is paid", "抗贡成立，不进贡")
    return Words("no anti-tribute: tribute is paid", "抗贡不成立，进贡")


def _valued(data: Data, before: Before) -> Words:
    told = several(
        Words(
            f"{of(called.SEATS, seat).en} {value_words(counts).en}",
            f"{of(called.SEATS, seat).zh}{value_words(counts).zh}",
        )
        for seat, counts in data.get("values", {}).items()
    )
    return Words(f"tribute due: {told.en}", f"应贡：{told.zh}")


def _chosen(data: Data, before: Before) -> Words:
    who = of(called.SEATS, data.get("payer"))
    return Words(f"UP takes the tribute of {who.en}", f"上游收{who.zh}的贡牌")


def _returns(en: str, zh: str) -> Teller:
    """Return a teller of a return, with its rank where the event has it."""

    def tell(data: Data, before: Before) -> Words:
        who, counts = of(called.SEATS, data.get("seat")), data.get("value")
        told = Words(en.format(seat=who.en), zh.format(seat=who.zh))
        if counts is None:
            return told
        card = value_words(counts)
        return Words(f"{told.en}: {card.en}", f"{told.zh}：{card.zh}")

    return tell


def _out(data: Data, before: Before) -> Words:
    seat, place = data.get("seat"), len(before.outs)
    who = of(called.SEATS, seat)
    if not before.whole or seat in before.outs or place >= len(called.PLACES):
        return Words(f"{who.en} is out", f"{who.zh}出完")
    return Words(f"{who.en} is out, {called.PLACES[place].en}", f"{who.zh}出完，第{place + 1}名")


def places(order: Any) -> Words:
    """Return who took which place, and what class of win that is where it is one."""
    told = several(
        Words(f"{place.en} {of(called.SEATS, seat).en}", f"{place.zh}{of(called.SEATS, seat).zh}")
        for place, seat in zip(called.PLACES, order, strict=False)
    )
    try:
        won = of(called.CLASSES, finish(order).result_class)
    except FinishError:
        return told
    return Words(f"{told.en} ({won.en})", f"{told.zh}（{won.zh}）")


def _result(data: Data, before: Before) -> Words:
    told = places(data.get("order", ()))
    return Words(f"places entered: {told.en}", f"录入名次：{told.zh}")


def _left(data: Data, before: Before) -> Words:
    told = several(
        Words(f"{of(called.SEATS, seat).en} {n}", f"{of(called.SEATS, seat).zh}{n}")
        for seat, n in sorted(data.get("left", {}).items(), key=lambda one: "NWSE".find(one[0]))
    )
    return Words(f"cards left: {told.en}", f"剩余张数：{told.zh}")


def _answered(data: Data, before: Before) -> Words:
    who = of(called.SEATS, data.get("seat"))
    yes = Words("yes", "是") if data.get("yes") else Words("no", "否")
    return Words(f"{who.en} answers: {yes.en}", f"{who.zh}表态：{yes.zh}")


def _confirmed(data: Data, before: Before) -> Words:
    by = data.get("by")
    if by == "referee":
        return Words("the referee confirmed the result", "裁判员确认成绩")
    who = of(called.SIDES, by)
    return Words(f"{who.en} confirmed the result", f"{who.zh}确认成绩")


def _corrected(data: Data, before: Before) -> Words:
    told, choice = places(data.get("order", ())), of(called.CHOICES, data.get("choice"))
    deal, by, why = data.get("deal"), by_words(data.get("by")), data.get("reason")
    return Words(
        f"deal {deal} corrected: {told.en}; {choice.en}: {why} ({by.en})",
        f"更正第{deal}副：{told.zh}；{choice.zh}：{why}（{by.zh}）",
    )


def _suspended(data: Data, before: Before) -> Words:
    reason = str(data.get("reason", ""))
    why = _SUSPENDED.get(reason, Words(reason, reason))
    return Words(f"suspended: {why.en}", f"暂停待裁：{why.zh}")


_SUSPENDED: Final = {
    "called": Words("the referee was called", "召请裁判"),
    "count": Words("a count is claimed", "张数不符"),
    "transfer": Words("moved to another table", "转台"),
}


def _added(data: Data, before: Before) -> Words:
    seconds = data.get("seconds", 0)
    if not seconds:
        return Words("no time is added", "不补时")
    return Words(f"time added: {_minutes(seconds)}", f"补时{_minutes(seconds)}")


def _minutes(seconds: int) -> str:
    return f"{seconds // 60}:{seconds % 60:02}"


def _proposed(data: Data, before: Before) -> Words:
    charge, proposal = data.get("charge", {}), data.get("proposal", {})
    who = _accused(charge)
    what, penalty = _offence(charge), of(called.PENALTIES, proposal.get("penalty"))
    number, by = data.get("id"), by_words(data.get("by"))
    return Words(
        f"ruling {number} proposed by {by.en}: {who.en}, {what.en}: {penalty.en}",
        f"{by.zh}报判罚{number}：{who.zh}，{what.zh}，{penalty.zh}",
    )


def _accused(charge: Data) -> Words:
    seat = charge.get("seat")
    return of(called.SIDES, charge.get("side")) if seat is None else of(called.SEATS, seat)


def _offence(charge: Data) -> Words:
    name = str(charge.get("offence"))
    try:
        row = offence(name)
    except LookupError:
        return Words(name, name)
    return Words(row.en, row.zh)


def _approved(data: Data, before: Before) -> Words:
    by, proposal = by_words(data.get("by")), data.get("proposal")
    changed = Words("", "")
    if proposal is not None:
        penalty = of(called.PENALTIES, proposal.get("penalty"))
        changed = Words(f", as {penalty.en}", f"，改判{penalty.zh}")
    word = Words(" by word", "口头") if data.get("verbal") else Words("", "")
    return Words(
        f"ruling {data.get('id')} approved{word.en} by {by.en}{changed.en}",
        f"{by.zh}{word.zh}同意判罚{data.get('id')}{changed.zh}",
    )


def _ruling(en: str, zh: str) -> Teller:
    return lambda data, before: Words(
        en.format(id=data.get("id"), by=by_words(data.get("by")).en),
        zh.format(id=data.get("id"), by=by_words(data.get("by")).zh),
    )


def _signed(data: Data, before: Before) -> Words:
    signer, person = data.get("signer"), data.get("person")
    known = {**called.SEATS, **called.SIDES, "referee": called.ROLES["referee"]}
    who = of(known, signer)
    return Words(f"signed for {who.en}: {person}", f"{who.zh}签名：{person}")


MATCH: Final[Mapping[str, Teller]] = {
    "Seated": _seated,
    "Started": _plain("the match is open", "开赛"),
    "DealtByHand": _because("this deal is dealt by hand", "本副人工发牌"),
    "Shuffled": _seat("{seat} has shuffled", "{seat}已洗牌"),
    "Cut": _cut,
    "TurnedUp": _turned_up,
    "Dealt": _dealt,
    "Misdealt": _misdealt,
    "ReleaseOrdered": _plain("the hands are being released", "放行中"),
    "Released": _released,
    "Counted": _seat("{seat} has counted, right", "{seat}清点无误"),
    "CountClaimed": _seat("{seat} claims a wrong count", "{seat}申告张数不符"),
    "Recounted": _recounted,
    "DealVoided": _because("the deal is void and dealt again", "本副作废，重新发牌"),
    "AntiAnswered": _anti,
    "TributeLaid": _seat("{seat} has laid the tribute", "{seat}已贡牌"),
    "TributeValued": _valued,
    "TributeChosen": _chosen,
    "ReturnLaid": _returns("{seat} has given a card back", "{seat}已还牌"),
    "ReturnCorrected": _returns("{seat} gave another card back instead", "{seat}更换还牌"),
    "ReturnsSwapped": _plain("the losers took each other's return card", "双方互换还牌"),
    "Led": _plain("the first lead is on the table", "已领出牌"),
    "OutSaid": _seat("{seat} says that he is out", "{seat}报出完，待确认"),
    "Out": _out,
    "OutWithdrawn": _seat("{seat} is not out after all", "{seat}并未出完，已撤回"),
    "ResultEntered": _result,
    "CardsLeft": _left,
    "Answered": _answered,
    "Confirmed": _confirmed,
    "LeaderNamed": _seat("{seat} is named to lead", "指定{seat}领出牌"),
    "ExtraDealOrdered": _because("an extra deal is ordered", "加打一副"),
    "DealStopped": _because("the deal is stopped and does not count", "终止本副，本副不计"),
    "Corrected": _corrected,
    "Suspended": _suspended,
    "Resumed": _plain("play goes on", "恢复比赛"),
    "AreaPaused": _plain("the clock of the area stands still", "全场暂停计时"),
    "AreaResumed": _plain("the clock of the area goes on", "全场恢复计时"),
    "TimeAdded": _added,
    "PlayCalled": _seat("the clock is started for {seat}", "对{seat}读秒"),
    "PlayWarned": _seat("{seat} was warned", "已警告{seat}超时"),
    "PlayMade": _seat("{seat} has played or passed", "{seat}已出牌或过牌"),
    "Ticked": _plain("time passed", "计时"),
    "RulingProposed": _proposed,
    "RulingApproved": _approved,
    "RulingRejected": _ruling("ruling {id} rejected by {by}", "{by}驳回判罚{id}"),
    "VerbalConfirmed": _ruling(
        "ruling {id}: the word is confirmed by {by}", "{by}确认判罚{id}的口头裁定"
    ),
    "Signed": _signed,
}
"""Every event of a match."""

_MACHINES_TOO: Final = frozenset({"Cut", "Dealt", "Misdealt", "ReleaseOrdered"})


def _began(data: Data, before: Before) -> Before:
    return Before(whole=True, by_hand=before.by_hand)


def _over(data: Data, before: Before) -> Before:
    return Before()


def _one_out(data: Data, before: Before) -> Before:
    seat = str(data.get("seat"))
    outs = before.outs if seat in before.outs else (*before.outs, seat)
    return msgspec.structs.replace(before, outs=outs)


def _not_out(data: Data, before: Before) -> Before:
    outs = tuple(seat for seat in before.outs if seat != data.get("seat"))
    return msgspec.structs.replace(before, outs=outs)


_AFTER: Final[Mapping[str, Callable[[Data, Before], Before]]] = {
    "DealtByHand": lambda data, before: Before(by_hand=True),
    "Released": _began,
    "Dealt": lambda data, before: _began(data, before) if before.by_hand else before,
    "Out": _one_out,
    "OutWithdrawn": _not_out,
    "ResultEntered": lambda data, before: msgspec.structs.replace(
        before, outs=tuple(data.get("order", ()))
    ),
    "Confirmed": lambda data, before: before,
    "DealVoided": _over,
    "Misdealt": lambda data, before: Before(by_hand=before.by_hand),
    "DealStopped": _over,
}
