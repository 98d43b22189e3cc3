"""The two boards as typed objects: each method is one command, each answer one value."""

import json
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from pytest_mock import MockerFixture

from drivers import typed_boards as dealer_module
from drivers import typed_boards as reader_module
from drivers.board_events import BoardActivity, BoardEvent, FeedSource, Outlet
from drivers.errors import WrongProtocol
from drivers.firmware import protocol
from drivers.link import frames
from drivers.link.frames import BoardCommand, BoardReply, BoardResult
from drivers.link.link import Link
from drivers.typed_boards import DealerBoard, ReaderBoard

Calls = Callable[[Any], Coroutine[Any, Any, None]]


def golden_status(board: str) -> bytes:
    golden = json.loads((Path(frames.__file__).parent / "golden.json").read_text())
    [row] = [row for row in golden["frames"] if row["name"] == f"status of a {board} board"]
    return bytes.fromhex(row["payload"])[protocol.BOARD_HEADER_SIZE + 3 :]


@pytest.fixture
def link(mocker: MockerFixture) -> Any:
    link = mocker.create_autospec(Link, instance=True)
    link.request.return_value = BoardReply(1, BoardResult.DONE, b"")
    link.welcome = None
    return link


@pytest.mark.parametrize(
    ("call", "command"),
    [
        (lambda board: board.begin(7, 108, 27), frames.BeginCommand(7, 108, 27)),
        (lambda board: board.shuffle(7, 3), frames.ShuffleCommand(7, 3)),
        (
            lambda board: board.feed(7, FeedSource.TRAY, 110),
            frames.FeedCommand(7, FeedSource.TRAY, 110),
        ),
        (lambda board: board.release(7), frames.ReleaseCommand(7)),
        (lambda board: board.retract(), frames.RetractCommand()),
        (lambda board: board.purge(7), frames.PurgeCommand(7)),
        (lambda board: board.selftest(), frames.SelftestCommand()),
        (lambda board: board.configure("landing_window_ms", 350), frames.ConfigureCommand(4, 350)),
    ],
)
async def test_a_dealer_board_is_told(link: Any, call: Calls, command: BoardCommand) -> None:
    await call(DealerBoard(link))
    link.request.assert_awaited_once_with(command)


@pytest.mark.parametrize(
    ("call", "command"),
    [
        (lambda board: board.begin(7, 108, 27), frames.BeginCommand(7, 108, 27)),
        (lambda board: board.selftest(), frames.SelftestCommand()),
        (lambda board: board.configure("read_limit_ms", 90), frames.ConfigureCommand(2, 90)),
    ],
)
async def test_a_reader_board_is_told(link: Any, call: Calls, command: BoardCommand) -> None:
    await call(ReaderBoard(link))
    link.request.assert_awaited_once_with(command)


def test_routes_rereads_and_stops_wait_for_nobody(link: Any) -> None:
    DealerBoard(link).route(7, 12, Outlet.TRAY)
    link.send.assert_called_once_with(frames.RouteCommand(7, 12, Outlet.TRAY))
    ReaderBoard(link).reread(7, 12)
    link.send.assert_called_with(frames.RereadCommand(7, 12))
    DealerBoard(link).stop()
    ReaderBoard(link).stop()
    assert link.stop.call_count == 2


def test_a_reader_is_told_of_a_card_where_no_wire_does(link: Any, mocker: MockerFixture) -> None:
    ReaderBoard(link).announce_card(7, 12)
    link.send.assert_not_called()
    link.welcome = mocker.Mock(asked=True)
    ReaderBoard(link).announce_card(7, 12)
    link.send.assert_called_once_with(frames.LookCommand(7, 12))


def test_a_reader_that_is_asked_hears_of_the_card_before_it_reads_it_again(
    link: Any, mocker: MockerFixture
) -> None:
    link.welcome = mocker.Mock(asked=True)
    ReaderBoard(link).reread(7, 12)
    assert link.send.call_args_list == [
        mocker.call(frames.LookCommand(7, 12)),
        mocker.call(frames.RereadCommand(7, 12)),
    ]


@pytest.mark.parametrize("board", [DealerBoard, ReaderBoard])
async def test_a_setting_of_another_name_is_a_mistake_of_the_program(link: Any, board: Any) -> None:
    with pytest.raises(KeyError):
        await board(link).configure("pace_ms", 100)


@pytest.mark.parametrize("board", [DealerBoard, ReaderBoard])
def test_on_event_is_the_links_own(link: Any, board: Any) -> None:
    events: list[BoardEvent] = []
    on_event = events.append
    typed = board(link)
    typed.on_event = on_event
    assert link.on_event == typed.on_event == on_event


async def test_the_status_of_a_dealer_board_has_names(link: Any) -> None:
    link.request.return_value = BoardReply(3, BoardResult.DONE, golden_status("dealer"))
    status = await DealerBoard(link).get_status()
    link.request.assert_awaited_once_with(frames.GetStatusCommand())
    assert (status.attempt, status.doing, status.source, status.upto) == (
        7,
        BoardActivity.HOLDING,
        FeedSource.HOPPER,
        108,
    )
    assert (status.fed, status.holding, status.route) == (17, 17, None)
    assert status.landed == (4, 3, 4, 4, 1)
    assert (status.strays, status.doubles, status.events) == (0, 1, 41)
    assert status.sees_pockets == (True, True, True, True)
    assert (status.sees_tray, status.sees_hopper, status.sees_window) == (True, True, True)
    assert (status.sees_path, status.sees_shuffler) == (False, False)
    assert (status.lid_open, status.estop, status.lift_up, status.locked) == (False,) * 4
    assert status.lift_down
    assert not status.is_clear


def test_each_sensor_of_a_dealer_board_has_its_own_name() -> None:
    body = bytearray(golden_status("dealer"))
    at = len(body) - 7
    for bit, name in {
        protocol.SEES_TRAY: "sees_tray",
        protocol.SEES_HOPPER: "sees_hopper",
        protocol.SEES_WINDOW: "sees_window",
        protocol.SEES_PATH: "sees_path",
        protocol.SEES_LID_OPEN: "lid_open",
        protocol.SEES_ESTOP: "estop",
        protocol.SEES_LIFT_UP: "lift_up",
        protocol.SEES_SHUFFLER: "sees_shuffler",
        protocol.SEES_LIFT_DOWN: "lift_down",
        protocol.SEES_SUPPLY_LOW: "supply_low",
    }.items():
        body[at : at + 2] = bit.to_bytes(2, "big")
        status = dealer_module.decode_dealer_status(bytes(body))
        seen = {field for field in status.__struct_fields__ if getattr(status, field) is True}
        assert seen == {name}
        assert not any(status.sees_pockets)
    for place, bit in enumerate(
        (protocol.SEES_NORTH, protocol.SEES_WEST, protocol.SEES_SOUTH, protocol.SEES_EAST)
    ):
        body[at : at + 2] = bit.to_bytes(2, "big")
        pockets = dealer_module.decode_dealer_status(bytes(body)).sees_pockets
        assert [index for index, seen in enumerate(pockets) if seen] == [place]


@pytest.mark.parametrize(
    ("sees", "clear"),
    [
        (0, True),
        (
            protocol.SEES_HOPPER
            | protocol.SEES_SHUFFLER
            | protocol.SEES_LID_OPEN
            | protocol.SEES_ESTOP,
            True,
        ),
        (protocol.SEES_TRAY, False),
        (protocol.SEES_WINDOW, False),
        (protocol.SEES_PATH, False),
        (protocol.SEES_EAST, False),
        (protocol.SEES_LIFT_UP, False),
    ],
)
def test_a_machine_is_clear_with_its_lift_down_and_no_card_on_the_way(
    sees: int, clear: bool
) -> None:
    body = bytearray(golden_status("dealer"))
    at = len(body) - 7
    body[at : at + 2] = (protocol.SEES_LIFT_DOWN | sees).to_bytes(2, "big")
    assert dealer_module.decode_dealer_status(bytes(body)).is_clear == clear


async def test_the_status_of_a_reader_board_has_names(link: Any) -> None:
    link.request.return_value = BoardReply(3, BoardResult.DONE, golden_status("reader"))
    status = await ReaderBoard(link).get_status()
    assert status == reader_module.ReaderStatus(
        7, BoardActivity.IDLE, pulses=17, reads=17, events=41
    )


@pytest.mark.parametrize(
    "status_from", [dealer_module.decode_dealer_status, reader_module.decode_reader_status]
)
@pytest.mark.parametrize("body", [b"", b"short", b"\xff" * 24, b"\xff" * 11])
def test_a_status_that_is_none_is_another_protocol(
    status_from: Callable[[bytes], object], body: bytes
) -> None:
    with pytest.raises(WrongProtocol):
        status_from(body)
