"""The serial line's bytes: the decoder, and what host and firmware make of one frame."""

import struct
from contextlib import suppress
from typing import Any, cast

import msgspec

from drivers import typed_boards
from drivers.board_events import BoardEvent, BoardKind, CardReadEvent
from drivers.errors import WrongProtocol
from drivers.firmware import framing
from drivers.firmware import protocol as wire
from drivers.link import frames
from drivers.link.frames import (
    PROTOCOL_HEX,
    AliveReport,
    BoardFrame,
    BoardReply,
    NoSession,
    Welcome,
)
from tests.fuzz.words import Words

BOARDS: tuple[BoardKind, ...] = ("dealer", "reader")
COMMANDS = tuple(
    kind for kind in frames.BoardCommand.__subclasses__() if kind.__struct_fields__ is not None
)
_STATUS = {"dealer": typed_boards.decode_dealer_status, "reader": typed_boards.decode_reader_status}


def decoder(data: bytes) -> None:
    """A stream in pieces gives the payloads of the whole; each is a frame that comes again."""
    words = Words(data)
    most = 1 + words.byte()
    stream = words.rest()
    whole, pieces = framing.Decoder(), framing.Decoder()
    found = whole.feed(stream)
    by_piece = []
    for at in range(0, len(stream), most):
        by_piece += pieces.feed(stream[at : at + most])
        assert len(pieces._rest) <= framing.MAX_ENCODED
    assert by_piece == found
    counts = [(each.junk, each.crc_errors, each.oversize) for each in (whole, pieces)]
    assert counts[0] == counts[1]
    assert len(found) + sum(counts[0]) <= stream.count(b"\0") + 1
    for payload in found:
        assert 0 < len(payload) <= framing.MAX_PAYLOAD
        assert framing.Decoder().feed(framing.encode(payload)) == [payload]
    for block in stream.split(b"\0"):
        _settled(block)


def _settled(block: bytes) -> None:
    """A block decodes to nothing, or to what encodes to that very block."""
    plain = framing.cobs_decode(block)
    if plain is not None and len(plain) <= 253:
        assert framing.cobs_encode(plain) == block


def board_frames(data: bytes) -> None:
    """A board's payload is a frame as its layout says, or it is none; never an error."""
    words = Words(data)
    board = words.pick(BOARDS)
    said = payload(words)
    decoded = frames.decode_board_frame(said, board)
    if decoded is None:
        return
    session, frame = decoded
    assert session == struct.unpack_from(wire.BOARD_HEADER, said)[1]
    body = said[wire.BOARD_HEADER_SIZE :]
    assert _packed(frame)[: len(body)] == body[: len(_packed(frame))]
    if isinstance(frame, CardReadEvent):
        assert "face=<hidden>" in repr(frame)
    if isinstance(frame, BoardReply):
        _status(frame.body, board)


def host_frames(data: bytes) -> None:
    """What the host says is what the firmware's own packing says, and its decoder takes it."""
    words = Words(data)
    kind = words.pick(COMMANDS)
    layout = wire.BODIES[kind.kind]
    fields = tuple(words.number(struct.calcsize(f">{one}")) for one in layout[1:])
    session, number, seen, kept = words.number(4), words.number(2), words.number(4), words.number(4)
    command = cast(Any, kind)(*fields)
    line = frames.encode_host_frame(kind.kind, session, number, seen, kept, command)
    payload = wire.pack_host_frame(kind.kind, session, number, seen, kept, *fields)
    assert line == framing.encode(payload)
    assert framing.Decoder().feed(line) == [payload]


def payload(words: Words) -> bytes:
    """Raw bytes, or a kind of frame with a body of the right length."""
    if words.byte() % 4 == 0:
        return words.rest()
    kind = words.pick((wire.WELCOME, wire.ALIVE, wire.ACK, wire.EVENT, wire.NO_SESSION))
    session = words.number(4)
    size = struct.calcsize(wire.BODIES[kind])
    if kind == wire.WELCOME and words.byte() % 2:
        uid = words.some(10).ljust(10, b"\1")
        version = words.some(11).ljust(11, b"\1")
        body = uid + version + bytes.fromhex(PROTOCOL_HEX) + words.rest()
    else:
        body = words.rest()
    extra = 4 * (kind == wire.EVENT and len(body) > size)
    longest = framing.MAX_PAYLOAD - wire.BOARD_HEADER_SIZE if kind == wire.ACK else size + extra
    return struct.pack(wire.BOARD_HEADER, kind, session) + body[:longest].ljust(size, b"\1")


def _packed(frame: BoardFrame) -> bytes:
    """A frame packed again from its typed fields; of a WELCOME the part that never changes."""
    match frame:
        case BoardEvent():
            fields = (frame.boot, frame.number, frame.attempt, frame.code, frame.seen)
            more = (frame.landed, frame.index, frame.place)
            packed = struct.pack(wire.BODIES[wire.EVENT], *fields, *more)
            if not isinstance(frame, CardReadEvent):
                return packed
            return packed + struct.pack(">BB", frame.face, frame.back)
        case BoardReply():
            return struct.pack(wire.BODIES[wire.ACK], frame.number, frame.result) + frame.body
        case AliveReport() | NoSession():
            kind = wire.ALIVE if isinstance(frame, AliveReport) else wire.NO_SESSION
            return struct.pack(wire.BODIES[kind], *msgspec.structs.astuple(frame))
        case Welcome():
            return b"" if frame.kind == "other" else bytes([frames.BOARD_KIND_IDS[frame.kind]])


def _status(body: bytes, board: BoardKind) -> None:
    """A STATUS is one, or the board speaks another protocol."""
    with suppress(WrongProtocol):
        _STATUS[board](body)
