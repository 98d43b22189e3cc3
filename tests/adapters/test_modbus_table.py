"""Whole deals over a Modbus line: the drives at its other end are another program's (drives.py)."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from controller.messages import AttemptOutcome, MachinePhase, PublicState, Role
from sim.mechanics.mechanics_settings import MechanicsSettings
from sim.tables.table_in_process import TableInProcess, run_table_in_process
from tests.adapters.drives import FEEDER, GATE, IO, LIFT, ROLLERS
from tests.adapters.modbus_rig import WiredTable, example

pytestmark = pytest.mark.virtual

NAMES = {IO: "io", FEEDER: "feeder", ROLLERS: "rollers", GATE: "gate", LIFT: "lift"}
DEVICE_FAILURE = 4
# Long enough for retries, stops and what the machine makes of them.
A_WHILE_S = 3.0


class AtDrives:
    """A trial, and the table whose dealer board is the adapter."""

    def __init__(self, trial: TableInProcess, table: WiredTable) -> None:
        self.trial, self.table = trial, table
        self.drives, self.wire, self.said = table.drives, table.wire, table.said

    async def refused(self, cards: int, spoil: Callable[[], Any]) -> PublicState:
        """Deal; spoil something when so many cards were fed. Return the state of the refusal."""
        dealing = asyncio.ensure_future(self.trial.play_attempt())
        await self.trial.wait_for_state(
            lambda state: state.machine.phase is MachinePhase.DEALING and state.machine.fed >= cards
        )
        spoil()
        state = await dealing
        assert state.fairness[-1].outcome is AttemptOutcome.VOID
        await asyncio.sleep(A_WHILE_S)
        return self.trial.states[-1]

    async def dealt(self) -> None:
        state = await self.trial.play_attempt()
        assert state.fairness[-1].outcome is AttemptOutcome.OK, (state.alerts, self.said)

    def reasons(self) -> set[str]:
        return set(self.trial.states[-1].fairness[-1].reasons)

    def cause(self, name: str) -> str:
        return " and ".join(a.cause for a in self.trial.states[-1].alerts if a.name == name)


Tables = Callable[..., AbstractAsyncContextManager[AtDrives]]


@pytest.fixture
def wired(runtime_dir: Path) -> Tables:
    """Make a table over a Modbus line: `async with wired(baud=19200) as at`."""

    @asynccontextmanager
    async def make(**line: Any) -> AsyncIterator[AtDrives]:
        boots = count(1)
        table = WiredTable(
            MechanicsSettings(), random.Random(1), boots=lambda: next(boots), told=example(**line)
        )
        try:
            await table.settled()
            async with run_table_in_process(MechanicsSettings(), runtime_dir, sim=table) as at:
                yield AtDrives(at, table)
        finally:
            table.close()

    return make


async def test_108_cards_are_dealt_and_released_over_a_modbus_line(wired: Tables) -> None:
    async with wired() as at:
        await at.dealt()
        assert [len(pocket) for pocket in at.table.world.truth().pockets] == [27] * 4 + [0]
        await at.trial.return_hands()
        boards = at.trial.states[-1].boards
        assert boards.dealer is not None
        assert boards.dealer.hal == "adapter"
        assert at.said == [f"unit {unit} ({name}) answers" for unit, name in NAMES.items()]


async def test_a_drive_that_answers_with_an_exception_is_a_motor_that_does_not_turn(
    wired: Tables,
) -> None:
    async with wired() as at:
        await at.refused(3, lambda: at.drives.refuses_writes.update({GATE: DEVICE_FAILURE}))
        assert at.reasons() == {"STALL"}
        assert "gate" in at.cause("STALL")
        assert at.drives.runs() == {}


async def test_a_unit_that_goes_silent_is_named_and_the_machine_goes_on_when_it_is_back(
    wired: Tables,
) -> None:
    async with wired() as at:
        await at.refused(3, lambda: at.drives.silent.add(GATE))
        assert at.reasons() == {"DRIVE_LOST"}
        assert "unit 4" in at.cause("DRIVE_LOST")
        assert at.drives.runs() == {}
        at.drives.silent.clear()
        await at.trial.people.collect()
        await at.dealt()


async def test_while_a_unit_is_silent_no_deal_begins_and_nothing_moves(wired: Tables) -> None:
    async with wired() as at:
        await at.trial.wait_for_phase(MachinePhase.EMPTY)
        at.drives.silent.add(LIFT)
        await at.trial.wait_for_state(
            lambda state: any(a.name == "DRIVE_LOST" for a in state.alerts)
        )
        assert "unit 5" in at.cause("DRIVE_LOST")
        reply = await at.trial.send_command(Role.REFEREE, "start_deal")
        assert not reply.ok
        before = at.table.world.truth()
        await asyncio.sleep(A_WHILE_S)
        assert at.table.world.truth() == before
        at.drives.silent.clear()
        await at.trial.wait_for_state(lambda state: not state.alerts)
