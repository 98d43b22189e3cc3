"""Frames as typed values: commands to a board, and the answers of a board.

drivers/firmware/protocol.py defines the layouts. This file gives them types. Decoding never raises.
A payload with a right CRC and a wrong layout becomes None, and the caller counts it.
"""

import struct
from collections.abc import Callable, Iterator
from enum import IntEnum
from typing import ClassVar, Literal, cast

import msgspec
from msgspec import Struct

from drivers.board_events import (
    Back,
    BoardEvent,
    BoardEventCode,
    BoardKind,
    CardReadEvent,
    FeedSource,
    Outlet,
    ReportedKind,
)
from drivers.firmware import framing
from drivers.firmware import protocol as wire

BOARD_KIND_IDS: dict[BoardKind, int] = {"dealer": wire.KIND_DEALER, "reader": wire.KIND_READER}
SETTING_IDS: dict[BoardKind, dict[str, int]] = {
    "dealer": {row[0]: setting for setting, row in wire.DEALER_SETTINGS.items()},
    "reader": {row[0]: setting for setting, row in wire.READER_SETTINGS.items()},
}
"""The id of each setting of a board, by its name."""
PROTOCOL_HEX = wire.PROTOCOL_HASH.hex()
HardwareKind = Literal["sim", "rp2", "adapter", "other"]
"""The hardware behind a board's pins. "other" is a version that this program does not support."""
HARDWARE_KINDS: dict[int, HardwareKind] = {
    wire.HAL_SIM: "sim",
    wire.HAL_RP2: "rp2",
    wire.HAL_ADAPTER: "adapter",
}


class Welcome(Struct, frozen=True, gc=False):
    """A board's answer to HELLO, with the board's identity, versions and totals.

    `uid`, `firmware_hash` and `protocol` have 16 hex digits each. `firmware` is
    "major.minor.patch". `boot` is a number of this run of the board. `events` is the number of its
    last event, `forgotten` the number of the last event that it no longer stores. `fed` and
    `landed` count cards in the life of the board. `asked` is True if the reader has no trigger wire
    and receives a LOOK message for each card.
    """

    kind: ReportedKind
    hal: HardwareKind
    uid: str
    firmware: str
    firmware_hash: str
    protocol: str
    boot: int
    settings_crc: int
    reset_cause: int
    attempt: int
    events: int
    fed: int
    landed: int
    forgotten: int
    asked: bool = False

    @property
    def is_simulated(self) -> bool:
        """Return True if the pins of the board are simulated. For an adapter, return False."""
        return self.hal == "sim"


class BoardResult(IntEnum):
    """The result of a command to a board: DONE, or the reason why the board refuses the command."""

    DONE = wire.DONE
    NOT_CLEAR = wire.NOT_CLEAR
    WRONG_ATTEMPT = wire.WRONG_ATTEMPT
    WRONG_INDEX = wire.WRONG_INDEX
    ROUTE_DIFFERS = wire.ROUTE_DIFFERS
    NOT_LOCKED = wire.NOT_LOCKED
    LID_OPEN = wire.LID_OPEN
    ESTOP = wire.ESTOP
    BUSY = wire.BUSY
    BAD_VALUE = wire.BAD_VALUE
    UNKNOWN = wire.UNKNOWN
    MEMORY = wire.MEMORY
    NO_ENGINE = wire.NO_ENGINE
    SUPPLY_LOW = wire.SUPPLY_LOW
    NO_DRIVE = wire.NO_DRIVE


class BoardCommand(Struct, frozen=True, gc=False):
    """The base class of the numbered commands to a board.

    The fields are those of BODIES[kind] in the protocol, in that order.
    """

    kind: ClassVar[int]


class BeginCommand(BoardCommand, frozen=True, gc=False):
    """The command to begin an attempt with `cards` cards in all, `per` of them for each pocket.

    Both boards have this command.
    """

    kind = wire.BEGIN
    attempt: int
    cards: int
    per: int


class ShuffleCommand(BoardCommand, frozen=True, gc=False):
    """The command to shuffle until this attempt has `passes` passes in total."""

    kind = wire.SHUFFLE
    attempt: int
    passes: int


class FeedCommand(BoardCommand, frozen=True, gc=False):
    """The command to feed cards from `source` until card `upto` is in the window."""

    kind = wire.FEED
    attempt: int
    source: FeedSource
    upto: int


class RouteCommand(BoardCommand, frozen=True, gc=False):
    """The command to send card `index` to the outlet `pocket`: a pocket or the tray."""

    kind = wire.ROUTE
    attempt: int
    index: int
    pocket: Outlet


class ReleaseCommand(BoardCommand, frozen=True, gc=False):
    """The command to lift the hands if the board's own 27-lock permits this.

    After it was permitted once, a repeated command continues the lifting.
    """

    kind = wire.RELEASE
    attempt: int


class RetractCommand(BoardCommand, frozen=True, gc=False):
    """The command to lower the lift from any position.

    The board refuses while its sensors detect cards in the pockets.
    """

    kind = wire.RETRACT


class PurgeCommand(BoardCommand, frozen=True, gc=False):
    """The command to move the cards in the path into the tray."""

    kind = wire.PURGE
    attempt: int


class SelftestCommand(BoardCommand, frozen=True, gc=False):
    """The command to start the self-test of the gate (dealer board) or of the engine (reader)."""

    kind = wire.SELFTEST


class ConfigureCommand(BoardCommand, frozen=True, gc=False):
    """The command to change the setting with the id `setting` to `value`."""

    kind = wire.CONFIGURE
    setting: int
    value: int


class GetStatusCommand(BoardCommand, frozen=True, gc=False):
    """The command to report the STATUS of the board. It changes nothing."""

    kind = wire.STATUS


class RereadCommand(BoardCommand, frozen=True, gc=False):
    """The command to read card `index` again while it is in the window."""

    kind = wire.REREAD
    attempt: int
    index: int


class LookCommand(BoardCommand, frozen=True, gc=False):
    """The command to read card `index`, which has just come into the window.

    Only a reader without a trigger wire accepts this command.
    """

    kind = wire.LOOK
    attempt: int
    index: int


class ServiceCommand(BoardCommand, frozen=True, gc=False):
    """The command to restart the board without its firmware, so that a technician can service
    it.
    """

    kind = wire.SERVICE


class AliveReport(Struct, frozen=True, gc=False):
    """The heartbeat of a board, which it sends if it has nothing else to send.

    `events` is the number of the board's last event, `doing` its activity.
    """

    boot: int
    events: int
    doing: int


class BoardReply(Struct, frozen=True, gc=False):
    """A board's acknowledgement of command `number`. `body` is empty, except after STATUS."""

    number: int
    result: BoardResult
    body: bytes


class NoSession(Struct, frozen=True, gc=False):
    """A board's answer to a frame whose session number is not that of the board's session.

    `has` is the board's present session, 0 for none.
    """

    boot: int
    has: int


BoardFrame = Welcome | AliveReport | BoardReply | BoardEvent | NoSession

_HOST_LAYOUTS = {
    kind: struct.Struct(wire.HOST_HEADER + layout[1:])
    for kind, layout in wire.BODIES.items()
    if kind < wire.WELCOME
}


def encode_host_frame(
    kind: int, session: int, number: int, seen: int, kept: int, command: BoardCommand | None = None
) -> bytes:
    """Return a frame of the host as bytes for the serial line, with COBS and CRC.

    `seen` is the last event received, `kept` the last one on the disk. `command` gives the body.
    """
    fields = () if command is None else msgspec.structs.astuple(command)
    return framing.encode(_HOST_LAYOUTS[kind].pack(kind, session, number, seen, kept, *fields))


def decode_board_frame(payload: bytes, board: BoardKind) -> tuple[int, BoardFrame] | None:
    """Return the session number and the frame in `payload`, or None if `payload` is invalid."""
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

_CODES = {int(code): code for code in BoardEventCode}
_BACKS = {int(back): back for back in Back}
_RESULTS = {int(result): result for result in BoardResult}
_REPORTED_KINDS: dict[int, ReportedKind] = {kind: board for board, kind in BOARD_KIND_IDS.items()}


def _parse_event(payload: bytes, board: BoardKind) -> tuple[int, BoardFrame]:
    if payload[_CODE_AT] == wire.READ:
        return _parse_read(payload, board)
    _, session, boot, number, attempt, code, seen, landed, index, place = _EVENT.unpack(payload)
    return session, BoardEvent(
        board, boot, number, attempt, _CODES[code], seen, landed, index, place
    )


def _parse_read(payload: bytes, board: BoardKind) -> tuple[int, BoardFrame]:
    _, session, boot, number, attempt, _, seen, landed, index, place, *read = _READ.unpack(payload)
    face, back, face_up, confidence = cast(tuple[int, int, int, int], read)
    if face >= wire.FACES and face != wire.UNREADABLE:
        raise KeyError(face)
    return session, CardReadEvent(
        board, boot, number, attempt, BoardEventCode.READ, seen, landed, index, place,
        face, _BACKS[back], bool(face_up), confidence,
    )  # fmt: skip


def _parse_ack(payload: bytes, board: BoardKind) -> tuple[int, BoardFrame]:
    _, session, number, result = _ACK.unpack_from(payload)
    return session, BoardReply(number, _RESULTS[result], payload[_ACK.size :])


def _parse_alive(payload: bytes, board: BoardKind) -> tuple[int, BoardFrame]:
    _, session, *fields = _ALIVE.unpack(payload)
    return session, AliveReport(*fields)


def _parse_no_session(payload: bytes, board: BoardKind) -> tuple[int, BoardFrame]:
    _, session, *fields = _NO_SESSION.unpack(payload)
    return session, NoSession(*fields)


def _parse_welcome(payload: bytes, board: BoardKind) -> tuple[int, BoardFrame]:
    prefix = _WELCOME_PREFIX.unpack_from(payload)
    _, session, kind, hal, uid, version, firmware_hash, protocol = prefix
    rest = (0,) * 9
    if protocol.hex() == PROTOCOL_HEX:
        rest = _WELCOME.unpack(payload)[len(prefix) :]
    boot, crc, cause, attempt, events, fed, landed, forgotten, asked = rest
    return session, Welcome(
        _REPORTED_KINDS.get(kind, "other"),
        HARDWARE_KINDS.get(hal, "other"),
        uid.hex(),
        ".".join(map(str, version)),
        firmware_hash.hex(),
        protocol.hex(),
        *(boot, crc, cause, attempt, events, fed, landed, forgotten),
        asked=bool(asked),
    )


_PARSERS: dict[int, Callable[[bytes, BoardKind], tuple[int, BoardFrame]]] = {
    wire.WELCOME: _parse_welcome,
    wire.ALIVE: _parse_alive,
    wire.ACK: _parse_ack,
    wire.EVENT: _parse_event,
    wire.NO_SESSION: _parse_no_session,
}


HOST_FRAME_NAMES: dict[int, str] = {
    getattr(wire, name): name
    for name in (
        *("HELLO", "BEAT", "STOP", "BEGIN", "SHUFFLE", "FEED", "ROUTE", "RELEASE", "RETRACT"),
        *("PURGE", "SELFTEST", "CONFIGURE", "STATUS", "REREAD", "LOOK", "SERVICE"),
    )
}
"""The name of each host frame in PROTOCOL.md, by its kind."""

_COMMAND_TYPES: dict[int, type[BoardCommand]] = {
    each.kind: each for each in BoardCommand.__subclasses__()
}


class HostFrame(Struct, frozen=True, gc=False):
    """A decoded frame of the host (the table's computer). `command` is None in HELLO, BEAT and
    STOP.
    """

    kind: int
    session: int
    number: int
    seen: int
    kept: int
    command: BoardCommand | None = None


def decode_host_frame(payload: bytes) -> HostFrame | None:
    """Return the host frame in `payload`, or None if `payload` is not a valid host frame."""
    kind = payload[0] if payload else 0
    if kind not in HOST_FRAME_NAMES:
        return None
    try:
        fields = _HOST_LAYOUTS[kind].unpack(payload)
        kind, session, number, seen, kept, *body = fields
        command = None
        if (form := _COMMAND_TYPES.get(kind)) is not None:  # convert() checks the fields' enums.
            command = msgspec.convert(dict(zip(form.__struct_fields__, body, strict=True)), form)
        return HostFrame(kind, session, number, seen, kept, command)
    except (struct.error, msgspec.ValidationError):
        return None


class BlockSplitter:
    """A converter of received bytes into payloads of frames, for one direction of a line.

    It classifies every invalid block.
    """

    def __init__(self) -> None:
        self._decoder = framing.Decoder()

    def reset(self) -> None:
        """Discard an incomplete frame, because the port was opened again."""
        self._decoder.feed(b"\x00")

    def split(self, data: bytes) -> Iterator[bytes | str]:
        """Yield the payload of each complete frame in `data`, and an error name for each bad block.

        The errors are "junk", "crc error" and "oversize". The order is that of `data`.
        """
        begin = 0
        while begin < len(data):
            end = data.find(b"\x00", begin) + 1 or len(data)
            before = self._counts()
            payloads = self._decoder.feed(data[begin:end])
            yield from (word for word, now in self._counts().items() if now != before[word])
            yield from payloads
            begin = end

    def _counts(self) -> dict[str, int]:
        decoder = self._decoder
        return {"junk": decoder.junk, "crc error": decoder.crc_errors, "oversize": decoder.oversize}
