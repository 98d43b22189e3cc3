"""What must hold on the chip when something is late, lost, weak or stuck."""

import asyncio
from collections.abc import Callable

import pytest

from drivers.board_events import BoardEventCode, BoardStopReason, DealerMotor, FeedSource
from drivers.errors import BoardRefused
from drivers.link.frames import BoardResult
from drivers.typed_boards import DealerBoard
from sim.mechanics.fault_menu import SimulatedFault
from tests.chip.chip import WDT_RESET
from tests.chip.rig import FEED, GATE, PASS, ChipTable
from tests.sim.orders import order_of

pytestmark = pytest.mark.virtual
OnChips = Callable[..., ChipTable]
NORMAL, SAGGED = 43_000, 30_000
SUPPLY = 26


async def begin(table: ChipTable, cards: int = 8) -> DealerBoard:
    """Open the lines and begin attempt 1 with a shuffle: the next is its first FEED."""
    await table.host.open()
    dealer = table.host.dealer
    await dealer.begin(1, cards, cards // 4)
    await table.host.reader.begin(1, cards, cards // 4)
    await dealer.shuffle(1, 1)
    await table.host.until(BoardEventCode.SHUFFLED)
    return dealer


async def until(told: Callable[[], bool], most_s: float = 5.0) -> None:
    """Wait until it is so, a tenth of a millisecond at a time."""
    for _ in range(int(most_s * 10_000)):
        if told():
            return
        await asyncio.sleep(0.0001)
    raise AssertionError("it did not come")


def stops(table: ChipTable) -> list[int]:
    return [event.place for event in table.host.events if event.code is BoardEventCode.STOPPED]


async def test_the_window_stops_the_feeder_while_the_core_is_stalled(on_chips: OnChips) -> None:
    table = on_chips()
    dealer = await begin(table)
    feeder = table.chip.machines[FEED]
    await dealer.feed(1, FeedSource.HOPPER, 8)
    await until(feeder.running)
    table.dealer.stalled = True
    window = table.chip.lines[table.pin("window")]
    await until(lambda: bool(window.level))
    assert not feeder.running()
    made = feeder.made
    assert 0 < made < 1760
    await asyncio.sleep(0.5)
    assert feeder.made == made


async def test_a_feeder_alone_ends_by_itself_after_its_steps(on_chips: OnChips) -> None:
    table = on_chips(SimulatedFault("no_feed", at=1, times=3))
    dealer = await begin(table)
    feeder = table.chip.machines[FEED]
    await dealer.feed(1, FeedSource.HOPPER, 8)
    await until(feeder.running)
    table.dealer.stalled = True
    await asyncio.sleep(0.9)
    assert feeder.made == 1760


async def test_a_card_that_comes_in_the_instant_of_the_start_is_not_pushed_on(
    on_chips: OnChips,
) -> None:
    table = on_chips()
    feeder = table.chip.machines[FEED]
    table.chip.at(table.pin("window"), 1)
    table.dealer.hal.set("feed", 1)
    assert not feeder.running()
    assert feeder.made <= 1
    table.dealer.hal.set("feed", 2)  # backwards it may
    assert feeder.running()


@pytest.mark.parametrize("motor", ["shuffle", "lift", "feed"])
async def test_a_core_that_hangs_is_reset_with_every_output_off(
    on_chips: OnChips, motor: str
) -> None:
    table = on_chips()
    dealer = await begin(table)
    if motor == "shuffle":
        await dealer.shuffle(1, 9)
        await until(lambda: table.chip.pwm[9] > 0)
    elif motor == "lift":
        table.dealer.hal.set("lift", 1)
    else:
        await dealer.feed(1, FeedSource.HOPPER, 8)
    table.dealer.stalled = True
    await asyncio.sleep(1.01)
    assert table.chip.resets == [WDT_RESET]
    assert table.chip.pwm[9] == 0
    assert not any(line.level for line in table.chip.lines if line.number in (0, 2, 5, 7, 11, 12))
    assert not any(machine.running() for machine in table.chip.machines.values())


async def test_a_loop_that_turns_is_never_reset(on_chips: OnChips) -> None:
    table = on_chips()
    await asyncio.sleep(2)
    assert table.chip.resets == []


async def test_a_core_is_stepped_where_there_is_something_for_it_and_not_each_turn(
    on_chips: OnChips, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = on_chips()
    await table.host.open()
    board, steps = table.dealer.board, 0
    step = board.step

    def counted(now_ms: int, rx: bytes) -> bytes:
        nonlocal steps
        steps += 1
        return step(now_ms, rx)

    monkeypatch.setattr(board, "step", counted)
    await asyncio.sleep(2.0)  # two thousand turns, a word each 100 ms and one behind it
    assert 20 <= steps <= 60
    assert table.host.count(BoardEventCode.STOPPED) == 0  # both sides still hear each other in time
    await table.host.deal(1, order_of(8))
    assert [len(pocket) for pocket in table.world.truth().pockets] == [2, 2, 2, 2, 0]


async def test_edges_that_found_no_room_end_the_attempt(on_chips: OnChips) -> None:
    table = on_chips()
    dealer = await begin(table)
    table.dealer.stalled = True
    for _ in range(32):  # 64 edges; the ring holds 63
        table.chip.at(table.pin("double"), 1)
        table.chip.at(table.pin("double"), 0)
    table.dealer.stalled = False
    await table.host.until(BoardEventCode.STOPPED)
    assert stops(table) == [BoardStopReason.EDGES_LOST]
    with pytest.raises(BoardRefused) as caught:
        await dealer.release(1)
    assert caught.value.result is BoardResult.NOT_LOCKED


async def test_edges_that_just_find_room_are_told_in_order(on_chips: OnChips) -> None:
    table = on_chips()
    await begin(table)
    table.dealer.stalled = True
    taken: list[tuple[int, str, int]] = []

    def take(name: str, value: int) -> None:
        taken.append((0, name, value))

    table.dealer.board.on_edge = take  # type: ignore[method-assign]
    for _ in range(31):
        table.chip.at(table.pin("double"), 1)
        table.chip.at(table.pin("double"), 0)
    table.dealer.stalled = False
    await asyncio.sleep(0.01)
    assert taken == [(0, "double", 1), (0, "double", 0)] * 31
    assert stops(table) == []


async def test_a_pulse_that_came_and_went_while_interrupts_were_shut_is_counted(
    on_chips: OnChips,
) -> None:
    table = on_chips()
    await begin(table)
    chip, pin = table.chips["reader"], 16
    seen: list[int] = []
    board = table.boards["reader"].board
    on_edge = board.on_edge

    def take(name: str, value: int) -> None:
        seen.append(value)
        on_edge(name, value)

    board.on_edge = take  # type: ignore[method-assign]
    with chip.deaf():
        chip.at(pin, 1)
        chip.at(pin, 0)
    await asyncio.sleep(0.1)
    assert (await table.host.reader.get_status()).pulses == 1
    chip.at(pin, 1)
    with chip.deaf():
        chip.at(pin, 0)
        chip.at(pin, 1)
    await asyncio.sleep(0.1)
    assert (await table.host.reader.get_status()).pulses == 3
    assert seen == [1, 0, 1, 0, 1]


async def test_a_supply_that_sags_stops_all_motion_and_is_told(on_chips: OnChips) -> None:
    table = on_chips()
    dealer = await begin(table)
    table.host._attempt, table.host._order = 1, order_of(8)
    await dealer.feed(1, FeedSource.HOPPER, 8)
    await until(lambda: table.chip.machines[FEED].running())
    table.chip.analog[SUPPLY] = SAGGED
    await table.host.until(BoardEventCode.STOPPED)
    assert stops(table) == [BoardStopReason.SUPPLY]
    assert not any(machine.running() for machine in table.chip.machines.values())
    assert table.chip.lines[0].level == 0  # the drives are off
    assert (await dealer.get_status()).supply_low
    with pytest.raises(BoardRefused) as caught:
        await dealer.feed(1, FeedSource.HOPPER, 8)
    assert caught.value.result is BoardResult.SUPPLY_LOW
    table.chip.analog[SUPPLY] = NORMAL
    await asyncio.sleep(0.05)
    assert not table.chip.machines[FEED].running()  # nothing moves by itself
    await dealer.feed(1, FeedSource.HOPPER, 8)
    await table.host.until(BoardEventCode.LANDED, 8)
    assert stops(table) == [BoardStopReason.SUPPLY]


async def test_one_bad_reading_and_a_supply_between_both_limits_stop_nothing(
    on_chips: OnChips,
) -> None:
    table = on_chips()
    await begin(table)
    table.chip.analog[SUPPLY] = SAGGED
    await asyncio.sleep(0.0015)
    table.chip.analog[SUPPLY] = 37_000
    await asyncio.sleep(0.5)
    assert stops(table) == []
    table.chip.analog[SUPPLY] = SAGGED
    await asyncio.sleep(0.05)
    table.chip.analog[SUPPLY] = 37_000
    await asyncio.sleep(0.5)
    assert stops(table) == [BoardStopReason.SUPPLY]
    assert (await table.host.dealer.get_status()).supply_low


async def test_a_board_that_starts_with_a_weak_supply_moves_nothing(on_chips: OnChips) -> None:
    table = on_chips()
    table.dealer.close()
    chip = table.chip
    chip.machines.clear()
    chip.analog[SUPPLY] = SAGGED
    for line in chip.lines:
        line.irq, line.output = None, False
        line.level = 0
    hal = chip.loaded["rp2_hal"].Rp2DealerHal()
    assert hal.read("supply") == 1
    assert chip.lines[0].level == 0


async def test_a_register_whose_cable_is_off_says_open_and_pressed(on_chips: OnChips) -> None:
    table = on_chips()
    await begin(table)
    table.dealer_pins.shift.cable = False
    await asyncio.sleep(0.1)
    status = await table.host.dealer.get_status()
    assert status.lid_open
    assert status.estop
    assert BoardStopReason.LID in stops(table)


async def test_a_gate_that_is_lost_goes_home_without_a_wait(on_chips: OnChips) -> None:
    table = on_chips()
    dealer = await begin(table)
    table.host._attempt, table.host._order = 1, [3, 0, 1, 2, 3, 0, 1, 2]
    await dealer.feed(1, FeedSource.HOPPER, 8)
    await until(lambda: table.host.count(BoardEventCode.AT_READER) == 1)
    # A hand turned it: it stands between two outlets.
    table.dealer_pins.gate_steps = 70
    table.world.gate._start_move(0, 1)
    gate = table.chip.machines[GATE]
    await until(gate.running)
    turned = 0
    take = table.dealer.hal.update

    def counted(now_ms: int) -> None:
        nonlocal turned
        turned += 1
        take(now_ms)

    table.dealer.hal.update = counted
    began_s = table.chip.now_s()
    await until(lambda: not gate.running())
    assert gate.last == 800  # to the stop, whatever the magnets see on the way
    assert turned == pytest.approx((table.chip.now_s() - began_s) * 1000, abs=2)
    await table.host.until(BoardEventCode.LANDED, 8)
    landed = [event.place for event in table.host.events if event.code is BoardEventCode.LANDED]
    assert landed == [3, 0, 1, 2, 3, 0, 1, 2]


async def test_a_gate_that_lost_steps_goes_home_once_and_comes_from_there(
    on_chips: OnChips,
) -> None:
    table = on_chips()
    hal, gate = table.dealer.hal, table.chip.machines[GATE]
    hal.set("gate", 2)
    await asyncio.sleep(0.001)
    table.dealer_pins.gate_steps -= 30  # it skipped
    await asyncio.sleep(0.4)
    assert hal.read("gate_at") == 2
    assert gate.made == 2 * 160 + 800 + 2 * 160


async def test_a_new_order_waits_for_the_end_of_the_move_under_way(on_chips: OnChips) -> None:
    table = on_chips()
    hal, gate = table.dealer.hal, table.chip.machines[GATE]
    hal.set("gate", 4)
    await asyncio.sleep(0.005)
    hal.set("gate", 1)
    await asyncio.sleep(0.3)
    assert hal.read("gate_at") == 1
    assert gate.made == 4 * 160 + 3 * 160


async def test_a_gate_that_never_comes_is_a_stall_and_no_card_passes(on_chips: OnChips) -> None:
    table = on_chips(SimulatedFault("stall", motor="gate"))
    dealer = await begin(table)
    table.host._attempt, table.host._order = 1, [3, 0, 1, 2, 3, 0, 1, 2]
    await dealer.feed(1, FeedSource.HOPPER, 8)
    await table.host.until(BoardEventCode.STALL)
    (stall,) = [event for event in table.host.events if event.code is BoardEventCode.STALL]
    assert stall.place == DealerMotor.GATE
    assert table.host.count(BoardEventCode.GATE) == 0
    assert table.chip.machines[GATE].made == 3 * 160 + 800 + 3 * 160  # one try, and no more


async def test_noise_on_the_engines_line_hides_no_answer(on_chips: OnChips) -> None:
    table = on_chips()
    await begin(table)
    uart = table.chips["reader"].uart
    assert uart is not None
    for noise in (b"\xff" * 200, b"x" * 200, b"\nR 1 2\nR a b c d e\n", b"R 9 1 0 0 0\n"):
        uart.arrive(noise)
        await asyncio.sleep(0.005)
    table.host._attempt, table.host._order = 1, order_of(8)
    await table.host.dealer.feed(1, FeedSource.HOPPER, 8)
    await table.host.until(BoardEventCode.LANDED, 8)
    assert table.host.count(BoardEventCode.READ) == 8


async def test_a_technician_gets_a_chip_that_lies_still(on_chips: OnChips) -> None:
    from drivers.link.frames import ServiceCommand

    table = on_chips()
    await table.host.open()
    table.dealer.hal.set("shuffle", 1)
    assert table.chip.pwm[9] > 0
    kept: list[tuple[str, int]] = []
    table.dealer.loop._save = lambda name, _: kept.append((name, table.chip.pwm[9]))
    await table.host.dealer.link.request(ServiceCommand())
    await asyncio.sleep(0.01)
    assert kept == [("service", 0)]  # what takes long comes when nothing moves any more
    assert len(table.chip.resets) == 1
    assert table.chip.lines[0].level == 0


async def test_nobody_gets_a_chip_that_deals(on_chips: OnChips) -> None:
    from drivers.link.frames import ServiceCommand

    table = on_chips()
    dealer = await begin(table)
    table.host._attempt, table.host._order = 1, order_of(8)
    await dealer.feed(1, FeedSource.HOPPER, 8)
    for _ in range(40):
        await asyncio.sleep(0.02)
        with pytest.raises(BoardRefused):
            await dealer.link.request(ServiceCommand())
    assert table.chip.resets == []
    await table.host.until(BoardEventCode.LANDED, 8)


async def test_garbage_is_collected_between_cards_and_never_while_a_motor_turns(
    on_chips: OnChips,
) -> None:
    table = on_chips(cards=20)
    chip, moving = table.chip, []

    def collected() -> None:
        moving.append(any(chip.machines[motor].running() for motor in (FEED, PASS, GATE)))

    chip.loaded["gc"].collect = collected
    await table.host.open()
    await table.host.deal(1, order_of(20))
    assert len(moving) >= 20
    assert not any(moving)


@pytest.mark.parametrize("greeted", [True, False])
async def test_a_firmware_on_trial_that_nobody_greets_gives_way(
    on_chips: OnChips, greeted: bool
) -> None:
    table = on_chips()
    table.dealer.loop._trial_until = 1_000
    await asyncio.sleep(0.9)
    assert table.chip.resets == []
    if greeted:
        await table.host.open()
    await asyncio.sleep(0.3)
    assert len(table.chip.resets) == (0 if greeted else 1)
