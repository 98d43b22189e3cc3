"""A console's lines to its tables and its archive, and nothing else: no page, no person.

What the real console puts together is put together here: the observer's key from a folder, a
database, a thread that writes.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Final

import msgspec

from controller.cli.wall import read_wall_clock_ms
from controller.client.client import ClientIdentity
from controller.console.config import ConfiguredTable
from controller.console.keys import load_identity
from controller.console.standing import TableLinkState
from controller.console.store.archive import Archive, open_engine
from controller.console.store.aside import WorkerThread
from controller.console.tables import TableFeeds
from controller.gateway.certificates import create_table_keys
from controller.loggers import structlog
from controller.messages import Role
from controller.roster import CLIENTS_FOLDER
from controller.trials.feeds import FeedAddress

_CHECK_INTERVAL_S: Final = 0.01


@dataclass
class StateRange:
    """The first and the last state that came of a table, as they came, and how many there were."""

    first: bytes
    last: bytes = b""
    count: int = 0

    @property
    def missing(self) -> int:
        """How many states between the two did not come, by the numbers that they carry."""
        first, last = (_NUMBERED.decode(body).seq for body in (self.first, self.last))
        return last - first + 1 - self.count


class _CountingTables(TableFeeds):
    """A console's tables that count what comes of each, at the price of a few lookups."""

    ranges: dict[str, StateRange]

    def _receive(self, table: str, topic: bytes, body: bytes) -> None:
        if topic.startswith(b"state/"):
            span = self.ranges.get(table)
            if span is None:
                span = self.ranges[table] = StateRange(body)
            span.last = body
            span.count += 1
        super()._receive(table, topic, body)


class ConsoleFeedReader:
    """A console's tables and its archive. What comes on the lines is counted beside."""

    def __init__(self, tables: _CountingTables, archive: Archive) -> None:
        self._tables, self._archive = tables, archive
        self.reset_counts()

    def open(self, feeds: Sequence[FeedAddress]) -> None:
        """Begin to hear feeds."""
        for one in feeds:
            self._tables.add(ConfiguredTable(**msgspec.structs.asdict(one)))

    def reset_counts(self) -> None:
        """Count from here on."""
        self._tables.ranges = {}

    def state_ranges(self) -> list[StateRange]:
        """Return what came of each table that said anything."""
        return list(self._tables.ranges.values())

    async def wait_until_complete(self) -> None:
        """Return once all is known of every table: its state, and on the disk all it said before.

        Later on there may be more again.
        """
        tables = self._tables
        while True:
            if not tables.incomplete_tables and all(map(self._is_complete, tables.ids)):
                break
            await asyncio.sleep(_CHECK_INTERVAL_S)
        await tables.wait_until_stored()

    def count_events(self) -> int:
        """Return how many events the archive has."""
        return sum(1 for table in self._tables.ids for _ in self._archive.events(table))

    def _is_complete(self, table: str) -> bool:
        seen = self._tables.snapshot(table)
        return seen.state is not None and seen.contact_times.link is TableLinkState.OPEN


@asynccontextmanager
async def open_feed_reader(folder: Path) -> AsyncIterator[ConsoleFeedReader]:
    """Give a console's lines for the block; keys and database are made in `folder`."""
    create_table_keys(folder)

    def observer(line: ConfiguredTable) -> ClientIdentity:
        return load_identity(folder / CLIENTS_FOLDER, Role.OBSERVER)

    async with AsyncExitStack() as stack:
        stack.enter_context(structlog.testing.capture_logs())  # who measures has the output
        engine, writing = open_engine(f"sqlite:///{folder / 'console.db'}"), WorkerThread("writing")
        stack.callback(engine.dispose)
        stack.callback(writing.close)
        numbers, archive = count(), Archive(engine)
        tables = _CountingTables(
            observer, archive, writing.run, read_wall_clock_ms, lambda: f"bench-{next(numbers)}"
        )
        yield ConsoleFeedReader(await stack.enter_async_context(tables), archive)


class _Numbered(msgspec.Struct):
    """What is asked of a state here."""

    seq: int


_NUMBERED: Final = msgspec.json.Decoder(_Numbered)
