"""Seats, sides and signers as people read them; several of them in one line."""

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from controller.messages import Seat
from controller.rules.words import Words

SEATS: dict[str, Words] = {
    "N": Words("North", "北家"),
    "W": Words("West", "西家"),
    "S": Words("South", "南家"),
    "E": Words("East", "东家"),
}
SIDES: dict[str, Words] = {
    "NS": Words("North-South", "南北"),
    "EW": Words("East-West", "东西"),
}
SIGNERS: dict[str, Words] = SEATS | SIDES | {"referee": Words("referee", "裁判员")}
"""Who may have to sign a score sheet."""

T = TypeVar("T")


def seats(named: Iterable[Seat]) -> Words:
    """Return seats as a list: all of them."""
    return joined(named, SEATS.__getitem__)


def one_of(named: Iterable[Seat]) -> Words:
    """Return seats as a choice: any one of them."""
    return joined(named, SEATS.__getitem__, " or ", "或")


def signers(named: Iterable[str]) -> Words:
    """Return who signs, as a list."""
    return joined(named, SIGNERS.__getitem__)


def held(cards: Mapping[Seat, int]) -> Words:
    """Return how many cards each has, as they were counted."""
    if not cards:
        return Words("nothing counted", "未清点")
    return joined(cards.items(), lambda one: _seat_count_words(*one))


def _seat_count_words(seat: str, cards: int) -> Words:
    who = SEATS.get(seat, Words(seat, seat))
    return Words(f"{who.en} {cards}", f"{who.zh}{cards}张")


def joined(
    things: Iterable[T], words: Callable[[T], Words], en: str = ", ", zh: str = "、"
) -> Words:
    """Return the words of several things in one line, with `en` and `zh` between them."""
    told = [words(thing) for thing in things]
    return Words(en.join(one.en for one in told), zh.join(one.zh for one in told))
