"""Scenarios of a finger that holds a card: short holds cost time, long holds end the attempt."""

from controller.messages import AttemptOutcome
from hil_tests.harness.features import needs
from hil_tests.harness.scenario_table import ScenarioTable

pytestmark = needs("fingers")

EMPTY_HOPPER_ALERTS = ("COUNT_SHORT", "MISSING_CARD", "SENSOR_STUCK")
"""Right alerts if the hopper's sensor sees no card although some are there (sim/faults.toml)."""


async def test_a_card_that_is_held_at_the_feeder_ends_the_deal_as_a_jam(
    table: ScenarioTable,
) -> None:
    table.expect_alerts("JAM")
    state = await table.disturb_deal("hold_feeder", 20)
    proof = state.fairness[-1]
    assert (proof.outcome, proof.reasons) == (AttemptOutcome.VOID, ["JAM"])
    await table.wait_for_place("JAM", "feeder")


async def test_a_card_that_is_held_for_a_moment_costs_nothing_but_time(
    table: ScenarioTable,
) -> None:
    state = await table.disturb_deal("hold_feeder_a_moment", 20)
    assert state.fairness[-1].outcome is AttemptOutcome.OK


async def test_a_card_that_is_caught_in_a_pockets_mouth_is_missed(table: ScenarioTable) -> None:
    table.expect_alerts("NOT_LANDED", "JAM")
    state = await table.disturb_deal("hold_landing", 20)
    proof = state.fairness[-1]
    assert proof.outcome in (AttemptOutcome.MISDEAL, AttemptOutcome.VOID)
    assert set(proof.reasons) <= {"NOT_LANDED", "JAM"}, f"wrong blame: {proof.reasons}"


async def test_a_hopper_that_seems_empty_too_early_costs_the_deal(table: ScenarioTable) -> None:
    table.expect_alerts(*EMPTY_HOPPER_ALERTS, "SET_BARRED")
    state = await table.disturb_deal("lift_stack", 50)
    proof = state.fairness[-1]
    assert proof.outcome in (AttemptOutcome.MISDEAL, AttemptOutcome.VOID)
    assert proof.reasons
    assert set(proof.reasons) <= set(EMPTY_HOPPER_ALERTS), f"wrong blame: {proof.reasons}"
