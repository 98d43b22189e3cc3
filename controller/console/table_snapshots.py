"""The known state of a table, and the interface of its source."""

import asyncio
import re
from collections.abc import Callable, Coroutine
from typing import Any, Final, Generic, ParamSpec, Protocol, TypeVar

import msgspec

from controller.console.console_config import ConfiguredTable
from controller.console.freshness import ContactTimes, Freshness, freshness_of
from controller.host.loggers import structlog
from controller.messages import PublicEvent, PublicState

Unsubscribe = Callable[[], None]
"""Ends what its giver began; a second time it does nothing."""


Result = TypeVar("Result")


class StartTask(Protocol):
    """Starts a task that runs until it is cancelled."""

    def __call__(self, running: Coroutine[Any, Any, None], /) -> "asyncio.Task[None]":
        """Return its task."""


class RunBlocking(Protocol):
    """Runs a blocking call off the loop, in the order of the calls, and returns its result."""

    async def __call__(self, call: Callable[[], Result], /) -> Result:
        """Run `call`. Raise what it raises."""


class TableSnapshot(msgspec.Struct, frozen=True, kw_only=True):
    """The last known state of one table. `state` is None before the first; `body` is the published
    form.

    `deal_due_since_ms` is since when a deal is due that the machine has not begun, by the console's
    clock.
    """

    table: str
    area: str
    state: PublicState | None = None
    body: bytes | None = None
    contact_times: ContactTimes = ContactTimes()
    deal_due_since_ms: int | None = None

    def freshness(self, now_ms: int) -> tuple[Freshness, int]:
        """Return whether this is the table's present state, and since when (console's clock)."""
        return freshness_of(self.contact_times, now_ms)


class StoreStatus(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """The condition of the database.

    `away_since_ms` (console's clock): since when it stores nothing.

    `why`: the database's own message. `waiting`: events in memory. `refused`: how many found no
    room since the console began; they are requested again.
    """

    away_since_ms: int | None = None
    why: str = ""
    waiting: int = 0
    refused: int = 0


class Tables(Protocol):
    """The tables of the console, from their feeds."""

    @property
    def ids(self) -> tuple[str, ...]:
        """Return all tables, in the order of their numbers."""

    def snapshot(self, table: str) -> TableSnapshot:
        """Return the known state of a table. Raises KeyError for one that is not the console's."""

    def on_change(self, callback: Callable[[str], None]) -> Unsubscribe:
        """Call `callback` with every table with new data, at most 20 times a second for each."""

    def on_event(self, callback: Callable[[PublicEvent], None]) -> Unsubscribe:
        """Call `callback` with every received public event, once."""

    @property
    def store_status(self) -> StoreStatus:
        """Return the condition of the database that stores the events."""

    def shift_times(self, by_ms: int) -> None:
        """Shift the stored times after the console's clock was set."""

    async def wait_until_stored(self) -> None:
        """Return once the archive has all received events, or can store nothing."""

    def add(self, configured: ConfiguredTable) -> None:
        """Begin to receive a table. An existing one with its id is replaced."""

    def remove(self, table: str) -> None:
        """Stop receiving a table. Raises KeyError for one that is not the console's."""


What = ParamSpec("What")
_log = structlog.get_logger("console")


class Listeners(Generic[What]):
    """The callbacks of one kind of news."""

    def __init__(self) -> None:
        self._callbacks: list[Callable[What, None]] = []

    def add(self, callback: Callable[What, None]) -> Unsubscribe:
        """Add a callback. It is removed by a call of the returned function."""
        self._callbacks.append(callback)

        def undo() -> None:
            if callback in self._callbacks:
                self._callbacks.remove(callback)

        return undo

    def notify(self, *what: What.args, **more: What.kwargs) -> None:
        """Call all callbacks. One that fails does not keep the others from it."""
        for told in tuple(self._callbacks):
            try:
                told(*what, **more)
            except Exception:
                _log.exception("not told", who=repr(told), what=str(what)[:80])


_DIGITS: Final = re.compile(r"([0-9]+)")


def natural_sort_key(name: str) -> tuple[str | int, ...]:
    """Return the key that sorts names by their numbers, as static/js/rows.mjs does."""
    return tuple(
        int(part) if at % 2 else part.lower() for at, part in enumerate(_DIGITS.split(name))
    )
