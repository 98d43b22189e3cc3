"""The last known state of a table, and the interface through which the console reads it."""

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
"""A function that ends a subscription. A second call does nothing."""

Result = TypeVar("Result")

StartTask = Callable[[Coroutine[Any, Any, None]], "asyncio.Task[None]"]
"""A function that starts a task, which runs until it is cancelled, and returns it."""


class RunBlocking(Protocol):
    """A function that runs blocking calls outside the event loop, one after another."""

    async def __call__(self, call: Callable[[], Result], /) -> Result:
        """Run `call` outside the event loop, and return its result or raise its error."""


class TableSnapshot(msgspec.Struct, frozen=True, kw_only=True):
    """The last known state of one table.

    `state` is None before the first state. `body` is the state in its published form.
    `deal_due_since_ms` is the time since when a deal is due but not begun, by the console's clock.
    """

    table: str
    area: str
    state: PublicState | None = None
    body: bytes | None = None
    contact_times: ContactTimes = ContactTimes()
    deal_due_since_ms: int | None = None

    def freshness(self, now_ms: int) -> tuple[Freshness, int]:
        """Return the table's freshness and a time, for a live table the time of its last message.

        Otherwise it is the time since when the state may be old. Both are by the console's clock.
        """
        return freshness_of(self.contact_times, now_ms)


class StoreStatus(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """The availability of the console's database, and the number of events still to be stored.

    `away_since_ms` is the time since when the database stores nothing (console's clock), or None.
    `why` is the database's own message. `waiting` is the number of events in memory. `refused` is
    the number of events for which the memory had no room since the console began. The console
    requests them again.
    """

    away_since_ms: int | None = None
    why: str = ""
    waiting: int = 0
    refused: int = 0


class Tables(Protocol):
    """The interface of the console's tables: their last received states and events."""

    @property
    def ids(self) -> tuple[str, ...]:
        """Return the ids of all tables in natural order (T2 before T10)."""

    def snapshot(self, table: str) -> TableSnapshot:
        """Return the last known state of a table. Raises KeyError for an unknown table."""

    def on_change(self, callback: Callable[[str], None]) -> Unsubscribe:
        """Call `callback` with a changed table's id, at most 20 times a second for each table."""

    def on_event(self, callback: Callable[[PublicEvent], None]) -> Unsubscribe:
        """Call `callback` once with each public event that is received from now on."""

    @property
    def store_status(self) -> StoreStatus:
        """Return since when the database is unavailable, and how many events wait in memory."""

    def shift_times(self, by_ms: int) -> None:
        """Add `by_ms` to all times in memory, because the clock was changed by that amount."""

    async def wait_until_stored(self) -> None:
        """Wait until all received events are stored or the database is unavailable."""

    def add(self, configured: ConfiguredTable) -> None:
        """Begin to receive the feed of a table. An existing table with its id is replaced."""

    def remove(self, table: str) -> None:
        """Stop receiving the feed of a table. Raises KeyError for an unknown table."""


What = ParamSpec("What")
_log = structlog.get_logger("console")


class Listeners(Generic[What]):
    """The callbacks for one kind of notification, for example that a table has changed."""

    def __init__(self) -> None:
        self._callbacks: list[Callable[What, None]] = []

    def add(self, callback: Callable[What, None]) -> Unsubscribe:
        """Add a callback, and return a function that removes it."""
        self._callbacks.append(callback)

        def undo() -> None:
            if callback in self._callbacks:
                self._callbacks.remove(callback)

        return undo

    def notify(self, *what: What.args, **more: What.kwargs) -> None:
        """Call all callbacks with these arguments.

        An error in one callback does not stop the others.
        """
        for callback in tuple(self._callbacks):
            try:
                callback(*what, **more)
            except Exception:
                _log.exception("callback failed", who=repr(callback), what=str(what)[:80])


_DIGITS: Final = re.compile(r"([0-9]+)")


def natural_sort_key(name: str) -> tuple[str | int, ...]:
    """Return a sort key with which T2 comes before T10, as in static/js/rows.mjs."""
    return tuple(
        int(part) if at % 2 else part.lower() for at, part in enumerate(_DIGITS.split(name))
    )
