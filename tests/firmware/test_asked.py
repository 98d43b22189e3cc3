"""The reader board without a trigger wire: LOOK tells it of each card."""

import struct

import pytest

from drivers.firmware import protocol
from tests.firmware.bench import ATTEMPT, SESSION, ReaderLine

ACE = (12, protocol.BACK_A, 0, 250)
NOTHING = (protocol.UNREADABLE, protocol.BACK_FOREIGN, 0, 0)
ASKED = 3
"""The setting's number."""


@pytest.fixture
def asked(reader: ReaderLine) -> ReaderLine:
    """A reader without a wire, in an attempt."""
    reader.hello()
    assert reader.do(protocol.CONFIGURE, ASKED, 1) == protocol.DONE
    reader.begin()
    return reader


def look(reader: ReaderLine, index: int, attempt: int = ATTEMPT) -> int:
    return reader.do(protocol.LOOK, attempt, index)


def engine(reader: ReaderLine, there: int) -> None:
    reader.pins.levels.setdefault("engine", 1)
    reader.pins.move(reader.now, "engine", there)
    reader.step()


def test_each_look_asks_the_engine_and_its_answer_is_the_cards(asked: ReaderLine) -> None:
    assert look(asked, 1) == protocol.DONE
    asked.answer(*ACE)
    assert look(asked, 2) == protocol.DONE
    assert asked.pins.outputs["shoot"] == 2
    asked.answer(3, protocol.BACK_A, 0, 200)
    assert asked.reads() == [(1, *ACE), (2, 3, protocol.BACK_A, 0, 200)]
    assert asked.status()[2:4] == (2, 2)


def test_a_look_said_twice_is_one_look_in_any_session(asked: ReaderLine) -> None:
    assert look(asked, 1) == protocol.DONE
    assert look(asked, 1) == protocol.DONE
    asked.answer(*ACE)
    asked.hello(SESSION + 1)
    assert look(asked, 1) == protocol.DONE
    assert asked.pins.outputs["shoot"] == 1
    assert asked.reads() == [(1, *ACE)]


def test_only_the_next_card_is_looked_at(asked: ReaderLine) -> None:
    assert look(asked, 0) == protocol.WRONG_INDEX
    assert look(asked, 2) == protocol.WRONG_INDEX
    assert look(asked, 1) == protocol.DONE
    assert look(asked, 2) == protocol.DONE
    assert look(asked, 1) == protocol.WRONG_INDEX
    assert look(asked, 4) == protocol.WRONG_INDEX
    assert look(asked, 3, ATTEMPT + 1) == protocol.WRONG_ATTEMPT
    assert asked.status()[2] == 2


def test_a_look_before_the_answer_leaves_that_card_unread(asked: ReaderLine) -> None:
    look(asked, 1)
    look(asked, 2)
    asked.answer(*ACE)
    assert asked.reads() == [(1, *NOTHING), (2, *ACE)]


def test_a_card_is_looked_at_once_more_where_it_was_looked_at(asked: ReaderLine) -> None:
    assert asked.do(protocol.REREAD, ATTEMPT, 1) == protocol.WRONG_INDEX
    look(asked, 1)
    assert asked.do(protocol.REREAD, ATTEMPT, 1) == protocol.DONE
    assert asked.pins.outputs["shoot"] == 2


def test_a_reader_without_a_wire_takes_no_pulse_and_one_with_a_wire_no_look(
    asked: ReaderLine,
) -> None:
    asked.pulse()
    assert asked.status()[2] == 0
    assert asked.do(protocol.CONFIGURE, ASKED, 0) == protocol.DONE
    assert look(asked, 1) == protocol.UNKNOWN
    asked.pulse()
    assert asked.status()[2] == 1


@pytest.mark.parametrize("value", [0, 1])
def test_a_welcome_says_whether_the_reader_is_asked(reader: ReaderLine, value: int) -> None:
    reader.hello()
    reader.do(protocol.CONFIGURE, ASKED, value)
    reader.hello(SESSION + 1)
    [welcome] = [frame for frame in reader.frames if frame.kind == protocol.WELCOME][-1:]
    assert struct.unpack(protocol.BODIES[protocol.WELCOME], welcome.body)[-1] == value


def test_an_engine_that_went_is_told_and_nothing_begins_before_it_is_back(
    reader: ReaderLine,
) -> None:
    reader.begin()
    engine(reader, 0)
    [gone] = reader.said(protocol.ENGINE)
    assert (gone.place, gone.attempt) == (0, ATTEMPT)
    assert reader.do(protocol.BEGIN, ATTEMPT + 1, 8, 2) == protocol.NO_ENGINE
    assert reader.do(protocol.SELFTEST) == protocol.NO_ENGINE
    assert reader.do(protocol.BEGIN, ATTEMPT, 8, 2) == protocol.DONE  # it has begun
    engine(reader, 1)
    assert [event.place for event in reader.said(protocol.ENGINE)] == [0, 1]
    assert reader.do(protocol.BEGIN, ATTEMPT + 1, 8, 2) == protocol.DONE
