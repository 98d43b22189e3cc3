"""The link against the boards' own programs: the two sides agree about PROTOCOL.md."""

import asyncio
import itertools
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drivers.board_events import (
    BoardActivity,
    BoardEvent,
    BoardEventCode,
    BoardStopReason,
    CardReadEvent,
    FeedSource,
)
from drivers.errors import BoardRefused, BoardReset, LineLost, SessionRenewed
from drivers.firmware.dealer import DealerCore as DealerCore
from drivers.firmware.reader import ReaderCore as ReaderCore
from drivers.link.frames import BoardResult
from drivers.link.link import Link
from drivers.link.link_state import CommandQueue
from drivers.typed_boards import DealerBoard, ReaderBoard

if TYPE_CHECKING:
    from drivers.firmware.board import BoardCore as FirmwareCore
    from tests.link.bad_line import FirmwareBoard, Line, Pins

    MakeLine = Callable[..., Line]
    MakePins = Callable[..., Pins]
    RunFirmware = Callable[[Line, FirmwareCore, Pins], FirmwareBoard]
    InVirtualTime = Callable[[Coroutine[object, object, None]], None]

BOOT = 0xB0070001
BAD = ("late", "loses a fifth", "repeats", "flips bits", "does everything")


class Desk:
    """A dealer board with its program, and a typed object at the other end of a good line."""

    def __init__(self, line: "Line", board: "FirmwareBoard") -> None:
        ids = itertools.count(1)
        self.line = line
        self.board = board
        self.pins = board.pins
        self.events: list[BoardEvent] = []
        self.downs: list[LineLost] = []
        self.dealer = DealerBoard(
            Link(line, "dealer", session_ids=lambda: next(ids), on_down=self.downs.append)
        )
        self.dealer.on_event = self.events.append

    @property
    def codes(self) -> list[BoardEventCode]:
        return [event.code for event in self.events]


@pytest.fixture
def make_desk(
    make_line: "MakeLine", make_pins: "MakePins", run_firmware: "RunFirmware"
) -> Callable[[], Desk]:
    def make() -> Desk:
        line, pins = make_line(), make_pins()
        return Desk(line, run_firmware(line, DealerCore(pins, BOOT), pins))

    return make


@pytest.mark.virtual
async def test_a_dealer_board_says_who_it_is_and_where_it_stands(
    make_desk: Callable[[], Desk],
) -> None:
    desk = make_desk()
    welcome = await desk.dealer.link.open({}, {})
    assert (welcome.kind, welcome.is_simulated, welcome.boot) == ("dealer", True, BOOT)
    assert welcome.uid == "e660a4931754432f"
    await desk.dealer.begin(7, 108, 27)
    desk.pins.levels |= {"hopper": 1, "pocket_2": 1, "shuffler": 3}
    status = await desk.dealer.get_status()
    assert (status.attempt, status.doing, status.source) == (
        7,
        BoardActivity.IDLE,
        FeedSource.HOPPER,
    )
    assert (status.fed, status.holding, status.route) == (0, 0, None)
    assert status.sees_pockets == (False, False, True, False)
    assert status.sees_hopper
    assert status.sees_shuffler
    sees_nothing = (status.sees_tray, status.sees_window, status.sees_path, status.lid_open)
    assert not any(sees_nothing)
    assert not status.is_clear
    assert not status.locked


@pytest.mark.virtual
async def test_a_dealer_board_refuses_with_its_reasons(make_desk: Callable[[], Desk]) -> None:
    desk = make_desk()
    await desk.dealer.link.open({}, {})
    desk.pins.levels["pocket_1"] = 1
    with pytest.raises(BoardRefused) as caught:
        await desk.dealer.begin(7, 108, 27)
    assert caught.value.result is BoardResult.NOT_CLEAR
    desk.pins.levels["pocket_1"] = 0
    await desk.dealer.begin(7, 108, 27)
    for refused, result in (
        (desk.dealer.release(7), BoardResult.NOT_LOCKED),
        (desk.dealer.shuffle(8, 1), BoardResult.WRONG_ATTEMPT),
        (desk.dealer.configure("jam_retries", 3), BoardResult.BAD_VALUE),
    ):
        with pytest.raises(BoardRefused) as caught:
            await refused
        assert caught.value.result is result


@pytest.mark.virtual
async def test_a_setting_changes_and_shows_in_the_next_welcome(
    make_desk: Callable[[], Desk],
) -> None:
    desk = make_desk()
    before = await desk.dealer.link.open({}, {})
    await desk.dealer.configure("landing_window_ms", 350)
    desk.dealer.link.close()
    after = await desk.dealer.link.open({}, {})
    assert before.settings_crc != after.settings_crc
    assert before.boot == after.boot


@pytest.mark.virtual
async def test_a_board_whose_host_fell_silent_stops_and_says_so_when_it_is_back(
    make_desk: Callable[[], Desk],
) -> None:
    desk = make_desk()
    await desk.dealer.link.open({}, {})
    await desk.dealer.begin(7, 108, 27)
    desk.line.to_board.cut = True
    await asyncio.sleep(1)
    desk.line.to_board.cut = False
    await asyncio.sleep(1)
    assert desk.downs == []
    assert desk.codes == [BoardEventCode.STOPPED]
    assert desk.events[0].place == BoardStopReason.HOST_SILENT


@pytest.mark.virtual
async def test_three_copies_of_a_stop_stop_once(make_desk: Callable[[], Desk]) -> None:
    desk = make_desk()
    await desk.dealer.link.open({}, {})
    await desk.dealer.begin(7, 108, 27)
    desk.dealer.stop()
    await asyncio.sleep(0.1)
    assert desk.codes == [BoardEventCode.STOPPED]
    assert desk.events[0].place == BoardStopReason.HOST


@pytest.mark.virtual
async def test_a_board_that_another_host_took_is_taken_back_once(
    make_desk: Callable[[], Desk],
) -> None:
    desk = make_desk()
    await desk.dealer.link.open({}, {})
    desk.board.core.session = 4711
    with pytest.raises(SessionRenewed, match="another session"):
        await desk.dealer.get_status()
    assert (await desk.dealer.get_status()).attempt == 0


@pytest.mark.virtual
async def test_a_board_program_that_starts_anew_is_a_reset(
    make_desk: Callable[[], Desk], run_firmware: "RunFirmware"
) -> None:
    desk = make_desk()
    await desk.dealer.link.open({}, {})
    desk.board.close()
    board = run_firmware(desk.line, DealerCore(desk.pins, BOOT + 1), desk.pins)
    await asyncio.sleep(1)
    [error] = desk.downs
    assert isinstance(error, BoardReset)
    assert (error.expected, error.found) == (BOOT, BOOT + 1)
    board.close()


@pytest.mark.virtual
async def test_command_numbers_of_a_board_go_round_as_the_hosts_do(
    make_desk: Callable[[], Desk],
) -> None:
    desk = make_desk()
    await desk.dealer.link.open({}, {})
    desk.board.core._number = 65530
    desk.dealer.link._commands = CommandQueue(last_number=65530)
    for _ in range(10):
        await desk.dealer.get_status()
    assert desk.dealer.link.counters.sessions == 1


@settings(max_examples=40)
@given(mischief=st.sampled_from(("good", *BAD)), seed=st.integers(0, 2**32))
def test_every_read_of_a_reader_board_arrives_once_over_a_bad_line(
    make_line: "MakeLine",
    make_pins: "MakePins",
    run_firmware: "RunFirmware",
    in_virtual_time: "InVirtualTime",
    mischief: str,
    seed: int,
) -> None:
    cards = 20

    async def main() -> None:
        line, pins = make_line(seed, mischief), make_pins()
        core = ReaderCore(pins, BOOT)
        board = run_firmware(line, core, pins)
        ids = itertools.count(1)
        events: list[BoardEvent] = []
        asked: list[int] = []
        too_late: list[BoardRefused] = []

        def on_event(event: BoardEvent) -> None:
            events.append(event)
            if (
                isinstance(event, CardReadEvent)
                and event.index % 3 == 0
                and event.index not in asked
            ):
                asked.append(event.index)
                reader.reread(7, event.index)

        link = Link(line, "reader", session_ids=lambda: next(ids), on_refused=too_late.append)
        reader = ReaderBoard(link)
        reader.on_event = on_event
        while not core.attempt or not link.is_up:
            try:
                await link.open({BOOT: len(events)}, {})
                await reader.begin(7, 108, 27)
            except LineLost:
                continue
        for _ in range(cards):
            pins.move("pulse", 1)
            pins.move("pulse", 0)
            await asyncio.sleep(0.5)
        while len(events) < core.memory.last:
            if not link.is_up:
                await link.open({BOOT: len(events)}, {})
            await asyncio.sleep(0.5)
        assert [event.number for event in events] == list(range(1, core.memory.last + 1))
        assert events[-1].landed == core.reads == len(pins.shots)
        rereads = len(asked) - len(too_late)
        assert {refused.result for refused in too_late} <= {BoardResult.WRONG_INDEX}
        assert core.reads <= cards + rereads
        if link.counters.sessions == 1:
            assert core.reads == cards + rereads
        link.close()
        board.close()

    in_virtual_time(main())
