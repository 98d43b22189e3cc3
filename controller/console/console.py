"""One console, put together: what its routes ask, and what runs while it serves."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any, Final, Protocol

import structlog
from sqlalchemy import Engine

from controller.console.config import TABLES_FILE, ConsoleConfig, TableLine
from controller.console.desk import Desk, Lines
from controller.console.findings import Findings
from controller.console.hall import Hall, OfAll
from controller.console.keeping import SheetKeeper
from controller.console.one_table import TablePages
from controller.console.people import People
from controller.console.seen import Run, Tables
from controller.console.sessions import Sessions
from controller.console.store.archive import Archive
from controller.console.store.orders import Orders
from controller.console.store.sheets import Sheets
from controller.console.store.takes import KeptTakes
from controller.console.takes import Takes
from controller.console.view.areas import areas
from controller.messages import Role
from controller.release import Manifest

_log = structlog.get_logger("console")


class Keeper(Protocol):
    """Something that runs as long as the console does."""

    def start(self) -> None:
        """Begin, on the loop."""

    async def close(self) -> None:
        """End; nothing is left running."""


_OF_ALL: Final[Mapping[str, tuple[OfAll, frozenset[Role]]]] = {
    "areas": (areas, frozenset(Role) - {Role.TABLE}),
}
"""Parts of the hall's pages, and the roles that see them."""


class Console:
    """What a route may ask. `path`: of its console.toml; None where there is none.

    `write` and `read` run what may block, each in its order; `lines` are clients of the tables;
    `of_all` are parts of the hall's pages that are made of all tables. `manifest`: of the release
    that tables should run; `unsigned_heads` says how many signed heads of a table did not fit its
    key.
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
        of_all: Mapping[str, tuple[OfAll, frozenset[Role]]] | None = None,
        path: Path | None = None,
        manifest: Manifest | None = None,
        unsigned_heads: Callable[[str], int] = lambda table: 0,
    ) -> None:
        self.config, self.path = config, path
        self.tables, self.now_ms, self.entropy = tables, now_ms, entropy
        self.write, self.read = write, read
        self.engine = engine
        self.archive = Archive(engine)
        people = people or People(engine, now_ms, entropy)
        self.sessions = Sessions(people, read, now_ms)
        self.takes = Takes(KeptTakes(engine), write, now_ms)
        self.desk = Desk(
            tables,
            Orders(engine),
            write,
            lines,
            table_key=lambda table: self.line(table).server_key,
            keys=lambda table: self.config.keys_of(self.line(table)),
            ids=lambda: entropy(12).hex(),
            now_ms=now_ms,
        )
        parts = _OF_ALL if of_all is None else of_all
        self.hall = Hall(tables, self.takes, now_ms, parts, self.begin)
        self.pages = TablePages(tables, self.desk, self.hall, self.archive, read, now_ms)
        sheets = Sheets(engine, now_ms)
        self.keepers: list[Keeper] = [SheetKeeper(tables, self.desk, sheets, write)]
        self.findings = Findings(
            tables, self.archive, self.takes.who, read, manifest, unsigned_heads
        )
        self.keepers.append(self.findings)
        self.hall.show_also("chief", self.findings.view, frozenset({Role.CHIEF}))
        self.ending = asyncio.Event()
        """Set once the console ends: streams end then."""
        self.failure: BaseException | None = None
        """Why it ends by itself."""

    def begin(self, running: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        """Begin something without which the console would show the past as the present.

        Where it fails, the console ends, and whoever keeps it running starts it anew.
        """
        task = asyncio.create_task(running)
        task.add_done_callback(self._is_over)
        return task

    def _is_over(self, task: "asyncio.Task[None]") -> None:
        error = None if task.cancelled() else task.exception()
        if error is not None:
            _log.critical("console failed", exc_info=error)
            self.failure = error
            self.ending.set()

    def line(self, table: str) -> TableLine:
        """Return what the configuration says of a table. Raises KeyError."""
        for one in self.config.tables:
            if one.id == table:
                return one
        raise KeyError(table)

    @property
    def tables_file(self) -> Path | None:
        """Where the set-up page writes the tables that it found."""
        return None if self.path is None else self.path.parent / TABLES_FILE

    async def start(self) -> None:
        """Begin to show the tables."""
        await self.takes.load()
        self.pages.start()
        self.hall.start()
        for keeper in self.keepers:
            keeper.start()

    async def close(self) -> None:
        """End all that runs, what was begun last first."""
        self.ending.set()
        for keeper in reversed(self.keepers):
            await keeper.close()
        await self.pages.close()
        await self.hall.close()
        await self.desk.close()
        await self.takes.close()
