"""The reader board: counts pulses, asks the engine, says what it answered."""

from drivers.firmware import protocol
from tests.firmware.bench import ATTEMPT, SESSION, ReaderLine

ACE = (12, protocol.BACK_A, 0, 250)
NOTHING = (protocol.UNREADABLE, protocol.BACK_FOREIGN, 0, 0)


def test_each_pulse_asks_the_engine_and_its_answer_is_the_cards(reader: ReaderLine) -> None:
    reader.begin()
    reader.pulse()
    assert reader.pins.outputs["shoot"] == 1
    reader.answer(*ACE)
    reader.pulse()
    assert reader.pins.outputs["shoot"] == 2
    reader.answer(52, protocol.BACK_B, 1, 90)
    assert reader.reads() == [(1, *ACE), (2, 52, protocol.BACK_B, 1, 90)]
    assert (reader.events[-1].total_in, reader.events[-1].total_out) == (2, 2)


def test_pulses_before_begin_belong_to_no_card(reader: ReaderLine) -> None:
    reader.hello()
    reader.pulse()
    reader.begin()
    assert reader.status() == (ATTEMPT, protocol.IDLE, 0, 0, 0)


def test_begin_counts_from_zero_and_said_again_it_does_not(reader: ReaderLine) -> None:
    reader.begin()
    reader.pulse()
    reader.answer(*ACE)
    reader.hello(SESSION + 1)
    reader.begin()
    assert reader.status()[2:4] == (1, 1)
    reader.begin(ATTEMPT + 1)
    assert reader.status()[2:4] == (0, 0)
    assert reader.do(protocol.BEGIN, ATTEMPT, 8, 2) == protocol.WRONG_ATTEMPT
    assert reader.do(protocol.BEGIN, ATTEMPT + 1, 12, 3) == protocol.BAD_VALUE


def test_an_engine_that_does_not_answer_in_time_read_nothing(reader: ReaderLine) -> None:
    reader.begin()
    reader.pulse()
    reader.wait(198)
    assert reader.reads() == []
    reader.wait(1)
    assert reader.reads() == [(1, *NOTHING)]


def test_an_answer_after_its_time_is_nobodys(reader: ReaderLine) -> None:
    reader.begin()
    reader.pulse()
    reader.wait(300)
    reader.answer(*ACE)
    assert reader.reads() == [(1, *NOTHING)]


def test_an_answer_to_an_earlier_shot_is_not_taken_for_the_next_card(reader: ReaderLine) -> None:
    reader.begin()
    reader.pulse()
    reader.wait(300)
    reader.pulse()
    reader.answer(*ACE, 1)
    reader.answer(3, protocol.BACK_A, 0, 240, 2)
    assert reader.reads() == [(1, *NOTHING), (2, 3, protocol.BACK_A, 0, 240)]


def test_a_pulse_before_the_answer_leaves_that_card_unread(reader: ReaderLine) -> None:
    reader.begin()
    reader.pulse()
    reader.pulse()
    reader.answer(*ACE)
    assert reader.reads() == [(1, *NOTHING), (2, *ACE)]


def test_an_answer_and_the_next_pulse_in_one_step_keep_their_cards(reader: ReaderLine) -> None:
    reader.begin()
    reader.pulse()
    reader.pins.answer(*ACE)
    reader.pins.move(reader.now, "pulse", 1)
    reader.step()
    reader.answer(3, protocol.BACK_A, 0, 240)
    assert [read[:2] for read in reader.reads()] == [(1, 12), (2, 3)]


def test_a_reread_asks_the_engine_once_more(reader: ReaderLine) -> None:
    reader.begin()
    reader.pulse()
    reader.answer(*NOTHING)
    assert reader.do(protocol.REREAD, ATTEMPT, 1) == protocol.DONE
    assert reader.pins.outputs["shoot"] == 2
    reader.answer(*ACE)
    assert reader.reads() == [(1, *NOTHING), (1, *ACE)]
    assert reader.status()[2:4] == (1, 2)


def test_only_the_card_in_the_window_is_read_again(reader: ReaderLine) -> None:
    reader.begin()
    assert reader.do(protocol.REREAD, ATTEMPT, 0) == protocol.WRONG_INDEX
    reader.pulse()
    reader.answer(*ACE)
    reader.pulse()
    assert reader.do(protocol.REREAD, ATTEMPT, 1) == protocol.WRONG_INDEX
    assert reader.do(protocol.REREAD, ATTEMPT + 1, 2) == protocol.WRONG_ATTEMPT
    assert reader.pins.outputs["shoot"] == 2


def test_an_answer_that_is_no_card_reaches_the_host_as_unreadable_and_foreign(
    reader: ReaderLine,
) -> None:
    reader.begin()
    reader.pulse()
    reader.answer(54, 9, 7, 300)
    assert reader.reads() == [(1, protocol.UNREADABLE, protocol.BACK_FOREIGN, 1, 255)]


def test_a_reader_that_hears_nothing_says_so_when_the_host_is_back(reader: ReaderLine) -> None:
    reader.begin()
    reader.silence(700)
    assert [event.place for event in reader.said(protocol.STOPPED)] == [protocol.HOST_SILENT]


def test_a_pulse_during_silence_is_counted_and_told_later(reader: ReaderLine) -> None:
    reader.begin()
    reader.silence(700)
    reader.pulse()
    reader.answer(*ACE)
    assert reader.reads() == [(1, *ACE)]
