"""Simulated boards that run as processes, under CPython or MicroPython.

`BoardProcess` is one board. `Interpreter` describes how its firmware is started.
"""

import asyncio
import os
import pty
import shutil
import signal
import socket
import sys
import tty
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from drivers import firmware
from drivers.firmware.protocol import RESET_POWER
from sim.board_faults import BoardName
from sim.hardware_in_process import KINDS
from sim.mechanics.window import EngineAnswer
from sim.mechanics.world import World
from sim.serial_lines import PtyLine, link_pty, read_ready
from sim.simulated_board import OUTPUTS, sensors_of

DRIVERS = Path(firmware.__file__).parent.parent
FETCHED_MICROPYTHON = DRIVERS.parent / ".micropython" / "micropython"


@dataclass(frozen=True)
class Interpreter:
    """The command and the environment variables that start a board's firmware as a process.

    `package_location` contains the variable that names the folder of packages, and the path of the
    firmware below that folder.
    """

    command: tuple[str, ...]
    environment: Mapping[str, str]
    package_location: tuple[str, str]

    def with_foreign_firmware(self, root: Path) -> "Interpreter":
        """Return an Interpreter for foreign firmware, which has another hash than the original.

        The foreign firmware is a copy below `root` with one more file.
        """
        variable, below = self.package_location
        copy = root / "foreign" / below
        if not copy.exists():
            own = shutil.ignore_patterns("__pycache__")
            shutil.copytree(DRIVERS / "firmware", copy, ignore=own)
            # The copy must be a package, or Python would import the original package instead.
            (copy.parent / "__init__.py").touch()
            (copy / "foreign.py").write_text('"""Makes this another firmware."""\n')
        return replace(self, environment={variable: str(root / "foreign")})


def cpython_interpreter() -> Interpreter:
    """Return an Interpreter that runs a board's firmware with the Python of this process."""
    path = os.pathsep.join(filter(None, (str(DRIVERS.parent), os.environ.get("PYTHONPATH"))))
    command = (sys.executable, "-P", "-m", "drivers.firmware.main")
    return Interpreter(command, {"PYTHONPATH": path}, ("PYTHONPATH", "drivers/firmware"))


def find_micropython() -> str:
    """Return the path of MicroPython's program for Unix.

    The program is looked for in DEALTABLE_MICROPYTHON, on PATH, and in the checkout. Raises
    FileNotFoundError with a one-line message.
    """
    named = os.environ.get("DEALTABLE_MICROPYTHON") or shutil.which("micropython")
    if named is None and FETCHED_MICROPYTHON.exists():
        return str(FETCHED_MICROPYTHON)
    if named is None:
        raise FileNotFoundError(
            "no MicroPython: fetch it with .ci/micropython, put micropython on PATH, "
            "or name it in DEALTABLE_MICROPYTHON"
        )
    if shutil.which(named) is None:
        raise FileNotFoundError(f"DEALTABLE_MICROPYTHON names {named}, which is no program here")
    return named


def micropython_interpreter(program: str) -> Interpreter:
    """Return an Interpreter that runs a board's firmware with the MicroPython at `program`."""
    command = (program, "-m", "firmware.main")
    return Interpreter(command, {"MICROPYPATH": str(DRIVERS)}, ("MICROPYPATH", "firmware"))


PINS_FD = 3
# A board that does not end after its pins are closed is killed after this time.
END_TIMEOUT_S = 1.0
# The interval between two checks whether an ending process is gone.
REAP_INTERVAL_S = 0.01


class BoardProcess:
    """One board that runs as a process. `link` is the fixed path that leads to its current pty.

    The board's pins end in this object: levels of `world` go to the process, and its outputs come
    back. When the process is killed, its pty vanishes, as when a board is unplugged. With a `line`
    between the process's pty and the host's pty, the cable can be unplugged and its bytes can be
    distorted. The `line` adds the delay of a second pty. A process has no stored state when it
    starts again.
    """

    def __init__(
        self,
        world: World,
        name: BoardName,
        uid: str,
        interpreter: Interpreter,
        link: Path,
        line: PtyLine | None = None,
    ) -> None:
        self.name, self.uid, self.link = name, uid, link
        self.line = line
        self.boot = 0
        self.pid: int | None = None
        self._pty: str | None = None
        # the host's end of the process's pty, if there is a line
        self._process_end: int | None = None
        self._world, self._interpreter = world, interpreter
        self._loop = asyncio.get_running_loop()
        self._pins: socket.socket | None = None
        self._unsent = b""
        self._unparsed = b""
        self._ended = asyncio.Event()
        self._ended.set()
        self._detachers: list[Callable[[], None]] = []

    @property
    def pty(self) -> str | None:
        """The pty through which the host reaches the board, or None if it cannot reach it now."""
        return self._pty if self.line is None else self.line.pty

    def start(
        self,
        boot: int,
        reset_cause: int = RESET_POWER,
        *,
        uid: bytes | None = None,
        firmware: bytes | None = None,
    ) -> None:
        """Start the board with the boot id `boot`, which must be new. Do nothing if the board runs.

        `uid` and `firmware` replace the board by another one. Any value of `firmware` selects the
        same foreign firmware. The board always reports power as its reset cause; `reset_cause` is
        ignored.
        """
        if self.pid is not None:
            return
        self.boot = boot
        interpreter = self._interpreter
        if firmware is not None:
            interpreter = interpreter.with_foreign_firmware(self.link.parent)
        command = (*interpreter.command, self.name, uid.hex() if uid else self.uid, str(boot))
        master, slave = pty.openpty()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            # Set both ends: a new pty echoes and edits lines by default.
            tty.setraw(master)
            tty.setraw(slave)
            self._pty = name = os.ttyname(slave)
            self.pid = self._spawn(command, interpreter.environment, master, theirs.fileno())
            self._ended.clear()
            if self.line is not None:
                self._process_end = os.dup(slave)
        except OSError:
            ours.close()
            raise
        finally:
            # Only the process keeps its ends open, so that the ends vanish with the process.
            os.close(master)
            os.close(slave)
            theirs.close()
        self._connect_pins(ours)
        if self.line is None:
            link_pty(self.link, name)
        else:
            self._start_relay(self.line)

    def kill(self, sig: signal.Signals = signal.SIGKILL) -> None:
        """Send the signal `sig` to the board's process. SIGKILL is like a cut of its power."""
        if self.pid is not None:
            os.kill(self.pid, sig)

    def hang(self) -> None:
        """Stop the firmware with SIGSTOP. Port and motors keep their state; nothing is sent."""
        self.kill(signal.SIGSTOP)

    def resume(self) -> None:
        """Continue the firmware after `hang`. It receives all bytes that arrived meanwhile."""
        self.kill(signal.SIGCONT)

    def erase_storage(self) -> None:
        """Do nothing, because a board that runs as a process has no storage."""

    async def wait_until_gone(self) -> None:
        """Wait until the process has ended."""
        await self._ended.wait()

    async def close(self) -> None:
        """Close the board's pins, so that its process ends, and wait for the end of the process.

        Kill the process if it does not end within END_TIMEOUT_S.
        """
        if self._pins is not None:
            self._disconnect_pins()
            self._reap()
        try:
            async with asyncio.timeout(END_TIMEOUT_S):
                await self._ended.wait()
        except TimeoutError:
            self.kill()
            await self._ended.wait()
        self._remove_port()

    def _spawn(
        self, command: tuple[str, ...], environment: Mapping[str, str], master: int, pins: int
    ) -> int:
        log = os.open(self.link.with_suffix(".log"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            return os.posix_spawnp(
                command[0],
                command,
                {**os.environ, **environment},
                file_actions=[
                    (os.POSIX_SPAWN_DUP2, master, 0),
                    (os.POSIX_SPAWN_DUP2, master, 1),
                    (os.POSIX_SPAWN_DUP2, log, 2),
                    (os.POSIX_SPAWN_DUP2, pins, PINS_FD),
                ],
                # a Ctrl-C in the terminal is handled by this process, not by the board
                setsid=True,
            )
        finally:
            os.close(log)

    def _start_relay(self, line: PtyLine) -> None:
        """Start to forward bytes between the pty of the process and the host's line."""
        assert self._process_end is not None
        far = self._process_end
        os.set_blocking(far, False)
        self._loop.add_reader(far, self._forward_to_host, far, line)
        line.listen(partial(_write_lossy, far))
        line.plug()

    def _forward_to_host(self, far: int, line: PtyLine) -> None:
        data = read_ready(far)
        if data:
            line.write(data)
        elif data is not None:
            self._end_relay()

    def _end_relay(self) -> None:
        """Stop forwarding bytes, and unplug the host's line. Do nothing if no relay runs."""
        if self._process_end is None or self.line is None:
            return
        self._loop.remove_reader(self._process_end)
        os.close(self._process_end)
        self._process_end = None
        self.line.listen(None)
        self.line.unplug()

    def _remove_port(self) -> None:
        """Unplug the host's line if there is one, else remove the path `link` to the process's pty.

        The next pty, of another table, may get the same number. A line has its own port, and
        another board's line may use the port's name now.
        """
        if self.line is None:
            self.link.unlink(missing_ok=True)
        else:
            self.line.unplug()

    def _connect_pins(self, pins: socket.socket) -> None:
        pins.setblocking(False)
        self._pins, self._unsent, self._unparsed = pins, b"", b""
        self._loop.add_reader(pins, self._read_pins)
        sensors = sensors_of(self._world, KINDS[self.name])
        self._detachers = [sensors.attach(self._send_level)]
        if self.name == "reader":
            self._world.answer_listeners.append(self._send_answer)
            self._detachers.append(lambda: self._world.answer_listeners.remove(self._send_answer))
        for name, value in sensors.levels.items():
            self._send_level(name, value)

    def _disconnect_pins(self) -> None:
        assert self._pins is not None
        self._loop.remove_reader(self._pins)
        self._loop.remove_writer(self._pins)
        self._pins.close()
        self._pins = None
        self._end_relay()
        self._remove_port()
        for unplug in self._detachers:
            unplug()
        self._world.board_lost_power(OUTPUTS[KINDS[self.name]])

    def _send_level(self, name: str, value: int) -> None:
        self._send_line(b"at %s %d\n" % (name.encode(), value))

    def _send_answer(self, answer: EngineAnswer) -> None:
        self._send_line(b"read %d %d %d %d %d\n" % answer)

    def _send_line(self, line: bytes) -> None:
        waiting = bool(self._unsent)
        self._unsent += line
        if not waiting:
            self._flush()

    def _flush(self) -> None:
        if self._pins is None:
            return
        try:
            self._unsent = self._unsent[self._pins.send(self._unsent) :]
        except BlockingIOError:
            pass
        except OSError:
            self._unsent = b""  # the process is gone, and reading reports the end too
        if self._unsent:
            self._loop.add_writer(self._pins, self._flush)
        else:
            self._loop.remove_writer(self._pins)

    def _read_pins(self) -> None:
        assert self._pins is not None
        if (data := read_ready(self._pins.fileno())) is None:
            return
        if not data:
            self._disconnect_pins()
            self._reap()
            return
        *lines, self._unparsed = (self._unparsed + data).split(b"\n")
        for line in lines:
            match line.decode().split():
                case ["set", name, value] if name in OUTPUTS[KINDS[self.name]]:
                    self._world.set_output(name, int(value))
                case words:
                    raise ValueError(f"{self.name} board: no such line on its pins: {words}")

    def _reap(self) -> None:
        """Collect the exit status of the board's process, or try again later if it still runs."""
        if self.pid is None:
            return
        if os.waitpid(self.pid, os.WNOHANG)[0] == 0:
            self._loop.call_later(REAP_INTERVAL_S, self._reap)
            return
        self.pid = self._pty = None
        self._ended.set()


def _write_lossy(end: int, data: bytes) -> None:
    """Write to the pty at descriptor `end` as many bytes as it accepts, and drop the rest."""
    with suppress(OSError):
        os.write(end, data)
