"""Scripts of the control socket: each step in its moment, and a refusal that says where."""

import asyncio
import random
from collections.abc import AsyncIterator
from typing import Any

import pytest

from sim.mechanics.fault_menu import parse_fault
from sim.mechanics.mechanics_settings import MechanicsSettings
from sim.mechanics.world import World
from sim.table_sockets import ScriptError, run_script
from tests.sim.bench import Bench

pytestmark = pytest.mark.virtual


class Scene:
    """A bench, and what a script did there with the number of the card in the window."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.done: list[tuple[str, int, int]] = []

    async def do(self, name: str, args: dict[str, Any]) -> str:
        tally = self.bench.world.tally
        if name == "fault":
            self.bench.world.add_fault(parse_fault(args["text"]))
        self.done.append((name, tally.filling, tally.arrived))
        return name

    async def deal(self, cards: int) -> None:
        for _ in range(cards):
            await self.bench.deal(0)


@pytest.fixture
async def scene() -> AsyncIterator[Scene]:
    world = World(MechanicsSettings(cards=20), random.Random(1))
    yield Scene(Bench(world))
    world.close()


async def _both(scene: Scene, steps: list[Any], deals: int, cards: int = 8) -> list[Any]:
    following = asyncio.ensure_future(run_script(scene.bench.world, steps, scene.do))
    for _ in range(deals):
        await scene.deal(cards)
        await scene.bench.world.people.collect()
    return await following


async def test_a_step_waits_for_its_deal_its_card_and_its_time(scene: Scene) -> None:
    steps: list[Any] = [
        {"do": "at once"},
        {"card": 3, "do": "third"},
        {"fillings": 1, "card": 5, "do": "fifth of the next"},
        {"after_ms": 50, "do": "a little later"},
    ]
    results = await _both(scene, steps, deals=2)
    assert results == ["at once", "third", "fifth of the next", "a little later"]
    assert scene.done == [
        ("at once", 1, 0),
        ("third", 1, 3),
        ("fifth of the next", 2, 5),
        ("a little later", 2, 5),
    ]


async def test_a_fault_may_be_ordered_for_a_card_of_a_later_deal(scene: Scene) -> None:
    step = {"fillings": 2, "do": "fault", "with": {"text": "wrong_pocket:at=4"}}
    await _both(scene, [step], deals=3)
    (struck,) = scene.bench.world.faults.past_strikes
    assert (struck.number, scene.bench.world.tally.filling) == (4, 4)


async def test_a_step_without_a_request_only_waits(scene: Scene) -> None:
    began = scene.bench.world.clock.now_ms()
    assert await run_script(scene.bench.world, [{"after_ms": 700}], scene.do) == []
    assert scene.bench.world.clock.now_ms() == pytest.approx(began + 700)


async def test_a_refused_request_ends_the_script_and_says_which_it_was(scene: Scene) -> None:
    steps = [{"do": "first"}, {"do": "fault", "with": {"text": "gremlin"}}, {"do": "never"}]
    with pytest.raises(ScriptError, match="step 2: fault: no fault is called 'gremlin'"):
        await run_script(scene.bench.world, steps, scene.do)
    assert [name for name, _, _ in scene.done] == ["first"]


@pytest.mark.parametrize("steps", [[{"when": 3}], [{"card": "x"}], ["lid"]])
async def test_what_is_no_script_is_refused_before_anything_is_done(
    scene: Scene, steps: list[Any]
) -> None:
    with pytest.raises(ScriptError):
        await run_script(scene.bench.world, [{"do": "first"}, *steps], scene.do)
    assert scene.done == []
