"""Simulated serial lines in memory and over ptys, and the noise of a bad cable.

`LineNoise` drops, repeats, changes or delays the bytes of a write. `make_pipe` returns a line in
memory. `PtyLine` is the board's end of a pty.
"""

import asyncio
import os
import pty
import random
import select
import tty
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from drivers.errors import PortMissing
from sim.mechanics.fault_effects import BYTE_FAULTS
from sim.mechanics.fault_schedule import FaultSchedule

# The pieces of one write that arrive, each after a number of milliseconds. An empty list means that
# the write is lost.
DelayedPieces = list[tuple[float, bytes]]


class LineNoise:
    """The noise of a serial line: it changes, delays, repeats or drops the bytes of a write.

    A write is changed if `schedule` has a byte fault that is due. `rng` picks the bit that is
    flipped. The class has no clock and no line. The pieces of one direction arrive in the order in
    which they were written, so a delayed piece also delays the pieces after it.
    """

    def __init__(self, schedule: FaultSchedule, rng: random.Random) -> None:
        self._schedule, self._rng = schedule, rng

    def distort(self, board: str, way: str, data: bytes) -> DelayedPieces:
        """Return the pieces of `data` that arrive, each with its delay in ms; [] if none arrives.

        `board` is the name of the board on the line. `way` is `to_board` or `to_host`.
        """
        schedule = self._schedule
        if not schedule.has_any(BYTE_FAULTS):
            return [(0.0, data)]
        if schedule.strike("bytes_dropped", board=board, way=way):
            return []
        if schedule.strike("bytes_corrupted", board=board, way=way):
            place = self._rng.randrange(len(data))
            flipped = data[place] ^ 1 << self._rng.randrange(8)
            data = data[:place] + bytes((flipped,)) + data[place + 1 :]
        delayed = schedule.strike("bytes_delayed", board=board, way=way)
        after_ms = delayed.ms if delayed else 0.0
        pieces = 2 if schedule.strike("bytes_repeated", board=board, way=way) else 1
        return [(after_ms, data)] * pieces


# Timers may fire early by a rounding error. Bytes that are due within this time have arrived.
_ROUNDING_S = 1e-6

ReceiveBytes = Callable[[bytes], None]
# The noise on the bytes of one write: the pieces that arrive (none: the write is lost), and the
# delay of each in milliseconds.
PipeNoise = Callable[[bytes], Sequence[tuple[float, bytes]]]


class _ByteQueue:
    """The bytes that were sent in one direction of a line but have not arrived.

    They arrive in order.
    """

    def __init__(self, receive: ReceiveBytes | None) -> None:
        self._receive = receive
        self._loop = asyncio.get_running_loop()
        self._queue: deque[tuple[float, bytes]] = deque()
        self._timer: asyncio.TimerHandle | None = None

    def clear(self) -> None:
        """Drop the sent bytes that have not arrived."""
        self._queue.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _send_late(self, after_ms: float, piece: bytes) -> None:
        due_s = self._loop.time() + after_ms / 1000
        if self._queue:
            due_s = max(due_s, self._queue[-1][0])
        self._queue.append((due_s, piece))
        if self._timer is None:
            self._timer = self._loop.call_at(due_s, self._deliver)

    def _deliver(self) -> None:
        self._timer = None
        queue, now_s = self._queue, self._loop.time() + _ROUNDING_S
        arrived = b""
        while queue and queue[0][0] <= now_s:
            arrived += queue.popleft()[1]
        if queue:
            self._timer = self._loop.call_at(queue[0][0], self._deliver)
        if self._receive is not None and arrived:
            self._receive(arrived)


class PipeDirection(_ByteQueue):
    """One direction of a serial line in memory. `distort` is its noise. None means no noise."""

    def __init__(self, delay_ms: float) -> None:
        super().__init__(None)
        self.delay_ms = delay_ms
        self.distort: PipeNoise | None = None

    def connect(self, receive: ReceiveBytes | None) -> None:
        """Set the function that receives the bytes, or None to drop all bytes.

        With None, bytes on the way are dropped too.
        """
        self._receive = receive
        if receive is None:
            self.clear()

    def send(self, data: bytes) -> None:
        """Send `data` to the receiver, after the delay and with the noise of this direction."""
        if self._receive is not None and data:
            for late_ms, piece in self.distort(data) if self.distort else ((0.0, data),):
                self._send_late(self.delay_ms + late_ms, piece)


class PipePort:
    """The host's end of a serial line in memory: a LinkPort of drivers/link/serial_port.py.

    The port cannot be opened while its cable is pulled.
    """

    def __init__(self, to_board: PipeDirection, to_host: PipeDirection) -> None:
        self.to_board, self.to_host = to_board, to_host
        self._plugged = True
        self._on_lost: Callable[[str], None] | None = None
        self._lost_handle: asyncio.Handle | None = None

    def open(self, on_bytes: ReceiveBytes, on_lost: Callable[[str], None]) -> None:
        """Open the port, and pass each piece of arriving bytes to `on_bytes`.

        `on_lost(why)` is called once if the connection breaks, for example if the cable is pulled.
        Raises PortMissing if the cable is already pulled.
        """
        if not self._plugged:
            raise PortMissing("of the pipe", "its cable is pulled out")
        self._on_lost = on_lost
        self.to_host.connect(on_bytes)

    def write(self, data: bytes) -> None:
        """Send whole frames to the board. Drop them if the port is closed. Never wait or raise."""
        if self._on_lost is not None:
            self.to_board.send(data)

    def close(self) -> None:
        """Close the port. It may be closed twice, and opened again."""
        self._on_lost = None
        self.to_host.connect(None)
        if self._lost_handle is not None:
            self._lost_handle.cancel()
            self._lost_handle = None

    def pull(self) -> None:
        """Pull the cable out. The port stays unplugged until a call of `plug`."""
        self._plugged = False
        self.drop_connection()

    def plug(self) -> None:
        """Plug the cable in again."""
        self._plugged = True

    def drop_connection(self) -> None:
        """Interrupt the connection: drop the bytes on the way, close the port, call `on_lost`."""
        on_lost = self._on_lost
        self.to_board.clear()
        if on_lost is not None:
            self.close()
            self._lost_handle = asyncio.get_running_loop().call_soon(on_lost, "unplugged")

    def swap(self, other: "PipePort") -> None:
        """Interrupt both connections, then swap the cables of this port and the port `other`."""
        self.drop_connection()
        other.drop_connection()
        self.to_board, other.to_board = other.to_board, self.to_board
        self.to_host, other.to_host = other.to_host, self.to_host


class PipeBoardEnd:
    """The board's end of a serial line in memory. `write` sends, `listen` sets the receiver."""

    def __init__(self, to_board: PipeDirection, to_host: PipeDirection) -> None:
        self._to_board, self._to_host = to_board, to_host

    def listen(self, receive: ReceiveBytes | None) -> None:
        """Pass the bytes that the host sends to `receive`, or drop them if `receive` is None."""
        self._to_board.connect(receive)

    def write(self, data: bytes) -> None:
        """Send bytes to the host."""
        self._to_host.send(data)


def make_pipe(delay_ms: float = 0) -> tuple[PipePort, PipeBoardEnd]:
    """Return the host's and the board's end of a line in memory, with a delay in each direction."""
    to_board, to_host = PipeDirection(delay_ms), PipeDirection(delay_ms)
    return PipePort(to_board, to_host), PipeBoardEnd(to_board, to_host)


# The noise on a write, by its direction: the pieces that arrive, each with a delay in milliseconds.
PtyNoise = Callable[[str, bytes], DelayedPieces]

# The interval between two checks whether a host has opened the port.
HOST_CHECK_INTERVAL_S = 0.02


class _PtyDirection(_ByteQueue):
    """One direction of a pty line. A piece without delay passes at once if no other waits."""

    def send(self, pieces: DelayedPieces) -> None:
        """Send the pieces of one write in their order, each when its delay has passed or later."""
        assert self._receive is not None
        for after_ms, piece in pieces:
            if after_ms <= 0 and not self._queue:
                self._receive(piece)
            else:
                self._send_late(after_ms, piece)


class PtyLine:
    """A simulated serial line over a pseudo-terminal (pty), seen from the board's end.

    `link` is the fixed path that leads to the current pty. When the line is unplugged, the pty
    closes, so the host sees its port vanish. Bytes that are written while no host has the port open
    are lost, as on a cable that is not plugged in. `distort` is the noise on the bytes of either
    direction (`to_board`, `to_host`).
    """

    def __init__(self, link: Path, distort: PtyNoise = lambda way, data: [(0.0, data)]) -> None:
        self.link = link
        self.pty: str | None = None
        self._loop = asyncio.get_running_loop()
        self._board_fd: int | None = None
        self._host_present = False
        self._host_check: asyncio.TimerHandle | None = None
        self._receive: ReceiveBytes | None = None
        self._distort = distort
        self._to_board = _PtyDirection(self.deliver_to_board)
        self._to_host = _PtyDirection(self._write_to_host)

    def plug(self) -> None:
        """Plug the cable in: create a new pty, and point `link` to the host's end of it.

        Do nothing if the cable is plugged in.
        """
        if self._board_fd is not None:
            return
        board, host = pty.openpty()
        # Set both ends: a new pty echoes and edits lines by default.
        tty.setraw(board)
        tty.setraw(host)
        os.set_blocking(board, False)
        self._board_fd, self.pty = board, os.ttyname(host)
        os.close(host)
        self._check_host()
        link_pty(self.link, self.pty)

    def unplug(self) -> None:
        """Pull the cable out: bytes on the way are lost.

        The link is removed before the pty, because the pty of another table may get the same
        number.
        """
        if self._board_fd is None:
            return
        self._stop_watching()
        self._to_board.clear()
        self._to_host.clear()
        self.link.unlink(missing_ok=True)
        os.close(self._board_fd)
        self._board_fd = self.pty = None

    @property
    def board_fd(self) -> int | None:
        """The file descriptor of the board's end, or None while no host has the pty open."""
        return self._board_fd if self._host_present else None

    def listen(self, receive: ReceiveBytes | None) -> None:
        """Pass the bytes that the host sends to `receive`, or drop them if `receive` is None."""
        self._receive = receive

    def write(self, data: bytes) -> None:
        """Send bytes to the host. They are lost if no host has the port open or if it is full."""
        if self._host_present:
            self._to_host.send(self._distort("to_host", data))

    def _write_to_host(self, data: bytes) -> None:
        if self._board_fd is not None and self._host_present:
            with suppress(OSError):  # no reader is there, or the port was just closed
                os.write(self._board_fd, data)

    def deliver_to_board(self, data: bytes) -> None:
        """Pass bytes from the host to the function that `listen` has set."""
        if self._receive is not None:
            self._receive(data)

    def _check_host(self) -> None:
        """Start to read the pty if a host has opened it. Otherwise check again a little later."""
        assert self._board_fd is not None
        self._host_check = None
        poll = select.poll()
        poll.register(self._board_fd, select.POLLIN)
        if any(events & select.POLLHUP for _, events in poll.poll(0)):
            self._host_check = self._loop.call_later(HOST_CHECK_INTERVAL_S, self._check_host)
            return
        self._host_present = True
        self._loop.add_reader(self._board_fd, self._read_from_host)

    def _stop_watching(self) -> None:
        """Stop reading the pty, and stop the repeated check whether a host has opened it."""
        if self._host_present:
            self._host_present = False
            assert self._board_fd is not None
            self._loop.remove_reader(self._board_fd)
        if self._host_check is not None:
            self._host_check.cancel()
            self._host_check = None

    def _read_from_host(self) -> None:
        assert self._board_fd is not None
        data = read_ready(self._board_fd)
        if data:
            self._to_board.send(self._distort("to_board", data))
        elif data is not None:  # the host has closed the port
            self._stop_watching()
            self._check_host()


def read_ready(fd: int) -> bytes | None:
    """Return up to 4096 bytes that have arrived at `fd`, or None if no byte has arrived yet.

    Return b"" if the other end is closed. `fd` is a file descriptor that does not block.
    """
    try:
        return os.read(fd, 4096)
    except BlockingIOError:
        return None
    except OSError:
        return b""


def link_pty(link: Path, target: str) -> None:
    """Point the link `link` to the pty `target` in one step, so that the link always exists."""
    fresh = link.with_suffix(".new")
    fresh.unlink(missing_ok=True)
    fresh.symlink_to(target)
    fresh.replace(link)
