"""The cards between two deals: how people leave them on the table, and the shuffler's passes.

A model, and a hard one for a machine that would trust its shuffler: what was played together
lies together in the stack, and few riffles leave much of that.
"""

import random
from collections.abc import Sequence
from itertools import groupby

from controller.cards import SEATS
from controller.trials.lab.data import CARDS

_FACES = 54
_RANKS = 13


def new_stack() -> list[int]:
    """Return a set as it comes out of its two boxes."""
    return list(range(CARDS))


def collect_stack(cards: Sequence[int], seats: Sequence[int], chance: random.Random) -> list[int]:
    """Return the stack that a deal leaves: `cards` went to `seats`, 0…3 in playing order.

    Each player in turn lays down what he has of his lowest rank, jokers last; somebody leads.
    """
    held: list[list[int]] = [[] for _ in SEATS]
    for card, seat in zip(cards, seats, strict=True):
        held[seat].append(card)
    groups = [
        [list(group) for _, group in groupby(sorted(hand, key=_rank), key=_rank)] for hand in held
    ]
    leads = chance.randrange(len(SEATS))
    stack: list[int] = []
    for trick in range(max(map(len, groups))):
        for turn in range(len(SEATS)):
            hand = groups[(leads + turn) % len(SEATS)]
            if trick < len(hand):
                stack += hand[trick]
    return stack


def gather_pockets(cards: Sequence[int], seats: Sequence[int]) -> list[int]:
    """Return the stack that a misdeal leaves: pocket upon pocket."""
    return [
        card
        for pocket in range(len(SEATS))
        for card, seat in zip(cards, seats, strict=True)
        if seat == pocket
    ]


def riffle_stack(stack: Sequence[int], passes: int, chance: random.Random) -> list[int]:
    """Return the stack after so many riffles of the Gilbert–Shannon–Reeds model.

    It is cut where a fair coin for each card says, and each card falls from either half with the
    chance of how many it still has.
    """
    cards = list(stack)
    for _ in range(passes):
        coins = chance.getrandbits(len(cards))
        half = len(cards) - coins.bit_count()
        upper, lower = iter(cards[:half]), iter(cards[half:])
        cards = [next(lower if coins >> place & 1 else upper) for place in range(len(cards))]
    return cards


def _rank(card: int) -> int:
    face = card % _FACES
    return face % _RANKS if face < _FACES - 2 else face
