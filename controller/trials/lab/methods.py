"""Ways to deal: the production code's, and three that people build first and that are not fair.

Each is given the pockets that the fair sequence has for the feed indices, the verdicts on the
cards, and chance; it says which pocket waited for each card and in which it ends.
"""

import random
from collections.abc import Callable, Sequence
from typing import NamedTuple

from controller.cards import SEATS
from controller.deal import ledger as book
from controller.deal.ledger import MAX_TRAY_CARDS, TRAY, Ledger
from controller.deal.ledger import SEATS as LETTERS
from controller.trials.lab.data import CARDS, HAND, ReadingOutcome


class PocketPlan(NamedTuple):
    """By feed index: the pocket that waited (0…3), and the one in which the card lies."""

    waiting: list[int]
    seats: list[int]


Method = Callable[[str, Sequence[int], random.Random], PocketPlan]

_SEAT_NUMBERS = {letter: number for number, letter in enumerate(LETTERS)}
READ_AGAIN_RATE = 0.01
TRAY_RATE = 0.004
STAYS_BAD_RATE = 0.1
"""How often the simulated reader asks for another look, for the tray, and for the tray again."""


def draw_verdicts(chance: random.Random) -> list[int] | None:
    """Return what the reader says of 108 cards; None where it comes to a misdeal.

    It knows neither faces nor pockets. Misdeals are those of a table: too many cards in the
    tray, or one that is unreadable for the third time.
    """
    said = [int(ReadingOutcome.ACCEPTED)] * CARDS
    in_tray = 0
    for index in range(CARDS):
        drawn = chance.random()
        if drawn < TRAY_RATE:
            in_tray += 1
            said[index] = ReadingOutcome.TRAY
            if chance.random() < STAYS_BAD_RATE:
                if chance.random() < STAYS_BAD_RATE:
                    return None
                said[index] = ReadingOutcome.TRAY_TWICE
        elif drawn < TRAY_RATE + READ_AGAIN_RATE:
            said[index] = ReadingOutcome.READ_AGAIN
    return said if in_tray <= MAX_TRAY_CARDS else None


def deal_fairly(letters: str, said: Sequence[int], chance: random.Random) -> PocketPlan:
    """Deal as a table does: the sequence, and the ledger's rule for cards from the tray."""
    waiting = [_SEAT_NUMBERS[letter] for letter in letters]
    if max(said) < ReadingOutcome.TRAY:
        return PocketPlan(waiting, list(waiting))
    return PocketPlan(waiting, route_through_tray(letters, said))


def deal_to_random_pocket(letters: str, said: Sequence[int], chance: random.Random) -> PocketPlan:
    """Deal each card to a random pocket among those that are not full."""
    room = [HAND] * len(SEATS)
    waiting = []
    for _ in range(CARDS):
        seat = chance.choice([seat for seat, left in enumerate(room) if left])
        room[seat] -= 1
        waiting.append(seat)
    return PocketPlan(waiting, list(waiting))


def deal_around(letters: str, said: Sequence[int], chance: random.Random) -> PocketPlan:
    """Trust the shuffler: deal around the table, card by card."""
    waiting = [index % len(SEATS) for index in range(CARDS)]
    return PocketPlan(waiting, list(waiting))


def deal_with_shift(letters: str, said: Sequence[int], chance: random.Random) -> PocketPlan:
    """Give the pocket of a card that goes to the tray to the card behind it, and so on."""
    waiting = [_SEAT_NUMBERS[letter] for letter in letters]
    accepted = [index for index in range(CARDS) if said[index] < ReadingOutcome.TRAY]
    again = [index for index in reversed(range(CARDS)) if said[index] >= ReadingOutcome.TRAY]
    seats = [0] * CARDS
    for index, seat in zip((*accepted, *again), waiting, strict=True):
        seats[index] = seat
    return PocketPlan(waiting, seats)


def route_through_tray(letters: str, said: Sequence[int]) -> list[int]:
    """Return where each card ends, by feed index, when the production ledger keeps the places.

    The tray gives its last card first. A card that stays bad goes back there once more.
    """
    ledger = Ledger(expected=CARDS)
    seats = [0] * CARDS
    tray: list[tuple[int, int]] = []
    for index in range(CARDS):
        ledger = _pass_card(
            ledger, index, said[index] - ReadingOutcome.READ_AGAIN, letters, tray, seats
        )
    ledger = book.with_unreached_places(ledger)
    while tray:
        index, more = tray.pop()
        ledger = _pass_card(ledger, index, more, letters, tray, seats)
    return seats


def _pass_card(
    ledger: Ledger,
    card: int,
    rounds: int,
    letters: str,
    tray: list[tuple[int, int]],
    seats: list[int],
) -> Ledger:
    """Return the ledger after a card passed the window; `rounds`: how often it is bad from here."""
    number = len(ledger.cards) + 1
    seen = book.with_card(ledger, number, from_tray=number > CARDS, doubled=False)
    assert seen is not None
    letter = letters[seen.cards[-1].place - 1]
    if rounds > 0:
        tray.append((card, rounds - 1))
    else:
        seats[card] = _SEAT_NUMBERS[letter]
    return book.with_landing(seen, number, TRAY if rounds > 0 else letter)


METHODS: dict[str, Method] = {
    "fair": deal_fairly,
    "naive-pocket": deal_to_random_pocket,
    "riffles": deal_around,
    "reject-shift": deal_with_shift,
}
"""The ways to deal, by name. The first is the product's; the others must be caught."""

UNFAIR_METHODS = tuple(METHODS)[1:]
