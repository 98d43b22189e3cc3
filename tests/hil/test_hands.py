"""What a simulated table cannot do is skipped, with the reason: it is no failure."""

import random
from pathlib import Path

import pytest

from hil_tests.harness.hands import ControlHands, InProcessHands, StepSkipped
from hil_tests.harness.in_process_daemon import make_table
from sim.board_process import cpython_interpreter
from sim.hardware_on_ptys import HardwareOnPtys, TablePlan
from sim.mechanics.mechanics_settings import MechanicsSettings
from sim.tables.table_processes import ControlClient


async def press(name: str, down: bool) -> None:
    raise AssertionError("nobody presses a button here")


async def test_a_fault_that_a_table_in_this_process_cannot_have_skips_its_scenario() -> None:
    sim = make_table(random.Random(1))
    try:
        with pytest.raises(
            StepSkipped, match="daemon_killed: this simulator has no daemon to kill"
        ):
            await InProcessHands(sim, press).cause_fault("daemon_killed")
    finally:
        sim.close()


@pytest.mark.parametrize("name", ["daemon_killed", "bytes_dropped"])
async def test_a_fault_that_a_simulator_cannot_have_skips_its_scenario(
    runtime_dir: Path, name: str
) -> None:
    plan = TablePlan(
        "T", runtime_dir, MechanicsSettings(), interpreter=cpython_interpreter(), attendant=False
    )
    async with HardwareOnPtys(plan, iter(range(1, 9)).__next__) as table:
        hands = ControlHands(ControlClient(table.info()["control"]))
        with pytest.raises(StepSkipped, match=f"{name}: this simulator has no"):
            await hands.cause_fault(name)
