"""Seats, sides and signers as people read them; several of them in one line."""

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from controller.messages import Seat
from controller.words import Words

SEAT_NAMES: dict[str, Words] = {
    "N": Words("North", "北家"),
    "W": Words("West", "西家"),
    "S": Words("South", "南家"),
    "E": Words("East", "东家"),
}
SIDE_NAMES: dict[str, Words] = {
    "NS": Words("North-South", "南北"),
    "EW": Words("East-West", "东西"),
}
SIGNER_NAMES: dict[str, Words] = SEAT_NAMES | SIDE_NAMES | {"referee": Words("referee", "裁判员")}
"""Who may have to sign a score sheet."""

T = TypeVar("T")


def seat_list_words(named: Iterable[Seat]) -> Words:
    """Return seats as a list: all of them."""
    return join_words(named, SEAT_NAMES.__getitem__)


def seat_choice_words(named: Iterable[Seat]) -> Words:
    """Return seats as a choice: any one of them."""
    return join_words(named, SEAT_NAMES.__getitem__, " or ", "或")


def signer_list_words(named: Iterable[str]) -> Words:
    """Return who signs, as a list."""
    return join_words(named, SIGNER_NAMES.__getitem__)


def card_count_words(cards: Mapping[Seat, int]) -> Words:
    """Return how many cards each has, as they were counted."""
    if not cards:
        return Words("nothing counted", "未清点")
    return join_words(cards.items(), lambda one: _seat_count_words(*one))


def _seat_count_words(seat: str, cards: int) -> Words:
    who = SEAT_NAMES.get(seat, Words(seat, seat))
    return Words(f"{who.en} {cards}", f"{who.zh}{cards}张")


def join_words(
    things: Iterable[T], words: Callable[[T], Words], en: str = ", ", zh: str = "、"
) -> Words:
    """Return the words of several things in one line, with `en` and `zh` between them."""
    told = [words(thing) for thing in things]
    return Words(en.join(one.en for one in told), zh.join(one.zh for one in told))
