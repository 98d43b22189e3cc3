"""A board as a process of its own: a pty for its line, and its pins on descriptor 3."""

import asyncio
import os
import pty
import shutil
import signal
import socket
import sys
import tty
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from drivers import firmware
from sim.hal import OUTPUTS, sensors_of
from sim.inproc import KINDS, BoardName
from sim.mechanics.engine import Answer
from sim.mechanics.world import World

PINS_FD = 3
DRIVERS = Path(firmware.__file__).parent.parent
FETCHED_MICROPYTHON = DRIVERS.parent / ".micropython" / "micropython"
# A board that does not end with its pins is killed after this long.
END_S = 1.0
# How often an ending process is looked for.
REAP_S = 0.01


@dataclass(frozen=True)
class Interpreter:
    """How to run the firmware: the command before the board's own words, and what it needs."""

    command: tuple[str, ...]
    environment: Mapping[str, str]


def cpython() -> Interpreter:
    """Run boards under the Python that runs this process."""
    path = os.pathsep.join(filter(None, (str(DRIVERS.parent), os.environ.get("PYTHONPATH"))))
    return Interpreter(
        (sys.executable, "-m", "drivers.firmware.main"), MappingProxyType({"PYTHONPATH": path})
    )


def find_micropython() -> str:
    """Return the path of MicroPython's unix port: named, installed, or fetched into a checkout.

    Raises FileNotFoundError, one line.
    """
    named = os.environ.get("DEALTABLE_MICROPYTHON") or shutil.which("micropython")
    if named is None and FETCHED_MICROPYTHON.exists():
        return str(FETCHED_MICROPYTHON)
    if named is None:
        raise FileNotFoundError(
            "no MicroPython: fetch it with .ci/micropython, put micropython on PATH, "
            "or name it in DEALTABLE_MICROPYTHON"
        )
    return named


def micropython(program: str) -> Interpreter:
    """Run boards under MicroPython's unix port, which has the firmware as package `firmware`."""
    return Interpreter(
        (program, "-m", "firmware.main"), MappingProxyType({"MICROPYPATH": str(DRIVERS)})
    )


class BoardProcess:
    """One board. `link` is the path under which its pty is found, whichever pty that is.

    Its pins end here: levels of `world` go in, outputs come out. Killing the process
    takes its pty away, as unplugging a board does.
    """

    def __init__(
        self,
        world: World,
        name: BoardName,
        uid: str,
        interpreter: Interpreter,
        link: Path,
    ) -> None:
        self.name = name
        self.uid = uid
        self.link = link
        self.boot = 0
        self.pid: int | None = None
        self.pty: str | None = None
        self._world = world
        self._interpreter = interpreter
        self._loop = asyncio.get_running_loop()
        self._pins: socket.socket | None = None
        self._out = b""
        self._rest = b""
        self._gone = asyncio.Event()
        self._gone.set()
        self._unplug: list[Callable[[], None]] = []

    def start(self, boot: int) -> None:
        """Give the board power with a boot id that it never had; nothing if it runs."""
        if self.pid is not None:
            return
        self.boot = boot
        master, slave = pty.openpty()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            # Both ends: a fresh pty echoes and edits until somebody says otherwise.
            tty.setraw(master)
            tty.setraw(slave)
            self.pty = os.ttyname(slave)
            self.pid = self._spawn(master, theirs.fileno(), boot)
            self._gone.clear()
        except OSError:
            ours.close()
            raise
        finally:
            # The process alone holds its ends, so that they vanish with it.
            os.close(master)
            os.close(slave)
            theirs.close()
        self._connect(ours)
        self._name_pty()

    def kill(self, sig: signal.Signals = signal.SIGKILL) -> None:
        """Take the board's power; returns at once, `gone` says when it is over."""
        if self.pid is not None:
            os.kill(self.pid, sig)

    async def gone(self) -> None:
        """Wait until the process has ended."""
        await self._gone.wait()

    async def close(self) -> None:
        """End the process: first by its pins, then by force; returns when it is gone."""
        if self._pins is not None:
            self._disconnect()
            self._reap()
        try:
            async with asyncio.timeout(END_S):
                await self._gone.wait()
        except TimeoutError:
            self.kill()
            await self._gone.wait()
        self.link.unlink(missing_ok=True)

    def _spawn(self, master: int, pins: int, boot: int) -> int:
        log = os.open(self.link.with_suffix(".log"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            command = (*self._interpreter.command, self.name, self.uid, str(boot))
            return os.posix_spawnp(
                command[0],
                command,
                {**os.environ, **self._interpreter.environment},
                file_actions=[
                    (os.POSIX_SPAWN_DUP2, master, 0),
                    (os.POSIX_SPAWN_DUP2, master, 1),
                    (os.POSIX_SPAWN_DUP2, log, 2),
                    (os.POSIX_SPAWN_DUP2, pins, PINS_FD),
                ],
                setsid=True,  # a Ctrl-C in the terminal is ours to answer, not the board's
            )
        finally:
            os.close(log)

    def _name_pty(self) -> None:
        assert self.pty is not None
        fresh = self.link.with_suffix(".new")
        fresh.unlink(missing_ok=True)
        fresh.symlink_to(self.pty)
        fresh.replace(self.link)

    def _connect(self, pins: socket.socket) -> None:
        pins.setblocking(False)
        self._pins, self._out, self._rest = pins, b"", b""
        self._loop.add_reader(pins, self._readable)
        sensors = sensors_of(self._world, KINDS[self.name])
        self._unplug = [sensors.attach(self._tell)]
        if self.name == "reader":
            self._world.answered.append(self._tell_answer)
            self._unplug.append(lambda: self._world.answered.remove(self._tell_answer))
        for name, value in sensors.levels.items():
            self._tell(name, value)

    def _disconnect(self) -> None:
        assert self._pins is not None
        self._loop.remove_reader(self._pins)
        self._loop.remove_writer(self._pins)
        self._pins.close()
        self._pins = None
        for unplug in self._unplug:
            unplug()
        self._world.board_gone(OUTPUTS[KINDS[self.name]])

    def _tell(self, name: str, value: int) -> None:
        self._send(b"at %s %d\n" % (name.encode(), value))

    def _tell_answer(self, answer: Answer) -> None:
        self._send(b"read %d %d %d %d %d\n" % answer)

    def _send(self, line: bytes) -> None:
        waiting = bool(self._out)
        self._out += line
        if not waiting:
            self._flush()

    def _flush(self) -> None:
        if self._pins is None:
            return
        try:
            self._out = self._out[self._pins.send(self._out) :]
        except BlockingIOError:
            pass
        except OSError:
            self._out = b""  # it is gone; reading says so, too
        if self._out:
            self._loop.add_writer(self._pins, self._flush)
        else:
            self._loop.remove_writer(self._pins)

    def _readable(self) -> None:
        assert self._pins is not None
        try:
            data = self._pins.recv(4096)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._disconnect()
            self._reap()
            return
        lines = (self._rest + data).split(b"\n")
        self._rest = lines.pop()
        for line in lines:
            self._line(line.decode().split())

    def _line(self, words: list[str]) -> None:
        match words:
            case ["set", name, value] if name in OUTPUTS[KINDS[self.name]]:
                self._world.set(name, int(value))
            case _:
                raise ValueError(f"{self.name} board: no such line on its pins: {words}")

    def _reap(self) -> None:
        """The process has let go of its pins, or lost them: it has ended, or is about to."""
        if self.pid is None:
            return
        if os.waitpid(self.pid, os.WNOHANG)[0] == 0:
            self._loop.call_later(REAP_S, self._reap)
            return
        self.pid = self.pty = None
        self._gone.set()
