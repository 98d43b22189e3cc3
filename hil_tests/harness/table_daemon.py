"""A table's daemon as its clients use it (feed, commands, counters), and its start and end."""

import asyncio
import re
import resource
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

import msgspec

from controller.client.client import Client, ReceivedMessage
from controller.client.discovery import NoEndpoints, read_endpoints, remove_endpoints
from controller.gateway.metric_families import METRIC_FAMILIES
from controller.messages import CommandReply, PublicEvent, PublicState, Role
from controller.rules.profile_files import load_profile
from controller.service.process_signals import make_parent_death_hook
from drivers.link.link_state import LinkCounters
from hil_tests.harness.bench_file import BenchFile
from hil_tests.harness.hands import StepSkipped
from sim.tables.table_processes import HallError, TableProcess
from tests.waiting import until

CounterValues = Mapping[str, float]
"""Counters of a table, by name: `misreads`, or with a board: `resends dealer`."""
DealAndAttempt = tuple[int | None, int | None]
LINE_COUNTERS = LinkCounters.__struct_fields__
FULL_DISK_BYTES = 8192
"""File size limit that simulates a full disk: less than any journal."""
_REPORTED_COUNTERS = (
    "misreads",
    "double_feeds",
    "jams",
    "reads",
    "cards_fed",
    "deals",
    "redeals",
    "voids",
)
"""Other counters in the report, as sums over all labels."""


class TableDaemon(Protocol):
    """A daemon at boards. `states` and `events` have its published feed, over all starts."""

    states: list[PublicState]
    events: list[PublicEvent]
    state_dir: Path

    async def start(self) -> None:
        """Start the daemon on the existing journal. Raises HallError."""

    async def stop(self) -> None:
        """End the daemon as Ctrl-C does. Do nothing if it does not run."""

    async def kill(self, *, power: bool = False) -> None:
        """Kill the daemon without a warning. With `power`, its data in memory is lost too."""

    async def set_disk_full(self, *, full: bool) -> None:
        """Make the journal's disk refuse every write from now on, or free space there."""

    async def move_clock(self, by_s: float) -> None:
        """Move the wall clock, if the target permits this."""

    async def wait_for_news(self) -> None:
        """Wait for a new message of the feed."""

    async def ask(
        self, role: Role, cmd: str, about: DealAndAttempt, args: dict[str, Any]
    ) -> CommandReply:
        """Send a command with the key of a role."""

    async def read_counters(self) -> CounterValues:
        """Return the present counters."""


class DaemonProcess:
    """`dealtable run` as a process over a bench's ports.

    It does not depend on an event loop, so one process may serve many scenarios.
    """

    def __init__(self, bench: BenchFile, state_dir: Path, runtime_dir: Path) -> None:
        """Write the daemon's configuration. A journal in `state_dir` is continued."""
        self.state_dir, self._runtime_dir = state_dir, runtime_dir
        state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        runtime_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        config = state_dir / "table.toml"
        config.write_text(table_config_text(bench, runtime_dir), encoding="utf-8")
        about = {"table": bench.bench.id, "control": ""}
        self.table = TableProcess(about, state_dir, config, load_profile(bench.bench.profile))
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def is_running(self) -> bool:
        """Return True if the process was started and has not ended."""
        return self._process is not None and self._process.poll() is None

    async def start(self) -> None:
        """Start the process and wait for its gateway. Raises HallError."""
        self._spawn()
        await until(lambda: self._is_open() or not self.is_running)
        if not self.is_running:
            raise HallError(f"the daemon ended unexpectedly; see {self.table.log}")

    async def end(self) -> None:
        """End the process as Ctrl-C does. Do nothing if it does not run."""
        if self._process is not None and self.is_running:
            self._process.terminate()
            await until(lambda: not self.is_running)

    def end_now(self) -> None:
        """End the process when no event loop runs any more."""
        if self._process is not None and self.is_running:
            self._process.terminate()
            self._process.wait()

    def limit_files(self, max_bytes: int) -> None:
        """Limit the file size of the machine's process, in bytes."""
        assert self._process is not None
        machine = _part_pid(self._process.pid, "machine")
        _, hard = resource.prlimit(machine, resource.RLIMIT_FSIZE)
        resource.prlimit(machine, resource.RLIMIT_FSIZE, (max_bytes, hard))

    def delete_keys(self) -> None:
        """Delete the keys that the daemon kept in memory, as a power cut does."""
        for key in self._runtime_dir.rglob("*.key"):
            key.unlink()

    async def kill(self) -> None:
        """Kill the process and its parts without a warning."""
        if self._process is not None:
            self._process.kill()
            await until(lambda: not self.is_running)

    def _spawn(self) -> None:
        remove_endpoints(self.state_dir)  # A killed daemon leaves its endpoints.
        words = ("-m", "controller.cli", "run", "--config", str(self.table.config))
        with self.table.log.open("ab") as log:
            self._process = subprocess.Popen(
                (sys.executable, *words),
                stderr=log,
                process_group=0,
                preexec_fn=make_parent_death_hook(signal.SIGTERM),
            )

    def _is_open(self) -> bool:
        try:
            return bool(read_endpoints(self.state_dir))
        except NoEndpoints:
            return False


class DaemonClient:
    """The daemon of a DaemonProcess as one scenario uses it (TableDaemon)."""

    def __init__(self, process: DaemonProcess, since: int | None = None) -> None:
        """With `since` the daemon already runs, and earlier scenarios have received its public
        events up to this number. All later events belong to this client.
        """
        self.states: list[PublicState] = []
        self.events: list[PublicEvent] = []
        self.process = process
        self.state_dir = process.state_dir
        self._since = since
        self._news = asyncio.Event()
        self._clients: dict[Role, Client] = {}
        self._stack = AsyncExitStack()
        self._feed_task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """See TableDaemon."""
        if not self.process.is_running:
            await self.process.start()
        for role in Role:
            client = self.process.table.client(role)
            self._clients[role] = await self._stack.enter_async_context(client)
        self._feed_task = asyncio.create_task(self._read_feed())
        if self._since is not None:
            await self._catch_up(self._since)
            self._since = None

    async def disconnect(self) -> None:
        """Disconnect the clients. The daemon continues."""
        if self._feed_task is not None:
            self._feed_task.cancel()
            with suppress(asyncio.CancelledError):
                await self._feed_task
            self._feed_task = None
        await self._stack.aclose()

    async def stop(self) -> None:
        """See TableDaemon."""
        await self.disconnect()
        await self.process.end()

    async def kill(self, *, power: bool = False) -> None:
        """See TableDaemon. Data written to the operating system is kept. Keys are in memory."""
        await self.process.kill()
        await self.disconnect()
        if power:
            self.process.delete_keys()

    async def set_disk_full(self, *, full: bool) -> None:
        """See TableDaemon. The daemon's files may not grow further."""
        self.process.limit_files(FULL_DISK_BYTES if full else resource.RLIM_INFINITY)

    async def move_clock(self, by_s: float) -> None:
        """See TableDaemon."""
        raise StepSkipped("the clock of this computer is not ours to move")

    async def wait_for_news(self) -> None:
        """See TableDaemon."""
        self._news.clear()
        await self._news.wait()

    async def ask(
        self, role: Role, cmd: str, about: DealAndAttempt, args: dict[str, Any]
    ) -> CommandReply:
        """See TableDaemon."""
        deal, attempt = about
        return await self._clients[role].ask(cmd, args, deal=deal, attempt=attempt)

    async def read_counters(self) -> CounterValues:
        """See TableDaemon."""
        where = urlsplit(self.process.table.endpoints.metrics or "")
        reader, writer = await asyncio.open_connection(where.hostname, where.port)
        try:
            path = where.path or "/metrics"
            writer.write(f"GET {path} HTTP/1.0\r\nHost: {where.hostname}\r\n\r\n".encode())
            page = (await reader.read()).decode()
        finally:
            writer.close()
        return parse_counters(page)

    async def _read_feed(self) -> None:
        async for heard in self._clients[Role.OBSERVER].feed():
            self._on_feed_item(heard)
            self._news.set()

    async def _catch_up(self, since: int) -> None:
        """Receive the events that were published without a subscriber."""
        while True:
            reply = await self.ask(Role.OBSERVER, "events", (None, None), {"since": since})
            rows = msgspec.convert((reply.result or {}).get("events", []), list[PublicEvent])
            if not rows:
                return
            for event in rows:
                self._add_event(event)
            since = rows[-1].n

    def _on_feed_item(self, heard: ReceivedMessage) -> None:
        if heard.topic.startswith("state/"):
            self.states.append(msgspec.json.decode(heard.body, type=PublicState))
        else:
            self._add_event(msgspec.json.decode(heard.body, type=PublicEvent))

    def _add_event(self, event: PublicEvent) -> None:
        """Add an event, unless it is already known."""
        if all(event.n != known.n for known in self.events):
            self.events.append(event)
            self.events.sort(key=lambda known: known.n)


def _part_pid(parent: int, part: str) -> int:
    """Return the process id of a part of a daemon, `run PART`."""
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, IndexError, ValueError):
            above = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            words = (folder / "cmdline").read_text().replace("\0", " ")
            if above == parent and f"run {part}" in words:
                return int(folder.name)
    raise LookupError(f"the daemon has no part {part}")


_SAMPLE = re.compile(r"(?m)^dealtable_(\w+?)(?:\{([^}]*)\})? (\S+)$")
_BOARD = re.compile(r'board="(\w+)"')


def parse_counters(page: str) -> dict[str, float]:
    """Return the numbers of a metrics page that scenarios use."""
    by_name = {METRIC_FAMILIES[f"line_{field}"].name: field for field in LINE_COUNTERS}
    by_name |= {METRIC_FAMILIES[name].name: name for name in _REPORTED_COUNTERS}
    found: dict[str, float] = {}
    for name, labels, value in _SAMPLE.findall(page):
        key = by_name.get(name)
        if key is None:
            continue
        board = _BOARD.search(labels)
        if board is not None:
            key = f"{key} {board[1]}"
        found[key] = found.get(key, 0.0) + float(value)
    return found


def table_config_text(bench: BenchFile, runtime_dir: Path) -> str:
    """Return the table.toml of a bench's daemon. Its sockets are local to this computer."""
    about = bench.bench
    tables: list[tuple[str, dict[str, object]]] = [
        (
            "[table]",
            {
                "id": about.id,
                "profile": about.profile,
                "backend": "sim" if about.simulated else "serial",
                "state_dir": ".",
                "runtime_dir": str(runtime_dir / f"{about.id}.run"),
            },
        ),
    ]
    for name, board in (("dealer", bench.dealer), ("reader", bench.reader)):
        tables.append((f"[{name}]", msgspec.structs.asdict(board)))
    tables.append(("[panel]", msgspec.structs.asdict(bench.panel)))
    tables += [("[[card_set]]", msgspec.structs.asdict(one)) for one in bench.card_sets]
    own = {"feed": "tcp://127.0.0.1:*", "commands": "tcp://127.0.0.1:*"}
    tables.append(("[gateway]", dict(own)))
    return "\n".join(_toml_table(head, row) for head, row in tables)


def _toml_table(head: str, row: Mapping[str, object]) -> str:
    lines = (f"{key} = {_toml_value(value)}" for key, value in row.items() if value is not None)
    return "\n".join((head, *lines, ""))


def _toml_value(value: object) -> str:
    """Return a value in TOML. Its strings have the format of JSON."""
    return msgspec.json.encode(value).decode()
