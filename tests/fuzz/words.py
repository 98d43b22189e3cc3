"""Choices read off the bytes of one input, so that the same bytes always do the same."""

from collections.abc import Sequence
from typing import TypeVar

_One = TypeVar("_One")


class Words:
    """Reads an input from its front; behind its end everything is 0."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    @property
    def more(self) -> bool:
        """Whether something is left."""
        return self._at < len(self._data)

    def byte(self) -> int:
        """The next byte."""
        return self.number(1)

    def number(self, size: int) -> int:
        """The next `size` bytes as a number."""
        return int.from_bytes(self.some(size).ljust(size, b"\0"), "big")

    def some(self, size: int) -> bytes:
        """Up to `size` of the next bytes."""
        at, self._at = self._at, self._at + size
        return self._data[at : at + size]

    def rest(self) -> bytes:
        """All that is left."""
        return self.some(len(self._data))

    def pick(self, choices: Sequence[_One]) -> _One:
        """One of these."""
        return choices[self.byte() % len(choices)]
