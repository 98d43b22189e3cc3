"""Events as values: typed, frozen, and silent about faces."""

import io

import msgspec
import pytest
from rich.console import Console
from rich.pretty import pprint

from drivers.board_events import (
    Back,
    BoardActivity,
    BoardEvent,
    BoardEventCode,
    BoardStopReason,
    CardReadEvent,
    DealerMotor,
    FeedSource,
    JamPlace,
    Outlet,
)
from drivers.firmware import protocol


def read(face: int) -> CardReadEvent:
    return CardReadEvent(
        "reader", 1, 2, 3, BoardEventCode.READ, 4, 5, 6, 0, face, Back.A, False, 200
    )


@pytest.mark.parametrize("face", [7, 53, protocol.UNREADABLE])
def test_printing_a_read_never_shows_its_face(face: int) -> None:
    console = Console(file=io.StringIO(), width=300)
    pprint(read(face), console=console)
    assert isinstance(console.file, io.StringIO)
    texts = [repr(read(face)), str(read(face)), f"{read(face)}", console.file.getvalue()]
    other = [repr(read(0)), str(read(0)), f"{read(0)}"]
    assert texts[:3] == other
    for text in texts:
        assert str(face) not in text


def test_a_read_is_an_event_and_says_whether_it_saw_a_face() -> None:
    assert isinstance(read(0), BoardEvent)
    assert read(0).is_readable
    assert not read(protocol.UNREADABLE).is_readable


def test_an_event_cannot_be_changed() -> None:
    event = BoardEvent("dealer", 1, 2, 3, BoardEventCode.GATE, 4, 5, 6, Outlet.TRAY)
    with pytest.raises(AttributeError):
        event.index = 7  # type: ignore[misc]
    assert msgspec.structs.replace(event, index=7).index == 7


def test_the_words_cover_every_number_of_the_wire() -> None:
    assert {int(code): code.name for code in BoardEventCode} == protocol.EVENTS
    assert list(Outlet) == list(range(protocol.OUTLETS))
    assert [outlet.name for outlet in Outlet] == ["N", "W", "S", "E", "TRAY"]
    for words, last in (
        (FeedSource, protocol.FROM_TRAY),
        (JamPlace, protocol.AT_LIFT),
        (DealerMotor, protocol.MOTOR_LIFT),
        (BoardStopReason, protocol.BY_DRIVE),
        (Back, protocol.BACK_FOREIGN),
        (BoardActivity, protocol.STOPPED_STATE),
    ):
        assert list(words) == list(range(last + 1))
