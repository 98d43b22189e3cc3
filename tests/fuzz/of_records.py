"""Recordings of the wire: files that somebody changed, and lines that say anything."""

import msgspec

from controller.cards import face_text
from drivers.firmware import framing
from drivers.link.frame_text import read_frames, to_json, to_line
from drivers.link.recording import Chunk, ChunkKind, RecordingError, read_recording
from tests.fuzz import of_wire
from tests.fuzz.refusals import one_line
from tests.fuzz.words import Words

MOST_CHUNKS = 400
WAYS: tuple[ChunkKind, ...] = ("host", "board", "opened", "closed", "lost", "full")


def recording(data: bytes) -> None:
    """A file is a recording that can be read aloud, or is refused in a line."""
    try:
        _, found = read_recording(data.splitlines(keepends=True))
        chunks = [chunk for _, chunk in zip(range(MOST_CHUNKS), found, strict=False)]
    except RecordingError as error:
        one_line(error)
        return
    _aloud(chunks)


def heard(data: bytes) -> None:
    """Whatever is on a line can be told, frame by frame."""
    words, at_us = Words(data), 0
    chunks: list[Chunk] = []
    while words.more and len(chunks) < MOST_CHUNKS:
        board, way = words.pick(of_wire.BOARDS), words.pick(WAYS)
        at_us += words.byte() * 1000
        what = words.byte()
        some = words.some(what % 64)
        if what >= 128 and way in ("host", "board"):
            payload = of_wire.payload(Words(some)) if way == "board" else some
            some = framing.encode(payload[: framing.MAX_PAYLOAD])
        chunks.append(Chunk(at_us, board, way, some))
    _aloud(chunks)


def _aloud(chunks: list[Chunk]) -> None:
    for one in read_frames(chunks):
        one_line(to_line(one))
        one_line(to_line(one, face_text))
        msgspec.json.encode(to_json(one, face_text))
