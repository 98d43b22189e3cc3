"""Shuffler, self-test and settings."""

import binascii
import struct

from drivers.firmware import protocol
from drivers.firmware.dealer import DealerCore
from tests.firmware.bench import ATTEMPT, BOOT, SESSION, DealerLine, Pins, ReaderLine


def shuffled(dealer: DealerLine, after_ms: int = 1200) -> None:
    dealer.wait(after_ms)
    dealer.edge("shuffled", 1)
    dealer.edge("shuffled", 0)
    dealer.wait(40)


def test_the_shuffler_runs_until_its_passes_are_done(dealer: DealerLine) -> None:
    dealer.begin()
    assert dealer.do(protocol.SHUFFLE, ATTEMPT, 2) == protocol.DONE
    assert dealer.pins.runs("shuffle") == 1
    shuffled(dealer)
    assert dealer.pins.runs("shuffle") == 1
    shuffled(dealer)
    assert dealer.pins.runs("shuffle") == 0
    assert [event.index for event in dealer.said(protocol.SHUFFLED)] == [2]


def test_a_shuffler_that_ran_on_and_drew_cards_in_ends_that_pass(dealer: DealerLine) -> None:
    dealer.begin()
    dealer.do(protocol.SHUFFLE, ATTEMPT, 1)
    dealer.edge("shuffler", 1)
    dealer.wait(1200)
    dealer.edge("shuffler", 0)
    dealer.edge("shuffled", 1)
    dealer.edge("shuffled", 0)
    assert dealer.pins.runs("shuffle") == 0
    dealer.edge("shuffler", 1)
    dealer.wait(40)
    assert dealer.pins.runs("shuffle") == 1
    assert dealer.feed() == protocol.BUSY
    assert dealer.said(protocol.SHUFFLED) == []
    dealer.edge("shuffler", 0)
    shuffled(dealer)
    assert [event.index for event in dealer.said(protocol.SHUFFLED)] == [2]
    assert dealer.feed() == protocol.DONE


def test_a_shuffler_asked_again_while_it_comes_to_rest_is_done_when_cards_may_be_fed(
    dealer: DealerLine,
) -> None:
    dealer.begin()
    dealer.do(protocol.SHUFFLE, ATTEMPT, 1)
    dealer.wait(1200)
    dealer.edge("shuffled", 1)
    dealer.edge("shuffled", 0)
    assert dealer.do(protocol.SHUFFLE, ATTEMPT, 1) == protocol.DONE
    assert dealer.said(protocol.SHUFFLED) == []
    dealer.wait(40)
    assert [event.index for event in dealer.said(protocol.SHUFFLED)] == [1]
    assert dealer.pins.runs("shuffle") == 0
    assert dealer.feed() == protocol.DONE


def test_cards_that_stay_in_the_shuffler_are_a_jam_there(dealer: DealerLine) -> None:
    dealer.begin()
    dealer.do(protocol.SHUFFLE, ATTEMPT, 1)
    dealer.edge("shuffler", 1)
    shuffled(dealer)  # as its sensor says
    assert dealer.said(protocol.SHUFFLED) == []
    assert dealer.said(protocol.JAM)[0].place == protocol.AT_SHUFFLER


def test_a_shuffler_that_is_stopped_behind_its_last_pass_says_that_it_is_done(
    dealer: DealerLine,
) -> None:
    dealer.begin()
    dealer.do(protocol.SHUFFLE, ATTEMPT, 1)
    dealer.edge("shuffled", 1)
    dealer.edge("lid", 1)
    assert [event.index for event in dealer.said(protocol.SHUFFLED)] == [1]


def test_a_pass_that_ran_on_and_was_stopped_is_ended_when_the_host_asks_again(
    dealer: DealerLine,
) -> None:
    dealer.begin()
    dealer.do(protocol.SHUFFLE, ATTEMPT, 1)
    dealer.edge("shuffled", 1)
    dealer.edge("shuffled", 0)
    dealer.edge("shuffler", 1)
    dealer.silence(600)
    assert dealer.pins.runs("shuffle") == 0
    dealer.hello(SESSION + 1)
    assert dealer.do(protocol.SHUFFLE, ATTEMPT, 1) == protocol.DONE
    assert dealer.pins.runs("shuffle") == 1
    dealer.edge("shuffler", 0)
    shuffled(dealer)
    assert [event.index for event in dealer.said(protocol.SHUFFLED)] == [2]


def test_passes_that_were_made_are_not_made_again(dealer: DealerLine) -> None:
    dealer.begin()
    dealer.do(protocol.SHUFFLE, ATTEMPT, 1)
    shuffled(dealer)
    dealer.hello(SESSION + 1)
    assert dealer.do(protocol.SHUFFLE, ATTEMPT, 1) == protocol.DONE
    assert dealer.pins.runs("shuffle") == 0


def test_no_shuffling_after_the_first_feed_and_no_feeding_while_shuffling(
    dealer: DealerLine,
) -> None:
    dealer.begin()
    dealer.do(protocol.SHUFFLE, ATTEMPT, 1)
    assert dealer.feed() == protocol.BUSY
    shuffled(dealer)
    dealer.feed()
    assert dealer.do(protocol.SHUFFLE, ATTEMPT, 2) == protocol.NOT_CLEAR


def test_a_silent_host_stops_the_shuffler_and_the_rest_is_done_when_asked_again(
    dealer: DealerLine,
) -> None:
    dealer.begin()
    dealer.do(protocol.SHUFFLE, ATTEMPT, 2)
    shuffled(dealer)
    dealer.silence(600)
    assert dealer.pins.runs("shuffle") == 0
    dealer.do(protocol.SHUFFLE, ATTEMPT, 2)
    shuffled(dealer)
    assert [event.index for event in dealer.said(protocol.SHUFFLED)] == [2]


def test_a_shuffler_that_does_not_finish_a_pass_is_a_jam_that_a_retry_may_clear(
    dealer: DealerLine,
) -> None:
    dealer.begin()
    dealer.do(protocol.SHUFFLE, ATTEMPT, 1)
    dealer.wait(21_000)
    assert dealer.said(protocol.JAM)[0].place == protocol.AT_SHUFFLER
    assert dealer.pins.runs("shuffle") == 0
    dealer.do(protocol.SHUFFLE, ATTEMPT, 1)
    shuffled(dealer)
    assert dealer.feed() == protocol.DONE


def test_the_selftest_brings_the_gate_to_every_outlet(dealer: DealerLine) -> None:
    dealer.hello()
    assert dealer.do(protocol.SELFTEST) == protocol.DONE
    for outlet in range(1, 5):
        assert dealer.pins.runs("gate") == outlet
        assert dealer.do(protocol.SELFTEST) == protocol.BUSY
        dealer.edge("gate_at", outlet)
    dealer.wait(1000)
    assert dealer.codes() == []


def test_the_selftest_finds_a_gate_that_does_not_move(dealer: DealerLine) -> None:
    dealer.hello()
    dealer.do(protocol.SELFTEST)
    dealer.wait(1000)
    assert dealer.said(protocol.STALL)[0].place == protocol.MOTOR_GATE


def test_the_selftest_needs_an_empty_machine(dealer: DealerLine) -> None:
    dealer.hello()
    dealer.pins.levels["pocket_1"] = 1
    assert dealer.do(protocol.SELFTEST) == protocol.NOT_CLEAR


def test_a_setting_changes_what_the_board_does_and_its_crc(dealer: DealerLine) -> None:
    dealer.hello()
    before = dealer.board.settings.crc()
    assert dealer.do(protocol.CONFIGURE, 2, 100) == protocol.DONE
    assert dealer.board.settings.crc() != before
    dealer.begin()
    dealer.feed()
    assert dealer.board.next_ms() == dealer.now + 100


def test_the_crc_is_over_every_setting_in_order(reader: ReaderLine) -> None:
    table = protocol.SETTINGS[protocol.KIND_READER]
    rows = [struct.pack(">BI", setting, table[setting][1]) for setting in sorted(table)]
    assert reader.board.settings.crc() == binascii.crc32(b"".join(rows))


def test_wild_settings_are_refused(dealer: DealerLine) -> None:
    dealer.hello()
    for setting, value in ((1, 199), (1, 2001), (8, 3), (77, 1)):
        assert dealer.do(protocol.CONFIGURE, setting, value) == protocol.BAD_VALUE


def test_nothing_is_configured_while_something_moves(dealer: DealerLine) -> None:
    dealer.begin()
    dealer.feed()
    assert dealer.do(protocol.CONFIGURE, 1, 600) == protocol.BUSY


def test_settings_and_life_outlast_a_reset_through_what_the_shell_stores(
    dealer: DealerLine,
) -> None:
    dealer.hello()
    dealer.do(protocol.CONFIGURE, 4, 350)
    dealer.deal()
    stored = dealer.board.to_store()
    assert dealer.board.to_store() == b""
    board = DealerCore(Pins(), BOOT + 1, stored=stored)
    assert board.settings["landing_window_ms"] == 350
    assert (board.life_in, board.life_out) == (8, 8)
    assert DealerCore(Pins(), BOOT + 1, stored=stored[:5]).life_in == 0


def test_nothing_is_stored_while_a_card_moves(dealer: DealerLine) -> None:
    dealer.begin()
    dealer.feed()
    dealer.arrive()
    dealer.route(1, 0)
    assert dealer.board.to_store() == b""
