"""Board events in groups: small, in order, and faces in the sealed part alone."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.journal import packed_board_events
from controller.journal.committer import InlineCommitter
from controller.journal.journal import Journal
from controller.journal.packed_board_events import (
    OUTLETS,
    POCKET_CODES,
    READ,
    SEALED_PLACE,
    CardLook,
    LoggedBoardEvent,
    pack_course,
    pack_events,
    pack_opened,
    split_into_groups,
    unpack_events,
    unpack_opened,
)
from controller.journal.store import JournalStore
from controller.signing import canonical_json
from controller.vault.sealing import AttemptKey
from drivers.board_events import Back, BoardEvent, BoardEventCode, CardReadEvent
from drivers.firmware import protocol
from tests.journal.scripted import CARDS, ScriptedTable, wall

byte = st.integers(0, 255)
faces = st.builds(CardLook, byte, byte, byte, byte)


@st.composite
def runs(draw: st.DrawFn) -> list[LoggedBoardEvent]:
    """A run of events as a host takes them: both boards, no gap, boots and attempts change."""
    numbers: dict[tuple[str, int], int] = {}
    events = []
    attempt, boots = 1, {"dealer": 7, "reader": 9}
    for _ in range(draw(st.integers(0, 40))):
        board: Any = draw(st.sampled_from(["dealer", "reader"]))
        if draw(st.integers(0, 15)) == 0:
            boots[board] += 100
        if draw(st.integers(0, 15)) == 0:
            attempt += 1
        number = numbers[board, boots[board]] = numbers.get((board, boots[board]), 0) + 1
        code = READ if board == "reader" else draw(st.integers(1, 13))
        events.append(
            LoggedBoardEvent(
                board=board,
                boot=boots[board],
                number=number,
                attempt=attempt,
                code=code,
                seen=draw(byte),
                landed=draw(byte),
                index=draw(byte),
                place=draw(byte),
                look=draw(faces) if code == READ else None,
            )
        )
    return events


def key() -> AttemptKey:
    return AttemptKey(bytes(range(32)), lambda size: bytes(size))


@given(events=runs(), limit=st.integers(1, 50))
def test_events_come_back_as_they_were(events: list[LoggedBoardEvent], limit: int) -> None:
    back = [
        event
        for group in split_into_groups(events, limit)
        for event in unpack_events(pack_events(group, key().seal), group[0].attempt, key().unseal)
    ]
    assert back == events


@given(events=runs())
def test_a_record_opened_to_everybody_says_the_same(events: list[LoggedBoardEvent]) -> None:
    one = [event for event in events if event.attempt == 1]
    assert unpack_opened(pack_opened(one), 1) == one


@given(events=runs())
def test_a_course_has_every_pocket_and_no_look(events: list[LoggedBoardEvent]) -> None:
    one = [event for event in events if event.attempt == 1]
    blind = [msgspec.structs.replace(event, look=None) for event in one]
    assert unpack_opened(pack_course(one), 1) == blind


@given(events=runs())
def test_without_the_key_only_faces_and_pockets_are_missing(events: list[LoggedBoardEvent]) -> None:
    shut = [
        event
        for group in split_into_groups(events)
        for event in unpack_events(pack_events(group, key().seal), group[0].attempt)
    ]
    hidden = POCKET_CODES | {READ}
    assert shut == [
        msgspec.structs.replace(
            event, look=None, place=SEALED_PLACE if event.code in POCKET_CODES else event.place
        )
        for event in events
    ]
    assert not any(event.is_open for event in shut if event.code in hidden)


@given(face=byte, other=byte)
def test_no_byte_outside_the_sealed_part_depends_on_a_face(face: int, other: int) -> None:
    def outside(seen: int) -> bytes:
        return open_part([board_read(face=seen)])

    assert outside(face) == outside(other)


@given(code=st.sampled_from(sorted(POCKET_CODES)), pocket=byte, other=byte)
def test_no_byte_outside_the_sealed_part_depends_on_a_pocket(
    code: int, pocket: int, other: int
) -> None:
    def outside(place: int) -> bytes:
        return open_part([BoardEvent("dealer", 7, 1, 3, BoardEventCode(code), 1, 0, 1, place)])

    assert outside(pocket) == outside(other)


def open_part(events: Sequence[BoardEvent]) -> bytes:
    data = pack_events(events, key().seal)
    return canonical_json({name: value for name, value in data.items() if name != "sealed"})


def test_a_read_of_an_attempt_without_a_key_loses_its_face_and_keeps_its_place() -> None:
    data = pack_events([board_read(face=5)], None)
    assert set(data) == {"boots", "b"}
    assert unpack_events(data, 3, key().unseal)[0].look is None


def test_events_of_the_drivers_are_packed_as_they_are() -> None:
    events: Sequence[BoardEvent] = [
        BoardEvent("dealer", 7, 1, 3, BoardEventCode.AT_READER, 1, 0, 1, 0),
        board_read(face=52),
        BoardEvent("dealer", 7, 2, 3, BoardEventCode.GATE, 1, 0, 1, 2),
    ]
    dealer, read, gate = unpack_events(pack_events(events, key().seal), 3, key().unseal)
    assert (dealer.code, gate.code, gate.place) == (
        BoardEventCode.AT_READER,
        BoardEventCode.GATE,
        2,
    )
    assert read.look == CardLook(52, 0, 0, 250)


@pytest.mark.parametrize("printed", [repr, str, "{}".format])
def test_no_face_is_ever_printed(printed: Callable[[object], str]) -> None:
    (event,) = unpack_events(pack_events([board_read(face=37)], key().seal), 3, key().unseal)
    assert "37" not in printed(event)


def test_a_gap_is_never_packed_as_if_there_were_none() -> None:
    first, third = (BoardEvent("dealer", 7, n, 3, BoardEventCode.LID, 0, 0, 0, 1) for n in (1, 3))
    with pytest.raises(ValueError, match="does not go on from 1"):
        pack_events([first, third])


@pytest.mark.parametrize(
    "spoilt",
    [
        {},
        {"boots": {}, "b": "AAAA"},
        {"boots": {"dealer": [7, 1, 1]}, "b": ""},
        {"boots": {"dealer": [7, 1]}, "b": ""},
        {"boots": {"dealer": [7, 1, 2]}, "b": "AwEAAQI="},
        {"boots": [], "b": ""},
        {"boots": {"dealer": [7, 1, 1]}, "b": 5},
    ],
)
def test_what_is_no_group_is_refused(spoilt: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"."):
        unpack_events(spoilt, 3)


def test_the_codes_are_those_of_the_line() -> None:
    names = ("READ", "AT_READER", "DOUBLE", "GATE", "LANDED", "STRAY", "JAM", "HOPPER_EMPTY")
    assert all(getattr(packed_board_events, name) == getattr(protocol, name) for name in names)
    assert [OUTLETS[n] for n in range(protocol.OUTLETS)] == ["N", "W", "S", "E", "tray"]
    assert packed_board_events.UNREADABLE == protocol.UNREADABLE


async def test_a_deal_takes_less_than_thirty_kibibytes_and_forty_bytes_an_event() -> None:
    store = JournalStore.in_memory()
    journal = Journal(store, InlineCommitter(store), wall=wall, boot="0123456789abcdef")
    table = ScriptedTable(journal, seed=5)
    table.play(open_hands=True)
    await journal.sync()
    entries = list(journal.entries())
    wires = [item for item in entries if item.entry.kind == "wire"]
    row = 32 + 8  # the head, and SQLite's own words about a row
    events = CARDS * 4 + 1
    assert sum(len(item.body) + row for item in wires) / events < 40
    assert sum(len(item.body) + row for item in entries) < 30 * 1024
    await journal.close()


def board_read(face: int) -> CardReadEvent:
    return CardReadEvent(
        "reader", 9, 1, 3, BoardEventCode.READ, 1, 1, 1, 0, face, Back.A, False, 250
    )
