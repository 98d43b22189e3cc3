"""Whatever motors and people do, sensible or not: no card is ever lost or doubled."""

import asyncio
import random
from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st

from sim.hal import DEALER_OUTPUTS
from sim.mechanics.faults import Fault
from sim.mechanics.people import OutOfReach
from sim.mechanics.settings import Settings
from sim.mechanics.world import World
from sim.virtual import VirtualLoop

MOVES = st.tuples(st.sampled_from(DEALER_OUTPUTS), st.integers(0, 4))
DEEDS = st.sampled_from(
    ["lid open", "lid shut", "stop", "go on", "take", "load", "gather", "collect", "change", "off"]
)
FAULTS = st.builds(
    Fault,
    name=st.sampled_from(
        ["double_feed", "jam", "wrong_pocket", "face_up", "left_in_pocket", "stall"]
    ),
    rate=st.sampled_from([0.0, 0.3]),
)
MOVING_FAULTS = FAULTS.flatmap(
    lambda fault: (
        st.sampled_from(["feeder", "tray_feeder", "window", "gate", "landing"]).map(
            lambda place: Fault(fault.name, rate=fault.rate, place=place, clears_after=1)
        )
        if fault.name == "jam"
        else st.just(fault)
    )
)
STEPS = st.lists(
    st.tuples(st.one_of(MOVES, DEEDS), st.sampled_from([0.0, 1.0, 7.5, 20.0, 60.0, 300.0, 1500.0])),
    max_size=60,
)


def _take(world: World) -> None:
    try:
        world.people.take_hands()
    except OutOfReach:
        assert not world.lift.up


DEEDS_DONE: dict[str, Callable[[World], object]] = {
    "lid open": lambda world: world.set_lid(True),
    "lid shut": lambda world: world.set_lid(False),
    "stop": lambda world: world.set_estop(True),
    "go on": lambda world: world.set_estop(False),
    "take": _take,
    "load": lambda world: world.people.load(),
    "gather": lambda world: world.people.fill(world.people.gather()),
    "off": lambda world: world.board_gone(DEALER_OUTPUTS),
}


def _check(world: World) -> None:
    """Every card once; every level sensor as the cards lie."""
    truth = world.truth()
    ids = [card.id for card in truth.everything()]
    assert sorted(ids) == list(range(world.cards_made))
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


@settings(max_examples=150)
@given(st.integers(0, 2**32), st.lists(MOVING_FAULTS, max_size=3), STEPS)
def test_no_card_is_lost_or_doubled_whatever_is_done(
    seed: int,
    faults: list[Fault],
    steps: list[tuple[tuple[str, int] | str, float]],
) -> None:
    async def main() -> None:
        base = Settings(cards=20, faults=tuple(faults))
        world = World(base, random.Random(seed))
        for step, pause_ms in steps:
            if isinstance(step, tuple):
                world.set(*step)
            elif step == "collect":
                await world.people.collect()
            elif step == "change":
                await world.people.change_set(count=20)
            else:
                DEEDS_DONE[step](world)
            _check(world)
            await world.clock.pass_ms(pause_ms)
            _check(world)
        world.close()

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(main())
