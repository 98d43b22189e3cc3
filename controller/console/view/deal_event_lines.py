"""The events of a deal in words: cut, hands, tribute and return, seats that are out, result."""

from typing import Any

from controller.console.view import phrases
from controller.console.view.phrases import (
    DealContext,
    DescribeEvent,
    EventData,
    fault_words,
    join_words,
    name_of,
    value_words,
)
from controller.rules.deal_result import FinishError, parse_finish
from controller.seats import SEAT_NAMES, SIDE_NAMES
from controller.words import Words, decided_by_words


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
