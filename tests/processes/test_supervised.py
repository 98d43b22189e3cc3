"""What a supervisor (systemd) hears: when a part serves, lives, ails and ends."""

import asyncio
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from controller.service.process_signals import (
    MAX_LOOP_DELAY_S,
    MAX_WRITE_DELAY_S,
    SystemdNotifier,
    find_stall_reason,
    run_heartbeat,
)
from sim.tables.table_processes import TableProcess
from sim.virtual_loop import VirtualLoop
from tests.processes.program import Program, Start
from tests.processes.units import Units

WATCHDOG_S = 6.0
LIVES = "WATCHDOG=1"

# The program itself. A line on its input holds up the writer, releases it, or holds up the loop for
# longer than LAG_LIMIT_S and a beat of WATCHDOG_S.
HELD_UP = """
import os, signal, sys, threading, time
from controller.cli import main
from controller.journal.store import JournalStore
may_write, write = threading.Event(), JournalStore.write
may_write.set()
def held_up(*words, **more):
    may_write.wait()
    return write(*words, **more)
JournalStore.write = held_up
def listen():
    for line in sys.stdin:
        if line == "hold the writer\\n":
            may_write.clear()
        elif line == "let it go\\n":
            may_write.set()
        elif line == "hold the loop\\n":
            os.kill(os.getpid(), signal.SIGUSR1)
signal.signal(signal.SIGUSR1, lambda *_: time.sleep(3.0))
threading.Thread(target=listen, daemon=True).start()
main()
"""


class Supervisor:
    """A socket that hears what a process says of itself; its environment for the process."""

    def __init__(self, path: Path) -> None:
        self.heard: list[str] = []
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(str(path))
        self._socket.setblocking(False)
        self.environment = os.environ | {
            "NOTIFY_SOCKET": str(path),
            "WATCHDOG_USEC": str(round(WATCHDOG_S * 1e6)),
        }

    async def next(self) -> str:
        """Return the next words, once they come."""
        raw = await asyncio.get_running_loop().sock_recv(self._socket, 4096)
        self.heard.append(raw.decode())
        return self.heard[-1]

    async def until(self, fits: Callable[[str], bool] | str) -> str:
        """Return the next words that hold some text, or fit otherwise."""
        while True:
            words = await self.next()
            if fits(words) if callable(fits) else fits in words:
                return words

    def close(self) -> None:
        """Listen no more."""
        self._socket.close()


@pytest.fixture
async def supervisor(runtime_dir: Path) -> AsyncIterator[Supervisor]:
    """Give a supervisor that listens."""
    supervisor = Supervisor(runtime_dir / "notify@T01")
    yield supervisor
    supervisor.close()


HeldUp = Callable[[str], Awaitable[Program]]


@pytest.fixture
async def held_up(boards: TableProcess, supervisor: Supervisor) -> AsyncIterator[HeldUp]:
    """Start a part of a table that can be held up, and wait until it serves."""
    started: list[Program] = []

    async def start(part: str) -> Program:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", HELD_UP, "run", part, "--config", str(boards.config)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=supervisor.environment,
        )
        started.append(Program(process))
        await supervisor.until("READY=1")
        return started[-1]

    yield start
    await asyncio.gather(*(program.close() for program in started))


def tell(program: Program, words: str) -> None:
    assert program.process.stdin is not None
    program.process.stdin.write(f"{words}\n".encode())


@pytest.mark.slow
async def test_a_machine_says_that_it_serves_lives_while_its_boards_are_dead_and_ends(
    boards: TableProcess, start: Start, supervisor: Supervisor, held_up: HeldUp
) -> None:
    Units(boards, start)
    machine = await held_up("machine")
    assert supervisor.heard[-1].startswith("READY=1\nSTATUS=table T01: ")
    await supervisor.until(": empty, ")
    info = await boards.control.request("info")
    for board in info["boards"].values():
        os.kill(board["pid"], signal.SIGKILL)
    said = await supervisor.until(": fault, ")
    assert LIVES in said
    done = await machine.end(signal.SIGTERM)
    assert done.code == 0
    await supervisor.until("STOPPING=1")


@pytest.mark.slow
async def test_a_machine_whose_writer_or_loop_stands_still_does_not_say_that_it_lives(
    boards: TableProcess, start: Start, supervisor: Supervisor, held_up: HeldUp
) -> None:
    Units(boards, start)
    machine = await held_up("machine")
    await supervisor.until(LIVES)
    tell(machine, "hold the writer")
    info = await boards.control.request("info")
    for board in info["boards"].values():  # so that there is something to write
        os.kill(board["pid"], signal.SIGKILL)
    await supervisor.until("STATUS=ailing: the journal's writer")
    assert LIVES not in await supervisor.next()  # it is held up for even longer then
    tell(machine, "let it go")
    await supervisor.until(LIVES)
    tell(machine, "hold the loop")
    await supervisor.until("STATUS=ailing: the loop")
    await supervisor.until(LIVES)
    assert (await machine.end(signal.SIGTERM)).code == 0


@pytest.mark.slow
async def test_a_gateway_says_that_it_serves_lives_and_ends_and_of_a_loop_that_stands_still(
    boards: TableProcess, start: Start, supervisor: Supervisor, held_up: HeldUp
) -> None:
    Units(boards, start)
    gateway = await held_up("gateway")
    await supervisor.until(LIVES)
    tell(gateway, "hold the loop")
    await supervisor.until("STATUS=ailing: the loop")
    await supervisor.until(LIVES)
    assert (await gateway.end(signal.SIGTERM)).code == 0
    await supervisor.until("STOPPING=1")


class Words(SystemdNotifier):
    """A supervisor whose messages are kept, with their times."""

    def __init__(self, watchdog_s: float | None) -> None:
        super().__init__(watchdog_s=watchdog_s)
        self.said: list[tuple[float, str]] = []

    def _send(self, *lines: str) -> None:
        self.said.append((asyncio.get_running_loop().time(), lines[0]))


def stall(for_s: float) -> None:
    """Turn the virtual clock while the loop does nothing."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualLoop)
    loop._now_ns += round(for_s * 1e9)
    loop._now_s = loop._now_ns / 1e9


@pytest.mark.virtual
@pytest.mark.parametrize(("watchdog_s", "every_s"), [(6.0, 1.0), (None, 5.0)])
async def test_a_part_says_that_it_lives_several_times_within_its_watchdog(
    watchdog_s: float | None, every_s: float
) -> None:
    words = Words(watchdog_s)
    async with run_heartbeat(words, lambda: "here"):
        await asyncio.sleep(every_s * 3.5)
    await asyncio.sleep(60.0)
    assert words.said == [(every_s * beat, LIVES) for beat in (1, 2, 3)]


@pytest.mark.virtual
async def test_a_loop_that_came_round_late_ails_once_and_lives_at_the_next_beat() -> None:
    words = Words(6.0)
    async with run_heartbeat(words, lambda: "here"):
        await asyncio.sleep(1.5)
        stall(0.5 + MAX_LOOP_DELAY_S)
        await asyncio.sleep(1.5)
        stall(0.5 + MAX_LOOP_DELAY_S + 0.1)
        await asyncio.sleep(2.5)
    late = f"STATUS=ailing: the loop came round {MAX_LOOP_DELAY_S + 0.1:.1f} s late"
    assert [said for _, said in words.said] == [LIVES, LIVES, LIVES, late, LIVES, LIVES]


@pytest.mark.virtual
async def test_a_loop_that_stands_still_while_it_says_that_it_lives_ails_at_the_next_beat() -> None:
    words, stalls_s = Words(6.0), [3.0]

    def status() -> str:
        if stalls_s:
            stall(stalls_s.pop())
        return "here"

    async with run_heartbeat(words, status):
        await asyncio.sleep(5.5)
    late = "STATUS=ailing: the loop came round 2.0 s late"
    assert [said for _, said in words.said] == [LIVES, late, LIVES]


@pytest.mark.virtual
async def test_a_writer_that_stands_still_ails_until_it_writes_again() -> None:
    words, held_up_s = Words(6.0), 0.0
    async with run_heartbeat(words, lambda: "here", lambda: held_up_s):
        held_up_s = MAX_WRITE_DELAY_S
        await asyncio.sleep(1.5)
        held_up_s = MAX_WRITE_DELAY_S + 0.1
        await asyncio.sleep(2.0)
        held_up_s = 0.0
        await asyncio.sleep(1.0)
    ails = (
        f"STATUS=ailing: the journal's writer has not written for {MAX_WRITE_DELAY_S + 0.1:.1f} s"
    )
    assert [said for _, said in words.said] == [LIVES, ails, ails, LIVES]


@pytest.mark.virtual
async def test_a_part_without_a_supervisor_or_with_one_that_went_says_nothing_and_runs(
    runtime_dir: Path,
) -> None:
    for notice in (
        SystemdNotifier(),
        SystemdNotifier(str(runtime_dir / "nobody"), 6.0),
        SystemdNotifier("nonsense"),
    ):
        notice.report_ready("")
        async with run_heartbeat(notice, lambda: ""):
            await asyncio.sleep(20.0)
        notice.report_stopping()


def test_words_wait_for_nobody_where_the_supervisor_is_slow(runtime_dir: Path) -> None:
    path = runtime_dir / "slow"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as slow:
        slow.bind(str(path))
        notice = SystemdNotifier(str(path))
        for _ in range(5000):  # far more than its buffer takes
            notice.report_alive("x" * 100)


def test_an_abstract_socket_is_found_and_the_environment_is_left_without_it() -> None:
    name = f"dealtable-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard:
        heard.bind(f"\0{name}")
        environ = {"NOTIFY_SOCKET": f"@{name}", "WATCHDOG_USEC": "2000000", "HOME": "/"}
        notice = SystemdNotifier.from_environment(environ)
        notice.report_ready("here")
        assert heard.recv(100) == b"READY=1\nSTATUS=here"
    assert (environ, notice.watchdog_s) == ({"HOME": "/"}, 2.0)


@pytest.mark.parametrize("pid", ["1", "x"])
def test_a_watchdog_for_another_process_is_none_of_ours(pid: str) -> None:
    environ = {"WATCHDOG_USEC": "2000000", "WATCHDOG_PID": pid}
    assert SystemdNotifier.from_environment(environ).watchdog_s is None


def test_only_a_late_loop_or_a_writer_that_stands_still_is_an_ailment() -> None:
    assert find_stall_reason(MAX_LOOP_DELAY_S, MAX_WRITE_DELAY_S) is None
    assert "the loop" in str(find_stall_reason(MAX_LOOP_DELAY_S + 0.1, 0.0))
    assert "writer" in str(find_stall_reason(0.0, MAX_WRITE_DELAY_S + 0.1))
