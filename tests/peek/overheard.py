"""A table of real processes at which everything is overheard.

Between any two of its processes stands a relay, and its clients take down every frame that they
decrypt. What is not overheard: the serial lines and the simulator's control socket, which carry
faces by their nature (boards, cables and computer share one locked box), and the key
files of the attempts, in memory, which are what opens the rest.
"""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec
import zmq

from controller.cli.table_access import new_command_id, read_client_identity
from controller.client.client import Client
from controller.client.connection import TableConnection, TableConnectionState
from controller.client.discovery import Endpoints, NoEndpoints, read_endpoints, remove_endpoints
from controller.gateway_protocol import SOCKET_NAME
from controller.keys.table_keys import create_table_keys
from controller.messages import Role
from sim.memory_folders import memory_folder
from sim.tables.table_processes import HallPlan, TableProcess, run_simulator
from tests.peek.evidence import Evidence
from tests.peek.taps import Listener, Relay, Streams
from tests.waiting import until

MACHINE_SOCKET = "the machine's socket"
SECOND_GATEWAY = "a second gateway"
CLIENT = "frames of a client"
NETWORK = "the network"
PINS = "the pins' socket"
PLAIN = (sys.executable, "-m", "controller.cli")
WRAPPED = (sys.executable, str(Path(__file__).with_name("wrapped.py")))


class OverheardClient(Client):
    """A client that takes down every message of its sockets, as it was before anything read it."""

    def __init__(self, taken: Callable[[bytes], None], *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._taken = taken

    def _connect(
        self, kind: zmq.SocketType, address: str, on_change: Callable[[TableConnectionState], None]
    ) -> TableConnection:
        line = super()._connect(kind, address, on_change)
        line.socket = _Ear(line.socket, self._taken)  # type: ignore[assignment]  # it is used as one
        return line


class _Ear:
    """A socket that says what it received."""

    def __init__(self, socket: Any, taken: Callable[[bytes], None]) -> None:
        self._socket, self._taken = socket, taken

    def __getattr__(self, name: str) -> Any:
        return getattr(self._socket, name)

    async def recv(self) -> bytes:
        frame: bytes = await self._socket.recv()
        self._taken(frame)
        return frame

    async def recv_multipart(self) -> list[bytes]:
        frames: list[bytes] = await self._socket.recv_multipart()
        for frame in frames:
            self._taken(frame)
        return frames


class OverheardTable(TableProcess):
    """A running table whose clients come through relays; machine and gateway are two programs."""

    def __init__(
        self, of: TableProcess, evidence: Evidence, program: Sequence[str], stack: AsyncExitStack
    ) -> None:
        self.__dict__ |= of.__dict__
        self.evidence = evidence
        self.parts: dict[str, asyncio.subprocess.Process] = {}
        self.ports: dict[str, int] = {}
        self.real: Endpoints | None = None
        self._program, self._stack = program, stack
        self.runtime_dir = Path(of.config.parent, "runtime")

    @property
    def endpoints(self) -> Endpoints:
        """Where the relays are."""
        if self.real is None:
            raise NoEndpoints("the gateway has not begun")
        feed, commands = (f"tcp://127.0.0.1:{self.ports[name]}" for name in ("feed", "commands"))
        metrics = f"http://127.0.0.1:{self.ports['metrics']}/metrics"
        return msgspec.structs.replace(self.real, feed=feed, commands=commands, metrics=metrics)

    def client(self, role: Role, topics: Sequence[str] = ("",)) -> Client:
        """Return a client whose frames are taken down."""

        def taken(frame: bytes) -> None:
            self.evidence.add(CLIENT, f"as {role.value}", frame)

        identity = read_client_identity(self.state_dir, role.value)
        return OverheardClient(taken, self.endpoints, identity, new_command_id, topics=topics)

    async def start(self, part: str, **more: str) -> None:
        """Start the machine or the gateway, up to the moment when it serves."""
        config = self.config.with_name(f"{part}.toml")
        words = ("run", "--log-level", "debug", part, "--config", str(config))
        said = self.state_dir / f"{part}.log"
        if part == "gateway":
            remove_endpoints(self.state_dir)
        with said.open("ab") as log:
            begins = log.tell()
            self.parts[part] = await asyncio.create_subprocess_exec(
                *self._program,
                *words,
                stdout=log,
                stderr=log,
                env=os.environ | {"PYTHONFAULTHANDLER": "1", **more},
                process_group=0,
            )
        await self._until(part, said, begins)
        if part == "gateway":
            self.real = read_endpoints(self.state_dir)

    async def end(self, part: str, number: signal.Signals = signal.SIGTERM) -> None:
        """End a part, if it runs, and wait for it."""
        process = self.parts.get(part)
        if process is not None and process.returncode is None:
            process.send_signal(number)
            await process.wait()

    async def _until(self, part: str, said: Path, begins: int) -> None:
        def ready() -> bool:
            assert self.parts[part].returncode is None, _tail(said, begins)
            return self._serves() if part == "gateway" else b"ready" in _tail(said, begins)

        await until(ready)

    def _serves(self) -> bool:
        with suppress(NoEndpoints):
            return bool(read_endpoints(self.state_dir))
        return False

    async def overhear(self, info_pins: str, runtime_dir: Path) -> None:
        """Set up the relays and write the configurations that lead through them.

        `runtime_dir` is the folder of this table; the machine has its own in it, the gateway
        another one, in which a relay stands for the machine.
        """
        self.runtime_dir = runtime_dir / "m"
        theirs, pins = runtime_dir / "g", runtime_dir / "pins.relay"
        for folder in (self.runtime_dir, theirs):
            folder.mkdir(mode=0o700)
        real = self.runtime_dir / SOCKET_NAME
        await self._relay_at(MACHINE_SOCKET, theirs / SOCKET_NAME, lambda: _unix(real), lines=True)
        await self._relay_at(PINS, pins, lambda: _unix(Path(info_pins)), lines=True)
        for name in ("feed", "commands", "metrics"):
            self.ports[name] = await self._relay_to(name)
        text = self.config.read_text(encoding="utf-8")
        lines = text.splitlines()
        where = next(line for line in lines if line.startswith("runtime_dir"))
        of_machine = text.replace(where, f'runtime_dir = "{self.runtime_dir}"')
        of_machine = of_machine.replace(f'"unix:{info_pins}"', f'"unix:{pins}"')
        self.config.with_name("machine.toml").write_text(of_machine, encoding="utf-8")
        self.config.write_text(of_machine, encoding="utf-8")
        of_gateway = text.replace(where, f'runtime_dir = "{theirs}"')
        self.config.with_name("gateway.toml").write_text(of_gateway, encoding="utf-8")
        create_table_keys(self.state_dir)
        second = Listener(real, self._note(SECOND_GATEWAY))
        await self._stack.enter_async_context(second)

    async def _relay_at(
        self, place: str, path: Path, reach: Callable[[], Any], *, lines: bool
    ) -> None:
        relay = await Relay(reach, self._note(place), lines=lines).at_path(path)
        self._stack.push_async_callback(relay.close)

    async def _relay_to(self, name: str) -> int:
        async def reach() -> Streams:
            if self.real is None:
                raise ConnectionError("the gateway has not begun")
            where = urlsplit(getattr(self.real, name))
            return await asyncio.open_connection(where.hostname, where.port)

        relay = Relay(reach, self._note(NETWORK, name))
        self._stack.push_async_callback(relay.close)
        return await relay.at_port()

    def _note(self, place: str, name: str = "") -> Callable[[str, bytes], None]:
        return lambda way, data: self.evidence.add(place, f"{name} {way}", data)


@asynccontextmanager
async def overheard(
    plan: HallPlan, evidence: Evidence, program: Sequence[str] = PLAIN
) -> AsyncIterator[OverheardTable]:
    """Give a table with its simulator and all relays; machine and gateway are not started."""
    plan.state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    with memory_folder() as folder:
        async with run_simulator(plan, folder) as (running,), AsyncExitStack() as stack:
            table = OverheardTable(running, evidence, program, stack)
            own = folder / "t"
            own.mkdir(mode=0o700)
            pins = next(
                line.partition('"unix:')[2].rstrip('"')
                for line in running.config.read_text(encoding="utf-8").splitlines()
                if line.startswith("pins")
            )
            await table.overhear(pins, own)
            try:
                yield table
            finally:
                await table.end("gateway")
                await table.end("machine")


async def _unix(path: Path) -> Streams:
    return await asyncio.open_unix_connection(str(path))


def _tail(path: Path, begins: int) -> bytes:
    with suppress(FileNotFoundError), path.open("rb") as file:
        file.seek(begins)
        return file.read()
    return b""
