"""The real firmware on simulated mechanics, in one process and in no time."""

import asyncio
import itertools
import random
from collections import Counter
from collections.abc import AsyncIterator, Callable

import pytest

from drivers.board_events import BoardEventCode, CardReadEvent
from drivers.errors import BoardRefused, LineLost
from sim.hardware_in_process import BOARDS, HardwareInProcess
from sim.mechanics.fault_menu import SimulatedFault
from sim.mechanics.mechanics_settings import MechanicsSettings
from sim.virtual_loop import VirtualLoop, VirtualTimeError
from tests.sim.host import Host
from tests.sim.orders import order_of

pytestmark = pytest.mark.virtual
LONG_AFTER_S = 60.0
"""Longer than a deal of twenty cards takes."""


Rig = Callable[..., tuple[HardwareInProcess, Host]]


@pytest.fixture
async def rig() -> AsyncIterator[Rig]:
    """Make a table in process and a host on its lines: `rig(Fault(...), delay_ms=1)`."""
    made: list[tuple[HardwareInProcess, Host]] = []
    boots = itertools.count(100)

    def make(
        *faults: SimulatedFault, seed: int = 1, cards: int = 108, delay_ms: float = 0.0
    ) -> tuple[HardwareInProcess, Host]:
        settings = MechanicsSettings(cards=cards, faults=faults)
        table = HardwareInProcess(
            settings, random.Random(seed), boots=lambda: next(boots), delay_ms=delay_ms
        )
        made.append((table, Host(table.port("dealer"), table.port("reader"))))
        return made[-1]

    yield make
    for table, host in made:
        host.close()
        table.close()


async def test_108_cards_are_dealt_27_to_each_pocket_and_lifted(rig: Rig) -> None:
    table, host = rig()
    await host.open()
    await host.deal(1, order_of(108))
    truth = table.world.truth()
    assert [len(pocket) for pocket in truth.pockets] == [27, 27, 27, 27, 0]
    assert len(truth.all_cards()) == 108
    await host.release()
    assert table.world.truth().lift_up
    assert (
        host.count(BoardEventCode.STRAY)
        == host.count(BoardEventCode.JAM)
        == host.count(BoardEventCode.DOUBLE)
        == 0
    )


async def test_each_card_lands_where_its_route_said_and_was_read_for_what_it_is(rig: Rig) -> None:
    table, host = rig()
    await host.open()
    order = order_of(20, seed=3)
    await host.deal(1, order)
    reads = [event for event in host.events if isinstance(event, CardReadEvent)]
    by_pocket: dict[int, list[int]] = {seat: [] for seat in range(4)}
    for place, event in zip(order, reads, strict=True):
        by_pocket[place].append(event.face)
    truth = table.world.truth()
    assert {seat: list(truth.faces_in(seat)) for seat in range(4)} == by_pocket


async def test_the_mechanics_of_a_deal_take_about_ten_seconds(rig: Rig) -> None:
    table, host = rig()
    await host.open()
    await host.deal(1, order_of(108))
    taken = table.world.truth().mechanical_s
    assert taken is not None
    assert 9.0 < taken < 11.0


async def test_a_deal_replays_from_its_seed(rig: Rig) -> None:
    async def deal() -> list[tuple[int, ...]]:
        table, host = rig(seed=11)
        await host.open()
        await host.deal(1, order_of(108))
        return [table.world.truth().faces_in(seat) for seat in range(4)]

    assert await deal() == await deal()


async def test_attempt_follows_attempt_on_one_machine(rig: Rig) -> None:
    table, host = rig()
    await host.open()
    for attempt in range(1, 4):
        await host.deal(attempt, order_of(108, seed=attempt))
        await host.release()
        table.world.people.take_hands()
        assert [len(hand) for hand in table.world.truth().hands] == [27] * 4
        table.world.people.load()
        await host.dealer.retract()
        await asyncio.sleep(3)
        assert table.world.lift.is_down


@pytest.mark.parametrize("stop", ["lid", "estop", "host"])
async def test_a_stopped_lift_stays_half_way_until_release_is_said_again(
    rig: Rig, stop: str
) -> None:
    table, host = rig(cards=20)
    await host.open()
    await host.deal(1, order_of(20))
    await host.dealer.release(1)
    await asyncio.sleep(0.5)
    if stop == "host":
        host.dealer.stop()
    for on in (True, False):
        {"lid": table.world.set_lid, "estop": table.world.set_estop}.get(stop, bool)(on)
        await asyncio.sleep(5)
        truth = table.world.truth()
        assert (truth.lift_up, truth.lift_down) == (False, False)
    await host.release()
    assert table.world.truth().lift_up
    assert host.count(BoardEventCode.RELEASED) == 1


async def test_a_lift_that_sticks_rises_when_it_is_asked_again_and_not_before(rig: Rig) -> None:
    table, host = rig(cards=20)
    await host.open()
    await host.deal(1, order_of(20))
    table.world.add_fault(SimulatedFault("stall", motor="lift"))
    await host.dealer.release(1)
    await host.until(BoardEventCode.STALL)
    await host.until(BoardEventCode.STOPPED)
    for motor in table.world.motors.values():
        motor.free()
    await asyncio.sleep(10)
    assert table.world.truth().lift_down
    await host.release()
    assert table.world.truth().lift_up


async def test_a_lift_that_a_dead_board_left_half_way_is_lowered_by_its_successor(rig: Rig) -> None:
    table, host = rig(cards=20)
    await host.open()
    await host.deal(1, order_of(20))
    await host.release()
    table.world.people.take_hands()
    table.world.people.load()
    await host.dealer.retract()
    await asyncio.sleep(0.5)
    table.kill("dealer")
    await asyncio.sleep(1)
    table.start("dealer")
    await host.dealer.link.open({}, {})
    await asyncio.sleep(5)
    status = await host.dealer.get_status()
    assert (status.lift_up, status.lift_down, status.is_clear) == (False, False, False)
    with pytest.raises(BoardRefused):
        await host.dealer.begin(2, 20, 5)
    await host.dealer.retract()
    await asyncio.sleep(2)
    assert (await host.dealer.get_status()).is_clear
    await host.dealer.begin(2, 20, 5)


async def test_a_jam_that_reversing_frees_costs_time_and_nothing_else(rig: Rig) -> None:
    table, host = rig(
        SimulatedFault("jam", place="feeder", at=7, clears_after=1),
        SimulatedFault("jam", place="window", at=13, clears_after=1),
    )
    await host.open()
    await host.deal(1, order_of(108))
    assert [len(pocket) for pocket in table.world.truth().pockets] == [27, 27, 27, 27, 0]


async def test_a_double_feed_is_seen_by_the_board(rig: Rig) -> None:
    _, host = rig(SimulatedFault("double_feed", at=5), cards=20)
    await host.open()
    with pytest.raises(TimeoutError):  # one index is two cards: the last never comes
        await asyncio.wait_for(host.deal(1, order_of(20)), LONG_AFTER_S)
    doubles = [event.index for event in host.events if event.code is BoardEventCode.DOUBLE]
    assert doubles == [5]


async def test_a_card_in_the_wrong_pocket_is_a_stray_and_is_missed(rig: Rig) -> None:
    _, host = rig(SimulatedFault("wrong_pocket", at=5), cards=20)
    await host.open()
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(host.deal(1, order_of(20)), LONG_AFTER_S)
    assert host.count(BoardEventCode.STRAY) == 1
    assert host.count(BoardEventCode.JAM) == 1


async def test_a_board_without_power_stops_the_machine_and_its_port_vanishes(rig: Rig) -> None:
    table, host = rig(cards=20)
    lost: list[LineLost] = []
    host.dealer.link.on_down = lost.append
    await host.open()
    deal = asyncio.ensure_future(host.deal(1, order_of(20)))
    await asyncio.sleep(2)
    table.kill("dealer")
    await asyncio.sleep(1)
    deal.cancel()
    assert len(lost) == 1
    truth = table.world.truth()
    await asyncio.sleep(5)
    assert table.world.truth() == truth


async def test_a_restarted_board_has_another_boot_and_knows_nothing(rig: Rig) -> None:
    table, host = rig(cards=20)
    await host.open()
    await host.deal(1, order_of(20))
    table.kill("dealer")
    await asyncio.sleep(1)
    table.start("dealer")
    welcome = await host.dealer.link.open({}, {})
    assert (welcome.attempt, welcome.boot) == (0, 102)


async def test_bytes_may_take_their_time_on_the_line(rig: Rig) -> None:
    table, host = rig(delay_ms=5, cards=20)
    await host.open()
    await host.deal(1, order_of(20))
    assert Counter(len(pocket) for pocket in table.world.truth().pockets) == Counter({5: 4, 0: 1})


async def test_a_noisy_line_costs_time_and_no_card(rig: Rig) -> None:
    table, host = rig(delay_ms=1)
    for board, way in itertools.product(BOARDS, ("to_board", "to_host")):
        for name in ("bytes_dropped", "bytes_repeated", "bytes_corrupted"):
            table.world.add_fault(SimulatedFault(name, rate=0.02, board=board, way=way))
    await host.open()
    await host.deal(1, order_of(108))
    assert [len(pocket) for pocket in table.world.truth().pockets] == [27, 27, 27, 27, 0]
    assert host.dealer.link.counters.crc_errors > 0


def test_a_closed_table_leaves_no_timer() -> None:
    async def main() -> None:
        table = HardwareInProcess(MechanicsSettings(cards=20), random.Random(1), boots=lambda: 1)
        host = Host(table.port("dealer"), table.port("reader"))
        await host.open()
        await host.deal(1, order_of(20))
        host.close()
        table.close()
        await asyncio.Event().wait()  # nothing is left that could end this

    with (
        asyncio.Runner(loop_factory=VirtualLoop) as runner,
        pytest.raises(VirtualTimeError, match="no timer is set"),
    ):
        runner.run(main())
