"""A board's line that holds a card's deciding word back, to be written when it can be timed."""

import asyncio
import os
import select
import struct
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from drivers.firmware import wire
from drivers.firmware.codec import Decoder
from sim.outside import BoardName
from sim.ptyline import PtyLine, PtyNoise

ROUTE_TIMEOUT_MS: Final = 100
"""No route is waited for longer: it counts as one that took so long."""
_MAX_READ_BYTES = 4096
_EVENT = struct.Struct(wire.BOARD_HEADER + wire.BODIES[wire.EVENT][1:])
_DECIDING_CODES = {wire.AT_READER, wire.READ}


class HeldFrames:
    """What both boards of one table said of its cards; `due` is set while a word is held back."""

    def __init__(self) -> None:
        self.due = asyncio.Event()
        self.holding_line: TimedLine | None = None
        self._codes_by_card: dict[tuple[int, int], set[int]] = {}
        self._attempt = 0

    def is_decided_by(self, payloads: list[bytes]) -> bool:
        """Take a board's words; tell whether with one of them both have spoken of a card."""
        lasts = [self._is_deciding(payload) for payload in payloads]
        return any(lasts)

    def _is_deciding(self, payload: bytes) -> bool:
        if payload[0] != wire.EVENT:
            return False
        _, _, _, _, attempt, code, _, _, index, _ = _EVENT.unpack_from(payload)
        if code not in _DECIDING_CODES:
            return False
        if attempt != self._attempt:
            self._attempt = attempt
            self._codes_by_card.clear()
        said = self._codes_by_card.setdefault((attempt, index), set())
        before = len(said)
        said.add(code)
        return before == 1 and len(said) == len(_DECIDING_CODES)


class TimedLine(PtyLine):
    """A board's end of its pty; the deciding word of a card waits in it for `let_go`."""

    def __init__(self, link: Path, spoil: PtyNoise, frames: HeldFrames) -> None:
        super().__init__(link, spoil)
        self._frames = frames
        self._decoder = Decoder()
        self._held_bytes = b""

    def write(self, data: bytes) -> None:
        """Send bytes to the host, or keep them behind a word that is held back."""
        if self.board_fd is None:
            return
        deciding = self._frames.is_decided_by(self._decoder.feed(data))
        if self._held_bytes:
            self._held_bytes += data
        elif deciding:
            self._held_bytes = data
            self._frames.holding_line = self
            self._frames.due.set()
        else:
            super().write(data)

    def release_frame(self) -> bytes:
        """Return what was held back, which is the caller's to write."""
        held, self._held_bytes = self._held_bytes, b""
        self._frames.holding_line = None
        self._frames.due.clear()
        return held


class TimedTable:
    """One table's lines: `take_turn` writes what is held back, and times the route."""

    def __init__(self, frames: HeldFrames, line: Callable[[BoardName], TimedLine]) -> None:
        self._frames, self._line = frames, line

    @property
    def due(self) -> asyncio.Event:
        """Set while a word waits for its turn."""
        return self._frames.due

    def time_route(self) -> float | None:
        """Write the word that waits; return the microseconds until its route.

        None: no word waits, or its line is not open.
        """
        holder, dealer = self._frames.holding_line, self._line("dealer")
        if holder is None:
            return None
        data = holder.release_frame()
        out, back = holder.board_fd, dealer.board_fd
        if out is None or back is None:
            return None
        try:
            dealer.deliver_to_board(_read_pending(back))
            took_us, said = time_answer(out, back, data, _has_route)
        except OSError:  # its daemon has just closed it
            return None
        dealer.deliver_to_board(said)
        return took_us


def time_answer(
    out: int, back: int, data: bytes, whole: Callable[[bytes], bool]
) -> tuple[float, bytes]:
    """Write to `out`; return the microseconds until what `back` says is whole, and all it said.

    The clock stops before the bytes are looked at. What is not whole in time has taken
    PATIENCE_MS. Raises OSError where a line is closed.
    """
    poll = select.poll()
    poll.register(back, select.POLLIN)
    said = b""
    begun_ns = time.perf_counter_ns()
    os.write(out, data)
    while poll.poll(ROUTE_TIMEOUT_MS):
        got = os.read(back, _MAX_READ_BYTES)
        at_ns = time.perf_counter_ns()
        said += got
        if whole(said):
            return (at_ns - begun_ns) / 1000, said
        if not got:
            break
    return ROUTE_TIMEOUT_MS * 1000.0, said


def _has_route(said: bytes) -> bool:
    return any(payload[0] == wire.ROUTE for payload in Decoder().feed(said))


def _read_pending(end: int) -> bytes:
    """Return what was written before: the route is none of it."""
    try:
        return os.read(end, _MAX_READ_BYTES)
    except BlockingIOError:
        return b""
