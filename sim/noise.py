"""What a bad cable does to the bytes of a write: loses, doubles, changes or delays them."""

import random

from sim.mechanics.book import FaultSchedule
from sim.mechanics.parts import BYTE_FAULTS

# The pieces that arrive of one write, each after so many milliseconds; none: it is lost.
DelayedPieces = list[tuple[float, bytes]]


class LineNoise:
    """Spoils writes as the fault book says; `rng` picks the bit that is turned over.

    Pure: it knows neither time nor line. The pieces of one way arrive in the order in which
    they were written, so that a delayed one holds up what comes after it.
    """

    def __init__(self, schedule: FaultSchedule, rng: random.Random) -> None:
        self._schedule = schedule
        self._rng = rng

    def distort(self, board: str, way: str, data: bytes) -> DelayedPieces:
        """Return what arrives of `data`, written to or by `board` (`way`: to_board, to_host)."""
        book = self._schedule
        if not book.has_any(BYTE_FAULTS):
            return [(0.0, data)]
        where = ("board", board), ("way", way)
        if book.strike_fields("bytes_dropped", where):
            return []
        if book.strike_fields("bytes_corrupted", where):
            data = self._flip_bit(data)
        delayed = book.strike_fields("bytes_delayed", where)
        after_ms = delayed.ms if delayed else 0.0
        pieces = 2 if book.strike_fields("bytes_repeated", where) else 1
        return [(after_ms, data)] * pieces

    def _flip_bit(self, data: bytes) -> bytes:
        """Turn one bit of one byte over."""
        place = self._rng.randrange(len(data))
        turned = data[place] ^ 1 << self._rng.randrange(8)
        return data[:place] + bytes((turned,)) + data[place + 1 :]
