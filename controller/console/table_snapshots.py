"""What the console knows of a table at this moment, and who tells it so."""

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
    """Begins something that runs until it is cancelled."""

    def __call__(self, running: Coroutine[Any, Any, None], /) -> "asyncio.Task[None]":
        """Return its task."""


class RunBlocking(Protocol):
    """Runs what may block off the loop, in the order of the calls, and returns what it gave."""

    async def __call__(self, call: Callable[[], Result], /) -> Result:
        """Run `call`; raise what it raises."""


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
        """Return whether this is the table's present, and since when (console's clock)."""
        return freshness_of(self.contact_times, now_ms)


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

    def snapshot(self, table: str) -> TableSnapshot:
        """Return what is known of a table. Raises KeyError for one that is not the console's."""

    def on_change(self, callback: Callable[[str], None]) -> Unsubscribe:
        """Tell of every table of which something else is known, at most 20 times a second each."""

    def on_event(self, callback: Callable[[PublicEvent], None]) -> Unsubscribe:
        """Tell of every public event that comes, once."""

    @property
    def store_status(self) -> StoreStatus:
        """How the database is that keeps what they say."""

    def shift_times(self, by_ms: int) -> None:
        """Take it that the console's clock was set by so much."""

    async def wait_until_stored(self) -> None:
        """Return once the archive has all that was heard by now, or can take nothing."""

    def add(self, configured: ConfiguredTable) -> None:
        """Begin to hear a table; one of its id that is there already is replaced."""

    def remove(self, table: str) -> None:
        """Hear a table no more. Raises KeyError for one that is not the console's."""


What = ParamSpec("What")
_log = structlog.get_logger("console")


class Listeners(Generic[What]):
    """Those who asked to be told of one thing."""

    def __init__(self) -> None:
        self._callbacks: list[Callable[What, None]] = []

    def add(self, callback: Callable[What, None]) -> Unsubscribe:
        """Tell one more, until what is returned is called."""
        self._callbacks.append(callback)

        def undo() -> None:
            if callback in self._callbacks:
                self._callbacks.remove(callback)

        return undo

    def notify(self, *what: What.args, **more: What.kwargs) -> None:
        """Tell all; one that fails keeps nothing from the others."""
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
