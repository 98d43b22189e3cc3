"""Scenarios with faults of the computer: a full disk, a power cut, and a clock that jumps."""

import pytest

from controller.messages import AttemptOutcome, MachinePhase, Role
from drivers.board_events import BoardActivity
from hil_tests.harness.features import needs
from hil_tests.harness.scenario_table import FAILED_OUTCOMES, ScenarioTable, alert_names

pytestmark = pytest.mark.explains("all")

RETURNING_ALERTS = ("BOARD_RESET", "LINE_LOST", "PORT_MISSING", "BOARD_SILENT")
"""Alerts that may appear while boards return."""


async def test_a_full_disk_stops_the_cards_and_with_room_the_same_attempt_goes_on(
    table: ScenarioTable,
) -> None:
    dealing = await table.deal_to_card(20)
    await table.daemon.set_disk_full(full=True)
    stopped = await table.wait_for_alert("STORAGE_FAILED")
    assert stopped.machine.phase is MachinePhase.FAULT
    refused = await table.ask(Role.REFEREE, "hold", reason="look")
    assert refused.error is not None
    assert refused.error.code == "STORAGE_FAILED"
    if table.hands.is_simulated:
        await table.watch_last_card()
        arrived = (await table.hands.read_truth())["arrived"]
        assert arrived < table.profile.deck.cards, "cards move without a journal"
    assert "STORAGE_FAILED" in alert_names(table.state)
    await table.daemon.set_disk_full(full=False)
    state = await table.wait_for_verdict(dealing.machine.attempt or 0)
    proof = state.fairness[-1]
    assert (proof.outcome, proof.reasons) == (AttemptOutcome.OK, [])
    assert proof.commitment == dealing.fairness[-1].commitment


@needs("power")
async def test_a_power_cut_in_mid_deal_voids_it_and_says_so(table: ScenarioTable) -> None:
    table.expect_alerts("POWER", *RETURNING_ALERTS)
    await table.hands.prepare_step("cut_power")
    dealing = await table.deal_to_card(20)
    await table.lose_power()
    await table.hands.do_step("give_power")
    await table.start()
    state = await table.wait_for_verdict(dealing.machine.attempt or 0)
    proof = state.fairness[-1]
    assert (proof.outcome, proof.reasons) == (AttemptOutcome.VOID, ["POWER"])
    assert proof.commitment == dealing.fairness[-1].commitment


@needs("power")
async def test_no_card_moves_by_itself_when_the_power_is_back(table: ScenarioTable) -> None:
    table.expect_alerts("POWER", *RETURNING_ALERTS)
    await table.hands.prepare_step("cut_power")
    await table.deal_to_card(20)
    await table.lose_power()
    await table.hands.do_step("give_power")
    seen = await table.read_board_status()
    assert seen.doing is BoardActivity.IDLE
    assert seen.fed == 0, "a board that had no power knows of no card"
    await table.start()
    await table.until(
        lambda state: state.fairness[-1].outcome in FAILED_OUTCOMES, "the end of the attempt"
    )


@needs("clock")
@pytest.mark.parametrize("by_s", [3600.0, -3600.0], ids=["forward", "back"])
async def test_a_clock_that_jumps_in_mid_deal_changes_nothing(
    table: ScenarioTable, by_s: float
) -> None:
    dealing = await table.deal_to_card(20)
    await table.daemon.move_clock(by_s)
    state = await table.wait_for_verdict(dealing.machine.attempt or 0)
    proof = state.fairness[-1]
    assert (proof.outcome, proof.reasons) == (AttemptOutcome.OK, [])
    assert (state.time > dealing.time) is (by_s > 0), "the clock did not jump"
