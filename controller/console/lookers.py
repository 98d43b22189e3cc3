"""How many pages one person has open: each is a stream that the console works for, without end."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

MOST_PAGES: Final = 32
"""Of one person: a browser has six, and a wall some screens under one name (provisional)."""


class Lookers:
    """The open pages of everybody, by name. One too many ends the oldest: a page that was left
    behind, on a tablet that sleeps, keeps nobody out."""

    def __init__(self, most: int = MOST_PAGES) -> None:
        self._most = most
        self._open: dict[str, list[asyncio.Event]] = {}

    @property
    def open(self) -> int:
        """How many pages everybody has open."""
        return sum(map(len, self._open.values()))

    @contextmanager
    def looking(self, name: str) -> Iterator[asyncio.Event]:
        """Count one more page for the block; what is given is set once it has to end."""
        own = asyncio.Event()
        pages = self._open.setdefault(name, [])
        pages.append(own)
        for older in pages[: -self._most]:
            older.set()
        try:
            yield own
        finally:
            pages.remove(own)
            if not pages:
                del self._open[name]
