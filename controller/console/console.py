"""One console, put together: what its routes ask, and what runs while it serves."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final, Protocol

import msgspec
from sqlalchemy import Engine

from controller.console.acts import Acts
from controller.console.config import TABLES_FILE, ConfiguredTable, ConsoleConfig
from controller.console.desk import Desk, Lines
from controller.console.findings import Findings
from controller.console.hall import Hall, HallPart
from controller.console.keeping import SheetKeeper
from controller.console.lookers import StreamLimits
from controller.console.one_table import TablePages
from controller.console.pacing import COMMAND_BURST, COMMANDS_PER_SECOND, Pace
from controller.console.people import People
from controller.console.rings import AlertSounds
from controller.console.running import TaskSupervisor
from controller.console.seen import Result, Run, Seen, Tables
from controller.console.sessions import Sessions
from controller.console.store.acts import AreaActionLog
from controller.console.store.archive import Archive
from controller.console.store.orders import Orders
from controller.console.store.sheets import ScoreSheetStore
from controller.console.store.takes import AssignmentStore
from controller.console.takes import CallAssignments
from controller.console.view.areas import areas
from controller.messages import Role
from controller.release import Manifest

MAX_ANONYMOUS_REQUESTS: Final = 2
"""Others wait for their turn: a hall full of telephones keeps no referee waiting."""


class BackgroundService(Protocol):
    """Something that runs as long as the console does."""

    def start(self) -> None:
        """Begin, on the loop."""

    async def close(self) -> None:
        """End; nothing is left running."""


class StoreOutageView(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """The database takes nothing down, since `since_ms` (console's clock).

    `waiting`: events that wait in the console's memory; `refused`: how many found no room there
    since it began: their tables keep them, and are asked for them.
    """

    since_ms: int
    waiting: int
    refused: int


class Console:
    """What a route may ask. `path`: of its console.toml; None where there is none.

    `write` and `read` run what may block, each in its order, `check` what is slow on purpose, as
    the check of a PIN is (None: `read` does); `lines` are clients of the tables.
    `manifest`: of the release that tables should run; `unsigned_heads` says how many signed heads
    of a table did not fit its key. `running`: what was begun before, and ends with the console.
    """

    def __init__(
        self,
        config: ConsoleConfig,
        tables: Tables,
        engine: Engine,
        write: Run,
        read: Run,
        lines: Lines,
        *,
        now_ms: Callable[[], int],
        entropy: Callable[[int], bytes],
        people: People | None = None,
        path: Path | None = None,
        manifest: Manifest | None = None,
        unsigned_heads: Callable[[str], int] = lambda table: 0,
        check: Run | None = None,
        running: TaskSupervisor | None = None,
    ) -> None:
        self.running = running or TaskSupervisor()
        self.begin, self.ending = self.running.begin, self.running.ending
        self.config, self.path = config, path
        self.tables, self.now_ms, self.entropy = tables, now_ms, entropy
        self.write, self.read = write, read
        self.engine = engine
        self.archive = Archive(engine)
        invitation_ms = config.console.invitation_h * 3_600_000
        people = people or People(engine, now_ms, entropy, invitation_ms=invitation_ms)
        self.sessions = Sessions(people, read, now_ms, check)
        self.takes = CallAssignments(AssignmentStore(engine), write, now_ms)
        self.desk = Desk(
            tables,
            Orders(engine),
            write,
            lines,
            table_key=lambda table: self.line(table).server_key,
            keys=lambda table: self.config.keys_of(self.line(table)),
            ids=lambda: entropy(12).hex(),
            now_ms=now_ms,
            executed=self.archive.executed,
        )
        self.acts = Acts(self.desk, Orders(engine), AreaActionLog(engine), write)
        self.findings = Findings(
            tables, self.archive, self.takes.who, read, manifest, unsigned_heads, self.begin
        )
        self.hall = Hall(tables, self.takes, now_ms, self._hall_parts(), self.begin)
        self.pages = TablePages(tables, self.desk, self.hall, self.archive, self.past, now_ms)
        sheets = ScoreSheetStore(engine, now_ms)
        self.services: list[BackgroundService] = [
            SheetKeeper(tables, self.desk, sheets, write),
            self.findings,
        ]
        self.lookers, self.rings = StreamLimits(), AlertSounds()
        self.pace = Pace(COMMAND_BURST, COMMANDS_PER_SECOND)
        self.run = entropy(8).hex()
        """Names this run of the console: numbers that a page knows of another one mean nothing."""
        self.strangers = asyncio.Semaphore(MAX_ANONYMOUS_REQUESTS)
        """Questions of people without a login, which the database answers: held meanwhile."""

    def line(self, table: str) -> ConfiguredTable:
        """Return what the configuration says of a table. Raises KeyError."""
        for one in self.config.tables:
            if one.id == table:
                return one
        raise KeyError(table)

    async def past(self, call: Callable[[], Result], /) -> Result:
        """Read what the tables said, with all that was heard of them by now.

        Whoever sees a state asks about what led to it, and that may be on its way to the disk.
        """
        await self.tables.settled()
        return await self.read(call)

    @property
    def tables_file(self) -> Path | None:
        """Where the set-up page writes the tables that it found."""
        return None if self.path is None else self.path.parent / TABLES_FILE

    def _hall_parts(self) -> dict[str, tuple[HallPart, frozenset[Role]]]:
        """Return the parts of the hall's pages made of all tables, and the roles that see them."""
        everybody = frozenset(Role) - {Role.TABLE}
        return {
            "areas": (areas, everybody),
            "acts": (self.acts.view, frozenset({Role.CHIEF, Role.REFEREE})),
            "store": (self._store_outage, everybody - {Role.OBSERVER}),
            "chief": (self.findings.view, frozenset({Role.CHIEF})),
        }

    def _store_outage(self, seen: Sequence[Seen], now_ms: int) -> StoreOutageView | None:
        """Return what is shown of the database while it takes nothing down."""
        how = self.tables.store_standing
        if how.away_since_ms is None:
            return None
        return StoreOutageView(since_ms=how.away_since_ms, waiting=how.waiting, refused=how.refused)

    def stepped(self, by_ms: int) -> None:
        """Take it that the clock was set by so much: what lasts has lasted no longer by it."""
        for part in (self.sessions, self.tables, self.findings, self.hall):
            part.stepped(by_ms)

    async def start(self) -> None:
        """Begin to show the tables."""
        await self.takes.load(self.tables.ids)
        await self.acts.load()
        self.pages.start()
        self.hall.start()
        for keeper in self.services:
            keeper.start()

    async def close(self) -> None:
        """End all that runs, what was begun last first, also where one of it fails at its end."""
        self.ending.set()
        parts = (self.takes, self.sessions, self.desk, self.hall, self.pages)
        async with AsyncExitStack() as stack:
            for end in (*(part.close for part in parts), *(one.close for one in self.services)):
                stack.push_async_callback(end)
