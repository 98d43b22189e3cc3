"""What goes over a table's serial lines, kept as it is: a file of its own, a line a chunk.

The first line says what it is of; each other one is `[at_us, board, way, data]`, data in
base64. Lines are written 2 ms later by the loop, so that nothing stands between an event and
its ROUTE, and lie in the file from then on: a process that is killed leaves all but its last
words, and perhaps a torn line, which counts as not there.

A recording shows hands: faces travel on the wire. Nobody may read it but its owner.
"""

import asyncio
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from io import FileIO
from itertools import count
from pathlib import Path
from typing import Literal, Protocol

import msgspec
from msgspec import Struct

from drivers.board_events import BoardKind
from drivers.board_identity import PROTOCOL_HEX
from drivers.link.serial_port import LinkPort

RECORDING_SCHEMA = 1
WRITE_DELAY_S = 0.002
MAX_RECORDING_BYTES = 256 << 20
"""Where a recording ends by itself: about a thousand deals (provisional)."""

ChunkKind = Literal["host", "board", "opened", "closed", "lost", "full"]
"""`host`: the host wrote it; `board`: it arrived. What became of the port: `opened`, `closed`
by the host, `lost` by itself. `full`: there was no room for more."""

ChunkReceiver = Callable[[BoardKind, ChunkKind, bytes], None]
"""Takes what happened just now at the line of a board."""


class Chunk(Struct, frozen=True, gc=False, array_like=True):
    """What happened at one line, `at_us` microseconds after the recording began.

    `data` are the bytes of one write or read; of a port that was `lost` the reason, as UTF-8.
    """

    at_us: int
    board: BoardKind
    way: ChunkKind
    data: bytes


class RecordedBoard(Struct, frozen=True, gc=False):
    """Where a board was looked for, and who was to be there."""

    port: str
    id: str
    firmware: str | None = None


class RecordingHeader(Struct, frozen=True, kw_only=True):
    """What a recording is of: which table, boards and protocol, by which program, since when.

    `started` is a stamp of the wall; times of chunks count from it.
    """

    what: Literal["dealtable wire"] = "dealtable wire"
    schema: int = RECORDING_SCHEMA
    table: str
    boards: Mapping[BoardKind, RecordedBoard]
    protocol: str = PROTOCOL_HEX
    version: str
    started: str
    simulated: bool


class RecordingError(Exception):
    """A file that is no recording, or one of another program: one line for people."""


class RecordingPort:
    """A port whose bytes are told to `take` as they pass; otherwise it is the port behind it."""

    def __init__(self, port: LinkPort, board: BoardKind, on_chunk: ChunkReceiver) -> None:
        self._port, self._board, self._on_chunk = port, board, on_chunk
        self._is_open = False

    def open(self, on_bytes: Callable[[bytes], None], on_lost: Callable[[str], None]) -> None:
        """Open the port; see Port.open. One that cannot be opened leaves no trace."""
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
        """Write; see Port.write."""
        self._on_chunk(self._board, "host", data)
        self._port.write(data)

    def close(self) -> None:
        """Close the port; see Port.close."""
        if self._is_open:
            self._is_open = False
            self._on_chunk(self._board, "closed", b"")
        self._port.close()


class MemoryRecording:
    """A recording in memory, for trials: `chunks` in the order in which they happened.

    `now` gives seconds (the loop's time). `most` chunks are kept; then the last one is `full`.
    """

    def __init__(self, now: Callable[[], float], max_chunks: int = 1_000_000) -> None:
        self.chunks: list[Chunk] = []
        self._now, self._since, self._max_chunks = now, now(), max_chunks

    def add_chunk(self, board: BoardKind, way: ChunkKind, data: bytes) -> None:
        """Take what happened; cheap."""
        if len(self.chunks) >= self._max_chunks:
            return
        if len(self.chunks) == self._max_chunks - 1:
            way, data = "full", b""
        at_us = round((self._now() - self._since) * 1_000_000)
        self.chunks.append(Chunk(at_us, board, way, data))


class RecordingFile(Protocol):
    """Where a recording goes: an unbuffered file."""

    def write(self, data: bytes, /) -> int | None:
        """Write, or raise OSError; return how many bytes were taken."""

    def close(self) -> None:
        """Close it."""


class Recorder:
    """Writes a recording into `file` while its loop runs; `take` is for RecordingPorts.

    It ends at `most_bytes`, with a line that says so, and when a write fails; `on_ended(why)`
    hears of both, once. It must be made while its loop runs; `close` leaves no timer.
    """

    def __init__(
        self,
        file: RecordingFile,
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
        """Take what happened; cheap, called inside the read callback."""
        if self._has_ended:
            return
        at_us = round((self._loop.time() - self._since) * 1_000_000)
        self._waiting.append(Chunk(at_us, board, way, data))
        if self._timer is None:
            self._timer = self._loop.call_later(WRITE_DELAY_S, self._write)

    def close(self) -> None:
        """Write what waits, and close the file."""
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
    """Make a recording's file, for its owner's eyes alone; return it and what it is called.

    No file is ever written over: where `path` is there already, `path`.2, .3 … is made: so does
    a machine that was killed and started again. Raises OSError.
    """
    for number in count(1):
        free = path if number == 1 else path.with_name(f"{path.name}.{number}")
        try:
            descriptor = os.open(free, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            continue
        return FileIO(descriptor, "wb"), free
    raise AssertionError  # numbers do not end


def encode_recording(header: RecordingHeader, chunks: Iterable[Chunk]) -> bytes:
    """Return a recording as its file has it."""
    encoder = msgspec.json.Encoder()
    return encoder.encode(header) + b"\n" + encoder.encode_lines(list(chunks))


def read_recording(lines: Iterable[bytes]) -> tuple[RecordingHeader, Iterator[Chunk]]:
    """Return what a recording is of, and what happened, line by line as it is asked for.

    A last line that is torn is not there. Raises RecordingError, the iterator as well.
    """
    rest = iter(lines)
    first = next(rest, b"")
    try:
        header = msgspec.json.decode(first, type=RecordingHeader)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise RecordingError(_rejection_reason(first)) from None
    if header.schema != RECORDING_SCHEMA:
        raise RecordingError(_schema_mismatch(header.schema))
    return header, _read_chunks(rest)


def _read_chunks(lines: Iterator[bytes]) -> Iterator[Chunk]:
    decoder = msgspec.json.Decoder(Chunk)
    for number, line in enumerate(lines, 2):
        try:
            yield decoder.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            if not line.endswith(b"\n"):
                return  # torn
            raise RecordingError(f"line {number} is no line of a recording: {error}") from None


def _rejection_reason(line: bytes) -> str:
    """Say why a first line is none of ours; a header of another version may look different."""
    try:
        schema = msgspec.json.decode(line)["schema"]
    except (msgspec.DecodeError, UnicodeDecodeError, KeyError, TypeError):
        schema = None
    if isinstance(schema, int) and schema != RECORDING_SCHEMA:
        return _schema_mismatch(schema)
    return "it is no recording: the first line does not say so"


def _schema_mismatch(schema: int) -> str:
    return (
        f"it has schema {schema}, this program reads {RECORDING_SCHEMA}: use the one that wrote it"
    )
