"""A recording as a file: what is in it, what it costs, and what a killed process leaves."""

import asyncio
import os
import stat
from collections.abc import Callable
from io import RawIOBase
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivers.errors import PortMissing
from drivers.link.recording import (
    Chunk,
    MemoryRecording,
    RecordedBoard,
    Recorder,
    RecordingError,
    RecordingHeader,
    RecordingPort,
    create_recording,
    read_recording,
)
from tests.link.recorded_runs import encode_recording

HEADER = RecordingHeader(
    table="T01",
    boards={"dealer": RecordedBoard("/dev/a", "d1"), "reader": RecordedBoard("/dev/b", "e1")},
    version="0.1.0",
    started="2027-01-01T00:00:00.000Z",
    simulated=True,
)


class Pipe:
    """A port whose other end a test holds."""

    def __init__(self) -> None:
        self.written: list[bytes] = []
        self.opened = 0
        self.hear: Callable[[bytes], None]
        self.lose: Callable[[str], None]

    def open(self, on_bytes: Callable[[bytes], None], on_lost: Callable[[str], None]) -> None:
        self.hear, self.lose = on_bytes, on_lost
        self.opened += 1

    def write(self, data: bytes) -> None:
        self.written.append(data)

    def close(self) -> None:
        self.opened -= 1


class Paper(RawIOBase):
    """A file in memory that can be full, and remembers when it was written."""

    def __init__(self, room: int | None = None) -> None:
        super().__init__()
        self.data = b""
        self.writes: list[float] = []
        self.room = room

    def write(self, data: Any, /) -> int:
        self.writes.append(asyncio.get_running_loop().time())
        taken = data if self.room is None else data[: max(0, self.room - len(self.data))]
        self.data += taken
        return len(taken)


def chunks_in(data: bytes) -> list[Chunk]:
    return list(read_recording(data.splitlines(keepends=True))[1])


class Clock:
    """Seconds, by hand."""

    def __init__(self) -> None:
        self.s = 5.0

    def __call__(self) -> float:
        return self.s


def test_everything_that_passes_a_port_is_told_in_order_and_still_passes() -> None:
    clock, pipe, heard, lost = Clock(), Pipe(), list[bytes](), list[str]()
    tape = MemoryRecording(clock)
    port = RecordingPort(pipe, "dealer", tape.add_chunk)
    port.open(heard.append, lost.append)
    clock.s += 0.25
    pipe.hear(b"\x01")
    port.write(b"\x02")
    port.close()
    port.close()
    port.open(heard.append, lost.append)
    pipe.lose("gone")
    port.close()
    assert (heard, pipe.written, lost) == ([b"\x01"], [b"\x02"], ["gone"])
    assert tape.chunks == [
        Chunk(0, "dealer", "opened", b""),
        Chunk(250_000, "dealer", "board", b"\x01"),
        Chunk(250_000, "dealer", "host", b"\x02"),
        Chunk(250_000, "dealer", "closed", b""),
        Chunk(250_000, "dealer", "opened", b""),
        Chunk(250_000, "dealer", "lost", b"gone"),
    ]


def test_what_arrives_is_on_the_tape_before_the_answer_to_it() -> None:
    tape, pipe = MemoryRecording(Clock()), Pipe()
    port = RecordingPort(pipe, "dealer", tape.add_chunk)
    port.open(port.write, lambda why: None)
    pipe.hear(b"\x07")
    assert [chunk.way for chunk in tape.chunks] == ["opened", "board", "host"]


def test_a_port_that_cannot_be_opened_leaves_no_trace() -> None:
    class Missing(Pipe):
        def open(self, on_bytes: object, on_lost: object) -> None:
            raise PortMissing("/dev/a", "gone")

    tape = MemoryRecording(Clock())
    port = RecordingPort(Missing(), "dealer", tape.add_chunk)
    with pytest.raises(PortMissing):
        port.open(lambda data: None, lambda why: None)
    port.close()
    assert tape.chunks == []


def test_a_tape_ends_where_it_is_full_and_says_so() -> None:
    tape = MemoryRecording(Clock(), max_chunks=3)
    for _ in range(9):
        tape.add_chunk("reader", "board", b"x")
    assert [chunk.way for chunk in tape.chunks] == ["board", "board", "full"]


@pytest.mark.virtual
async def test_nothing_is_written_inside_the_callback_and_all_of_it_two_ms_later() -> None:
    paper = Paper()
    recorder = Recorder(paper, HEADER)
    beginning = paper.data
    await asyncio.sleep(1)
    recorder.add_chunk("dealer", "board", b"\x00\xff")
    recorder.add_chunk("dealer", "host", b"route")
    assert paper.data == beginning
    await asyncio.sleep(0.002)
    assert paper.writes == [0.0, 1.002]
    assert chunks_in(paper.data) == [
        Chunk(1_000_000, "dealer", "board", b"\x00\xff"),
        Chunk(1_000_000, "dealer", "host", b"route"),
    ]
    recorder.add_chunk("dealer", "closed", b"")
    recorder.close()
    assert paper.closed
    assert chunks_in(paper.data)[-1].way == "closed"


@pytest.mark.virtual
@pytest.mark.parametrize("room", [0, 60])
async def test_a_full_disk_ends_the_recording_and_nothing_else(room: int) -> None:
    ended: list[str] = []
    paper = Paper()
    recorder = Recorder(paper, HEADER, on_ended=ended.append)
    paper.room = len(paper.data) + room
    for _ in range(5):
        recorder.add_chunk("dealer", "board", b"something")
        await asyncio.sleep(0.01)
    recorder.close()
    assert ended == ["there is no room for more"]
    assert len(chunks_in(paper.data)) == room // 40


@pytest.mark.virtual
async def test_a_write_that_fails_ends_the_recording_and_nothing_else() -> None:
    class Gone(Paper):
        def write(self, data: Any, /) -> int:
            raise OSError(5, "Input/output error")

    ended: list[str] = []
    recorder = Recorder(Gone(), HEADER, on_ended=ended.append)
    recorder.add_chunk("dealer", "board", b"something")
    await asyncio.sleep(0.01)
    recorder.close()
    assert ended == ["Input/output error"]


@pytest.mark.virtual
async def test_a_recording_has_an_end_that_it_tells_of() -> None:
    ended: list[str] = []
    paper = Paper()
    recorder = Recorder(paper, HEADER, max_bytes=400, on_ended=ended.append)
    for _ in range(20):
        recorder.add_chunk("dealer", "board", b"something")
        await asyncio.sleep(0.01)
    recorder.close()
    assert ended == ["it has as many bytes as it may have"]
    assert len(paper.data) < 500
    assert [chunk.way for chunk in chunks_in(paper.data)][-1] == "full"


_CHUNKS = st.lists(
    st.builds(
        Chunk,
        st.integers(0, 2**50),
        st.sampled_from(("dealer", "reader")),
        st.sampled_from(("host", "board", "opened", "closed", "lost", "full")),
        st.binary(max_size=300),
    )
)


@given(_CHUNKS)
def test_what_is_written_is_read(chunks: list[Chunk]) -> None:
    header, back = read_recording(encode_recording(HEADER, chunks).splitlines(keepends=True))
    assert header == HEADER
    assert list(back) == chunks


@given(_CHUNKS.filter(bool), st.data())
def test_a_torn_last_line_is_not_there(chunks: list[Chunk], data: st.DataObject) -> None:
    whole = encode_recording(HEADER, chunks)
    last = len(encode_recording(HEADER, chunks[:-1]))
    cut = data.draw(st.integers(last, len(whole) - 1))
    torn = chunks_in(whole[:cut])
    assert torn[: len(chunks) - 1] == chunks[:-1]
    assert torn[len(chunks) - 1 :] in ([], chunks[-1:])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"", "not a recording"),
        (b"{}\n", "not a recording"),
        (b"[1,2]\n", "not a recording"),
        (b"\xff\xfe\n", "not a recording"),
        (b'{"what":"dealtable wire","schema":9}\n', "schema 9"),
        (encode_recording(HEADER, []).replace(b'"schema":1', b'"schema":2'), "schema 2"),
        (encode_recording(HEADER, []) + b"nonsense\n[]\n", "line 2"),
        (encode_recording(HEADER, []) + b'[1,"lift","host",""]\n', "line 2"),
        (encode_recording(HEADER, []) + b'[1,"dealer","host","!"]\n', "line 2"),
    ],
)
def test_what_is_no_recording_is_named_in_a_line(text: bytes, said: str) -> None:
    with pytest.raises(RecordingError, match=said) as caught:
        chunks_in(text)
    assert "\n" not in str(caught.value)


def test_a_file_is_its_owners_alone_and_none_is_written_over(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        made = [create_recording(tmp_path / "wire.jsonl") for _ in range(3)]
    finally:
        os.umask(old)
    assert [path.name for _, path in made] == ["wire.jsonl", "wire.jsonl.2", "wire.jsonl.3"]
    assert {stat.S_IMODE(path.stat().st_mode) for _, path in made} == {0o600}
    for file, _ in made:
        file.close()
