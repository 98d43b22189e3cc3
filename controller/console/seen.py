"""What the console knows of a table at this moment, and who tells it so."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Protocol, TypeVar

import msgspec

from controller.console.config import ConfiguredTable
from controller.console.standing import Heard, Standing, standing
from controller.messages import Event, State

Unsubscribe = Callable[[], None]
"""Ends what its giver began; a second time it does nothing."""


Result = TypeVar("Result")


class Begin(Protocol):
    """Begins something that runs until it is cancelled."""

    def __call__(self, running: Coroutine[Any, Any, None], /) -> "asyncio.Task[None]":
        """Return its task."""


class Run(Protocol):
    """Runs what may block off the loop, in the order of the calls, and returns what it gave."""

    async def __call__(self, call: Callable[[], Result], /) -> Result:
        """Run `call`; raise what it raises."""


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """One table as it was last heard. `state` None: not yet; `body` is that state as published.

    `undealt_ms`: since when (console's clock) a deal is due there that the machine has not begun.
    """

    table: str
    area: str
    state: State | None = None
    body: bytes | None = None
    heard: Heard = Heard()
    undealt_ms: int | None = None

    def standing(self, now_ms: int) -> tuple[Standing, int]:
        """Return whether this is the table's present, and since when (console's clock)."""
        return standing(self.heard, now_ms)


class StoreStatus(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """How the database is. `away_since_ms` (console's clock): since when it takes nothing.

    `why`: in its own words. `waiting`: events in memory; `refused`: how many found no room since
    the console began, and are asked for again.
    """

    away_since_ms: int | None = None
    why: str = ""
    waiting: int = 0
    refused: int = 0


class Tables(Protocol):
    """The tables of the console, as their feeds say."""

    @property
    def ids(self) -> tuple[str, ...]:
        """All tables, in the order of their numbers."""

    def seen(self, table: str) -> Seen:
        """Return what is known of a table. Raises KeyError for one that is not the console's."""

    def on_change(self, told: Callable[[str], None]) -> Unsubscribe:
        """Tell of every table of which something else is known, at most 20 times a second each."""

    def on_event(self, told: Callable[[Event], None]) -> Unsubscribe:
        """Tell of every public event that comes, once."""

    @property
    def store_standing(self) -> StoreStatus:
        """How the database is that keeps what they say."""

    def stepped(self, by_ms: int) -> None:
        """Take it that the console's clock was set by so much."""

    async def settled(self) -> None:
        """Return once the archive has all that was heard by now, or can take nothing."""

    def add(self, line: ConfiguredTable) -> None:
        """Begin to hear a table; one of its id that is there already is replaced."""

    def remove(self, table: str) -> None:
        """Hear a table no more. Raises KeyError for one that is not the console's."""
