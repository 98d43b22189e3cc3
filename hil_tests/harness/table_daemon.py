"""The daemon of a table under test: its start and end, its feed, commands and counters."""

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

from controller.client.client import Client
from controller.client.discovery import remove_endpoints
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
    """The interface to the daemon of one table.

    `states` and `events` contain everything that the daemon published, over all starts.
    """

    states: list[PublicState]
    events: list[PublicEvent]
    state_dir: Path

    async def start(self) -> None:
        """Start the daemon, which continues the existing journal. Raises HallError."""

    async def stop(self) -> None:
        """Stop the daemon as Ctrl-C does. Do nothing if it does not run."""

    async def kill(self, *, power: bool = False) -> None:
        """Kill the daemon. If `power` is True, its keys and other data in memory are lost too."""

    async def set_disk_full(self, *, full: bool) -> None:
        """Simulate a full disk, where all journal writes fail. If `full` is False, end this."""

    async def move_clock(self, by_s: float) -> None:
        """Move the daemon's wall clock by adding `by_s` seconds, or raise StepSkipped."""

    async def wait_for_news(self) -> None:
        """Wait until the daemon publishes something new on its feed."""

    async def ask(
        self, role: Role, cmd: str, about: DealAndAttempt, args: dict[str, Any]
    ) -> CommandReply:
        """Sign the command `cmd` with the key of `role`, send it, and return the reply.

        `about` names the deal and the attempt.
        """

    async def read_counters(self) -> CounterValues:
        """Return the daemon's counters, with names such as `misreads` and `resends dealer`."""


class DaemonProcess:
    """A TableDaemon that runs as a process `dealtable run`, with clients of its gateway."""

    def __init__(self, bench: BenchFile, state_dir: Path, runtime_dir: Path) -> None:
        """Write the configuration file of the daemon. Start nothing yet.

        `state_dir` is the folder of the journal. An existing journal is continued.
        """
        self.states: list[PublicState] = []
        self.events: list[PublicEvent] = []
        self.state_dir, self._runtime_dir = state_dir, runtime_dir
        state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        runtime_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        config = state_dir / "table.toml"
        config.write_text(table_config_text(bench, runtime_dir), encoding="utf-8")
        about = {"table": bench.bench.id, "control": ""}
        self._table = TableProcess(about, state_dir, config, load_profile(bench.bench.profile))
        self._process: subprocess.Popen[bytes] | None = None
        self._news = asyncio.Event()
        self._clients: dict[Role, Client] = {}
        self._stack = AsyncExitStack()
        self._feed_task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Start the process, and wait until its gateway is open and the clients are connected."""
        process = self._process = self._spawn()
        await until(lambda: self._table.is_gateway_open() or process.poll() is not None)
        if process.poll() is not None:
            raise HallError(f"the daemon ended unexpectedly; see {self._table.log}")
        for role in Role:
            client = self._table.client(role)
            self._clients[role] = await self._stack.enter_async_context(client)
        self._feed_task = asyncio.create_task(self._read_feed())

    async def stop(self) -> None:
        """Disconnect the clients, send SIGTERM to the process, and wait until it has ended."""
        await self._disconnect()
        process = self._process
        if process is not None and process.poll() is None:
            process.terminate()
            await until(lambda: process.poll() is not None)

    async def kill(self, *, power: bool = False) -> None:
        """Kill the process. If `power`, delete its key files in memory, but no file on the disk."""
        if (process := self._process) is not None:
            process.kill()
            await until(lambda: process.poll() is not None)
        await self._disconnect()
        if power:
            for key in self._runtime_dir.rglob("*.key"):
                key.unlink()

    async def set_disk_full(self, *, full: bool) -> None:
        """Prevent the machine process from extending files, or undo this if `full` is False."""
        assert self._process is not None
        machine = _find_part_pid(self._process.pid, "machine")
        _, hard = resource.prlimit(machine, resource.RLIMIT_FSIZE)
        max_bytes = FULL_DISK_BYTES if full else resource.RLIM_INFINITY
        resource.prlimit(machine, resource.RLIMIT_FSIZE, (max_bytes, hard))

    async def move_clock(self, by_s: float) -> None:
        """Raise StepSkipped, because a test must not move this computer's clock."""
        raise StepSkipped("the clock of this computer is not ours to move")

    async def wait_for_news(self) -> None:
        """Wait for the next message on the feed."""
        self._news.clear()
        await self._news.wait()

    async def ask(
        self, role: Role, cmd: str, about: DealAndAttempt, args: dict[str, Any]
    ) -> CommandReply:
        """Sign the command `cmd` with the key of `role`, send it, and return the reply."""
        deal, attempt = about
        return await self._clients[role].ask(cmd, args, deal=deal, attempt=attempt)

    async def read_counters(self) -> CounterValues:
        """Fetch the metrics page of the gateway, and return the counters that the report shows."""
        where = urlsplit(self._table.endpoints.metrics or "")
        reader, writer = await asyncio.open_connection(where.hostname, where.port)
        try:
            path = where.path or "/metrics"
            writer.write(f"GET {path} HTTP/1.0\r\nHost: {where.hostname}\r\n\r\n".encode())
            page = (await reader.read()).decode()
        finally:
            writer.close()
        return parse_counters(page)

    async def _disconnect(self) -> None:
        if self._feed_task is not None:
            self._feed_task.cancel()
            with suppress(asyncio.CancelledError):
                await self._feed_task
            self._feed_task = None
        await self._stack.aclose()

    def _spawn(self) -> subprocess.Popen[bytes]:
        remove_endpoints(self.state_dir)  # A killed daemon leaves its endpoints.
        words = ("-m", "controller.cli", "run", "--config", str(self._table.config))
        with self._table.log.open("ab") as log:
            return subprocess.Popen(
                (sys.executable, *words),
                stderr=log,
                process_group=0,
                preexec_fn=make_parent_death_hook(signal.SIGTERM),
            )

    async def _read_feed(self) -> None:
        async for heard in self._clients[Role.OBSERVER].feed():
            if heard.topic.startswith("state/"):
                self.states.append(msgspec.json.decode(heard.body, type=PublicState))
            else:
                event = msgspec.json.decode(heard.body, type=PublicEvent)
                if all(event.n != known.n for known in self.events):
                    self.events.append(event)
                    self.events.sort(key=lambda known: known.n)
            self._news.set()


def _find_part_pid(parent: int, part: str) -> int:
    """Return the pid of the child of `parent` that runs the part `part` (machine or gateway)."""
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
    """Return the counters that the report shows, by name, from the text of a metrics page.

    A counter of a board has the board's name after its own.
    """
    by_name = {METRIC_FAMILIES[f"line_{field}"].name: field for field in LINE_COUNTERS}
    by_name |= {METRIC_FAMILIES[name].name: name for name in _REPORTED_COUNTERS}
    found: dict[str, float] = {}
    for name, labels, value in _SAMPLE.findall(page):
        if (key := by_name.get(name)) is None:
            continue
        if (board := _BOARD.search(labels)) is not None:
            key = f"{key} {board[1]}"
        found[key] = found.get(key, 0.0) + float(value)
    return found


def table_config_text(bench: BenchFile, runtime_dir: Path) -> str:
    """Return the text of table.toml for a bench's daemon, with sockets on this computer only."""
    about = bench.bench
    table = {
        "id": about.id,
        "profile": about.profile,
        "backend": "sim" if about.simulated else "serial",
        "state_dir": ".",
        "runtime_dir": str(runtime_dir / f"{about.id}.run"),
    }
    sections: list[tuple[str, object]] = [
        ("[table]", table),
        ("[dealer]", bench.dealer),
        ("[reader]", bench.reader),
        ("[panel]", bench.panel),
        *(("[[card_set]]", one) for one in bench.card_sets),
        ("[gateway]", {"feed": "tcp://127.0.0.1:*", "commands": "tcp://127.0.0.1:*"}),
    ]
    lines = []
    for head, section in sections:
        lines.append(head)
        for key, value in msgspec.to_builtins(section).items():
            if value is not None:
                lines.append(f"{key} = {msgspec.json.encode(value).decode()}")
        lines.append("")
    return "\n".join(lines)
