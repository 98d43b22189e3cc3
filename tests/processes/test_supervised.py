"""What a supervisor (systemd) hears: when a part serves, lives, ails and ends."""

import asyncio
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import pytest

from controller.cli.notify import LAG_LIMIT_S, WRITER_LIMIT_S, Notice, ailment, beating
from controller.trials.hall import RunningTable
from tests.processes.conftest import Start
from tests.processes.program import PATIENCE_S, Program
from tests.processes.units import Units

pytestmark = pytest.mark.slow

WATCHDOG_S = 0.6
LIVES = "WATCHDOG=1"

# The program itself, with limits for tests; a line on its input holds up the writer or the loop.
HELD_UP = """
import os, signal, sys, threading, time
from controller.cli import main, notify
from controller.journal.store import Store
notify.WRITER_LIMIT_S = notify.LAG_LIMIT_S = 0.3
held, write = threading.Event(), Store.write
def held_up(*words, **more):
    while held.is_set():
        time.sleep(0.01)
    return write(*words, **more)
Store.write = held_up
def listen():
    for line in sys.stdin:
        if line == "hold the writer\\n":
            held.set()
        elif line == "let it go\\n":
            held.clear()
        elif line == "hold the loop\\n":
            os.kill(os.getpid(), signal.SIGUSR1)
signal.signal(signal.SIGUSR1, lambda *_: time.sleep(2.0))
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
        try:
            async with asyncio.timeout(PATIENCE_S):
                while True:
                    words = await self.next()
                    if fits(words) if callable(fits) else fits in words:
                        return words
        except TimeoutError:
            raise AssertionError(f"not heard: {sorted(set(self.heard))}") from None

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
async def held_up(boards: RunningTable, supervisor: Supervisor) -> AsyncIterator[HeldUp]:
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


async def held(program: Program, supervisor: Supervisor) -> None:
    """Hold the loop until it is told: one word, which a socket that is full does not take."""
    async with asyncio.timeout(PATIENCE_S):
        while not any("STATUS=ailing: the loop" in words for words in supervisor.heard):
            tell(program, "hold the loop")
            with suppress(TimeoutError):
                async with asyncio.timeout(4.0):
                    while "STATUS=ailing: the loop" not in await supervisor.next():
                        pass


async def test_a_machine_says_that_it_serves_lives_while_its_boards_are_dead_and_ends(
    boards: RunningTable, start: Start, supervisor: Supervisor, held_up: HeldUp
) -> None:
    Units(boards, start)
    machine = await held_up("machine")
    assert supervisor.heard[-1].startswith("READY=1\nSTATUS=table T01: ")
    await supervisor.until(": empty, ")
    info = await boards.control.do("info")
    for board in info["boards"].values():
        os.kill(board["pid"], signal.SIGKILL)
    said = await supervisor.until(": fault, ")
    assert LIVES in said
    for _ in range(12):  # two whole watchdogs
        assert LIVES in await supervisor.next()
    done = await machine.end(signal.SIGTERM)
    assert done.code == 0
    await supervisor.until("STOPPING=1")


async def test_a_machine_whose_writer_or_loop_stands_still_does_not_say_that_it_lives(
    boards: RunningTable, start: Start, supervisor: Supervisor, held_up: HeldUp
) -> None:
    Units(boards, start)
    machine = await held_up("machine")
    await supervisor.until(LIVES)
    tell(machine, "hold the writer")
    info = await boards.control.do("info")
    for board in info["boards"].values():  # so that there is something to write
        os.kill(board["pid"], signal.SIGKILL)
    await supervisor.until("STATUS=ailing: the journal's writer")
    for _ in range(12):
        assert LIVES not in await supervisor.next()
    tell(machine, "let it go")
    await supervisor.until(LIVES)
    await held(machine, supervisor)
    await supervisor.until(LIVES)
    assert (await machine.end(signal.SIGTERM)).code == 0


async def test_a_gateway_says_that_it_serves_lives_and_ends_and_of_a_loop_that_stands_still(
    boards: RunningTable, start: Start, supervisor: Supervisor, held_up: HeldUp
) -> None:
    Units(boards, start)
    gateway = await held_up("gateway")
    await supervisor.until(LIVES)
    await held(gateway, supervisor)
    await supervisor.until(LIVES)
    assert (await gateway.end(signal.SIGTERM)).code == 0
    await supervisor.until("STOPPING=1")


async def test_a_part_without_a_supervisor_or_with_one_that_went_says_nothing_and_runs(
    runtime_dir: Path,
) -> None:
    for notice in (Notice(), Notice(str(runtime_dir / "nobody"), 0.01), Notice("nonsense")):
        notice.ready("")
        async with beating(notice, lambda: ""):
            await asyncio.sleep(0.02)
        notice.stopping()


def test_words_wait_for_nobody_where_the_supervisor_is_slow(runtime_dir: Path) -> None:
    path = runtime_dir / "slow"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as slow:
        slow.bind(str(path))
        notice = Notice(str(path))
        for _ in range(5000):  # far more than its buffer takes
            notice.lives("x" * 100)


def test_an_abstract_socket_is_found_and_the_environment_is_left_without_it() -> None:
    name = f"dealtable-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard:
        heard.bind(f"\0{name}")
        environ = {"NOTIFY_SOCKET": f"@{name}", "WATCHDOG_USEC": "2000000", "HOME": "/"}
        notice = Notice.taken_from(environ)
        notice.ready("here")
        assert heard.recv(100) == b"READY=1\nSTATUS=here"
    assert (environ, notice.watchdog_s) == ({"HOME": "/"}, 2.0)


@pytest.mark.parametrize("pid", ["1", "x"])
def test_a_watchdog_for_another_process_is_none_of_ours(pid: str) -> None:
    environ = {"WATCHDOG_USEC": "2000000", "WATCHDOG_PID": pid}
    assert Notice.taken_from(environ).watchdog_s is None


def test_only_a_late_loop_or_a_writer_that_stands_still_is_an_ailment() -> None:
    assert ailment(LAG_LIMIT_S, WRITER_LIMIT_S) is None
    assert "the loop" in str(ailment(LAG_LIMIT_S + 0.1, 0.0))
    assert "writer" in str(ailment(0.0, WRITER_LIMIT_S + 0.1))
