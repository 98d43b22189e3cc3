"""Runs of cards, pockets and key bytes, as a deal or a key may have them."""

import random

from tests.peek import hidden
from tests.peek.spellings import length, values


def a_run(kind: str, chance: random.Random) -> list[int]:
    """Draw a run as a deal or a key may have it."""
    if kind == "cards":
        return [face % 54 for face in chance.sample(range(108), length(kind))]
    return [chance.randrange(values(kind)) for _ in range(length(kind))]


def patterns(kind: str, run: list[int]) -> tuple[bytes, ...]:
    """Return what a run is looked for by."""
    if kind == "cards":
        return hidden.cards(run)
    if kind == "key":
        return (bytes(run[:16]), bytes(run[15:]))
    return hidden.pockets("".join(hidden.POCKETS[to] for to in run))
