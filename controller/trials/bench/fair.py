"""What the fair sequence of a deal costs, against shuffles that prove nothing."""

import random
from collections.abc import Callable

from controller.deal.sequence import POCKET_LETTERS, sequence
from controller.trials.bench.registry import (
    FigureUnit,
    FigureValue,
    time_in_turns_us,
    valued_figure,
)

_CARDS = 108
_SEQUENCE_COUNT = 200
_ROUNDS = 15
_SEED = bytes(range(32))


def _make_sequences() -> None:
    for number in range(_SEQUENCE_COUNT):
        sequence(number.to_bytes(32, "big"), _SEED, 41, _CARDS)


def _repeat_shuffle(shuffle: Callable[[list[str]], None]) -> Callable[[], None]:
    def shuffles() -> None:
        for _ in range(_SEQUENCE_COUNT):
            order = list(POCKET_LETTERS * (_CARDS // len(POCKET_LETTERS)))
            shuffle(order)

    return shuffles


@valued_figure("fair")
def measure_sequence() -> list[FigureValue]:
    """The fair sequence of a deal, from its seed, against random.shuffle and SystemRandom's."""
    return [
        _over_shuffle("over random.shuffle", random.Random(1).shuffle, aim=1.0),
        _over_shuffle("over SystemRandom", random.SystemRandom().shuffle, aim=1 / 6),
    ]


def _over_shuffle(what: str, shuffle: Callable[[list[str]], None], aim: float) -> FigureValue:
    """Return the figure over one of the shuffles; what it came to is what it should be."""
    value, floor = time_in_turns_us(
        _make_sequences, _repeat_shuffle(shuffle), _SEQUENCE_COUNT, _ROUNDS
    )
    return FigureValue(
        what=what, value=value, floor=floor, unit=FigureUnit.US, documented=aim, aim=aim
    )
