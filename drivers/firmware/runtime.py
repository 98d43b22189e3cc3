"""A clock and byte streams that work both on the chip and on a computer.

A stream is a pty, the chip's USB serial or a socket's descriptor. Streams are unbuffered on every
interpreter, because poll does not count buffered bytes. MicroPython reads one byte at a time: its
read blocks until all bytes are there.
"""

import select
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, BinaryIO

MICROPYTHON = sys.implementation.name == "micropython"
# The limit of one read, so that noise cannot delay the motors.
MAX_READ = 512 if MICROPYTHON else 4096
# Written in pieces, so that an unread line never blocks a board.
WRITE_PIECE = 64


class BoardClock:
    """A clock that counts whole milliseconds from its creation. It never overflows, unlike the
    clock of the chip.
    """

    def __init__(self) -> None:
        self._now = 0
        self._last = self._ticks()

    def now_ms(self) -> int:
        """Return the time in ms. Call it at least once an hour: the chip's own clock overflows."""
        ticks = self._ticks()
        if MICROPYTHON:
            clock: Any = time
            self._now += clock.ticks_diff(ticks, self._last)
        else:
            self._now += ticks - self._last
        self._last = ticks
        return self._now

    def _ticks(self) -> int:
        clock: Any = time  # The two interpreters have different clocks.
        if MICROPYTHON:
            return int(clock.ticks_ms())
        return int(clock.monotonic_ns() // 1_000_000)


class Stream:
    """One end of a serial line, read from the unbuffered file `source` and written to `sink`."""

    def __init__(self, source: "BinaryIO", sink: "BinaryIO") -> None:
        self.source = source
        self._sink = sink
        self._readable = select.poll()
        self._readable.register(source, select.POLLIN)
        self._writable = select.poll()
        self._writable.register(sink, select.POLLOUT)
        if MICROPYTHON:
            self._byte = bytearray(1)
            self._room = bytearray(MAX_READ)
            self.read = self._read_bytes  # type: ignore[method-assign]

    def read(self) -> bytes | None:
        """Return received bytes without waiting, or None if no program has opened the other end.
        Without received bytes, return b"".
        """
        data = b""
        while len(data) < MAX_READ:
            ready = self._readable.poll(0)
            if not ready:
                return data
            try:
                piece = self.source.read(MAX_READ) if ready[0][1] & select.POLLIN else b""
            except OSError:
                piece = b""
            if not piece:
                return data or None
            data += piece
        return data

    def _read_bytes(self) -> bytes | None:
        """Return the result of `read` on the chip. Read byte by byte, into one permanent buffer."""
        length = 0
        while length < MAX_READ:
            waits = False
            for ready in self._readable.ipoll(0):  # type: ignore[attr-defined]
                waits = True
                if not ready[1] & select.POLLIN or not self._take_byte():
                    return bytes(self._room[:length]) if length else None
            if not waits:
                break
            self._room[length] = self._byte[0]
            length += 1
        return bytes(self._room[:length]) if length else b""

    def _take_byte(self) -> bool:
        try:
            return bool(self.source.readinto(self._byte))  # type: ignore[attr-defined]
        except OSError:
            return False

    def write(self, data: bytes) -> None:
        """Write the bytes that the line accepts now. The rest is lost, as on an unplugged cable."""
        while data:
            ready = self._writable.poll(0)
            if not ready or not ready[0][1] & select.POLLOUT:
                return
            try:
                data = data[self._sink.write(data[:WRITE_PIECE]) or 0 :]
            except OSError:
                return

    def write_all(self, data: bytes) -> None:
        """Write all of `data`. Wait while the line is full. Raises OSError without a peer."""
        while data:
            data = data[self._sink.write(data) or 0 :]


def open_stream(source: int, sink: int) -> Stream:
    """Return a stream that reads from descriptor `source` and writes to descriptor `sink`."""
    if sys.implementation.name == "micropython":
        return Stream(open(source, "rb"), open(sink, "wb"))
    return Stream(open(source, "rb", buffering=0), open(sink, "wb", buffering=0))
