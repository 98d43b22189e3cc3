"""What goes wrong on a Modbus line: the right word from the board, and no motion left on."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from itertools import count, pairwise
from typing import Any

import pytest

from drivers.board_events import BoardEventCode, BoardStopReason, DealerMotor, FeedSource
from drivers.errors import BoardRefused, BoardResult
from sim.mechanics.mechanics_settings import MechanicsSettings
from tests.adapters.drives import (
    COMMAND,
    FEEDER,
    GATE,
    IO,
    LIFT,
    POSITION,
    ROLLERS,
    SHUFFLE_COIL,
    WATCHDOG,
)
from tests.adapters.modbus_rig import WiredTable, example
from tests.sim.host import Host
from tests.sim.orders import order_of

pytestmark = pytest.mark.virtual

CARDS = 12
NAMES = {IO: "io", FEEDER: "feeder", ROLLERS: "rollers", GATE: "gate", LIFT: "lift"}
A_WHILE_S = 3.0


class Rig:
    """A table over a Modbus line, and a host that deals by a script."""

    def __init__(self, table: WiredTable) -> None:
        self.table, self.drives, self.wire, self.said = table, table.drives, table.wire, table.said
        self.host = Host(table.port("dealer"), table.port("reader"))
        self._dealing: asyncio.Future[None] | None = None

    async def open(self) -> None:
        await self.table.settled()
        await self.host.open()

    async def spoilt(self, spoil: Callable[[], object], *, cards: int = 2) -> None:
        """Deal; spoil something when so many cards have come, and wait for what becomes of it."""
        self._dealing = asyncio.ensure_future(self.host.deal(1, order_of(CARDS)))
        await self.host.until(BoardEventCode.AT_READER, cards)
        spoil()
        await self.host.until(BoardEventCode.STOPPED)
        await asyncio.sleep(A_WHILE_S)

    def stops(self) -> list[int]:
        return [event.place for event in self.host.events if event.code is BoardEventCode.STOPPED]

    def stalls(self) -> set[int]:
        return {event.place for event in self.host.events if event.code is BoardEventCode.STALL}

    def away(self) -> list[int]:
        """The units that were told to be away, in order."""
        told = [event for event in self.host.events if event.code is BoardEventCode.DRIVE]
        return [event.index for event in told if not event.place]

    def is_back(self) -> bool:
        """Whether the last word about drives is that all are there."""
        told = [event for event in self.host.events if event.code is BoardEventCode.DRIVE]
        return bool(told[-1].place)

    async def close(self) -> None:
        if self._dealing is not None:
            self._dealing.cancel()
        self.host.close()
        self.table.close()


@pytest.fixture
async def rig() -> AsyncIterator[Callable[..., Any]]:
    """Make a table over a Modbus line with a host: `await rig(**{"line.baud": 19200})`."""
    made: list[Rig] = []
    boots = count(100)

    async def make(**changed: Any) -> Rig:
        told = example(changed)
        table = WiredTable(
            MechanicsSettings(cards=CARDS), random.Random(1), boots=lambda: next(boots), told=told
        )
        made.append(Rig(table))
        await made[-1].open()
        return made[-1]

    yield make
    for one in made:
        await one.close()


Rigs = Callable[..., Any]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("unit", "motor", "code"),
    [
        *((FEEDER, DealerMotor.FEED, code) for code in (1, 2, 3, 4, 6, 8)),
        (ROLLERS, DealerMotor.PASS, 2),
        (GATE, DealerMotor.GATE, 4),
        (GATE, DealerMotor.GATE, 6),
    ],
)
async def test_an_exception_of_a_drive_is_a_stall_of_its_motor(
    rig: Rigs, unit: int, motor: DealerMotor, code: int
) -> None:
    at = await rig()
    await at.spoilt(lambda: at.drives.refuses_writes.update({unit: code}))
    assert at.stalls() == {motor} or at.away() == [unit]  # a stop that is refused is worse
    assert any(f"unit {unit} ({NAMES[unit]})" in line and f"({code})" in line for line in at.said)
    at.drives.refuses_writes.clear()
    await asyncio.sleep(A_WHILE_S)
    assert at.drives.runs() == {}


async def test_a_drive_that_is_busy_for_a_moment_costs_nothing_but_that(rig: Rigs) -> None:
    at = await rig()
    at.drives.busy_once = True
    await at.host.deal(1, order_of(CARDS))
    assert not at.stops()
    assert not at.drives.busy_once


@pytest.mark.parametrize("unit", NAMES)
async def test_a_unit_that_goes_silent_stops_all_others_and_is_named(rig: Rigs, unit: int) -> None:
    at = await rig()
    await at.spoilt(lambda: at.drives.silent.add(unit))
    assert set(at.away()) == {unit}
    assert BoardStopReason.DRIVE in at.stops()
    silent = {IO: "shuffle", FEEDER: "feed", ROLLERS: "pass", LIFT: "lift"}.get(unit)
    assert set(at.drives.runs()) <= {silent}
    assert any(line.startswith(f"unit {unit} ({NAMES[unit]}) is away") for line in at.said)
    with pytest.raises(BoardRefused) as refused:
        await at.host.dealer.retract()
    assert refused.value.result is BoardResult.NO_DRIVE
    at.drives.silent.clear()
    await asyncio.sleep(A_WHILE_S)
    assert at.drives.runs() == {}  # the first word to a drive that is back is to stop
    assert at.is_back()


@pytest.mark.slow
@pytest.mark.parametrize("unit", [IO, FEEDER, GATE])
async def test_what_moves_is_stopped_soon_after_another_unit_went_silent(
    rig: Rigs, unit: int
) -> None:
    at = await rig()
    await at.host.deal(1, order_of(CARDS))
    await at.host.dealer.release(1)
    await asyncio.sleep(0.3)
    assert at.drives.runs() == {"lift": 1}
    at.drives.silent.add(unit)
    line = at.table.told.line
    await asyncio.sleep((line.watch_ms + (line.retries + 2) * (line.timeout_ms + 10)) / 1000)
    assert at.drives.runs() == {}
    await asyncio.sleep(A_WHILE_S)
    assert BoardStopReason.DRIVE in at.stops()
    assert not at.table.world.truth().lift_up


async def test_an_input_module_that_refuses_to_be_read_is_away(rig: Rigs) -> None:
    at = await rig()
    await at.spoilt(lambda: at.drives.refuses.update({IO: 2}))
    assert set(at.away()) == {IO}
    assert "refuses: illegal data address (2), when " in " ".join(at.said)
    at.drives.refuses.clear()
    await asyncio.sleep(A_WHILE_S)
    assert at.is_back()
    assert at.drives.runs() == {}


async def test_an_attempt_through_which_a_unit_was_away_is_never_released(rig: Rigs) -> None:
    at = await rig()
    await at.host.deal(1, order_of(CARDS))
    at.drives.silent.add(GATE)
    await asyncio.sleep(A_WHILE_S)
    at.drives.silent.clear()
    await asyncio.sleep(A_WHILE_S)
    assert at.is_back()
    with pytest.raises(BoardRefused) as refused:
        await at.host.dealer.release(1)
    assert refused.value.result is BoardResult.NOT_LOCKED


@pytest.mark.slow
@pytest.mark.parametrize(
    ("unit", "register"), [(FEEDER, COMMAND), (ROLLERS, COMMAND), (GATE, POSITION + 1)]
)
async def test_a_register_that_keeps_what_it_has_is_found_when_it_is_read_back(
    rig: Rigs, unit: int, register: int
) -> None:
    at = await rig()
    await at.spoilt(lambda: at.drives.stuck.add((unit, register)))
    assert at.stalls() or at.away() == [unit]
    assert any(f"unit {unit}" in line and " was written" in line for line in at.said)
    still = {FEEDER: "feed", ROLLERS: "pass"}.get(unit)
    assert set(at.drives.runs()) <= {still}


async def test_a_motor_that_cannot_be_stopped_is_a_drive_that_is_away_until_it_can(
    rig: Rigs,
) -> None:
    at = await rig()

    def runs_away() -> None:
        at.drives.poke(LIFT, COMMAND, 1)
        at.drives.stuck.add((LIFT, COMMAND))

    await at.spoilt(runs_away)
    assert at.away() == [LIFT]
    at.drives.stuck.clear()
    await asyncio.sleep(A_WHILE_S)
    assert at.drives.runs() == {}


async def test_some_spoilt_answers_cost_time_and_no_card(rig: Rigs) -> None:
    chance = random.Random(7)

    def spoil(data: bytes) -> bytes:
        if chance.random() > 0.05:
            return data
        at = chance.randrange(len(data))
        return data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1 :]

    at = await rig()
    at.wire.spoil = spoil
    await at.host.deal(1, order_of(CARDS))
    assert at.table.hal.line.frames_repeated > 10
    assert not at.stops()


async def test_a_line_on_which_nothing_gets_through_is_told_and_was_stopped_all_the_same(
    rig: Rigs,
) -> None:
    at = await rig()
    chance = random.Random(7)
    await at.spoilt(lambda: setattr(at.wire, "spoil", lambda data: chance.randbytes(len(data))))
    assert at.away()
    assert at.drives.runs() == {}  # the drives heard, though nobody heard them


async def test_a_port_that_is_pulled_out_is_told_and_found_again(rig: Rigs) -> None:
    at = await rig()
    await at.spoilt(lambda: setattr(at.wire, "cut", True))
    assert at.away()
    assert any("the port is not there" in line for line in at.said)
    at.wire.cut = False
    await asyncio.sleep(A_WHILE_S)
    assert at.drives.runs() == {}
    assert at.is_back()


async def test_an_input_module_that_lost_its_power_is_found_by_its_counters(rig: Rigs) -> None:
    at = await rig()
    await at.spoilt(at.drives.counted_anew)
    assert at.away() == [IO]
    assert any("jumped" in line for line in at.said)


async def test_a_motion_that_its_board_does_not_end_is_ended_by_the_adapter(rig: Rigs) -> None:
    at = await rig(**{"output.lift.limit_ms": 400})
    board = at.table.board
    board.hang()  # but for its HAL
    at.table.hal.set("lift", 1)
    for _ in range(60):
        await asyncio.sleep(0.01)
        at.table.hal.update(board.now_ms())
    assert ("lift", 1) in at.drives.driven
    assert at.drives.runs() == {}
    assert "lift ran longer than its limit_ms: stopped" in at.said


@pytest.mark.slow
async def test_what_moves_is_stopped_for_a_unit_that_is_away_whatever_the_core_does(
    rig: Rigs,
) -> None:
    at = await rig(**{"unit.lift.watchdog": None})
    board = at.table.board
    board.hang()  # but for its HAL
    at.table.hal.set("lift", 1)
    at.drives.silent.add(GATE)
    for _ in range(100):
        await asyncio.sleep(0.01)
        at.table.hal.update(board.now_ms())
    assert ("lift", 1) in at.drives.driven
    assert at.drives.runs() == {}


async def test_an_order_that_is_to_be_verified_is_read_back_at_once(rig: Rigs) -> None:
    at = await rig()
    await at.host.deal(1, order_of(CARDS))
    write, look = bytes((GATE, 0x10, 0, POSITION)), bytes((GATE, 3, 0, POSITION))
    frames = list(at.wire.frames)
    behind = [after for order, after in pairwise(frames) if order.startswith(write)]
    assert behind
    assert all(after.startswith(look) for after in behind)


async def test_a_watchdog_is_written_and_its_drive_stops_when_nobody_speaks_to_it(
    rig: Rigs,
) -> None:
    at = await rig()
    assert [at.drives.held(unit, WATCHDOG) for unit in (IO, FEEDER, ROLLERS, LIFT)] == [500] * 4
    at.drives.poke(LIFT, COMMAND, 1)
    at.drives.switch(SHUFFLE_COIL, 1)
    assert set(at.drives.runs()) == {"lift", "shuffle"}
    at.table.board.hang()  # the adapter is dead
    for _ in range(60):
        await asyncio.sleep(0.01)
        at.drives.tick(at.table.board.now_ms())
    assert at.drives.runs() == {}


async def test_a_drive_whose_watchdog_does_not_hold_is_away(rig: Rigs) -> None:
    at = await rig()
    at.drives.silent.add(LIFT)
    await asyncio.sleep(A_WHILE_S)
    at.drives.poke(LIFT, WATCHDOG, 0)
    at.drives.stuck.add((LIFT, WATCHDOG))
    at.drives.silent.clear()
    await asyncio.sleep(A_WHILE_S)
    assert "unit 5 (lift) is away: holding 64 says 0 where 500 was written" in at.said[-1]
    with pytest.raises(BoardRefused) as refused:
        await at.host.dealer.retract()
    assert refused.value.result is BoardResult.NO_DRIVE


async def test_a_drive_that_raises_its_alarm_has_stalled_and_is_not_begun_again(rig: Rigs) -> None:
    alarm = {"unit": "feeder", "input": 0x08, "mask": 1}
    at = await rig(**{"alarm.feed": alarm})
    await at.spoilt(lambda: at.drives.alarm(FEEDER, 1))
    assert at.stalls() == {DealerMotor.FEED}
    assert any("unit 2 (feeder) says that it has given up" in line for line in at.said)
    stalled = at.host.count(BoardEventCode.STALL)
    driven = len(at.drives.driven)
    await at.host.dealer.feed(1, FeedSource.HOPPER, CARDS)
    await at.host.until(BoardEventCode.STALL, stalled + 1)
    assert ("feed", 1) not in at.drives.driven[driven:]


async def test_a_unit_is_halted_besides_whenever_everything_is_stopped(rig: Rigs) -> None:
    at = await rig(**{"unit.gate.halt": {"holding": 0x30, "value": 7}})
    at.drives.poke(GATE, 0x30, 0)
    await at.spoilt(lambda: at.drives.silent.add(IO))
    assert at.drives.held(GATE, 0x30) == 7


@pytest.mark.parametrize("unit", ["feeder", "lift", None])
async def test_a_unit_that_moves_without_a_watchdog_is_named_at_the_start(
    rig: Rigs, unit: str | None
) -> None:
    at = await rig(**({f"unit.{unit}.watchdog": None} if unit else {}))
    said = [line for line in at.table.hal.limitations if "no watchdog is mapped for" in line]
    assert [line.rsplit(" ", 1)[1] for line in said] == ([unit] if unit else [])
    assert any("limits in the board" in line for line in at.table.hal.limitations)


async def test_an_order_whose_answer_got_lost_is_read_back_and_not_given_twice(rig: Rigs) -> None:
    at = await rig()
    lost: list[bytes] = []

    def lose(data: bytes) -> bytes:
        if data[:2] == bytes((FEEDER, 0x10)) and at.drives.runs() and len(lost) < 3:
            lost.append(data)
            return b""
        return data

    at.wire.spoil = lose
    await at.host.deal(1, order_of(CARDS))
    assert len(lost) == 3
    forward = bytes((FEEDER, 0x10, 0, COMMAND, 0, 2, 4, 0, 1))
    assert sum(frame.startswith(forward) for frame in at.wire.frames) == CARDS


async def test_while_a_unit_is_away_no_order_but_to_stop_goes_out(rig: Rigs) -> None:
    at = await rig()
    at.drives.silent.add(GATE)
    await asyncio.sleep(A_WHILE_S)
    driven = len(at.drives.driven)
    for name, value in (("feed", 1), ("pass", 1), ("shuffle", 1), ("lift", 1), ("source", 1)):
        at.table.hal.set(name, value)  # whatever a core makes of it
    await asyncio.sleep(A_WHILE_S)
    assert at.drives.driven[driven:] == []


@pytest.mark.slow
@pytest.mark.parametrize("unit", NAMES)
async def test_a_unit_that_is_away_is_looked_for_now_and_then_and_costs_no_time_between(
    rig: Rigs, unit: int
) -> None:
    at = await rig()
    at.drives.silent.add(unit)
    await asyncio.sleep(A_WHILE_S)
    at.wire.frames.clear()
    steps = at.table.board.steps
    await asyncio.sleep(A_WHILE_S)
    looks = sum(frame[0] == unit for frame in at.wire.frames)
    line = at.table.told.line
    assert 4 <= looks <= (line.retries + 1) * A_WHILE_S * 1000 / line.probe_ms
    assert at.table.board.steps - steps <= 4 * len(at.wire.frames) + 100
