"""What is broken on purpose is seen: each target can fail."""

import struct

import pytest

from controller.journal.verify import attempt_check
from controller.machine.commands.table_commands import TableCommands
from drivers.firmware import framing, protocol, release_lock
from drivers.firmware.board import BoardCore
from drivers.firmware.event_memory import EventMemory
from drivers.firmware.feeding import Feeding
from drivers.link import frames, link_state
from drivers.link.link_state import EventArrival, EventSequence
from tests.fuzz.of_boards import dealer
from tests.fuzz.of_journals import entries
from tests.fuzz.of_link import link
from tests.fuzz.of_orders import orders
from tests.fuzz.of_wire import board_frames, decoder
from tests.fuzz.targets import CORPUS

pytestmark = pytest.mark.slow

DEAL, TURN, LAPSE = 3, 4, 0
TO_ONE_POCKET = bytes([0, DEAL, 0, 0x47, 0, 0, 0, 0])
ONE_CARD = bytes([0, DEAL, 0, 0])
A_SECOND = bytes([LAPSE, 12])


def test_hands_that_are_not_right_are_seen_to_go_out(monkeypatch: pytest.MonkeyPatch) -> None:
    dealer(TO_ONE_POCKET)
    monkeypatch.setattr(release_lock, "can_release", lambda board: True)
    with pytest.raises(AssertionError, match="released what is not right"):
        dealer(TO_ONE_POCKET)


def test_right_hands_are_seen_to_go_out(monkeypatch: pytest.MonkeyPatch) -> None:
    lifted: list[int] = []
    monkeypatch.setattr(
        "drivers.firmware.motors.LiftControl.move_to", lambda lift, goal: lifted.append(goal)
    )
    dealer(bytes([0, DEAL, 0, 7]))
    assert lifted == [1]


def test_a_board_that_feeds_without_its_host_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    dealer(ONE_CARD + A_SECOND)

    def shrug(board: BoardCore) -> None:
        board._is_silent = board.now >= board._heard_ms + 500

    monkeypatch.setattr(BoardCore, "_check_silence", shrug)
    with pytest.raises(AssertionError, match="although nobody is there"):
        dealer(ONE_CARD + A_SECOND)


def test_a_board_that_wants_to_be_stepped_at_once_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(EventMemory, "deadline", lambda memory: 0)
    with pytest.raises(AssertionError, match="at once"):
        dealer(ONE_CARD)


def test_both_motors_at_once_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def run_on(feeding: Feeding) -> None:
        feeding.state = 5
        feeding._hal.set("pass", 1)
        feeding._hal.set("feed", 1)

    monkeypatch.setattr(Feeding, "_start_pass", run_on)
    with pytest.raises(AssertionError, match="both motors"):
        dealer(bytes([0, DEAL, 0, 7]))


def test_an_event_taken_twice_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    event = bytes([4, 1, 1, protocol.LANDED, 0, 0, 0, 0, 0])
    session = bytes([8, 0, 0, 1, 1, 0, 0, 14, 1])
    link(session + event + event)

    def careless(known: EventSequence, number: int) -> tuple[EventSequence, EventArrival]:
        return EventSequence(known.boot, number, known.kept), EventArrival.NEW

    monkeypatch.setattr(link_state, "receive_event", careless)
    with pytest.raises(AssertionError, match="an event twice"):
        link(session + event + event)


def test_a_decoder_that_loses_the_end_of_a_piece_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = bytes([2]) + framing.encode(b"abc")
    decoder(stream)
    feed = framing.Decoder.feed

    def careless(line: framing.Decoder, data: bytes) -> list[bytes]:
        found = feed(line, data)
        line._rest = line._rest[:-1]
        return found

    monkeypatch.setattr(framing.Decoder, "feed", careless)
    with pytest.raises(AssertionError):
        decoder(stream)


def test_a_frame_that_raises_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def careless(payload: bytes, board: str) -> None:
        raise struct.error

    monkeypatch.setattr(frames, "decode_board_frame", careless)
    with pytest.raises(struct.error):
        board_frames(b"\0")


def test_a_verifier_that_believes_a_form_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    data = (CORPUS / "entries" / "reasons-are-no-list").read_bytes()
    entries(data)
    monkeypatch.setattr(attempt_check, "catch_malformed", lambda checks, n, what: checks)
    monkeypatch.setattr(attempt_check, "_end_reasons", lambda progress: list(progress.reasons))
    with pytest.raises((TypeError, KeyError)):
        entries(data)


@pytest.mark.parametrize(("fails", "seen"), [(True, AssertionError), (False, TimeoutError)])
def test_an_order_that_fails_or_is_not_answered_is_seen(
    monkeypatch: pytest.MonkeyPatch, fails: bool, seen: type[Exception]
) -> None:
    call = b'{"cmd":"call","as":"table","args":{"seat":"N"}}\n'
    orders(call)

    async def careless(acts: object, order: object) -> None:
        if fails:
            raise RuntimeError

    monkeypatch.setattr(TableCommands, "_call", careless)
    with pytest.raises(seen):
        orders(call)
