"""A recording of a serial line in words: each frame by its name and fields, and what was noise.

Pure: chunks in, what was said out. Marks say what a reader looks for: what came again, what
came too early, frames of a strange session, and how long a board was silent. Faces are shown
only where they are asked for; the bytes of noise never, for they may hold one.
"""

from collections.abc import Callable, Iterable, Iterator
from enum import IntEnum
from typing import Any

from msgspec import Struct

from drivers import dealer, reader
from drivers.errors import Result, WrongProtocol
from drivers.events import Back, Board, Code, Doing, Event, JamAt, Motor, Outlet, Source, StoppedBy
from drivers.firmware import wire
from drivers.identity import Welcome
from drivers.link import frames
from drivers.link.frames import Alive, BoardFrame, Command, NoSession, Reply
from drivers.link.overheard import HOST_NAMES, Cutter, HostFrame, host_frame
from drivers.link.recording import Chunk, Way

SILENT_MS = 250
"""So long a board says nothing before a recording marks it: two ALIVE are missing (provisional)."""

HIDDEN = "hidden"
Value = str | int | bool
Field = tuple[str, Value]
_Told = tuple[str, tuple[Field, ...], tuple[str, ...]]

_PLACES: dict[Code, type[IntEnum]] = {
    Code.GATE: Outlet,
    Code.LANDED: Outlet,
    Code.STRAY: Outlet,
    Code.POCKET: Outlet,
    Code.JAM: JamAt,
    Code.HOPPER_EMPTY: Source,
    Code.STALL: Motor,
    Code.STOPPED: StoppedBy,
}
_SETTINGS = {"dealer": wire.DEALER_SETTINGS, "reader": wire.READER_SETTINGS}


class Said(Struct, frozen=True, gc=False):
    """One thing that was said, or that happened to a port.

    `name`: of the frame, of the event, or "junk", "crc error", "oversize", "malformed" for bytes
    that are no frame, or the way itself ("opened", "lost"). `fields` by name, with words where
    the protocol has them; the number of a face is one. `marks`: "again", "too early",
    "strange session", "silent for 612 ms".
    """

    at_us: int
    board: Board
    way: Way
    name: str
    fields: tuple[Field, ...] = ()
    marks: tuple[str, ...] = ()


def said(chunks: Iterable[Chunk]) -> Iterator[Said]:
    """Yield what was said on the lines of a table, frame by frame."""
    lines: dict[Board, _Line] = {}
    for chunk in chunks:
        if chunk.board not in lines:
            lines[chunk.board] = _Line(chunk.board)
        yield from lines[chunk.board].take(chunk)


def line(one: Said, face: Callable[[int], str] | None = None) -> str:
    """Return a line for people; `face` puts a face into words, None: faces stay hidden."""
    sign = {"host": ">", "board": "<"}.get(one.way, "-")
    shown = (f"{name} {_word(name, value, face)}" for name, value in one.fields)
    marks = "".join(f"  [{mark}]" for mark in one.marks)
    start = f"{one.at_us / 1_000_000:12.6f}  {one.board:6} {sign} {one.name:12}"
    return f"{start} {', '.join(shown)}{marks}".rstrip()


def row(one: Said, face: Callable[[int], str] | None = None) -> dict[str, Any]:
    """Return it for JSON; `face` puts a face into words, None: faces stay hidden."""
    fields = {
        name: _word(name, value, face) if name == "face" else value for name, value in one.fields
    }
    return {
        "at_us": one.at_us,
        "board": one.board,
        "way": one.way,
        "name": one.name,
        "fields": fields,
        "marks": list(one.marks),
    }


def _word(name: str, value: Value, face: Callable[[int], str] | None) -> str:
    if name == "face" and isinstance(value, int):
        if value == wire.UNREADABLE:
            return "unreadable"
        return HIDDEN if face is None else face(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


class _Line:
    """What was said so far on the line of one board, to know what comes again."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self._cutters = {"host": Cutter(), "board": Cutter()}
        self._session = 0
        self._host_last = self._ack_last = (0, 0)
        self._taken: dict[int, int] = {}
        self._heard_us: int | None = None
        self._silence: tuple[str, ...] = ()

    def take(self, chunk: Chunk) -> Iterator[Said]:
        """Yield what a chunk completes."""
        if chunk.way not in self._cutters:
            yield from self._happened(chunk)
            return
        if chunk.way == "board":
            self._note_silence(chunk.at_us)
        for block in self._cutters[chunk.way].cut(chunk.data):
            name, fields, marks = self._of_block(chunk.way, block)
            if chunk.way == "board":
                marks, self._silence = (*self._silence, *marks), ()
            yield Said(chunk.at_us, chunk.board, chunk.way, name, fields, marks)

    def _of_block(self, way: Way, block: bytes | str) -> _Told:
        if isinstance(block, str):
            return block, (), ()
        return self._of_host(block) if way == "host" else self._of_board(block)

    def _happened(self, chunk: Chunk) -> Iterator[Said]:
        if chunk.way == "opened":  # what a lost line left behind is no beginning of a frame
            self._cutters["board"].begin_anew()
        self._heard_us = None
        why: tuple[Field, ...] = ()
        if chunk.data:
            why = (("why", _printable(chunk.data.decode(errors="replace"))),)
        yield Said(chunk.at_us, chunk.board, chunk.way, chunk.way, why)

    def _note_silence(self, at_us: int) -> None:
        since_us, self._heard_us = self._heard_us, at_us
        silent_ms = 0 if since_us is None else (at_us - since_us) // 1000
        if silent_ms > SILENT_MS:
            self._silence = (f"silent for {silent_ms} ms",)

    def _of_host(self, payload: bytes) -> _Told:
        frame = host_frame(payload)
        if frame is None:
            return "malformed", (), ()
        again = ("again",) if (frame.kind, frame.number) == self._host_last else ()
        if frame.kind == wire.HELLO:
            again = ("again",) if frame.session == self._session else ()
            self._session, self._ack_last = frame.session, (0, 0)
        if frame.kind != wire.BEAT:
            self._host_last = (frame.kind, frame.number)
        return HOST_NAMES[frame.kind], _host_fields(frame, self._board), again

    def _of_board(self, payload: bytes) -> _Told:
        decoded = frames.decode(payload, self._board)
        if decoded is None:
            return "malformed", (), ()
        session, frame = decoded
        strange = ("strange session",) if session != self._session else ()
        if isinstance(frame, Event):
            mark = () if strange else self._taking(frame)
            return frame.code.name, _event_fields(frame), (*strange, *mark)
        name, fields = _ANSWERS[type(frame)](frame, self._board)
        again: tuple[str, ...] = ()
        if isinstance(frame, Reply):
            again = ("again",) if (session, frame.number) == self._ack_last else ()
            self._ack_last = (session, frame.number)
        return name, fields, (*strange, *again)

    def _taking(self, event: Event) -> tuple[str, ...]:
        """Return what the number of an event is to a host that has heard the others."""
        last = self._taken.get(event.boot, event.number - 1)
        if event.number <= last:
            return ("again",)
        if event.number > last + 1:
            return ("too early",)
        self._taken[event.boot] = event.number
        return ()


def _host_fields(frame: HostFrame, board: Board) -> tuple[Field, ...]:
    if frame.kind == wire.HELLO:
        return (("session", f"{frame.session:08x}"),)
    number: tuple[Field, ...] = (("number", frame.number),) if frame.number else ()
    acknowledged = (("seen", frame.seen), ("kept", frame.kept))
    return (*number, *_arguments(frame.command, board), *acknowledged)


def _arguments(command: Command | None, board: Board) -> tuple[Field, ...]:
    if command is None:
        return ()
    return tuple((name, _argument(name, value, board)) for name, value in _items(command))


def _argument(name: str, value: Any, board: Board) -> Value:
    if name == "setting":
        return _SETTINGS[board].get(value, (value,))[0]
    return _plain(value)


def _event_fields(event: Event) -> tuple[Field, ...]:
    fields = dict(_items(event))
    for left_out in ("board", "code"):
        del fields[left_out]
    if event.code is Code.LID:
        fields["place"] = "open" if event.place else "closed"
    elif event.code in (Code.ENGINE, Code.DRIVE):
        fields["place"] = "there" if event.place else "away"
    elif event.code is Code.POCKET:
        fields["index"] = "occupied" if event.index else "empty"
    words = _PLACES.get(event.code)
    if words is not None:
        fields["place"] = words(event.place) if event.place in list(words) else event.place
    elif event.code not in (Code.LID, Code.ENGINE, Code.DRIVE):
        del fields["place"]
    return tuple((name, _plain(value)) for name, value in fields.items())


def _welcome(welcome: Welcome, board: Board) -> tuple[str, tuple[Field, ...]]:
    return "WELCOME", tuple((name, _plain(value)) for name, value in _items(welcome))


def _alive(alive: Alive, board: Board) -> tuple[str, tuple[Field, ...]]:
    doing = Doing(alive.doing) if alive.doing in list(Doing) else alive.doing
    return "ALIVE", (("boot", alive.boot), ("events", alive.events), ("doing", _plain(doing)))


def _no_session(refusal: NoSession, board: Board) -> tuple[str, tuple[Field, ...]]:
    return "NO_SESSION", (("boot", refusal.boot), ("has", f"{refusal.has:08x}"))


def _ack(reply: Reply, board: Board) -> tuple[str, tuple[Field, ...]]:
    fields: tuple[Field, ...] = (("number", reply.number), ("result", _plain(reply.result)))
    if not reply.body:
        return "ACK", fields
    try:
        status = _STATUS_FROM[board](reply.body)
    except WrongProtocol:
        return "ACK", (*fields, ("body", reply.body.hex()))
    return "ACK", (*fields, *((name, _plain(value)) for name, value in _items(status)))


def _printable(text: str) -> str:
    """Return text as one line: line breaks, control characters and the like are escaped."""
    signs = (sign if sign.isprintable() else repr(sign)[1:-1] for sign in text)
    return "".join(signs)


def _items(of: Struct) -> Iterator[tuple[str, Any]]:
    return ((name, getattr(of, name)) for name in of.__struct_fields__)


def _plain(value: Any) -> Value:
    """Return a value of a frame as a word, a number or a truth."""
    if isinstance(value, IntEnum):
        return value.name if isinstance(value, Outlet | Result | Back) else value.name.lower()
    if isinstance(value, tuple):
        return " ".join(str(int(each)) for each in value)
    if value is None:
        return "none"
    known: Value = value
    return known


_STATUS_FROM: dict[Board, Callable[[bytes], dealer.Status | reader.Status]] = {
    "dealer": dealer.status_from,
    "reader": reader.status_from,
}
_ANSWERS: dict[type[BoardFrame], Callable[[Any, Board], tuple[str, tuple[Field, ...]]]] = {
    Welcome: _welcome,
    Alive: _alive,
    Reply: _ack,
    NoSession: _no_session,
}
