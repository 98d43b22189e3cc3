"""A table's daemon as its clients have it: feed, commands, numbers; and who starts and ends it."""

import asyncio
import os
import re
import signal
from collections.abc import Mapping
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

import msgspec

from controller.gateway.client import Client, Heard
from controller.gateway.families import FAMILIES
from controller.messages import Event, Reply, Role, State
from controller.rules.rulebooks import load_profile
from controller.trials.hall import RunningTable
from drivers.link.link import Counters
from hil_tests.benchfile import Bench

Numbers = Mapping[str, float]
"""What a table counts: `misreads`, or with a board: `resends dealer`."""
Asked = tuple[int | None, int | None]
LINE_COUNTERS = Counters.__struct_fields__
_TAKEN = ("misreads", "double_feeds", "jams", "reads", "cards_fed", "deals", "redeals", "voids")
"""What of the rest stands in a report; sums over all labels."""


class Program(Protocol):
    """A daemon at boards. `states` and `events`: what its feed told, over all its lives."""

    states: list[State]
    events: list[Event]
    state_dir: Path

    async def start(self) -> None:
        """Start it, on the journal that is there. Raises HallError."""

    async def stop(self) -> None:
        """End it as Ctrl-C does; nothing where it does not run."""

    async def kill(self) -> None:
        """Let it die without a word."""

    async def later(self, limit_s: float) -> None:
        """Wait for something new of the feed, `limit_s` at most."""

    async def ask(self, role: Role, cmd: str, about: Asked, args: dict[str, Any]) -> Reply:
        """Give a command with the key of a role."""

    async def numbers(self) -> Numbers:
        """Return what it counts now."""


class Daemon:
    """`dealtable run` as a process (Program), over a bench's ports."""

    def __init__(self, bench: Bench, state_dir: Path, runtime_dir: Path) -> None:
        """Write its configuration; a journal that lies in `state_dir` goes on."""
        self.states: list[State] = []
        self.events: list[Event] = []
        self.state_dir = state_dir
        state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        config = state_dir / "table.toml"
        config.write_text(configured(bench, runtime_dir), encoding="utf-8")
        about = {"table": bench.bench.id, "control": ""}
        self.table = RunningTable(about, state_dir, config, load_profile(bench.bench.profile))
        self._news = asyncio.Event()
        self._clients: dict[Role, Client] = {}
        self._stack = AsyncExitStack()
        self._listening: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """See Program."""
        await self.table.start_daemon()
        for role in Role:
            client = self.table.client(role)
            self._clients[role] = await self._stack.enter_async_context(client)
        self._listening = asyncio.create_task(self._listen())

    async def stop(self) -> None:
        """See Program."""
        await self._leave()
        await self.table.stop_daemon()

    async def kill(self) -> None:
        """See Program."""
        process = self.table.daemon
        assert process is not None
        os.kill(process.pid, signal.SIGKILL)
        await process.wait()
        await self._leave()

    async def later(self, limit_s: float) -> None:
        """See Program."""
        self._news.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                await self._news.wait()

    async def ask(self, role: Role, cmd: str, about: Asked, args: dict[str, Any]) -> Reply:
        """See Program."""
        deal, attempt = about
        return await self._clients[role].ask(cmd, args, deal=deal, attempt=attempt)

    async def numbers(self) -> Numbers:
        """See Program."""
        where = urlsplit(self.table.endpoints.metrics or "")
        reader, writer = await asyncio.open_connection(where.hostname, where.port)
        try:
            path = where.path or "/metrics"
            writer.write(f"GET {path} HTTP/1.0\r\nHost: {where.hostname}\r\n\r\n".encode())
            page = (await reader.read()).decode()
        finally:
            writer.close()
        return counted(page)

    async def _listen(self) -> None:
        async for heard in self._clients[Role.OBSERVER].feed():
            self._take(heard)
            self._news.set()

    def _take(self, heard: Heard) -> None:
        if heard.topic.startswith("state/"):
            self.states.append(msgspec.json.decode(heard.body, type=State))
        else:
            self.events.append(msgspec.json.decode(heard.body, type=Event))

    async def _leave(self) -> None:
        if self._listening is not None:
            self._listening.cancel()
            with suppress(asyncio.CancelledError):
                await self._listening
            self._listening = None
        await self._stack.aclose()


_SAMPLE = re.compile(r"(?m)^dealtable_(\w+?)(?:\{([^}]*)\})? (\S+)$")
_BOARD = re.compile(r'board="(\w+)"')


def counted(page: str) -> dict[str, float]:
    """Return the numbers of a metrics page that scenarios look at."""
    by_name = {FAMILIES[f"line_{field}"].name: field for field in LINE_COUNTERS}
    by_name |= {FAMILIES[name].name: name for name in _TAKEN}
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


def configured(bench: Bench, runtime_dir: Path) -> str:
    """Return the table.toml of a bench's daemon; its sockets are this computer's alone."""
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
        row = msgspec.structs.asdict(board)
        row.pop("firmware_hash")
        tables.append((f"[{name}]", row))
    tables.append(("[panel]", msgspec.structs.asdict(bench.panel)))
    tables += [("[[card_set]]", msgspec.structs.asdict(one)) for one in bench.card_sets]
    own = {"feed": "tcp://127.0.0.1:*", "commands": "tcp://127.0.0.1:*"}
    tables.append(("[gateway]", dict(own)))
    return "\n".join(_table(head, row) for head, row in tables)


def _table(head: str, row: Mapping[str, object]) -> str:
    lines = (f"{key} = {_value(value)}" for key, value in row.items() if value is not None)
    return "\n".join((head, *lines, ""))


def _value(value: object) -> str:
    """Return a value as TOML has it: its strings are JSON's."""
    return msgspec.json.encode(value).decode()
