"""The kept recordings see a change in the drivers: each of these is made on purpose, and seen."""

from collections.abc import Callable

import msgspec
import pytest

from drivers import typed_boards
from drivers.board_events import BoardKind, CardReadEvent
from drivers.firmware import framing
from drivers.link import frames, link_state
from drivers.link.frames import BoardFrame, Welcome
from drivers.link.link import Link
from drivers.link.link_state import (
    CommandQueue,
    EventArrival,
    EventSequence,
    LinkTimers,
    PendingCommand,
)
from drivers.typed_boards import DealerStatus
from tests.link.recorded_runs import FOLDER, kept, page, replayed

_DECODE, _STATUS_FROM = frames.decode_board_frame, typed_boards.decode_dealer_status


def every_event_is_new(known: EventSequence, number: int) -> tuple[EventSequence, EventArrival]:
    return EventSequence(known.boot, max(known.seen, number), known.kept), EventArrival.NEW


def a_gap_is_passed_over(known: EventSequence, number: int) -> tuple[EventSequence, EventArrival]:
    taken = EventArrival.DUPLICATE if number <= known.seen else EventArrival.NEW
    return EventSequence(known.boot, max(known.seen, number), known.kept), taken


def every_boot_begins_with_nothing(
    boot: int, seen: int | None, kept: int, forgotten: int
) -> tuple[EventSequence, int]:
    return EventSequence(boot), 0


def no_answer_is_the_one(
    box: CommandQueue, number: int
) -> tuple[CommandQueue, PendingCommand | None]:
    return box, None


def the_same_number_again(box: CommandQueue) -> CommandQueue:
    if box.current is not None or not box.waiting:
        return box
    return CommandQueue(max(1, box.last_number), box.waiting[0], box.waiting[1:])


def another_face(payload: bytes, board: BoardKind) -> tuple[int, BoardFrame] | None:
    decoded = _DECODE(payload, board)
    if decoded is None or not isinstance(decoded[1], CardReadEvent):
        return decoded
    return decoded[0], msgspec.structs.replace(decoded[1], face=0)


def lift_up_and_down_changed(body: bytes) -> DealerStatus:
    status = _STATUS_FROM(body)
    up, down = status.lift_up, status.lift_down
    return msgspec.structs.replace(status, lift_up=down, lift_down=up)


def no_crc(decoder: framing.Decoder, block: bytes) -> bytes | None:
    body = framing.cobs_decode(block) if block else None
    return body[: -framing.CRC_SIZE] if body else None


def a_restart_is_overlooked(link: Link, boot: int) -> bool:
    return False


def the_first_welcome_says_nothing(link: Link, welcome: Welcome) -> None:
    link._on_session_up()


def no_more_resends(deadlines: LinkTimers, now: float) -> bool:
    return False


CHANGES: list[tuple[object, str, Callable[..., object], str]] = [
    (link_state, "receive_event", every_event_is_new, "bad_line"),
    (link_state, "receive_event", a_gap_is_passed_over, "bad_line"),
    (link_state, "resume_sequence", every_boot_begins_with_nothing, "unplugged"),
    (link_state, "complete_command", no_answer_is_the_one, "clean_deal"),
    (link_state, "start_next_command", the_same_number_again, "clean_deal"),
    (frames, "decode_board_frame", another_face, "pty_under_micropython"),
    (typed_boards, "decode_dealer_status", lift_up_and_down_changed, "clean_deal"),
    (framing.Decoder, "_payload", no_crc, "bad_line"),
    (Link, "_is_reset", a_restart_is_overlooked, "board_reset"),
    (Link, "_receive_first_welcome", the_first_welcome_says_nothing, "clean_deal"),
    (LinkTimers, "restart_reply_timer", no_more_resends, "bad_line"),
    (LinkTimers, "begin_incident", no_more_resends, "dead_line"),
]


@pytest.mark.parametrize(
    ("owner", "name", "change", "run"), CHANGES, ids=lambda value: getattr(value, "__name__", "")
)
def test_a_change_in_the_drivers_is_seen(
    owner: object,
    name: str,
    change: Callable[..., object],
    run: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(owner, name, change)
    assert page(replayed(kept(run))) != (FOLDER / f"{run}.json").read_text("utf-8")
