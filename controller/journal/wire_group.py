"""Board events in small: one journal entry for a run of them, faces in its sealed part.

Six bytes an event, in the order in which the host took them, both boards in one
run: board (top bit: the reader) and code, the two running totals, index, place.
Event numbers need no bytes: the host takes a board's events without a gap, so a
first number per board says them all. What a READ saw (four bytes: face, back,
face up, confidence) is not among them: those go together, in order, into one
sealed box, or nowhere where the attempt has no key any more.
"""

import base64
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal, Protocol

import msgspec

READER_BIT = 0x80
# Codes and sources of drivers/link/PROTOCOL.md that a journal's reader must know.
READ = 0x20
AT_READER, DOUBLE, GATE, LANDED, STRAY, JAM, HOPPER_EMPTY = 0x01, 0x02, 0x03, 0x04, 0x05, 0x07, 0x08
UNREADABLE = 0xFF
OUTLETS = ("N", "W", "S", "E", "tray")
GROUP = 32
"""Events to an entry: eight cards. Boards keep theirs until they are told `kept`, so
a larger group risks nothing; it only makes more to send again after a crash."""

_EVENT = struct.Struct(">BBBBB")
_LOOK = struct.Struct(">BBBB")

Board = Literal["dealer", "reader"]


class BoardEvent(Protocol):
    """An event of a board, as drivers/events.py has it."""

    @property
    def board(self) -> Board:
        """Which board said it."""

    @property
    def boot(self) -> int:
        """The board's run it belongs to."""

    @property
    def number(self) -> int:
        """Its number in that run, from 1 without a gap."""

    @property
    def attempt(self) -> int:
        """The board's attempt when it happened."""

    @property
    def code(self) -> int:
        """What happened (drivers/link/PROTOCOL.md)."""

    @property
    def seen(self) -> int:
        """The board's running total of cards seen, or of pulses."""

    @property
    def landed(self) -> int:
        """The board's running total of landings, or of reads sent."""

    @property
    def index(self) -> int:
        """The card's number in the attempt."""

    @property
    def place(self) -> int:
        """Where, as the code says."""


class Look(msgspec.Struct, frozen=True, gc=False):
    """What the reader saw of a card; not for a log: `repr` tells nothing."""

    face: int
    back: int
    face_up: int
    confidence: int

    def __repr__(self) -> str:
        """Hide the face."""
        return "Look(…)"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        """Hide it from rich too, which asks every Struct field by field."""
        return []


class WireEvent(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A board event out of the journal. `look` is null where the box stayed shut."""

    board: Board
    boot: int
    number: int
    attempt: int
    code: int
    seen: int
    landed: int
    index: int
    place: int
    look: Look | None = None


def groups(events: Iterable[BoardEvent], limit: int = GROUP) -> Iterator[list[BoardEvent]]:
    """Cut a run of events where one entry must end: attempt, a board's boot, or `limit`."""
    group: list[BoardEvent] = []
    for event in events:
        if group and (len(group) >= limit or not _belongs(group, event)):
            yield group
            group = []
        group.append(event)
    if group:
        yield group


def pack(
    events: Sequence[BoardEvent], seal: Callable[[bytes], bytes] | None = None
) -> dict[str, Any]:
    """Return the data of a `wire` entry; the entry's own attempt must be the events'.

    `seal` closes what the reader saw under the attempt key; without it that part
    is left out. Raises ValueError for events of two attempts, of two boots of one
    board, or with a gap between them.
    """
    boots: dict[str, list[int]] = {}
    looks = []
    for event in events:
        boot, first, last = boots.get(event.board, (event.boot, event.number, event.number - 1))
        if (event.boot, event.number) != (boot, last + 1) or event.attempt != events[0].attempt:
            raise ValueError(f"event {event.number} of {event.board} does not go on from {last}")
        boots[event.board] = [boot, first, event.number]
        if event.code == READ:
            looks.append(_look_of(event))
    data: dict[str, Any] = {"boots": boots, "b": _text(b"".join(map(_small, events)))}
    if looks and seal is not None:
        data["sealed"] = _text(seal(b"".join(looks)))
    return data


def unpack(
    data: dict[str, Any], attempt: int | None, unseal: Callable[[bytes], bytes] | None = None
) -> list[WireEvent]:
    """Return the events of a `wire` entry, with what the reader saw where `unseal` opens it.

    Raises ValueError for data that is no group.
    """
    try:
        sealed = data.get("sealed")
        looks = unseal(_bytes(sealed)) if sealed and unseal else None
        return list(_events(_bytes(data["b"]), data["boots"], attempt or 0, looks))
    except (struct.error, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"this is no group of board events: {error}") from error


def opened(events: Sequence[BoardEvent]) -> list[dict[str, Any]]:
    """Return events as the public `record` of a void carries them: nothing sealed."""
    return [
        pack(group) | {"looks": _text(b"".join(_look_of(e) for e in group if e.code == READ))}
        for group in groups(events, limit=len(events))
    ]


def unpack_opened(record: Sequence[dict[str, Any]], attempt: int | None) -> list[WireEvent]:
    """Return the events of an opened record; raises ValueError for what is none."""
    try:
        sealed = [group | {"sealed": group.get("looks")} for group in record]
    except (TypeError, AttributeError) as error:
        raise ValueError(f"this is no record of board events: {error}") from error
    return [event for group in sealed for event in unpack(group, attempt, lambda looks: looks)]


def _belongs(group: Sequence[BoardEvent], event: BoardEvent) -> bool:
    same_board = next((e for e in reversed(group) if e.board == event.board), event)
    return (group[0].attempt, same_board.boot) == (event.attempt, event.boot)


def _small(event: BoardEvent) -> bytes:
    kind = event.code | (READER_BIT if event.board == "reader" else 0)
    return _EVENT.pack(kind, event.seen, event.landed, event.index, event.place)


def _events(
    packed: bytes, boots: dict[str, list[int]], attempt: int, looks: bytes | None
) -> Iterator[WireEvent]:
    seen = [Look(*fields) for fields in _LOOK.iter_unpack(looks or b"")]
    number = {board: first for board, (_, first, _) in boots.items()}
    for kind, total_in, total_out, index, place in _EVENT.iter_unpack(packed):
        board: Board = "reader" if kind & READER_BIT else "dealer"
        code = kind & ~READER_BIT
        if looks is not None and code == READ and not seen:
            raise ValueError("fewer looks than reads")
        yield WireEvent(
            board=board,
            boot=boots[board][0],
            number=number[board],
            attempt=attempt,
            code=code,
            seen=total_in,
            landed=total_out,
            index=index,
            place=place,
            look=seen.pop(0) if looks is not None and code == READ else None,
        )
        number[board] += 1
    if any(number[board] != last + 1 for board, (_, _, last) in boots.items()) or seen:
        raise ValueError("its numbers do not fit its events")


def _look_of(event: Any) -> bytes:
    """A driver's READ has the four fields itself; one out of a journal has them in `look`."""
    look = getattr(event, "look", event)
    if look is None:
        raise ValueError(f"what read {event.number} saw is still sealed")
    return _LOOK.pack(look.face, look.back, look.face_up, look.confidence)


def _text(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


def _bytes(text: str) -> bytes:
    return base64.b64decode(text, validate=True)
