"""Sessions, numbered commands and the heartbeat, the same for both boards."""

import struct

from drivers.firmware import protocol as wire
from drivers.firmware.framing import encode
from drivers.firmware.version import FIRMWARE_VERSION
from tests.firmware.bench import ATTEMPT, BOOT, SESSION, DealerLine, ReaderLine, events_of


def test_a_board_without_a_session_says_nothing_by_itself(dealer: DealerLine) -> None:
    dealer.pins.move(dealer.now, "lid", 1)
    assert dealer.silence(5000) == []


def test_hello_is_answered_with_who_is_there(dealer: DealerLine) -> None:
    welcome = dealer.hello()
    fields = struct.unpack(wire.BODIES[wire.WELCOME], welcome.body)
    kind, hal, uid, version, _, protocol, boot, crc, cause, attempt, *_ = fields
    assert welcome.session == SESSION
    assert (kind, hal, uid) == (wire.KIND_DEALER, wire.HAL_SIM, dealer.pins.uid)
    assert (version, protocol, boot) == (bytes(FIRMWARE_VERSION), wire.PROTOCOL_HASH, BOOT)
    assert (crc, cause, attempt) == (dealer.board.settings.crc(), wire.RESET_POWER, 0)


def test_hello_with_the_same_session_changes_nothing(dealer: DealerLine) -> None:
    dealer.begin()
    number = dealer.number
    dealer.hello()
    dealer.number = number
    assert dealer.do(wire.STATUS) == wire.DONE


def test_a_new_session_numbers_its_commands_from_one(dealer: DealerLine) -> None:
    dealer.begin()
    dealer.hello(SESSION + 1)
    assert dealer.do(wire.STATUS) == wire.DONE
    assert dealer.number == 1


def test_a_frame_of_another_session_is_refused_and_done_by_nobody(dealer: DealerLine) -> None:
    dealer.begin()
    dealer.session = 0xBAD
    (frame,) = dealer.step(dealer.frame(wire.FEED, ATTEMPT, 0, 8, number=2))
    assert (frame.kind, frame.session) == (wire.NO_SESSION, 0xBAD)
    assert struct.unpack(">II", frame.body) == (BOOT, SESSION)
    assert not dealer.pins.runs("feed")


def test_a_board_that_was_reset_has_no_session(reader: ReaderLine) -> None:
    for session in (SESSION, 0):
        reader.session = session
        (frame,) = reader.step(reader.frame(wire.BEAT))
        assert (frame.kind, frame.session) == (wire.NO_SESSION, session)
        assert struct.unpack(">II", frame.body) == (BOOT, 0)


def test_a_session_of_number_0_is_none(reader: ReaderLine) -> None:
    assert reader.step(reader.frame(wire.HELLO)) == []


def test_a_command_that_comes_twice_is_answered_twice_and_done_once(dealer: DealerLine) -> None:
    dealer.hello()
    begin = dealer.command(wire.BEGIN, ATTEMPT, 8, 2)
    first = dealer.step(begin)
    again = dealer.step(begin)
    assert dealer.result(first) == wire.DONE
    assert first == again
    refused = dealer.command(wire.BEGIN, ATTEMPT - 1, 8, 2)
    assert dealer.step(refused) == dealer.step(refused)


def test_a_command_out_of_order_is_dropped_without_a_word(dealer: DealerLine) -> None:
    dealer.begin()
    for number in (0, 3, 9, 0xFFFF):
        assert dealer.step(dealer.frame(wire.FEED, ATTEMPT, 0, 8, number=number)) == []
    assert not dealer.pins.runs("feed")


def test_command_numbers_go_on_from_1_after_65535(dealer: DealerLine) -> None:
    dealer.hello()
    for _ in range(0xFFFF + 3):
        assert dealer.do(wire.SELFTEST if dealer.number < 2 else wire.STATUS) != wire.UNKNOWN
        dealer.frames.clear()
    assert dealer.number == 3


def test_a_command_for_the_other_board_is_unknown(dealer: DealerLine, reader: ReaderLine) -> None:
    dealer.begin()
    reader.begin()
    assert dealer.do(wire.REREAD, ATTEMPT, 1) == wire.UNKNOWN
    assert reader.do(wire.FEED, ATTEMPT, 0, 1) == wire.UNKNOWN


def test_frames_of_a_wrong_length_or_kind_are_dropped(dealer: DealerLine) -> None:
    dealer.begin()
    header = struct.pack(wire.HOST_HEADER, wire.FEED, SESSION, 2, 0, 0)
    for payload in (header, header + bytes(9), b"\x10", bytes([0x7F]) + header[1:], header[:14]):
        assert dealer.step(encode(payload)) == []


def test_noise_is_never_answered_and_never_raises(dealer: DealerLine) -> None:
    dealer.hello()
    for noise in (bytes(50), b"\xff" * 900 + b"\x00", bytes(range(256)) * 3, b"\x01\x00"):
        assert dealer.step(noise) == []
    assert dealer.do(wire.STATUS) == wire.DONE


def test_a_board_says_alive_when_it_said_nothing_for_100_ms(reader: ReaderLine) -> None:
    reader.hello()
    assert reader.board.deadline() == reader.now + 100
    assert reader.step(after_ms=99) == []
    (alive,) = reader.step(after_ms=1)
    assert struct.unpack(wire.BODIES[wire.ALIVE], alive.body) == (BOOT, 0, wire.IDLE)
    assert alive.kind == wire.ALIVE


def test_a_board_that_hears_nothing_for_500_ms_falls_silent_and_says_so_later(
    dealer: DealerLine,
) -> None:
    dealer.hello()
    assert [frame.kind for frame in dealer.silence(500)] == [wire.ALIVE] * 4
    assert dealer.silence(5000) == []
    frames = dealer.step(dealer.frame(wire.BEAT))
    assert events_of(frames) == [1]
    (stopped,) = dealer.said(wire.STOPPED)
    assert stopped.place == wire.HOST_SILENT


def test_silence_is_reported_once_each_time(dealer: DealerLine) -> None:
    dealer.hello()
    dealer.silence(3000)
    assert len(dealer.said(wire.STOPPED)) == 1


def test_a_frame_in_a_late_step_is_no_silence(dealer: DealerLine) -> None:
    dealer.hello()
    dealer.now += 5000
    dealer.step(dealer.frame(wire.BEAT))
    assert dealer.codes() == []


def test_steps_that_bring_nothing_change_nothing(dealer: DealerLine) -> None:
    dealer.begin()
    dealer.feed()
    written = list(dealer.pins.written)
    assert [dealer.step() for _ in range(5)] == [[]] * 5
    assert dealer.pins.written == written


def test_time_never_runs_backwards_on_a_board(dealer: DealerLine) -> None:
    dealer.begin()
    dealer.feed()
    dealer.board.step(dealer.now - 900, b"")
    assert dealer.board.now == dealer.now
