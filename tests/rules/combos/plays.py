"""Plays to judge: often legal, often nearly so. Nothing here knows the code under test."""

import random
from collections import Counter
from collections.abc import Callable

from controller.cards import Face

Rng = random.Random
SUITED = 52


def wild_face(level: int) -> Face:
    return 13 + level - 2


def some_of(rng: Rng, rank: int, count: int) -> list[Face]:
    """`count` cards of a natural rank, no more than two of a face."""
    if rank >= 16:
        return [SUITED + rank - 16] * count
    return rng.sample([suit * 13 + rank - 2 for suit in range(4)] * 2, count)


def _alike(rng: Rng) -> list[Face]:
    return some_of(rng, rng.randrange(2, 15), rng.randrange(1, 9))


def _two_ranks(rng: Rng) -> list[Face]:
    few, many = rng.sample([*range(2, 15), 16, 17], 2)
    return some_of(rng, few, 2) + some_of(rng, many, 3 if many < 16 else 2)


def _run(rng: Rng) -> list[Face]:
    length, each = rng.choice(
        [(5, 1)] * 6 + [(3, 2), (3, 2), (2, 3), (2, 3), (4, 1), (4, 2), (3, 3)]
    )
    low = rng.randrange(1, 15)
    ranks = [(rank - 2) % 13 + 2 for rank in range(low, low + length)]
    if each == 1 and rng.random() < 0.5:
        suit = rng.randrange(4)
        return [suit * 13 + rank - 2 for rank in ranks]
    return [face for rank in ranks for face in some_of(rng, rank, each)]


def _jokers(rng: Rng) -> list[Face]:
    return rng.sample([52, 52, 53, 53], rng.randrange(1, 5))


def _noise(rng: Rng) -> list[Face]:
    return rng.sample([*range(54)] * 2, rng.randrange(1, 11))


_MAKERS: tuple[Callable[[Rng], list[Face]], ...] = (
    *(_alike, _two_ranks, _two_ranks, _run, _run, _run, _run),
    *(_jokers, _noise),
)


def random_play(rng: Rng, level: int = 0) -> tuple[list[Face], int]:
    """Cards of one set, and the level; now and then a card is wild, and sometimes a wrong one."""
    level = level or rng.randrange(2, 15)
    cards = rng.choice(_MAKERS)(rng)
    for _ in range(rng.choice([0, 0, 1, 1, 2])):
        change = rng.choice(["replace", "add"])
        if change == "add" or len(cards) == 1:
            cards = [*cards, wild_face(level)]
        else:
            cards[rng.randrange(len(cards))] = wild_face(level)
    if rng.random() < 0.1:
        cards[rng.randrange(len(cards))] = rng.randrange(54)
    rng.shuffle(cards)
    if max(Counter(cards).values()) > 2 or len(cards) > 10:
        return random_play(rng, level)
    return cards, level
