"""The port at which a recording speaks, and what a link says there."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress

from drivers.firmware import protocol
from drivers.link.frames import (
    HOST_FRAME_NAMES,
    BlockSplitter,
    BoardCommand,
    HostFrame,
    decode_host_frame,
)

FRAME_TIMEOUT_S = 1.0
"""How long the recording waits for a frame that the link says by itself: longer than any wait."""

FrameKey = tuple[int, int, int]
"""Kind, session and number of a frame of the host: said again it is the same."""


class ReplayPort:
    """A port at which a recording speaks; `counts` and `commands` are what was written there."""

    def __init__(self) -> None:
        self.counts: Counter[FrameKey] = Counter()
        self.commands: dict[FrameKey, BoardCommand | None] = {}
        self.session = self._number = 0
        self.wake = asyncio.Event()
        self._splitter = BlockSplitter()
        self._on_bytes: Callable[[bytes], None] | None = None
        self._on_lost: Callable[[str], None] = lambda why: None

    @property
    def is_open(self) -> bool:
        """Tell whether the link has it open."""
        return self._on_bytes is not None

    def open(self, on_bytes: Callable[[bytes], None], on_lost: Callable[[str], None]) -> None:
        """Listen; see Port.open."""
        self._on_bytes, self._on_lost = on_bytes, on_lost

    def write(self, data: bytes) -> None:
        """Note what is said; see Port.write."""
        for frame in split_host_frames(self._splitter, data):
            if frame.kind == protocol.HELLO:
                self.session = frame.session
            self._number = count_frame(self.counts, frame, self._number)
            self.commands[frame_key(frame)] = frame.command
        self.wake.set()

    def close(self) -> None:
        """Listen no more; see Port.close."""
        self._on_bytes = None
        self.wake.set()

    def deliver(self, data: bytes) -> None:
        """Let the board have said something."""
        if self._on_bytes is not None:
            self._on_bytes(data)

    def drop_line(self, why: str) -> None:
        """Let the line be lost."""
        if self._on_bytes is not None:
            self._on_bytes = None
            self._on_lost(why)

    async def wait_until(self, what: Callable[[], bool]) -> bool:
        """Wait until `what` holds, but not longer than PATIENCE_S; tell whether it does."""
        with suppress(TimeoutError):
            async with asyncio.timeout(FRAME_TIMEOUT_S):
                while not what():
                    self.wake.clear()
                    await self.wake.wait()
        return what()


def split_host_frames(cutter: BlockSplitter, data: bytes) -> Iterator[HostFrame]:
    """Yield the frames that a host's bytes complete."""
    for block in cutter.split(data):
        frame = None if isinstance(block, str) else decode_host_frame(block)
        if frame is not None:
            yield frame


def frame_key(frame: HostFrame) -> FrameKey:
    """Return what a frame is known by."""
    return frame.kind, frame.session, frame.number


def count_frame(counts: Counter[FrameKey], frame: HostFrame, last: int) -> int:
    """Count a frame; return the number of the last command. After 65535 numbers begin again."""
    if frame.kind == protocol.HELLO:
        last = 0
    elif frame.number not in (0, last):
        last = frame.number
        counts[frame_key(frame)] = 0
    counts[frame_key(frame)] += 1
    return last


def frame_name(key: FrameKey) -> str:
    """Return a frame's name for people."""
    kind, session, number = key
    return f"{HOST_FRAME_NAMES[kind]} {number} in session {session:08x}"
