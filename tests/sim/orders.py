"""Orders in which a scripted host deals."""

import random


def order_of(cards: int, seed: int = 1) -> list[int]:
    """Return a pocket for each of `cards` cards, as many of each, shuffled."""
    order = [seat for seat in range(4) for _ in range(cards // 4)]
    random.Random(seed).shuffle(order)
    return order
