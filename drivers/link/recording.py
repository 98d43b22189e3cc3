"""Recordings of a table's serial lines: files with every byte that was written or read.

The first line is a header. Each other line is one chunk, `[at_us, board, way, data]`, with the data
in base64. The event loop writes lines 2 ms later, so that writing does not delay the ROUTE that
answers an event. From then on they are in the file. If the process is killed, only its last chunks
are missing. A torn last line is ignored.

Hazard: a recording shows hands, because faces are sent on the wire. Only its owner may read it.
"""

import asyncio
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from io import FileIO, RawIOBase
from itertools import count
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from drivers.board_events import BoardKind
from drivers.link.frames import PROTOCOL_HEX
from drivers.link.serial_port import LinkPort

RECORDING_SCHEMA = 1
WRITE_DELAY_S = 0.002
MAX_RECORDING_BYTES = 256 << 20
"""Size at which a recording ends: about a thousand deals (provisional)."""

ChunkKind = Literal["host", "board", "opened", "closed", "lost", "full"]
"""`host`: written by the host. `board`: received from the board. `opened`, `closed` (by the host)
and `lost` (by a failure) are states of the port. `full`: no room for more chunks.
"""

ChunkReceiver = Callable[[BoardKind, ChunkKind, bytes], None]
"""Callback for a chunk that was just now sent or received on a board's line."""


class Chunk(Struct, frozen=True, gc=False, array_like=True):
    """Bytes on a serial line, or a change of its port, with the time since the recording began.

    `at_us` is this time in microseconds. `data` contains the bytes of one write or read. If the
    port was `lost`, `data` contains the reason in UTF-8.
    """

    at_us: int
    board: BoardKind
    way: ChunkKind
    data: bytes


class RecordedBoard(Struct, frozen=True, gc=False):
    """A board in the header of a recording: its port, and the unique id that was expected there."""

    port: str
    id: str
    firmware: str | None = None


class RecordingHeader(Struct, frozen=True, kw_only=True):
    """The first line of a recording: table, boards, protocol, program version and start time.

    `started` is a wall-clock timestamp. The times of chunks count from it.
    """

    what: Literal["dealtable wire"] = "dealtable wire"
    schema: int = RECORDING_SCHEMA
    table: str
    boards: Mapping[BoardKind, RecordedBoard]
    protocol: str = PROTOCOL_HEX
    version: str
    started: str
    simulated: bool


class _RecordingSchema(Struct, frozen=True):
    schema: int


class RecordingError(Exception):
    """A file is not a recording, or another version of the program wrote the file.

    The message is one line for people.
    """


class RecordingPort:
    """A serial port whose bytes in both directions are also passed to `on_chunk`."""

    def __init__(self, port: LinkPort, board: BoardKind, on_chunk: ChunkReceiver) -> None:
        self._port, self._board, self._on_chunk = port, board, on_chunk
        self._is_open = False

    def open(self, on_bytes: Callable[[bytes], None], on_lost: Callable[[str], None]) -> None:
        """Open the port (see LinkPort.open), and then record that the port is open."""
        board, take = self._board, self._on_chunk

        def heard(data: bytes) -> None:
            take(board, "board", data)
            on_bytes(data)

        def lost(why: str) -> None:
            self._is_open = False
            take(board, "lost", why.encode())
            on_lost(why)

        self._port.open(heard, lost)
        self._is_open = True
        take(board, "opened", b"")

    def write(self, data: bytes) -> None:
        """Record `data`, and write `data` to the port; see LinkPort.write."""
        self._on_chunk(self._board, "host", data)
        self._port.write(data)

    def close(self) -> None:
        """Close the port (see LinkPort.close), and record this if the port was open."""
        if self._is_open:
            self._is_open = False
            self._on_chunk(self._board, "closed", b"")
        self._port.close()


class MemoryRecording:
    """A recording in memory, which lists all bytes and port changes in `chunks`, oldest first.

    `now` returns seconds (the loop's time). At most `max_chunks` are kept. The last of them is then
    `full`.
    """

    def __init__(self, now: Callable[[], float], max_chunks: int = 1_000_000) -> None:
        self.chunks: list[Chunk] = []
        self._now, self._since, self._max_chunks = now, now(), max_chunks

    def add_chunk(self, board: BoardKind, way: ChunkKind, data: bytes) -> None:
        """Append a chunk with the present time, unless the recording is full. This is cheap."""
        if len(self.chunks) >= self._max_chunks:
            return
        if len(self.chunks) == self._max_chunks - 1:
            way, data = "full", b""
        at_us = round((self._now() - self._since) * 1_000_000)
        self.chunks.append(Chunk(at_us, board, way, data))


class Recorder:
    """Writer of a recording, which writes each chunk as one line into `file`.

    RecordingPorts call `add_chunk`. The recording ends at `max_bytes` with a line that records
    this, or when a write fails. In both cases `on_ended(why)` is called once. Create a Recorder
    while its loop runs. `close` leaves no timer.
    """

    def __init__(
        self,
        file: RawIOBase,
        header: RecordingHeader,
        *,
        max_bytes: int = MAX_RECORDING_BYTES,
        on_ended: Callable[[str], None] = lambda why: None,
    ) -> None:
        self._file, self._on_ended = file, on_ended
        self._loop = asyncio.get_running_loop()
        self._since = self._loop.time()
        self._waiting: list[Chunk] = []
        self._timer: asyncio.TimerHandle | None = None
        self._encoder = msgspec.json.Encoder()
        self._bytes_left, self._has_ended = max_bytes, False
        self._write_bytes(self._encoder.encode(header) + b"\n")

    def add_chunk(self, board: BoardKind, way: ChunkKind, data: bytes) -> None:
        """Queue a chunk with the present time. A timer writes the chunk after WRITE_DELAY_S.

        This is cheap, because it is called inside the read callback.
        """
        if self._has_ended:
            return
        at_us = round((self._loop.time() - self._since) * 1_000_000)
        self._waiting.append(Chunk(at_us, board, way, data))
        if self._timer is None:
            self._timer = self._loop.call_later(WRITE_DELAY_S, self._write)

    def close(self) -> None:
        """Write the pending chunks and close the file."""
        if self._timer is not None:
            self._timer.cancel()
            self._write()
        self._has_ended = True
        self._file.close()

    def _write(self) -> None:
        self._timer = None
        chunks, self._waiting = self._waiting, []
        lines = self._encoder.encode_lines(chunks)
        if self._has_ended or len(lines) <= self._bytes_left:
            self._write_bytes(lines)
            return
        last = chunks[0]
        self._write_bytes(self._encoder.encode_lines([Chunk(last.at_us, last.board, "full", b"")]))
        self._stop("it has as many bytes as it may have")

    def _write_bytes(self, data: bytes) -> None:
        if self._has_ended:
            return
        try:
            taken = self._file.write(data)
        except OSError as error:
            self._stop(error.strerror or str(error))
            return
        self._bytes_left -= len(data)
        if taken is not None and taken < len(data):
            self._stop("there is no room for more")

    def _stop(self, why: str) -> None:
        self._has_ended = True
        self._on_ended(why)


def create_recording(path: Path) -> tuple[FileIO, Path]:
    """Create a file for a recording, readable only by its owner. Return the file and its path.

    An existing file is never overwritten. If `path` exists, `path`.2, .3 … is created, for example
    after a machine was killed and started again. Raises OSError.
    """
    for number in count(1):
        free = path if number == 1 else path.with_name(f"{path.name}.{number}")
        try:
            descriptor = os.open(free, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            continue
        return FileIO(descriptor, "wb"), free
    raise AssertionError  # The numbers never end.


def read_recording(lines: Iterable[bytes]) -> tuple[RecordingHeader, Iterator[Chunk]]:
    """Return the header of a recording and an iterator of its chunks, read line by line.

    A torn last line is ignored. Both this function and the iterator raise RecordingError.
    """
    rest = iter(lines)
    first = next(rest, b"")
    try:  # Headers of other schemas may look different.
        schema = msgspec.json.decode(first, type=_RecordingSchema).schema
        if schema != RECORDING_SCHEMA:
            raise RecordingError(
                f"it has schema {schema}, this program reads {RECORDING_SCHEMA}: "
                "use the one that wrote it"
            )
        return msgspec.json.decode(first, type=RecordingHeader), _read_chunks(rest)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise RecordingError("this is not a recording: the first line has no schema") from None


def _read_chunks(lines: Iterator[bytes]) -> Iterator[Chunk]:
    decoder = msgspec.json.Decoder(Chunk)
    for number, line in enumerate(lines, 2):
        try:
            yield decoder.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            if not line.endswith(b"\n"):
                return  # A torn last line.
            raise RecordingError(f"line {number} is no line of a recording: {error}") from None
