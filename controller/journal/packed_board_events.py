"""The compact form of board events. One journal entry has a group of them.

An event has five bytes, in the order in which the host received them, both boards in one group:
board (top bit: the reader) and code, the two running totals, index, place. Event numbers need no
bytes: the host receives a board's events without a gap, so a first number for each board is enough.
The look of a READ (four bytes: face, back, face up, confidence) is not included, nor is the pocket
of a card. Looks and pockets go together, in order, into one sealed box. If the attempt has no key
any more, pockets are not sealed, and looks are left out.
"""

import base64
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal, Protocol

import msgspec

READER_BIT = 0x80
# Codes and sources of drivers/link/PROTOCOL.md that a reader of the journal needs.
READ = 0x20
AT_READER, DOUBLE, GATE, LANDED, STRAY, POCKET = 0x01, 0x02, 0x03, 0x04, 0x05, 0x06
JAM, HOPPER_EMPTY, SHUFFLED = 0x07, 0x08, 0x09
UNREADABLE = 0xFF
POCKET_CODES = frozenset({GATE, LANDED, STRAY, POCKET})
"""Codes with a place that shows where a card went. It is sealed while the attempt has a key."""
SEALED_PLACE = 0xFF
"""The place of an event if its box is closed."""
OUTLETS = ("N", "W", "S", "E", "tray")
MAX_GROUP_EVENTS = 32
"""The largest number of events in one entry: those of eight cards. Boards store their events until
they receive `kept`, so a larger group loses nothing. But after a crash more events are sent again.
"""

_EVENT = struct.Struct(">BBBBB")
_LOOK = struct.Struct(">BBBB")

BoardKind = Literal["dealer", "reader"]


class BoardEventFields(Protocol):
    """The fields of a board event, as in drivers/board_events.py."""

    @property
    def board(self) -> BoardKind:
        """Return the board that sent the event."""

    @property
    def boot(self) -> int:
        """Return the id of the boot (the run of the board) in which the event happened."""

    @property
    def number(self) -> int:
        """Return the number of the event in its boot, counted from 1 without a gap."""

    @property
    def attempt(self) -> int:
        """Return the number of the attempt that was set on the board when the event happened."""

    @property
    def code(self) -> int:
        """Return the number of the event's kind (drivers/link/PROTOCOL.md)."""

    @property
    def seen(self) -> int:
        """Return the total after the event: cards at the window (dealer), or pulses of the trigger
        wire (reader).
        """

    @property
    def landed(self) -> int:
        """Return the total after the event: landed cards (dealer), or READ events (reader)."""

    @property
    def index(self) -> int:
        """Return the number of the event's card in the order of feeding, or 0 without a card.

        For SHUFFLED, POCKET and DRIVE it has another meaning (drivers/board_events.py).
        """

    @property
    def place(self) -> int:
        """Return the outlet, the motor or another detail of the event. `code` decides which one."""


class CardLook(msgspec.Struct, frozen=True, gc=False):
    """The result of one look of the reader board at a card.

    `repr` hides the face, which must not be in a log.
    """

    face: int
    back: int
    face_up: int
    confidence: int

    def __repr__(self) -> str:
        """Return a text without the face."""
        return "Look(…)"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        """Return an empty list, so that the library rich prints no fields.

        Otherwise rich reads the fields of a Struct, and prints the face.
        """
        return []


class LoggedBoardEvent(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A board event as it is stored in the journal.

    If the journal has the secret part of the event only encrypted, `look` is null, and the place of
    a pocket is SEALED_PLACE.
    """

    board: BoardKind
    boot: int
    number: int
    attempt: int
    code: int
    seen: int
    landed: int
    index: int
    place: int
    look: CardLook | None = None

    @property
    def is_open(self) -> bool:
        """Return whether the event's look or pocket, if it has one, is present and not sealed."""
        if self.code == READ:
            return self.look is not None
        return self.code not in POCKET_CODES or self.place != SEALED_PLACE


def split_into_groups(
    events: Iterable[BoardEventFields], limit: int = MAX_GROUP_EVENTS
) -> Iterator[list[BoardEventFields]]:
    """Yield the events in order, in groups that each fit into one journal entry.

    The events of a group have the same attempt and the same boot of each board. A group has at most
    `limit` events.
    """
    group: list[BoardEventFields] = []
    boots: dict[BoardKind, int] = {}
    for event in events:
        same_boot = boots.setdefault(event.board, event.boot) == event.boot
        if group and (len(group) >= limit or group[0].attempt != event.attempt or not same_boot):
            yield group
            group, boots = [], {event.board: event.boot}
        group.append(event)
    if group:
        yield group


def pack_events(
    events: Sequence[BoardEventFields], seal: Callable[[bytes], bytes] | None = None
) -> dict[str, Any]:
    """Return the data of one `wire` entry for this group of board events.

    The entry must have the attempt of the events. `seal` encrypts looks and pockets with the
    attempt's key. Without it, looks are left out and pockets are not sealed. Raises ValueError for
    events of two attempts, of two boots of one board, or with a gap between them.
    """
    boots: dict[str, list[int]] = {}
    for event in events:
        boot, first, last = boots.get(event.board, (event.boot, event.number, event.number - 1))
        if (event.boot, event.number) != (boot, last + 1) or event.attempt != events[0].attempt:
            raise ValueError(f"event {event.number} of {event.board} does not follow event {last}")
        boots[event.board] = [boot, first, event.number]
    sealed = POCKET_CODES if seal is not None else frozenset()
    data: dict[str, Any] = {
        "boots": boots,
        "b": _to_base64(b"".join(_open_bytes(event, sealed) for event in events)),
    }
    if seal is not None and (secret := b"".join(map(_secret_bytes, events))):
        data["sealed"] = _to_base64(seal(secret))
    return data


def unpack_events(
    data: dict[str, Any], attempt: int | None, unseal: Callable[[bytes], bytes] | None = None
) -> list[LoggedBoardEvent]:
    """Return the board events in the data of a `wire` entry.

    The events have looks and pockets if `unseal` decrypts them. Raises ValueError for data that is
    not a group of events.
    """
    try:
        sealed = data.get("sealed")
        secret = unseal(_from_base64(sealed)) if sealed and unseal else None
        return list(_unpack_group(data, attempt or 0, secret, POCKET_CODES))
    except (struct.error, LookupError, TypeError, AttributeError) as error:
        raise ValueError(f"this is not a group of board events: {error}") from error


def pack_course(events: Sequence[BoardEventFields]) -> list[dict[str, Any]]:
    """Return the field `course` for an entry `revealed`: the events with pockets, without looks."""
    return [pack_events(group) for group in split_into_groups(events, limit=len(events))]


def pack_opened(events: Sequence[BoardEventFields]) -> list[dict[str, Any]]:
    """Return the field `events` for an entry `record`: the events with pockets and looks."""
    return [
        pack_events(group)
        | {"looks": _to_base64(b"".join(_look_bytes(e) for e in group if e.code == READ))}
        for group in split_into_groups(events, limit=len(events))
    ]


def unpack_opened(record: Sequence[dict[str, Any]], attempt: int | None) -> list[LoggedBoardEvent]:
    """Return the board events in `record`, which has the form of `pack_opened` or `pack_course`.

    A course has no looks. Raises ValueError for data in another form.
    """
    try:
        return [event for group in record for event in _unpack_opened_group(group, attempt or 0)]
    except (struct.error, LookupError, TypeError, AttributeError) as error:
        raise ValueError(f"this is not a record of board events: {error}") from error


def _unpack_opened_group(group: dict[str, Any], attempt: int) -> Iterator[LoggedBoardEvent]:
    secret = _from_base64(group["looks"]) if group.get("looks") is not None else None
    return _unpack_group(group, attempt, secret, frozenset())


def _open_bytes(event: BoardEventFields, sealed: frozenset[int]) -> bytes:
    kind = event.code | (READER_BIT if event.board == "reader" else 0)
    place = SEALED_PLACE if event.code in sealed else event.place
    return _EVENT.pack(kind, event.seen, event.landed, event.index, place)


def _secret_bytes(event: BoardEventFields) -> bytes:
    """Return the secret bytes of an event: the look of a READ, the pocket of a card, or b""."""
    if event.code == READ:
        return _look_bytes(event)
    return bytes([event.place]) if event.code in POCKET_CODES else b""


def _unpack_group(
    data: dict[str, Any], attempt: int, secret: bytes | None, of_pockets: frozenset[int]
) -> Iterator[LoggedBoardEvent]:
    """Yield the board events of one group, decoded from its compact form in `data`.

    `secret` has the looks, and the places of events with a code in `of_pockets`. It may be None.
    """
    boots = data["boots"]
    rest = None if secret is None else memoryview(secret)
    number = {board: first for board, (_, first, _) in boots.items()}
    for kind, total_in, total_out, index, place in _EVENT.iter_unpack(_from_base64(data["b"])):
        board: BoardKind = "reader" if kind & READER_BIT else "dealer"
        code = kind & ~READER_BIT
        look = None
        if rest is not None and code == READ:
            look, rest = CardLook(*_LOOK.unpack(rest[: _LOOK.size])), rest[_LOOK.size :]
        elif rest is not None and code in of_pockets:
            place, rest = rest[0], rest[1:]
        yield LoggedBoardEvent(
            board=board,
            boot=boots[board][0],
            number=number[board],
            attempt=attempt,
            code=code,
            seen=total_in,
            landed=total_out,
            index=index,
            place=place,
            look=look,
        )
        number[board] += 1
    if any(number[board] != last + 1 for board, (_, _, last) in boots.items()) or rest:
        raise ValueError("its numbers do not match its events")


def _look_bytes(event: Any) -> bytes:
    """Return the look of a READ event as four bytes: face, back, face up, confidence.

    A driver's READ has these fields itself. An event of a journal has them in `look`. Raises
    ValueError if the look is still sealed.
    """
    look = getattr(event, "look", event)
    if look is None:
        raise ValueError(f"the look of read {event.number} is still sealed")
    return _LOOK.pack(look.face, look.back, look.face_up, look.confidence)


def _to_base64(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


def _from_base64(text: str) -> bytes:
    return base64.b64decode(text, validate=True)
