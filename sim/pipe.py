"""A serial line in process: bytes that arrive a little later, in order.

One queue and one timer a direction. The host's end is a Port of drivers/link; the
board's end is what sim/boards.py steps its core with.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence

from drivers.errors import PortMissing

# Timers may fire a rounding error early: what is due within this has arrived.
_ROUNDING_S = 1e-6

ReceiveBytes = Callable[[bytes], None]
# What the line does to the bytes of one write: the pieces that arrive (none: lost), and how
# many milliseconds later each.
PipeNoise = Callable[[bytes], Sequence[tuple[float, bytes]]]


class PipeDirection:
    """One direction of the line. `spoil` is what noise does to it, None for nothing."""

    def __init__(self, delay_ms: float) -> None:
        self.delay_ms = delay_ms
        self.distort: PipeNoise | None = None
        self._loop = asyncio.get_running_loop()
        self._queue: deque[tuple[float, bytes]] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self._receive: ReceiveBytes | None = None

    def connect(self, receive: ReceiveBytes | None) -> None:
        """Say who gets the bytes; None: nobody, and those on the way are lost."""
        self._receive = receive
        if receive is None:
            self.clear()

    def send(self, data: bytes) -> None:
        """Put `data` on the way."""
        if self._receive is None or not data:
            return
        now_s = self._loop.time()
        for late_ms, piece in self.distort(data) if self.distort else ((0.0, data),):
            due_s = now_s + (self.delay_ms + late_ms) / 1000
            if self._queue:
                due_s = max(due_s, self._queue[-1][0])
            self._queue.append((due_s, piece))
        if self._timer is None and self._queue:
            self._timer = self._loop.call_at(self._queue[0][0], self._deliver)

    def clear(self) -> None:
        """Lose what is on the way."""
        self._queue.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

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


class PipePort:
    """The host's end: a Port as drivers/link/port.py describes it.

    While its cable is pulled it cannot be opened.
    """

    def __init__(self, to_board: PipeDirection, to_host: PipeDirection) -> None:
        self.to_board = to_board
        self.to_host = to_host
        self._plugged = True
        self._on_lost: Callable[[str], None] | None = None
        self._lost_handle: asyncio.Handle | None = None

    def open(self, on_bytes: ReceiveBytes, on_lost: Callable[[str], None]) -> None:
        """Start: `on_bytes` gets what arrives, `on_lost(why)` is called once when unplugged.

        Raises PortMissing while its cable is pulled.
        """
        if not self._plugged:
            raise PortMissing("of the pipe", "its cable is pulled out")
        self._on_lost = on_lost
        self.to_host.connect(on_bytes)

    def write(self, data: bytes) -> None:
        """Send whole frames; never waits, never raises."""
        if self._on_lost is not None:
            self.to_board.send(data)

    def close(self) -> None:
        """Stop; may be called twice, and open() again afterwards."""
        self._on_lost = None
        self.to_host.connect(None)
        if self._lost_handle is not None:
            self._lost_handle.cancel()
            self._lost_handle = None

    def pull(self) -> None:
        """Pull the cable out, and leave it out until `plug`."""
        self._plugged = False
        self.drop_connection()

    def plug(self) -> None:
        """Put the cable in again."""
        self._plugged = True

    def drop_connection(self) -> None:
        """Pull the cable out and put it in: what is on the way is lost, and the host's end
        learns of it.
        """
        on_lost = self._on_lost
        self.to_board.clear()
        if on_lost is not None:
            self.close()
            self._lost_handle = asyncio.get_running_loop().call_soon(on_lost, "unplugged")

    def swap(self, other: "PipePort") -> None:
        """Pull the cables out of this port and of another one, and put each into the other."""
        self.drop_connection()
        other.drop_connection()
        self.to_board, other.to_board = other.to_board, self.to_board
        self.to_host, other.to_host = other.to_host, self.to_host


class PipeBoardEnd:
    """The board's end: `write` sends to the host, `listen` says who gets the host's bytes."""

    def __init__(self, to_board: PipeDirection, to_host: PipeDirection) -> None:
        self._to_board = to_board
        self._to_host = to_host

    def listen(self, receive: ReceiveBytes | None) -> None:
        """Give the host's bytes to `receive`; None: to nobody."""
        self._to_board.connect(receive)

    def write(self, data: bytes) -> None:
        """Send bytes to the host."""
        self._to_host.send(data)


def make_pipe(delay_ms: float = 0) -> tuple[PipePort, PipeBoardEnd]:
    """Return the two ends of a line on which bytes take `delay_ms` each way."""
    to_board, to_host = PipeDirection(delay_ms), PipeDirection(delay_ms)
    return PipePort(to_board, to_host), PipeBoardEnd(to_board, to_host)
