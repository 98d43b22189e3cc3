"""Frames as typed values: commands on their way out, a board's answers on their way in.

The layouts are drivers/firmware/wire.py's; this file gives them types. Decoding
never raises: a payload with a right CRC and a wrong layout is None, and counted
by the caller.
"""

import struct
from collections.abc import Callable
from typing import ClassVar, cast

import msgspec
from msgspec import Struct

from drivers.errors import Result
from drivers.events import Back, Board, Code, Event, Kind, Outlet, Read, Source
from drivers.firmware import codec, wire
from drivers.identity import HALS, PROTOCOL, Welcome

KINDS: dict[Board, int] = {"dealer": wire.KIND_DEALER, "reader": wire.KIND_READER}


class Command(Struct, frozen=True, gc=False):
    """A numbered command; its fields are those of wire.BODIES[kind], in that order."""

    kind: ClassVar[int]


class Begin(Command, frozen=True, gc=False):
    """Begin an attempt of `cards` cards, `per` to a pocket; both boards take it."""

    kind = wire.BEGIN
    attempt: int
    cards: int
    per: int


class Shuffle(Command, frozen=True, gc=False):
    """Shuffle until `passes` passes of this attempt are done."""

    kind = wire.SHUFFLE
    attempt: int
    passes: int


class Feed(Command, frozen=True, gc=False):
    """Feed from `source` until card `upto` stands at the reader."""

    kind = wire.FEED
    attempt: int
    source: Source
    upto: int


class Route(Command, frozen=True, gc=False):
    """Send card `index` to `pocket`."""

    kind = wire.ROUTE
    attempt: int
    index: int
    pocket: Outlet


class Release(Command, frozen=True, gc=False):
    """Lift the hands out, if the board's own lock agrees; once it did, go on lifting."""

    kind = wire.RELEASE
    attempt: int


class RetractCommand(Command, frozen=True, gc=False):
    """Lower the lift from wherever it stands, once the pockets are seen empty."""

    kind = wire.RETRACT


class Purge(Command, frozen=True, gc=False):
    """Move what is in the path into the tray."""

    kind = wire.PURGE
    attempt: int


class SelftestCommand(Command, frozen=True, gc=False):
    """Exercise motors and sensors of an empty machine."""

    kind = wire.SELFTEST


class Configure(Command, frozen=True, gc=False):
    """Set one of wire.SETTINGS to a value."""

    kind = wire.CONFIGURE
    setting: int
    value: int


class GetStatusCommand(Command, frozen=True, gc=False):
    """Ask for the board's STATUS; it changes nothing."""

    kind = wire.STATUS


class Reread(Command, frozen=True, gc=False):
    """Read card `index` once more, while it stands in the window."""

    kind = wire.REREAD
    attempt: int
    index: int


class Look(Command, frozen=True, gc=False):
    """Look at card `index`, which came into the window: for a reader without a trigger wire."""

    kind = wire.LOOK
    attempt: int
    index: int


class Service(Command, frozen=True, gc=False):
    """Give the board to a technician: it restarts, and waits for him without its firmware."""

    kind = wire.SERVICE


class AliveReport(Struct, frozen=True, gc=False):
    """The board lives; `events` is the number of its last event, `doing` what it does."""

    boot: int
    events: int
    doing: int


class Reply(Struct, frozen=True, gc=False):
    """The acknowledgement of command `number`; `body` is STATUS's answer, else empty."""

    number: int
    result: Result
    body: bytes


class NoSession(Struct, frozen=True, gc=False):
    """The board refuses a frame's session; `has` is the session it has, 0 for none."""

    boot: int
    has: int


BoardFrame = Welcome | AliveReport | Reply | Event | NoSession

_HOST_LAYOUTS = {
    kind: struct.Struct(wire.HOST_HEADER + layout[1:])
    for kind, layout in wire.BODIES.items()
    if kind < wire.WELCOME
}


def encode(
    kind: int, session: int, number: int, seen: int, kept: int, command: Command | None = None
) -> bytes:
    """Return one host frame ready for the line; `command` gives the body, if it has one."""
    fields = () if command is None else msgspec.structs.astuple(command)
    return codec.encode(_HOST_LAYOUTS[kind].pack(kind, session, number, seen, kept, *fields))


def decode(payload: bytes, board: Board) -> tuple[int, BoardFrame] | None:
    """Return (session, frame) of a payload from `board`, or None where it is no board frame."""
    parse = _PARSERS.get(payload[0]) if payload else None
    try:
        return None if parse is None else parse(payload, board)
    except (struct.error, KeyError, IndexError):
        return None


def _board_layout(kind: int) -> struct.Struct:
    return struct.Struct(wire.BOARD_HEADER + wire.BODIES[kind][1:])


_EVENT = _board_layout(wire.EVENT)
_READ = struct.Struct(_EVENT.format + wire.READ_BODY[1:])
_CODE_AT = wire.BOARD_HEADER_SIZE + struct.calcsize(">III")
_ACK = _board_layout(wire.ACK)
_ALIVE = _board_layout(wire.ALIVE)
_NO_SESSION = _board_layout(wire.NO_SESSION)
_WELCOME = _board_layout(wire.WELCOME)
# The beginning of a WELCOME, up to the protocol hash: the same in every version.
_WELCOME_PREFIX = struct.Struct(wire.BOARD_HEADER + "BB8s3s8s8s")

_CODES = {int(code): code for code in Code}
_BACKS = {int(back): back for back in Back}
_RESULTS = {int(result): result for result in Result}
_REPORTED_KINDS: dict[int, Kind] = {kind: board for board, kind in KINDS.items()}


def _parse_event(payload: bytes, board: Board) -> tuple[int, BoardFrame]:
    if payload[_CODE_AT] == wire.READ:
        return _read(payload, board)
    _, session, boot, number, attempt, code, seen, landed, index, place = _EVENT.unpack(payload)
    return session, Event(board, boot, number, attempt, _CODES[code], seen, landed, index, place)


def _read(payload: bytes, board: Board) -> tuple[int, BoardFrame]:
    _, session, boot, number, attempt, _, seen, landed, index, place, *read = _READ.unpack(payload)
    face, back, face_up, confidence = cast(tuple[int, int, int, int], read)
    if face >= wire.FACES and face != wire.UNREADABLE:
        raise KeyError(face)
    return session, Read(
        board, boot, number, attempt, Code.READ, seen, landed, index, place,
        face, _BACKS[back], bool(face_up), confidence,
    )  # fmt: skip


def _parse_ack(payload: bytes, board: Board) -> tuple[int, BoardFrame]:
    _, session, number, result = _ACK.unpack_from(payload)
    return session, Reply(number, _RESULTS[result], payload[_ACK.size :])


def _parse_alive(payload: bytes, board: Board) -> tuple[int, BoardFrame]:
    _, session, *fields = _ALIVE.unpack(payload)
    return session, AliveReport(*fields)


def _parse_no_session(payload: bytes, board: Board) -> tuple[int, BoardFrame]:
    _, session, *fields = _NO_SESSION.unpack(payload)
    return session, NoSession(*fields)


def _parse_welcome(payload: bytes, board: Board) -> tuple[int, BoardFrame]:
    prefix = _WELCOME_PREFIX.unpack_from(payload)
    _, session, kind, hal, uid, version, firmware_hash, protocol = prefix
    rest = (0,) * 9
    if protocol.hex() == PROTOCOL:
        rest = _WELCOME.unpack(payload)[len(prefix) :]
    boot, crc, cause, attempt, events, fed, landed, forgotten, asked = rest
    return session, Welcome(
        _REPORTED_KINDS.get(kind, "other"),
        HALS.get(hal, "other"),
        uid.hex(),
        ".".join(map(str, version)),
        firmware_hash.hex(),
        protocol.hex(),
        *(boot, crc, cause, attempt, events, fed, landed, forgotten),
        asked=bool(asked),
    )


_Parser = Callable[[bytes, Board], tuple[int, BoardFrame]]
_PARSERS: dict[int, _Parser] = {
    wire.WELCOME: _parse_welcome,
    wire.ALIVE: _parse_alive,
    wire.ACK: _parse_ack,
    wire.EVENT: _parse_event,
    wire.NO_SESSION: _parse_no_session,
}
