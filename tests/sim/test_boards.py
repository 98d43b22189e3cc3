"""The shell around a core in process: stepped when something happens, never for a tick."""

import asyncio
import random
from collections.abc import Iterator
from typing import cast

import pytest

from drivers.firmware.board import BoardCore
from drivers.firmware.protocol import KIND_DEALER, KIND_READER
from sim.mechanics.mechanics_settings import MechanicsSettings
from sim.mechanics.world import World
from sim.serial_lines import PipePort, make_pipe
from sim.simulated_board import BoardStepper, SimulatedHal

pytestmark = pytest.mark.virtual
NEVER = 1 << 62


class Core:
    """A core that writes its steps down; `deadlines` are what it wants, one a step."""

    def __init__(self, hal: SimulatedHal, deadlines: Iterator[int]) -> None:
        self.steps: list[tuple[int, bytes, list[tuple[int, str, int]]]] = []
        self._hal = hal
        self._deadlines = deadlines
        self._deadline = NEVER

    def step(self, now_ms: int, rx: bytes) -> bytes:
        self.steps.append((now_ms, rx, self._hal.edges()))
        self._deadline = next(self._deadlines, NEVER)
        return rx

    def deadline(self) -> int:
        return self._deadline

    def to_store(self) -> bytes:
        return b""


def board(*deadlines: int) -> tuple[World, Core, PipePort, BoardStepper]:
    world = World(MechanicsSettings(cards=8), random.Random(1))
    hal = SimulatedHal(world, KIND_DEALER, bytes(8))
    core = Core(hal, iter(deadlines))
    port, end = make_pipe()
    return world, core, port, BoardStepper(cast(BoardCore, core), end, hal)


async def test_a_core_is_stepped_at_its_own_deadline_and_not_before() -> None:
    _, core, _, _ = board(7, 7, 300)
    await asyncio.sleep(10)
    assert [now for now, _, _ in core.steps] == [0, 7, 8, 300]


async def test_a_deadline_that_moved_on_costs_no_step_at_the_old_one() -> None:
    world, core, _, _ = board(50, 90)
    await asyncio.sleep(0.02)
    world.set_lid(True)
    await asyncio.sleep(10)
    assert [now for now, _, _ in core.steps] == [0, 20, 90]


async def test_everything_of_one_instant_is_one_step() -> None:
    world, core, port, _ = board()
    got: list[bytes] = []
    port.open(got.append, lambda why: None)
    await asyncio.sleep(0.005)
    world.set_lid(True)
    world.set_estop(True)
    await asyncio.sleep(1)
    assert core.steps[1:] == [(5, b"", [(5, "lid", 1), (5, "estop", 1)])]
    port.write(b"ping")
    await asyncio.sleep(1)
    assert core.steps[-1] == (1005, b"ping", [])
    assert got == [b"ping"]


async def test_a_board_that_is_switched_off_is_stepped_no_more() -> None:
    world, core, port, shell = board(100)
    await asyncio.sleep(0.05)
    shell.close()
    world.set_lid(True)
    port.write(b"ping")
    await asyncio.sleep(1)
    assert len(core.steps) == 1


async def test_a_board_reaches_its_own_pins_only() -> None:
    world, _, _, shell = board()
    with pytest.raises(KeyError):
        shell.hal.set("shoot", 1)
    with pytest.raises(KeyError):
        shell.hal.read("pulse")
    reader = SimulatedHal(world, KIND_READER, bytes(8))
    assert reader.read("pulse") == 0
    with pytest.raises(KeyError):
        reader.set("feed", 1)
