"""Conversion of a recorded serial line to text or JSON: each frame with its name and fields.

The functions are pure: they take chunks and return frames. Marks show what a reader looks for:
repeated frames, frames that came too early, frames of an unknown session, and how long a board was
silent. Faces are shown only on request. The bytes of noise are never shown, because they may
contain a face.
"""

from collections.abc import Callable, Iterable, Iterator
from enum import IntEnum
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from drivers import typed_boards
from drivers.board_events import (
    Back,
    BoardActivity,
    BoardEvent,
    BoardEventCode,
    BoardKind,
    BoardStopReason,
    DealerMotor,
    FeedSource,
    JamPlace,
    Outlet,
)
from drivers.errors import WrongProtocol
from drivers.firmware import protocol as wire
from drivers.link import frames
from drivers.link.frames import (
    HOST_FRAME_NAMES,
    AliveReport,
    BlockSplitter,
    BoardReply,
    BoardResult,
    HostFrame,
    NoSession,
    Welcome,
    decode_host_frame,
)
from drivers.link.recording import Chunk, ChunkKind

SILENCE_MARK_MS = 250
"""After this silence of a board a recording is marked: two ALIVE are missing (provisional)."""

HIDDEN = "hidden"
FieldValue = str | int | bool
FrameField = tuple[str, FieldValue]
_FrameParts = tuple[str, tuple[FrameField, ...], tuple[str, ...]]

_PLACE_TYPES: dict[BoardEventCode, type[IntEnum]] = {
    BoardEventCode.GATE: Outlet,
    BoardEventCode.LANDED: Outlet,
    BoardEventCode.STRAY: Outlet,
    BoardEventCode.POCKET: Outlet,
    BoardEventCode.JAM: JamPlace,
    BoardEventCode.HOPPER_EMPTY: FeedSource,
    BoardEventCode.STALL: DealerMotor,
    BoardEventCode.STOPPED: BoardStopReason,
}
_STATE_WORDS: dict[BoardEventCode, tuple[str, str]] = {
    BoardEventCode.LID: ("closed", "open"),
    BoardEventCode.ENGINE: ("away", "there"),
    BoardEventCode.DRIVE: ("away", "there"),
}
_SETTING_TABLES = {"dealer": wire.DEALER_SETTINGS, "reader": wire.READER_SETTINGS}


class FrameRecord(Struct, frozen=True, gc=False):
    """One item of a recorded serial line: a frame, a block of noise, or a change of the port.

    `name` is the name of the frame or of the event. For bytes that are no frame it is "junk", "crc
    error", "oversize" or "malformed". For a port it is the kind of chunk ("opened", "lost").
    `fields` are by name, with words if the protocol has them. `fields` may include the number of a
    face. `marks` are "again", "too early", "strange session", "silent for 612 ms".
    """

    at_us: int
    board: BoardKind
    way: ChunkKind
    name: str
    fields: tuple[FrameField, ...] = ()
    marks: tuple[str, ...] = ()


def read_frames(chunks: Iterable[Chunk]) -> Iterator[FrameRecord]:
    """Yield a record for each frame, block of noise and change of a port in `chunks`, in their
    order.
    """
    lines: dict[BoardKind, _LineHistory] = {}
    for chunk in chunks:
        if chunk.board not in lines:
            lines[chunk.board] = _LineHistory(chunk.board)
        yield from lines[chunk.board].read_chunk(chunk)


def to_line(record: FrameRecord, face: Callable[[int], str] | None = None) -> str:
    """Return the record as one line of text for people.

    `face` converts the number of a face to its name. With None, faces stay hidden.
    """
    sign = {"host": ">", "board": "<"}.get(record.way, "-")
    shown = (f"{name} {_value_text(name, value, face)}" for name, value in record.fields)
    marks = "".join(f"  [{mark}]" for mark in record.marks)
    start = f"{record.at_us / 1_000_000:12.6f}  {record.board:6} {sign} {record.name:12}"
    return f"{start} {', '.join(shown)}{marks}".rstrip()


def to_json(record: FrameRecord, face: Callable[[int], str] | None = None) -> dict[str, Any]:
    """Return the record as an object for JSON.

    `face` converts the number of a face to its name. With None, faces stay hidden.
    """
    fields = {
        name: _value_text(name, value, face) if name == "face" else value
        for name, value in record.fields
    }
    return asdict(record) | {"fields": fields, "marks": list(record.marks)}


def _value_text(name: str, value: FieldValue, face: Callable[[int], str] | None) -> str:
    if name == "face" and isinstance(value, int):
        if value == wire.UNREADABLE:
            return "unreadable"
        return HIDDEN if face is None else face(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


class _LineHistory:
    """The decoder of one board's line, which stores frame numbers to detect repeated frames."""

    def __init__(self, board: BoardKind) -> None:
        self._board = board
        self._splitters = {"host": BlockSplitter(), "board": BlockSplitter()}
        self._session = 0
        self._host_last = self._ack_last = (0, 0)
        self._last_events: dict[int, int] = {}
        self._received_us: int | None = None
        self._silence_marks: tuple[str, ...] = ()

    def read_chunk(self, chunk: Chunk) -> Iterator[FrameRecord]:
        """Yield a record for each frame or bad block that ends in `chunk`, or for a port change."""
        if chunk.way not in self._splitters:
            yield from self._port_record(chunk)
            return
        if chunk.way == "board":
            since_us, self._received_us = self._received_us, chunk.at_us
            silent_ms = 0 if since_us is None else (chunk.at_us - since_us) // 1000
            if silent_ms > SILENCE_MARK_MS:
                self._silence_marks = (f"silent for {silent_ms} ms",)
        for block in self._splitters[chunk.way].split(chunk.data):
            if isinstance(block, str):
                parts: _FrameParts = (block, (), ())
            else:
                parts = (self._decode_host if chunk.way == "host" else self._decode_board)(block)
            name, fields, marks = parts
            if chunk.way == "board":
                marks, self._silence_marks = (*self._silence_marks, *marks), ()
            yield FrameRecord(chunk.at_us, chunk.board, chunk.way, name, fields, marks)

    def _port_record(self, chunk: Chunk) -> Iterator[FrameRecord]:
        if chunk.way == "opened":  # Remains of a lost line are not the beginning of a frame.
            self._splitters["board"].reset()
        self._received_us = None
        why: tuple[FrameField, ...] = ()
        if chunk.data:
            # Line breaks, control characters and similar signs are escaped.
            text = chunk.data.decode(errors="replace")
            signs = (sign if sign.isprintable() else repr(sign)[1:-1] for sign in text)
            why = (("why", "".join(signs)),)
        yield FrameRecord(chunk.at_us, chunk.board, chunk.way, chunk.way, why)

    def _decode_host(self, payload: bytes) -> _FrameParts:
        if (frame := decode_host_frame(payload)) is None:
            return "malformed", (), ()
        again = ("again",) if (frame.kind, frame.number) == self._host_last else ()
        if frame.kind == wire.HELLO:
            again = ("again",) if frame.session == self._session else ()
            self._session, self._ack_last = frame.session, (0, 0)
        if frame.kind != wire.BEAT:
            self._host_last = (frame.kind, frame.number)
        return HOST_FRAME_NAMES[frame.kind], _host_fields(frame, self._board), again

    def _decode_board(self, payload: bytes) -> _FrameParts:
        if (decoded := frames.decode_board_frame(payload, self._board)) is None:
            return "malformed", (), ()
        session, frame = decoded
        strange = ("strange session",) if session != self._session else ()
        if isinstance(frame, BoardEvent):
            mark = () if strange else self._event_marks(frame)
            return frame.code.name, _event_fields(frame), (*strange, *mark)
        name, fields = _answer_fields(frame, self._board)
        again: tuple[str, ...] = ()
        if isinstance(frame, BoardReply):
            again = ("again",) if (session, frame.number) == self._ack_last else ()
            self._ack_last = (session, frame.number)
        return name, fields, (*strange, *again)

    def _event_marks(self, event: BoardEvent) -> tuple[str, ...]:
        """Return ("again",) for a repeated event, ("too early",) after a missing event, else ()."""
        last = self._last_events.get(event.boot, event.number - 1)
        if event.number <= last:
            return ("again",)
        if event.number > last + 1:
            return ("too early",)
        self._last_events[event.boot] = event.number
        return ()


def _host_fields(frame: HostFrame, board: BoardKind) -> tuple[FrameField, ...]:
    if frame.kind == wire.HELLO:
        return (("session", f"{frame.session:08x}"),)
    fields: list[FrameField] = [("number", frame.number)] if frame.number else []
    if frame.command is not None:
        for name, value in asdict(frame.command).items():
            word = _SETTING_TABLES[board].get(value, (value,))[0] if name == "setting" else value
            fields.append((name, _plain_value(word)))
    return (*fields, ("seen", frame.seen), ("kept", frame.kept))


def _event_fields(event: BoardEvent) -> tuple[FrameField, ...]:
    fields = asdict(event)
    for left_out in ("board", "code"):
        del fields[left_out]
    if event.code is BoardEventCode.POCKET:
        fields["index"] = "occupied" if event.index else "empty"
    if (words := _PLACE_TYPES.get(event.code)) is not None:
        fields["place"] = words(event.place) if event.place in list(words) else event.place
    elif event.code in _STATE_WORDS:
        fields["place"] = _STATE_WORDS[event.code][bool(event.place)]
    else:
        del fields["place"]
    return tuple((name, _plain_value(value)) for name, value in fields.items())


def _answer_fields(
    frame: Welcome | AliveReport | BoardReply | NoSession, board: BoardKind
) -> tuple[str, tuple[FrameField, ...]]:
    """Return the name and the fields of `frame`, a frame of a board other than an event."""
    match frame:
        case Welcome():
            return "WELCOME", _plain_fields(frame)
        case AliveReport(boot, events, doing):
            word = BoardActivity(doing) if doing in list(BoardActivity) else doing
            return "ALIVE", (("boot", boot), ("events", events), ("doing", _plain_value(word)))
        case NoSession(boot, has):
            return "NO_SESSION", (("boot", boot), ("has", f"{has:08x}"))
    fields = (("number", frame.number), ("result", _plain_value(frame.result)))
    if not frame.body:
        return "ACK", fields
    try:
        status = _STATUS_DECODERS[board](frame.body)
    except WrongProtocol:
        return "ACK", (*fields, ("body", frame.body.hex()))
    return "ACK", (*fields, *_plain_fields(status))


def _plain_fields(of: Struct) -> tuple[FrameField, ...]:
    return tuple((name, _plain_value(value)) for name, value in asdict(of).items())


def _plain_value(value: Any) -> FieldValue:
    """Return `value`, a value of a frame, as a text, a number or a Boolean for people."""
    if isinstance(value, IntEnum):
        return value.name if isinstance(value, Outlet | BoardResult | Back) else value.name.lower()
    if isinstance(value, tuple):
        return " ".join(str(int(each)) for each in value)
    if value is None:
        return "none"
    known: FieldValue = value
    return known


_STATUS_DECODERS: dict[
    BoardKind, Callable[[bytes], typed_boards.DealerStatus | typed_boards.ReaderStatus]
] = {"dealer": typed_boards.decode_dealer_status, "reader": typed_boards.decode_reader_status}
