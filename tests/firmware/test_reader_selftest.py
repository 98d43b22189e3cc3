"""The reader's self-test: the engine is asked once, and the board says whether it answered."""

from drivers.firmware import protocol
from tests.firmware.bench import ATTEMPT, ReaderLine

ACE = (12, protocol.BACK_A, 0, 250)


def told(reader: ReaderLine) -> list[tuple[int, int]]:
    """What was said of the engine: there or away, and after how many milliseconds."""
    return [(event.place, event.index) for event in reader.said(protocol.ENGINE)]


def test_an_engine_that_answers_is_told_with_its_time_and_no_card(reader: ReaderLine) -> None:
    reader.hello()
    shots = reader.pins.outputs.get("shoot", 0)
    assert reader.do(protocol.SELFTEST) == protocol.DONE
    assert reader.pins.outputs["shoot"] == shots + 1
    reader.answer(*ACE)
    assert told(reader) == [(1, 15)]
    assert reader.reads() == []
    assert reader.status()[2:4] == (0, 0)


def test_an_engine_that_says_nothing_is_told_at_the_boards_own_limit(reader: ReaderLine) -> None:
    reader.hello()
    reader.do(protocol.SELFTEST)
    reader.wait(198)
    assert told(reader) == []
    assert reader.do(protocol.SELFTEST) == protocol.BUSY
    reader.wait(10)
    [(there, after_ms)] = told(reader)
    assert (there, after_ms) == (0, 200)
    reader.answer(*ACE)  # too late
    assert len(told(reader)) == 1
    assert reader.do(protocol.SELFTEST) == protocol.DONE


def test_a_card_behind_a_selftest_is_read_as_ever(reader: ReaderLine) -> None:
    reader.begin()
    reader.do(protocol.SELFTEST)
    reader.pulse()  # of a card that came all the same: the test is over, the card is read
    reader.answer(*ACE)
    assert reader.reads() == [(1, *ACE)]
    assert [there for there, _ in told(reader)] == [0]


def test_an_attempt_that_begins_ends_a_selftest(reader: ReaderLine) -> None:
    reader.begin()
    reader.do(protocol.SELFTEST)
    assert reader.do(protocol.BEGIN, ATTEMPT + 1, 8, 2) == protocol.DONE
    reader.answer(*ACE)
    reader.wait(300)
    assert told(reader) == []
