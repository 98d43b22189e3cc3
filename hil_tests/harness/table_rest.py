"""The way of a table to rest after a scenario, by the steps that people would take."""

import asyncio
from typing import Any

from controller.messages import MachinePhase, Role
from hil_tests.harness.scenario_table import (
    CUT,
    FAILED_OUTCOMES,
    RETRY_INTERVAL_S,
    ScenarioTable,
    alert_names,
)


async def bring_to_rest(table: ScenarioTable) -> None:
    """Bring the table to rest as people would. A refused attempt is dealt again, correctly."""
    await table.hands.restore_speed()
    while not await _do_rest_step(table):
        pass


async def _do_rest_step(table: ScenarioTable) -> bool:
    """Do the next step to rest. Return True if there is none."""
    state, phase = table.state, table.state.machine.phase
    proof = state.fairness[-1] if state.fairness else None
    failed = proof is not None and proof.outcome in FAILED_OUTCOMES
    if failed and proof is not None and proof.attempt not in table.cleared_attempts:
        await table.clear_up()
        return False
    counted = {"set": state.machine.card_set, "cards": table.profile.deck.cards}
    if "ESTOP_PRESSED" in alert_names(state):
        await _command_and_wait(table, Role.REFEREE, "acknowledge", code="ESTOP_PRESSED")
    elif "SET_BARRED" in alert_names(state):
        await _command_and_wait(table, Role.REFEREE, "clear_set", **counted)
    elif phase is MachinePhase.COMMITTED:
        await _command_and_wait(table, Role.TABLE, "cut", n=CUT)
    elif phase is MachinePhase.HELD:
        await _release_hands(table)
    elif phase is MachinePhase.RELEASED:
        await _return_hands(table)
    elif phase is MachinePhase.EMPTY and failed:
        await _command_and_wait(table, Role.REFEREE, "start_deal")
    elif phase is MachinePhase.EMPTY and not state.alerts:
        return True
    else:
        await table.wait_for_change(state)
    return False


async def _command_and_wait(table: ScenarioTable, role: Role, cmd: str, **args: Any) -> bool:
    """Send a command and wait for its effect. Return whether it was accepted.

    A command may be refused for a reason that the public state does not show, such as a restart
    of the daemon. The state is then read again a moment later.
    """
    before = table.state
    carried_out = (await table.ask(role, cmd, **args)).ok
    if carried_out:
        await table.wait_for_change(before)
    else:
        await table.wait(RETRY_INTERVAL_S)
    return carried_out


async def _release_hands(table: ScenarioTable) -> None:
    """Release held hands. Simulated players take theirs as soon as the lift is up."""
    if not table.hands.is_simulated:
        await _command_and_wait(table, Role.REFEREE, "release")
        return
    taking = asyncio.ensure_future(table.hands.do_step("take_hands"))
    try:
        if await _command_and_wait(table, Role.REFEREE, "release"):
            await taking
    finally:
        taking.cancel()


async def _return_hands(table: ScenarioTable) -> None:
    """Take any hands that are still in the machine, and return the set."""
    if not table.hands.is_simulated or any((await table.hands.read_truth())["pockets"][:4]):
        await table.hands.do_step("take_hands")
    await table.return_set()
