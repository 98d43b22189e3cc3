"""The end of every scenario: the table is made ready for another deal, and checked.

The checks find unexpected alerts and counters, errors of the journal, and a table that is
not ready.
"""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from controller.faults import fault
from controller.journal.entries import JournalError
from controller.journal.verify import verify
from controller.messages import MachinePhase, PublicEvent, PublicState, Role
from hil_tests.harness.scenario_table import (
    CUT,
    FAILED_OUTCOMES,
    RETRY_INTERVAL_S,
    ScenarioTable,
    alert_names,
)
from hil_tests.harness.table_daemon import LINE_COUNTERS


async def bring_to_rest(table: ScenarioTable) -> None:
    """Do the actions of people until the table shows no alert and is ready for another deal.

    If the last attempt failed, this includes another attempt.
    """
    await table.hands.restore_speed()
    while not await _do_rest_step(table):
        pass


async def _do_rest_step(table: ScenarioTable) -> bool:
    """Return True if the table is ready for a deal. Otherwise do one step or wait, return False."""
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
        hands = table.hands
        if not hands.is_simulated or any((await hands.read_truth())["pockets"][:4]):
            await hands.do_step("take_hands")
        await table.return_set()
    elif phase is MachinePhase.EMPTY and failed:
        await _command_and_wait(table, Role.REFEREE, "start_deal")
    elif phase is MachinePhase.EMPTY and not state.alerts:
        return True
    else:
        await table.wait_for_change(state)
    return False


async def _command_and_wait(table: ScenarioTable, role: Role, cmd: str, **args: Any) -> bool:
    """Send a command. If it is accepted, wait for a new state, otherwise wait RETRY_INTERVAL_S.

    Return whether the command was accepted. It may be refused for a reason that the public state
    does not show, such as a restart of the daemon. The caller then reads the state again.
    """
    before = table.state
    if carried_out := (await table.ask(role, cmd, **args)).ok:
        await table.wait_for_change(before)
    else:
        await table.wait(RETRY_INTERVAL_S)
    return carried_out


async def _release_hands(table: ScenarioTable) -> None:
    """Send the command `release`, and have simulated players take their hands from the lift."""
    if not table.hands.is_simulated:
        await _command_and_wait(table, Role.REFEREE, "release")
        return
    taking = asyncio.ensure_future(table.hands.do_step("take_hands"))
    try:
        if await _command_and_wait(table, Role.REFEREE, "release"):
            await taking
    finally:
        taking.cancel()


TIMING_COUNTERS: frozenset[str] = frozenset(
    {"resends", "duplicates", "foreign", "gaps", "sessions"}
)
"""Counters that a slow computer changes without a fault. They may grow if `is_time_shared`."""

_REST_POSITIONS = {"lid_open": False, "estop": False, "lift_up": False, "lift_down": True}
"""Positions of lid, e-stop and lift at rest."""


def unexpected_alerts(
    states: list[PublicState], events: list[PublicEvent], expected: set[str]
) -> list[str]:
    """Return one line for each alert name that is in `states` or `events` but not in `expected`.

    `events` also contain alerts that came and went between two states.
    """
    seen = {
        event.data["name"]: fault(event.data["name"]).cause(event.data.get("evidence"))
        for event in events
        if event.kind == "fault"
    }
    seen |= {alert.name: alert.cause for state in states for alert in state.alerts}
    return [
        f"unexpected alert {name}: {cause}" for name, cause in seen.items() if name not in expected
    ]


def unexplained_counters(
    numbers: Mapping[str, float], explained: frozenset[str], *, is_time_shared: bool
) -> list[str]:
    """Return one line for each serial-line counter that grew and is not in `explained`.

    `numbers` has the growth of each counter. `explained` are the counters that the scenario
    disturbs. "all" means every counter. TIMING_COUNTERS may also grow if `is_time_shared`.
    """
    passed = explained | (TIMING_COUNTERS if is_time_shared else frozenset())
    if "all" in passed:
        return []
    return [
        f"{name} board: {counter} moved by {moved:g}"
        for key, moved in numbers.items()
        for counter, _, name in [key.partition(" ")]
        if counter in LINE_COUNTERS and moved and counter not in passed
    ]


def misplaced_cards(truth: Mapping[str, Any], cards: int) -> list[str]:
    """Return one line for each difference between `truth` and a table that is ready to deal.

    A ready table has all `cards` cards of the set in its hopper. The lid is closed, the e-stop is
    released and the lift is down.
    """
    places = ("shuffler", "feeder", "window", "path", "floor", "table")
    found = [f"{len(truth[place])} cards: {place}" for place in places if truth[place]]
    for what in ("pockets", "hands"):
        if lying := sum(map(len, truth[what])):
            found.append(f"{lying} cards: {what}")
    if len(truth["hopper"]) != cards:
        found.append(f"{len(truth['hopper'])} cards in the hopper, expected {cards}")
    found += [
        f"{what}: {truth[what]}" for what, right in _REST_POSITIONS.items() if truth[what] != right
    ]
    return found


def active_faults(faults: Mapping[str, Any]) -> list[str]:
    """Return one line for each simulated fault that `faults` lists as active (sim/CONTROL.md)."""
    return [f"still in force: {one['fault']['name']}" for one in faults["in_force"]]


def journal_findings(state_dir: Path) -> list[str]:
    """Return one line for each error that `verify` finds in the journal of `state_dir`."""
    try:
        return [str(finding) for finding in verify(state_dir).findings]
    except JournalError as error:
        return [str(error)]
