"""The panel as players and attendants know it: buttons order and call, lamps tell."""

import asyncio

import pytest

from controller.machine.commands.command_processor import EARLY_PRESS_TIMEOUT_S
from controller.machine.panel_control import choose_lamps
from controller.machine.state.table_match import TableMatch
from controller.machine.state.table_state import TableState
from controller.messages import MachinePhase, Role
from drivers.panel import LampMode, Lamps, PanelLost, PanelPins
from sim.tables.table_in_process import TableInProcess
from tests.machine.panel_contacts import at_panel
from tests.machine.stages import all_press, cut, opened, ordered, started
from tests.machine.tables import Tables
from tests.waiting import until

pytestmark = pytest.mark.virtual
A_WHILE_S = 3.0


async def test_the_start_button_begins_a_deal(table: Tables) -> None:
    async with table() as trial:
        contacts = await at_panel(trial)
        await trial.wait_for_phase(MachinePhase.EMPTY)
        await contacts.tap("start")
        committed = await trial.wait_for_phase(MachinePhase.COMMITTED)
        assert committed.machine.deal == 1
        contacts.close()


async def down_and_not_looked_at(trial: TableInProcess) -> None:
    """Play a deal up to the moment in which the lift is down and the machine has not looked."""
    await opened(trial)
    await started(trial)
    await cut(trial)
    await trial.wait_for_phase(MachinePhase.HELD)
    await ordered(trial, Role.REFEREE, "release")
    await all_press(trial, "NWSE")
    await ordered(trial, Role.REFEREE, "result", order=["N", "S"])
    await ordered(trial, Role.REFEREE, "confirm")
    await trial.take_hands()
    await until(lambda: trial.sim.world.truth().lift_down)
    assert trial.machine.processor.awaited_steps == frozenset()


async def test_a_start_that_is_pressed_before_the_machine_has_looked_begins_a_deal(
    table: Tables,
) -> None:
    async with table(delay_ms=5) as trial:  # what a line takes: else both happen in one moment
        await down_and_not_looked_at(trial)
        trial.machine.processor.submit_press("start_deal")
        committed = await trial.wait_for_phase(MachinePhase.COMMITTED)
        assert committed.machine.deal == 2


async def test_a_start_that_was_pressed_long_before_begins_nothing(table: Tables) -> None:
    async with table() as trial:
        await trial.wait_for_phase(MachinePhase.EMPTY)
        await started(trial)
        await cut(trial)
        await trial.wait_for_phase(MachinePhase.HELD)
        trial.machine.processor.submit_press("start_deal")
        await asyncio.sleep(EARLY_PRESS_TIMEOUT_S)
        await trial.return_hands()
        await trial.wait_for_phase(MachinePhase.EMPTY)
        await asyncio.sleep(A_WHILE_S)
        assert trial.machine.record.state.attempts == 1


async def test_a_red_button_calls_the_referee_until_the_seat_presses_green(table: Tables) -> None:
    async with table() as trial:
        contacts = await at_panel(trial)
        await trial.wait_for_phase(MachinePhase.EMPTY)
        await contacts.tap("south_red")
        await contacts.tap("south_red")
        called = await trial.wait_for_state(lambda state: bool(state.calls))
        assert [call.seat for call in called.calls] == ["S"]
        await contacts.tap("east_green")
        assert [call.seat for call in trial.machine.record.state.calls] == ["S"]
        await contacts.tap("south_green")
        await trial.wait_for_state(lambda state: not state.calls)
        contacts.close()


async def test_the_estop_seen_by_the_panel_ends_the_attempt(table: Tables) -> None:
    async with table() as trial:
        contacts = await at_panel(trial)
        await trial.wait_for_phase(MachinePhase.EMPTY)
        await trial.send_command(Role.REFEREE, "start_deal")
        await trial.send_command(Role.TABLE, "cut", n=40)
        await trial.wait_for_state(lambda state: state.machine.fed >= 10)
        trial.sim.world.set_estop(True)
        ended = await trial.wait_for_state(lambda state: state.fairness[-1].outcome is not None)
        assert ended.fairness[-1].reasons == ["ESTOP_PRESSED"]
        assert contacts.lamps["lamp_red"]
        contacts.close()


async def test_a_table_without_its_panel_says_so_and_deals_on(table: Tables) -> None:
    async def broken() -> object:
        raise PanelLost("no such chip")

    async with table() as trial:
        await trial.machine.panel_control.open(PanelPins(), broken)
        lost = await trial.wait_for_state(lambda state: bool(state.alerts))
        assert [alert.name for alert in lost.alerts] == ["PANEL_LOST"]
        held = await trial.play_attempt()
        assert held.machine.phase is MachinePhase.HELD


@pytest.mark.parametrize(
    ("phase", "shown"),
    [
        (MachinePhase.FAULT, Lamps(red=LampMode.ON)),
        (MachinePhase.EMPTY, Lamps(green=LampMode.ON)),
        (MachinePhase.COMMITTED, Lamps(amber=LampMode.ON)),
        (MachinePhase.DEALING, Lamps(green=LampMode.BLINK)),
        (MachinePhase.HELD, Lamps(green=LampMode.ON)),
    ],
)
async def test_each_phase_has_its_light(phase: MachinePhase, shown: Lamps) -> None:
    assert choose_lamps(TableState(), TableMatch(), phase) == shown
