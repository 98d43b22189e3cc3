"""Whatever motors and people do, sensible or not: no card is ever lost or doubled."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from drivers.firmware.protocol import BACK_A, BACK_B, KIND_DEALER
from sim.mechanics.card_handling import OutOfReach
from sim.mechanics.fault_menu import MOTORS, PLACES, SimulatedFault, fault_menu
from sim.mechanics.mechanics_settings import MechanicsSettings, PhysicalSet
from sim.mechanics.sensors import DEALER_INPUTS
from sim.mechanics.world import World
from sim.simulated_board import OUTPUTS
from sim.virtual_loop import VirtualLoop

DEALER_OUTPUTS = OUTPUTS[KIND_DEALER]
MOVES = st.tuples(st.sampled_from(DEALER_OUTPUTS), st.integers(0, 4))
SETS = (PhysicalSet("S1", BACK_A), PhysicalSet("S2", BACK_B))
CARDS = 20


def _take(world: World) -> None:
    try:
        world.people.take_hands()
    except OutOfReach:
        assert not world.lift.is_up


DEEDS_DONE: dict[str, Callable[[World], object]] = {
    "lid open": lambda world: world.set_lid(True),
    "lid shut": lambda world: world.set_lid(False),
    "stop": lambda world: world.set_estop(True),
    "go on": lambda world: world.set_estop(False),
    "take": _take,
    "lay down": lambda world: world.people.lay_down(),
    "load": lambda world: world.people.load(),
    "load one": lambda world: world.people.load("S1"),
    "load other": lambda world: world.people.load("S2"),
    "gather one": lambda world: world.people.gather("S1"),
    "gather other": lambda world: world.people.gather("S2"),
    "mix one": lambda world: world.people.mix("S1", 3),
    "mix other": lambda world: world.people.mix("S2", 1),
    "put right": lambda world: world.people.put_right(),
    "put back": lambda world: world.people.fill_hopper(world.people.empty_machine()),
    "off": lambda world: world.board_lost_power(DEALER_OUTPUTS),
}
SLOW_DEEDS: dict[str, Callable[[World], Awaitable[None]]] = {
    "collect": lambda world: world.people.collect(),
    "collect one": lambda world: world.people.collect("S1"),
    "collect other": lambda world: world.people.collect("S2"),
    "change": lambda world: world.people.change_set(),
    "change to one": lambda world: world.people.change_set(card_set="S1"),
    "change to other": lambda world: world.people.change_set(card_set="S2"),
}
DEEDS = st.sampled_from([*DEEDS_DONE, *SLOW_DEEDS])
NAMES = sorted(
    name for name, entry in fault_menu().items() if entry.strikes in ("card", "set", "now")
)
# With these a sensor does not say what is so.
LYING = {"sensor_stuck", "sensor_late", "sensor_bounce", "hopper_early"}
FIELDS: dict[str, st.SearchStrategy[object]] = {
    "place": st.sampled_from(PLACES),
    "motor": st.sampled_from(MOTORS),
    "sensor": st.sampled_from(DEALER_INPUTS),
    "pocket": st.integers(0, 4),
    "times": st.integers(1, 3),
    "clears_after": st.sampled_from([0, 1, 2, None]),
    "value": st.integers(0, 1),
    "ms": st.sampled_from([1.0, 30.0, 500.0]),
    "for_ms": st.sampled_from([20.0, 2000.0, None]),
}


@st.composite
def _faults(draw: st.DrawFn) -> SimulatedFault:
    """Draw any fault of the machine itself, with any of its fields."""
    name = draw(st.sampled_from(NAMES))
    fields = {field: draw(FIELDS[field]) for field in fault_menu()[name].takes if field in FIELDS}
    rate = draw(st.sampled_from([0.0, 0.3]))
    return msgspec.convert({"name": name, "rate": rate, **fields}, SimulatedFault)


STEPS = st.lists(
    st.tuples(st.one_of(MOVES, DEEDS), st.sampled_from([0.0, 1.0, 7.5, 20.0, 60.0, 300.0, 1500.0])),
    max_size=60,
)


def _check(world: World) -> None:
    """Every card once; every level sensor as the cards lie."""
    truth = world.truth()
    ids = [card.id for card in truth.all_cards()]
    assert sorted(ids) == list(range(world.cards_made))
    assert len(world.active_faults()) <= len(world.faults.past_strikes)
    if LYING & {struck.fault.name for struck in world.faults.past_strikes}:
        return
    for outlet, pocket in enumerate(truth.pockets[:4]):
        assert world.dealer.levels[f"pocket_{outlet}"] == bool(pocket)
    assert world.dealer.levels["window"] == bool(truth.window)
    assert world.dealer.levels["double"] == (len(truth.window) > 1)
    assert world.dealer.levels["shuffler"] == bool(truth.shuffler)
    assert world.dealer.levels["tray_feed"] == world.dealer.levels["pocket_4"]
    if truth.hopper:
        assert world.dealer.levels["hopper"] == 1
    assert world.dealer.levels["lift"] == truth.lift_up
    assert world.dealer.levels["lift_down"] == truth.lift_down
    assert not (truth.lift_up and truth.lift_down)


async def _do(world: World, deed: str) -> None:
    if deed in SLOW_DEEDS:
        await SLOW_DEEDS[deed](world)
    else:
        DEEDS_DONE[deed](world)


@settings(max_examples=150)
@given(st.integers(0, 2**32), st.lists(_faults(), max_size=4), STEPS)
def test_no_card_is_lost_or_doubled_whatever_is_done(
    seed: int, faults: list[SimulatedFault], steps: list[tuple[tuple[str, int] | str, float]]
) -> None:
    async def main() -> None:
        base = MechanicsSettings(cards=CARDS, sets=SETS, faults=tuple(faults))
        world = World(base, random.Random(seed))
        for step, pause_ms in steps:
            if isinstance(step, tuple):
                world.set_output(*step)
            else:
                with suppress(OutOfReach):
                    await _do(world, step)
            _check(world)
            await world.clock.wait_ms(pause_ms)
            _check(world)
        world.close()

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(main())
