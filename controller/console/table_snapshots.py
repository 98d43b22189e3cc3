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
"""A function that ends a subscription. A second call does nothing."""

Result = TypeVar("Result")

StartTask = Callable[[Coroutine[Any, Any, None]], "asyncio.Task[None]"]
"""A function that starts a task, which runs until it is cancelled, and returns it."""


class RunBlocking(Protocol):
    """A function that runs blocking calls off the event loop, in the order of the calls."""

    async def __call__(self, call: Callable[[], Result], /) -> Result:
        """Run `call` off the loop, and return its result or raise its error."""


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
        """Return whether the state is the table's present one, and since when (console's clock)."""
        return freshness_of(self.contact_times, now_ms)


class StoreStatus(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """The condition of the database.

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
    """The known states of the console's tables, as their feeds report them."""

    @property
    def ids(self) -> tuple[str, ...]:
        """Return the ids of all tables, sorted by the numbers in them."""

    def snapshot(self, table: str) -> TableSnapshot:
        """Return the known state of a table. Raises KeyError for an unknown table."""

    def on_change(self, callback: Callable[[str], None]) -> Unsubscribe:
        """Call `callback` with each table that has new data, at most 20 times a second for each
        table.
        """

    def on_event(self, callback: Callable[[PublicEvent], None]) -> Unsubscribe:
        """Call `callback` once with each received public event."""

    @property
    def store_status(self) -> StoreStatus:
        """Return the condition of the database that stores the events."""

    def shift_times(self, by_ms: int) -> None:
        """Shift the stored times by `by_ms` after the console's clock was set."""

    async def wait_until_stored(self) -> None:
        """Wait until the archive has all received events, or the database is unavailable."""

    def add(self, configured: ConfiguredTable) -> None:
        """Begin to receive the feed of a table. An existing table with its id is replaced."""

    def remove(self, table: str) -> None:
        """Stop receiving the feed of a table. Raises KeyError for an unknown table."""


What = ParamSpec("What")
_log = structlog.get_logger("console")


class Listeners(Generic[What]):
    """The callbacks that are called for one kind of news."""

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
    """Return a sort key that compares numbers in names as numbers, like static/js/rows.mjs."""
    return tuple(
        int(part) if at % 2 else part.lower() for at, part in enumerate(_DIGITS.split(name))
    )
