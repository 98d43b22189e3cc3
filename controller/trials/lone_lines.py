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

from controller.cli.wall import wall_ms
from controller.client.client import Identity
from controller.console.config import TableLine
from controller.console.keys import identity
from controller.console.standing import Contact
from controller.console.store.archive import Archive, open_engine
from controller.console.store.aside import Aside
from controller.console.tables import Tables
from controller.gateway.certificates import create_keys
from controller.loggers import structlog
from controller.messages import Role
from controller.roster import CLIENTS
from controller.trials.feeds import FeedAt

_LOOK_S: Final = 0.01


@dataclass
class Span:
    """The first and the last state that came of a table, as they came, and how many there were."""

    first: bytes
    last: bytes = b""
    count: int = 0

    @property
    def missing(self) -> int:
        """How many states between the two did not come, by the numbers that they carry."""
        first, last = (_NUMBERED.decode(body).seq for body in (self.first, self.last))
        return last - first + 1 - self.count


class _Counted(Tables):
    """A console's tables that count what comes of each, at the price of a few lookups."""

    spans: dict[str, Span]

    def _message(self, table: str, topic: bytes, body: bytes) -> None:
        if topic.startswith(b"state/"):
            span = self.spans.get(table)
            if span is None:
                span = self.spans[table] = Span(body)
            span.last = body
            span.count += 1
        super()._message(table, topic, body)


class LoneLines:
    """A console's tables and its archive. What comes on the lines is counted beside."""

    def __init__(self, tables: _Counted, archive: Archive) -> None:
        self._tables, self._archive = tables, archive
        self.count_anew()

    def open(self, feeds: Sequence[FeedAt]) -> None:
        """Begin to hear feeds."""
        for one in feeds:
            self._tables.add(TableLine(**msgspec.structs.asdict(one)))

    def count_anew(self) -> None:
        """Count from here on."""
        self._tables.spans = {}

    def spans(self) -> list[Span]:
        """Return what came of each table that said anything."""
        return list(self._tables.spans.values())

    async def coherent(self) -> None:
        """Return once all is known of every table: its state, and on the disk all it said before.

        Later on there may be more again.
        """
        tables = self._tables
        while True:
            if not tables.behind and all(map(self._is_heard, tables.ids)):
                break
            await asyncio.sleep(_LOOK_S)
        await tables.settled()

    def events(self) -> int:
        """Return how many events the archive has."""
        return sum(1 for table in self._tables.ids for _ in self._archive.events(table))

    def _is_heard(self, table: str) -> bool:
        seen = self._tables.seen(table)
        return seen.state is not None and seen.heard.contact is Contact.OPEN


@asynccontextmanager
async def lone_lines(folder: Path) -> AsyncIterator[LoneLines]:
    """Give a console's lines for the block; keys and database are made in `folder`."""
    create_keys(folder)

    def observer(line: TableLine) -> Identity:
        return identity(folder / CLIENTS, Role.OBSERVER)

    async with AsyncExitStack() as stack:
        stack.enter_context(structlog.testing.capture_logs())  # who measures has the output
        engine, writing = open_engine(f"sqlite:///{folder / 'console.db'}"), Aside("writing")
        stack.callback(engine.dispose)
        stack.callback(writing.close)
        numbers, archive = count(), Archive(engine)
        tables = _Counted(observer, archive, writing.run, wall_ms, lambda: f"bench-{next(numbers)}")
        yield LoneLines(await stack.enter_async_context(tables), archive)


class _Numbered(msgspec.Struct):
    """What is asked of a state here."""

    seq: int


_NUMBERED: Final = msgspec.json.Decoder(_Numbered)
