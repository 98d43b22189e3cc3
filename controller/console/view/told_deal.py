"""What happened in a deal, in words: cut, hands, tribute and return, who is out, the result."""

from typing import Any

from controller.console.view import called
from controller.console.view.called import of, several, whose
from controller.console.view.telling import (
    Before,
    Data,
    Teller,
    add_leader,
    fault_words,
    value_words,
)
from controller.rules.result import FinishError, finish
from controller.words import Words


def seated(data: Data, before: Before) -> Words:
    """Say who has taken a seat, and which person where it is said."""
    who, person = of(called.SEATS, data.get("seat")), data.get("person")
    if person is None:
        return Words(f"{who.en} is seated", f"{who.zh}已就位")
    return Words(f"{who.en} is seated: {person}", f"{who.zh}已就位：{person}")


def cut(data: Data, before: Before) -> Words:
    """Say where the set was cut, and by whom; or that it was not."""
    seat, n = data.get("seat"), data.get("n")
    if n is None:
        return Words("the deal goes on uncut", "本副未切牌")
    ahead = Words(" (for the next deal)", "（用于下一副）") if data.get("ahead") else Words("", "")
    if seat is None:
        return Words(f"cut at {n} cards{ahead.en}", f"切牌{n}张{ahead.zh}")
    who = of(called.SEATS, seat)
    return Words(f"{who.en} cut {n} cards{ahead.en}", f"{who.zh}切{n}张{ahead.zh}")


def turned_up(data: Data, before: Before) -> Words:
    """Say which card was turned up."""
    card = called.card(data.get("card"))
    return Words(f"turned up: {card.en}", f"翻牌：{card.zh}")


def dealt(data: Data, before: Before) -> Words:
    """Say that hands dealt by hand are complete, and who leads."""
    return _add_leader_of(data, Words("four right hands are there", "四手牌已备齐"))


def released(data: Data, before: Before) -> Words:
    """Say that the hands are out, and who leads."""
    return _add_leader_of(data, Words("the hands are out: the deal begins", "手牌已放行，本副开始"))


def _add_leader_of(data: Data, told: Words) -> Words:
    """Add who leads, by which card, where the event says it."""
    return add_leader(told, data.get("turned_to"), data.get("turned_up"))


def misdealt(data: Data, before: Before) -> Words:
    """Say why it is dealt again."""
    why = fault_words(data.get("reasons", ()))
    return Words(f"dealt again: {why.en}", f"重新发牌：{why.zh}")


def recounted(data: Data, before: Before) -> Words:
    """Say how many cards a count found in each hand."""
    told = _by_seat(data.get("counts", {}))
    found = Words(", a card was found", "，找到遗落的牌") if data.get("found") else Words("", "")
    by = whose(data.get("by"), data.get("entered_by"))
    return Words(f"counted by {by.en}: {told.en}{found.en}", f"{by.zh}清点：{told.zh}{found.zh}")


def _by_seat(counts: Data) -> Words:
    """Return a number a seat in one line, in playing order."""
    return several(
        Words(f"{of(called.SEATS, seat).en} {n}", f"{of(called.SEATS, seat).zh}{n}")
        for seat, n in sorted(counts.items(), key=lambda one: "NWSE".find(one[0]))
    )


def anti(data: Data, before: Before) -> Words:
    """Say whether an anti-tribute (抗贡) stands."""
    if data.get("stands"):
        return Words("anti-tribute stands: no tribute is paid", "抗贡成立，不进贡")
    return Words("no anti-tribute: tribute is paid", "抗贡不成立，进贡")


def valued(data: Data, before: Before) -> Words:
    """Say which value each tribute must have."""
    told = several(
        Words(
            f"{of(called.SEATS, seat).en} {value_words(counts).en}",
            f"{of(called.SEATS, seat).zh}{value_words(counts).zh}",
        )
        for seat, counts in data.get("values", {}).items()
    )
    return Words(f"tribute due: {told.en}", f"应贡：{told.zh}")


def chosen(data: Data, before: Before) -> Words:
    """Say whose tribute UP takes."""
    who = of(called.SEATS, data.get("payer"))
    return Words(f"UP takes the tribute of {who.en}", f"上游收{who.zh}的贡牌")


def returns(en: str, zh: str) -> Teller:
    """Return a teller of a return, with its rank where the event has it."""

    def tell(data: Data, before: Before) -> Words:
        who, counts = of(called.SEATS, data.get("seat")), data.get("value")
        told = Words(en.format(seat=who.en), zh.format(seat=who.zh))
        if counts is None:
            return told
        card = value_words(counts)
        return Words(f"{told.en}: {card.en}", f"{told.zh}：{card.zh}")

    return tell


def out(data: Data, before: Before) -> Words:
    """Say that a seat is out, with its place where all places before are known."""
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
        won = of(called.RESULT_CLASSES, finish(order).result_class)
    except FinishError:
        return told
    return Words(f"{told.en} ({won.en})", f"{told.zh}（{won.zh}）")


def result(data: Data, before: Before) -> Words:
    """Say which places were entered."""
    told = places(data.get("order", ()))
    return Words(f"places entered: {told.en}", f"录入名次：{told.zh}")


def left(data: Data, before: Before) -> Words:
    """Say how many cards each seat has left."""
    told = _by_seat(data.get("left", {}))
    return Words(f"cards left: {told.en}", f"剩余张数：{told.zh}")


def answered(data: Data, before: Before) -> Words:
    """Say what a seat answers to a question of Big Two."""
    who = of(called.SEATS, data.get("seat"))
    yes = Words("yes", "是") if data.get("yes") else Words("no", "否")
    return Words(f"{who.en} answers: {yes.en}", f"{who.zh}表态：{yes.zh}")


def confirmed(data: Data, before: Before) -> Words:
    """Say who confirmed the result."""
    by = data.get("by")
    if by == "referee":
        return Words("the referee confirmed the result", "裁判员确认成绩")
    who = of(called.SIDES, by)
    return Words(f"{who.en} confirmed the result", f"{who.zh}确认成绩")
