"""Simulated tables as real processes: one simulator for all tables, and a daemon for each table.

`demo`, `bench deal` and the tests of whole processes use this module. All processes are ended by
their own pids, in the reverse order of their start. No process remains.
"""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import msgspec

from controller.cli.table_access import new_command_id, read_client_identity
from controller.client.client import Client
from controller.client.discovery import Endpoints, NoEndpoints, read_endpoints, remove_endpoints
from controller.config import CardSetSection, LimitsSection
from controller.journal.entries import JournalError
from controller.journal.store import LOCK_NAME, JournalStore
from controller.messages import Role
from controller.rules.profile import Profile
from controller.rules.profile_files import load_profile
from controller.service.process_signals import make_parent_death_hook
from sim.memory_folders import memory_folder
from sim.tables.process_costs import count_cores
from sim.worker_processes import wait_or_kill

_MAX_LINE_BYTES = 1 << 22
"""The maximum size of a simulator's answer in bytes.

The positions of all cards of many sets form a long line.
"""
POLL_INTERVAL_S = 0.02
START_TIMEOUT_S = 30.0
ROUND_S = 16.0
"""The time from one deal to the next at the reference pace, with people who lose no time."""


class HallError(Exception):
    """An error of a simulated hall, for example of one of its processes. The text is one line."""


@dataclass(frozen=True)
class HallPlan:
    """The description of a hall: several simulated tables.

    `port` is the port of the first table's feed. Its command port is `port` + 1, and the ports of
    the next table follow. None takes free ports. `boards`: "inside" (in the sim process) or
    "processes"; None for the default of `dealtable sim`. `profile`, `event` (the file of a
    tournament's regulations), `card_sets`, `deal_ahead` and `limits` apply to each table. The sets
    are at the table, with the packs of the profile.
    """

    state_dir: Path
    tables: int = 1
    speed: float = 1.0
    seed: int = 0
    firmware: str = "cpython"
    boards: str | None = None
    faults: Sequence[str] = ()
    port: int | None = None
    profile: str = "international-000"
    event: Path | None = None
    card_sets: tuple[CardSetSection, ...] = (CardSetSection(id="S1", back="A"),)
    deal_ahead: bool = False
    limits: LimitsSection = field(default_factory=LimitsSection)

    def start_delay_s(self, number: int) -> float:
        """Return how many seconds table `number` (0, 1, …) waits before its first deal.

        The tables are spread over a round, so that their shuffles and deals do not coincide.
        """
        return number * ROUND_S / self.speed / self.tables

    @property
    def rules(self) -> Profile:
        """The rulebook `profile`, changed by the file `event` (if any). Raises ProfileError."""
        return load_profile(self.profile, self.event)


class ControlClient:
    """A client of one simulated table's control socket, for requests such as people's actions."""

    def __init__(self, path: str) -> None:
        self.path = path

    async def request(self, request_name: str, **args: Any) -> Any:
        """Return the result of request `request_name` (see sim/CONTROL.md). Raises HallError."""
        try:
            reader, writer = await asyncio.open_unix_connection(self.path, limit=_MAX_LINE_BYTES)
        except OSError as error:
            raise HallError(f"the simulator does not answer: {error}") from error
        try:
            writer.write(msgspec.json.encode({"do": request_name, "with": args}) + b"\n")
            answer = msgspec.json.decode(await reader.readline())
        except (OSError, msgspec.DecodeError) as error:  # an incomplete answer counts as none
            raise HallError(f"the simulator ended before it answered {request_name}") from error
        finally:
            writer.close()
        if not answer["ok"]:
            raise HallError(answer["error"])
        return answer.get("result")


class TableProcess:
    """One table of a hall: its folders, its rules, its keys, its daemon and its control client."""

    def __init__(
        self, info: dict[str, Any], state_dir: Path, config: Path, profile: Profile
    ) -> None:
        self.id: str = info["table"]
        self.state_dir, self.config, self.profile = state_dir, config, profile
        self.control = ControlClient(info["control"])
        self._info = info
        self.daemon: asyncio.subprocess.Process | None = None
        self.simulator: asyncio.subprocess.Process | None = None

    @property
    def board_ports(self) -> tuple[str, str]:
        """The paths of the serial ports of the dealer board and the reader board."""
        return self._info["dealer"], self._info["reader"]

    @property
    def log(self) -> Path:
        """The log file of the table's daemon."""
        return self.state_dir / "daemon.log"

    @property
    def endpoints(self) -> Endpoints:
        """The addresses of the table's gateway. Raises NoEndpoints."""
        return read_endpoints(self.state_dir)

    def client(self, role: Role, topics: Sequence[str] = ("",)) -> Client:
        """Return a gateway client with the key of `role`. `topics` are prefixes of feed topics."""
        identity = read_client_identity(self.state_dir, role.value)
        return Client(self.endpoints, identity, new_command_id, topics=topics)

    async def start_daemon(self) -> None:
        """Start `dealtable run`, and wait until the table's gateway is open. Raises HallError."""
        remove_endpoints(self.state_dir)  # a killed daemon does not remove its endpoints
        with self.log.open("ab") as file:
            self.daemon = await start_program("run", "--config", str(self.config), stderr=file)
        try:
            async with asyncio.timeout(START_TIMEOUT_S):
                while not self.is_gateway_open():
                    if self.daemon.returncode is not None:
                        raise HallError(
                            f"the daemon of table {self.id} ended unexpectedly; see {self.log}"
                        )
                    await asyncio.sleep(POLL_INTERVAL_S)
        except TimeoutError:
            late = f"is not there after {START_TIMEOUT_S:g} s"
            raise HallError(f"the daemon of table {self.id} {late}") from None

    async def stop_daemon(self) -> int | None:
        """End the daemon with SIGTERM. Return its exit status, or None if it was never started."""
        return None if self.daemon is None else await end_program(self.daemon)

    def is_gateway_open(self) -> bool:
        """Return whether the table's gateway has published its addresses."""
        try:
            return bool(self.endpoints)
        except NoEndpoints:
            return False


@asynccontextmanager
async def run_hall(
    plan: HallPlan, on_started: Callable[[int], None] = lambda tables: None
) -> AsyncIterator[list[TableProcess]]:
    """Run the simulator and all daemons during the `with` block, and yield the tables.

    As many daemons as there are cores start at the same time. `on_started` receives the number of
    running daemons. Raises HallError.
    """
    plan.state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    async with AsyncExitStack() as stack:
        runtime_dir = stack.enter_context(memory_folder())
        tables = await stack.enter_async_context(run_simulator(plan, runtime_dir))
        try:
            await _start_daemons(tables, on_started)
            yield tables
        finally:
            await asyncio.gather(*(table.stop_daemon() for table in tables))


async def wait_for_process_end(tables: Sequence[TableProcess]) -> NoReturn:
    """Wait until a daemon or the simulator ends, then raise HallError, which names that process."""
    waits = {
        asyncio.ensure_future(process.wait()): what
        for table in tables
        for process, what in (
            (table.daemon, f"the daemon of table {table.id} ended unexpectedly; see {table.log}"),
            (table.simulator, "the simulator ended unexpectedly; its last messages are above"),
        )
        if process is not None
    }
    try:
        ended, _ = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        raise HallError(waits[ended.pop()])
    finally:
        for wait in waits:
            wait.cancel()


async def _start_daemons(tables: Sequence[TableProcess], on_started: Callable[[int], None]) -> None:
    """Start the daemons of all tables, as many at a time as there are cores.

    Raise the first HallError and cancel the other starts.
    """
    room = asyncio.Semaphore(count_cores())
    up = 0

    async def start(table: TableProcess) -> None:
        nonlocal up
        async with room:
            await table.start_daemon()
        up += 1
        on_started(up)

    starts = [asyncio.ensure_future(start(table)) for table in tables]
    try:
        await asyncio.gather(*starts)
    finally:
        for one in starts:
            one.cancel()
        await asyncio.gather(*starts, return_exceptions=True)


async def start_simulator(
    plan: HallPlan, config: Path, runtime_dir: Path
) -> asyncio.subprocess.Process:
    """Start `dealtable sim` with the tables of `plan`. It prints a line of JSON for each table."""
    boards = ["--boards", plan.boards] if plan.boards else []
    return await start_program(
        "sim",
        *("--config", str(config), "--json", "--no-attendant", "--runtime-dir", str(runtime_dir)),
        *("--tables", str(plan.tables), "--speed", str(plan.speed), "--firmware", plan.firmware),
        *boards,
        *(word for fault in plan.faults for word in ("--fault", fault)),
        stdout=asyncio.subprocess.PIPE,
    )


StartSimulator = Callable[[HallPlan, Path, Path], Awaitable[asyncio.subprocess.Process]]


@asynccontextmanager
async def run_simulator(
    plan: HallPlan, runtime_dir: Path, start: StartSimulator = start_simulator
) -> AsyncIterator[list[TableProcess]]:
    """Run the simulator without daemons during the `with` block, and yield its tables."""
    config = runtime_dir / "sim.toml"
    deck = plan.rules.deck
    config.write_text(
        f"""\
[mechanics]
seed = {plan.seed}
packs = {deck.packs}
jokers = {"true" if deck.jokers else "false"}

{_card_sets_toml(plan)}""",
        encoding="utf-8",
    )
    sim = await start(plan, config, runtime_dir)
    try:
        assert sim.stdout is not None
        tables = []
        for number in range(plan.tables):
            if not (line := await sim.stdout.readline()):
                raise HallError("the simulator ended unexpectedly; its last messages are above")
            tables.append(_configure_table(msgspec.json.decode(line), plan, runtime_dir, number))
            tables[-1].simulator = sim
        yield tables
    finally:
        await end_program(sim)


def _configure_table(
    info: dict[str, Any], plan: HallPlan, runtime_dir: Path, number: int
) -> TableProcess:
    """Write the table.toml of one table from the simulator's data `info`, and return the table.

    Raises HallError if a daemon uses the table's folder, or if the journal cannot be continued.
    """
    name = info["table"]
    state_dir = plan.state_dir if plan.tables == 1 else plan.state_dir / name
    if (state_dir / LOCK_NAME).exists():  # a running table is not touched
        try:
            JournalStore.open(state_dir).close()
        except JournalError as error:
            raise HallError(str(error)) from error
    state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    ports = ("*", "*")
    if plan.port is not None:
        ports = (str(plan.port + 2 * number), str(plan.port + 2 * number + 1))
    config = state_dir / "table.toml"
    event = "" if plan.event is None else f'event = "{plan.event.absolute()}"\n'
    limits = "\n".join(
        f"{key} = {limit_s}" for key, limit_s in msgspec.structs.asdict(plan.limits).items()
    )
    config.write_text(
        f"""\
[table]
id = "{name}"
profile = "{plan.profile}"
{event}backend = "sim"
state_dir = "."
runtime_dir = "{runtime_dir / f"{name}.run"}"

[dealer]
port = "{info["dealer"]}"
id = "{info["dealer_id"]}"

[reader]
port = "{info["reader"]}"
id = "{info["reader_id"]}"

[panel]
pins = "unix:{info["pins"]}"

{_card_sets_toml(plan)}
[gateway]
feed = "tcp://127.0.0.1:{ports[0]}"
commands = "tcp://127.0.0.1:{ports[1]}"

[play]
deal_ahead = {"true" if plan.deal_ahead else "false"}

[limits]
{limits}
""",
        encoding="utf-8",
    )
    return TableProcess(info, state_dir, config, plan.rules)


def _card_sets_toml(plan: HallPlan) -> str:
    return "\n".join(
        f'[[card_set]]\nid = "{card_set.id}"\nback = "{card_set.back}"\n'
        for card_set in plan.card_sets
    )


async def start_program(
    *words: str, module: str = "controller.cli", **more: Any
) -> asyncio.subprocess.Process:
    """Start a process that runs the module `module` with the arguments `words`.

    The default is the command line of `dealtable`. The program ends with this process, and the
    terminal does not end it. `more` is passed to asyncio.create_subprocess_exec.
    """
    return await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", module, *words),
        process_group=0,
        preexec_fn=make_parent_death_hook(signal.SIGTERM),
        **more,
    )


async def end_program(process: asyncio.subprocess.Process) -> int:
    """End a program with SIGTERM, or kill it after a time limit. Return its exit status."""
    if process.returncode is None:
        process.send_signal(signal.SIGTERM)
    return await wait_or_kill(process)
