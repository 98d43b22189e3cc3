"""Scenarios of lid and emergency stop: the attempt becomes void, and an alert is shown."""

from typing import NamedTuple

import pytest

from controller.messages import AttemptOutcome, MachinePhase, Role
from hil_tests.harness.features import needs
from hil_tests.harness.scenario_table import ScenarioTable, alert_names


class StopMethod(NamedTuple):
    """A way to stop the machine: the step, the step that undoes it, its alert, its measurement."""

    step: str
    undo_step: str
    alert: str
    quantity: str


LID = StopMethod("open_lid", "close_lid", "LID_OPENED", "lid_to_fault_s")
ESTOP = StopMethod("press_estop", "release_estop", "ESTOP_PRESSED", "estop_to_fault_s")
STOPS = [
    pytest.param(LID, marks=needs("lid"), id="lid"),
    pytest.param(ESTOP, marks=needs("estop"), id="estop"),
]
CARDS = (1, 50)


@pytest.mark.parametrize("card", CARDS)
@pytest.mark.parametrize("stop", STOPS)
async def test_stopping_the_machine_at_a_card_voids_the_deal(
    table: ScenarioTable, stop: StopMethod, card: int
) -> None:
    await table.hands.prepare_step(stop.step)
    state = await table.deal_to_card(card)
    stopped_s = table.now_s
    await table.hands.signal_step(stop.step)
    state = await table.wait_for_alert(stop.alert)
    table.measure(stop.quantity, table.now_s - stopped_s)
    state = await table.wait_for_verdict(state.machine.attempt or 0)
    proof = state.fairness[-1]
    assert (proof.outcome, proof.reasons) == (AttemptOutcome.VOID, [stop.alert])
    assert state.machine.phase is MachinePhase.FAULT
    await table.hands.do_step(stop.undo_step)


@pytest.mark.parametrize("stop", STOPS)
async def test_hands_that_are_held_are_void_once_somebody_could_reach_them(
    table: ScenarioTable, stop: StopMethod
) -> None:
    held = await table.deal_to_held()
    await table.hands.do_step(stop.step)
    state = await table.wait_for_alert(stop.alert)
    state = await table.until(
        lambda state: state.fairness[-1].outcome is AttemptOutcome.VOID,
        "the void of the held hands",
    )
    assert state.fairness[-1].attempt == held.machine.attempt
    await table.hands.do_step(stop.undo_step)


@needs("lid")
async def test_no_deal_begins_under_an_open_lid(table: ScenarioTable) -> None:
    await table.hands.do_step("open_lid")
    state = await table.wait_for_alert("LID_OPENED")
    assert state.machine.phase is MachinePhase.FAULT
    refused = await table.ask(Role.REFEREE, "start_deal")
    assert refused.error is not None
    await table.hands.do_step("close_lid")
    state = await table.wait_for_quiet()
    assert "LID_OPENED" not in alert_names(state)


@needs("estop")
async def test_the_estop_stays_up_until_a_referee_has_seen_that_it_is_out(
    table: ScenarioTable,
) -> None:
    await table.hands.do_step("press_estop")
    await table.wait_for_alert("ESTOP_PRESSED")
    early = await table.ask(Role.REFEREE, "acknowledge", code="ESTOP_PRESSED")
    assert early.error is not None
    assert early.error.code == "STILL_THERE"
    await table.hands.do_step("release_estop")
    await table.give_command(Role.REFEREE, "acknowledge", code="ESTOP_PRESSED")
    assert "ESTOP_PRESSED" not in alert_names(await table.wait_for_quiet())
