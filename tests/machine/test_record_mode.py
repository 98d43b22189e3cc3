"""A table whose serial lines are recorded is tested, and says so: nobody plays a match at it."""

from pathlib import Path
from typing import Any

import pytest

from controller.machine.machine import MachineDeps, TableMachine
from controller.messages import MachinePhase, Role
from sim.mechanics.mechanics_settings import MechanicsSettings
from sim.tables.table_in_process import run_table_in_process
from tests.commands.examples import example
from tests.machine.stages import MATCH, PAIRS, refused

pytestmark = pytest.mark.virtual


@pytest.fixture
def tested(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every machine of this test be a tested one."""
    real = TableMachine.__init__

    def init(machine: TableMachine, config: Any, profile: Any, given: MachineDeps) -> None:
        object.__setattr__(given, "is_test", True)
        real(machine, config, profile, given)

    monkeypatch.setattr(TableMachine, "__init__", init)


async def test_a_table_in_play_says_so(runtime_dir: Path) -> None:
    async with run_table_in_process(MechanicsSettings(), runtime_dir) as at:
        state = await at.wait_for_phase(MachinePhase.EMPTY)
        assert state.mode == "play"


@pytest.mark.usefixtures("tested")
async def test_a_table_that_is_recorded_says_so_and_deals(runtime_dir: Path) -> None:
    async with run_table_in_process(MechanicsSettings(), runtime_dir) as at:
        held = await at.play_attempt()
        assert held.machine.phase is MachinePhase.HELD
        await at.return_hands()
        assert {state.mode for state in at.states} == {"test"}


@pytest.mark.usefixtures("tested")
async def test_a_table_that_is_recorded_opens_no_match(runtime_dir: Path) -> None:
    async with run_table_in_process(MechanicsSettings(), runtime_dir) as at:
        await at.wait_for_phase(MachinePhase.EMPTY)
        orders: list[tuple[Role, str, dict[str, Any]]] = [
            (Role.REFEREE, "set_match", {**MATCH, "stage": "swiss", "pairs": PAIRS}),
            (Role.CHIEF, "start_match", {}),
            (Role.CHIEF, "take_over", example("take_over")),
        ]
        for role, cmd, args in orders:
            assert await refused(at, role, cmd, **args) == "TEST_MODE", cmd
        assert at.machine.record.match_written.match is None
