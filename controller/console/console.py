"""The referees' console: its parts, its clock, and the tasks without which it cannot work.

The console ends if one of the tasks fails.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Final, Protocol

import msgspec
from sqlalchemy import Engine

from controller.console.accounts.account_store import Accounts
from controller.console.accounts.sessions import Sessions
from controller.console.call_assignments import AssignmentStore, CallAssignments
from controller.console.commands.area_actions import AreaActionLog, AreaActions
from controller.console.commands.command_dispatcher import ClientFactory, CommandDispatcher
from controller.console.commands.command_log import CommandLog
from controller.console.console_config import TABLES_FILE, ConfiguredTable, ConsoleConfig
from controller.console.live_pages.chief_notes import ChiefNotes
from controller.console.live_pages.hall_page import Hall, HallPart
from controller.console.live_pages.table_page import TablePages
from controller.console.rate_limits import (
    COMMAND_BURST,
    COMMANDS_PER_SECOND,
    AlertSounds,
    StreamLimits,
    TokenBuckets,
)
from controller.console.sheet_keeper import SheetKeeper
from controller.console.store.archive import Archive
from controller.console.store.match_records import ScoreSheetStore
from controller.console.table_snapshots import Result, RunBlocking, Tables, TableSnapshot
from controller.console.view.area_clocks import build_areas
from controller.host.loggers import structlog
from controller.messages import Role
from controller.signing.releases import Manifest

MIN_STEP_MS: Final = 1_000
"""The smallest difference that counts as a set clock. A smaller one is ignored (provisional)."""
POLL_INTERVAL_S: Final = 1.0

OnClockStep = Callable[[int], None]
"""Receives the milliseconds by which the console's clock was set, and shifts stored times."""


class ConsoleClock:
    """The console's clock: a steady time of day, which only `follow_wall_clock` adjusts.

    A waiting time must not jump when the computer's clock is set. But the computer may have a wrong
    time until a person or the network sets it. So the console compares both clocks repeatedly.
    After a step, every part shifts its stored times by the same step. `steady_s` is a clock that is
    never set. `wall_ms` is the computer's clock.
    """

    def __init__(self, steady_s: Callable[[], float], wall_ms: Callable[[], int]) -> None:
        self._steady_s, self._wall_ms = steady_s, wall_ms
        self._offset_ms = self._offset()

    def __call__(self) -> int:
        """Return the present time of day, in milliseconds since 1970."""
        return int(self._steady_s() * 1000 + self._offset_ms)

    def follow_wall_clock(self) -> int:
        """Adjust this clock if the computer's clock was set. Return the step in ms, or 0."""
        step_ms = round(self._offset() - self._offset_ms)
        if abs(step_ms) < MIN_STEP_MS:
            return 0
        self._offset_ms += step_ms
        return step_ms

    async def watch_wall_clock(self, *listeners: OnClockStep) -> None:
        """Call `follow_wall_clock` repeatedly, and pass each change in ms to all `listeners`."""
        while True:
            await asyncio.sleep(POLL_INTERVAL_S)
            step_ms = self.follow_wall_clock()
            if step_ms:
                _log.warning("the clock of this computer was set", by_s=round(step_ms / 1000, 1))
                for tell in listeners:
                    tell(step_ms)

    def _offset(self) -> float:
        return self._wall_ms() - self._steady_s() * 1000


_log = structlog.get_logger("console")


class TaskSupervisor:
    """A supervisor of the tasks without which the console cannot work.

    If one of these tasks fails, the console ends, because it could show an old state as the present
    one. `stopping` is set when the console ends, so that streams end. `failure` is the error that
    ended the console, or None.
    """

    def __init__(self) -> None:
        self.stopping = asyncio.Event()
        self.failure: BaseException | None = None

    def start(self, coroutine: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        """Start a task that the console needs. If the task fails, the console ends.

        The service manager then starts the console again.
        """
        task = asyncio.create_task(coroutine)
        task.add_done_callback(self._task_done)
        return task

    def _task_done(self, task: "asyncio.Task[None]") -> None:
        error = None if task.cancelled() else task.exception()
        if error is not None:
            _log.critical("console failed", exc_info=error)
            self.failure = self.failure or error
            self.stopping.set()


MAX_ANONYMOUS_REQUESTS: Final = 2
"""The number of requests without a login that run at the same time. The others wait for their turn,
so that a hall full of telephones does not delay a referee."""


class BackgroundService(Protocol):
    """A part of the console that works in the background until the console ends."""

    async def close(self) -> None:
        """End this part and all its tasks."""


class StoreOutageView(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A present outage of the database, as the pages show it.

    `since_ms` is the time since when nothing was stored, by the console's clock. `waiting` is the
    number of events in the console's memory. `refused` is the number of events for which the memory
    had no room since the console began. Their tables still have these events, and the console
    requests them later.
    """

    since_ms: int
    waiting: int
    refused: int


class RefereeConsole:
    """The whole console, with the parts that the routes use.

    `path` is the path of console.toml, or None if there is no such file. `write` and `read` run
    blocking calls, each in the order of its calls. `check` runs calls that are slow on purpose,
    like the check of a PIN. Without `check`, `read` runs them. `client_for` returns a client of a
    table. `manifest` is the manifest of the release that tables should run. `unsigned_heads`
    returns how many signed heads of a table did not match its key. `running` has the tasks that
    were started before the console, and that end with the console.
    """

    def __init__(
        self,
        config: ConsoleConfig,
        tables: Tables,
        engine: Engine,
        write: RunBlocking,
        read: RunBlocking,
        client_for: ClientFactory,
        *,
        now_ms: Callable[[], int],
        entropy: Callable[[int], bytes],
        accounts: Accounts | None = None,
        path: Path | None = None,
        manifest: Manifest | None = None,
        unsigned_heads: Callable[[str], int] = lambda table: 0,
        check: RunBlocking | None = None,
        running: TaskSupervisor | None = None,
    ) -> None:
        self.supervisor = running or TaskSupervisor()
        self.start_task, self.stopping = self.supervisor.start, self.supervisor.stopping
        self.config, self.path = config, path
        self.tables, self.now_ms, self.entropy = tables, now_ms, entropy
        self.write, self.read = write, read
        self.engine = engine
        self.archive = Archive(engine)
        invitation_ms = config.console.invitation_h * 3_600_000
        accounts = accounts or Accounts(engine, now_ms, entropy, invitation_ms=invitation_ms)
        self.sessions = Sessions(accounts, read, now_ms, check)
        self.call_assignments = CallAssignments(AssignmentStore(engine), write, now_ms)
        self.dispatcher = CommandDispatcher(
            tables,
            CommandLog(engine),
            write,
            client_for,
            table_key_of=lambda table: self.configured_table(table).server_key,
            key_folder_of=lambda table: self.config.key_folder_of(self.configured_table(table)),
            new_id=lambda: entropy(12).hex(),
            now_ms=now_ms,
            find_archived=self.archive.find_executed,
        )
        self.area_actions = AreaActions(
            self.dispatcher, CommandLog(engine), AreaActionLog(engine), write
        )
        self.chief_notes = ChiefNotes(
            tables,
            self.archive,
            self.call_assignments.assigned_to,
            read,
            manifest,
            unsigned_heads,
            self.start_task,
        )
        self.hall = Hall(tables, self.call_assignments, now_ms, self._hall_parts(), self.start_task)
        self.table_pages = TablePages(
            tables, self.dispatcher, self.hall, self.archive, self.read_after_flush, now_ms
        )
        sheets = ScoreSheetStore(engine, now_ms)
        self.sheet_keeper = SheetKeeper(tables, self.dispatcher, sheets, write)
        self.services: list[BackgroundService] = [self.sheet_keeper, self.chief_notes]
        self.stream_limits, self.alert_sounds = StreamLimits(), AlertSounds()
        self.command_buckets = TokenBuckets(COMMAND_BURST, COMMANDS_PER_SECOND)
        self.run_id = entropy(8).hex()
        """The id of this run of the console. A page's numbers from another run are not valid."""
        self.anonymous_slots = asyncio.Semaphore(MAX_ANONYMOUS_REQUESTS)
        """Each request without a login holds a slot while the database answers."""

    def configured_table(self, table: str) -> ConfiguredTable:
        """Return the configuration of a table. Raises KeyError if the console has no such table."""
        for one in self.config.tables:
            if one.id == table:
                return one
        raise KeyError(table)

    async def read_after_flush(self, call: Callable[[], Result], /) -> Result:
        """Wait until all received events are stored, then run `call` and return its result.

        A person who sees a state may request the events before this state. Without the wait, some
        of these events may be missing. The wait also ends if the database is unavailable.
        """
        await self.tables.wait_until_stored()
        return await self.read(call)

    @property
    def tables_file(self) -> Path | None:
        """Return the path of tables.toml, or None if the console has no console.toml."""
        return None if self.path is None else self.path.parent / TABLES_FILE

    def _hall_parts(self) -> dict[str, tuple[HallPart, frozenset[Role]]]:
        """Return the hall's parts by name: each part's function, and the roles that see it."""
        everybody = frozenset(Role) - {Role.TABLE}
        return {
            "areas": (build_areas, everybody),
            "acts": (self.area_actions.view, frozenset({Role.CHIEF, Role.REFEREE})),
            "store": (self._store_outage, everybody - {Role.OBSERVER}),
            "chief": (self.chief_notes.view, frozenset({Role.CHIEF})),
        }

    def _store_outage(
        self, snapshots: Sequence[TableSnapshot], now_ms: int
    ) -> StoreOutageView | None:
        """Return the present outage of the database, or None if the database works."""
        how = self.tables.store_status
        if how.away_since_ms is None:
            return None
        return StoreOutageView(since_ms=how.away_since_ms, waiting=how.waiting, refused=how.refused)

    def shift_times(self, by_ms: int) -> None:
        """Add `by_ms` to the parts' times after the clock was set, so that no duration changes."""
        for part in (self.sessions, self.tables, self.chief_notes, self.hall):
            part.shift_times(by_ms)

    async def start(self) -> None:
        """Load the stored data, and begin to show the tables on the pages."""
        await self.call_assignments.load(self.tables.ids)
        await self.area_actions.load()
        self.table_pages.start()
        self.hall.start()
        self.sheet_keeper.start()
        self.chief_notes.start()

    async def close(self) -> None:
        """End all parts of the console, background services first, even if one of them fails."""
        self.stopping.set()
        parts = (self.call_assignments, self.sessions, self.dispatcher, self.hall, self.table_pages)
        async with AsyncExitStack() as stack:
            for end in (*(part.close for part in parts), *(one.close for one in self.services)):
                stack.push_async_callback(end)
