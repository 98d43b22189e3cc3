"""Cards that are held with a finger: a moment costs time, longer costs the deal."""

from controller.messages import Outcome
from hil_tests.features import needs
from hil_tests.table import Table

pytestmark = needs("fingers")

EARLY = ("COUNT_SHORT", "MISSING_CARD", "SENSOR_STUCK")
"""Right words for a hopper whose sensor sees no card though some lie there (sim/faults.toml)."""


async def test_a_card_that_is_held_at_the_feeder_ends_the_deal_as_a_jam(table: Table) -> None:
    table.expects("JAM")
    await table.hands.ready("hold_feeder")
    state = await table.deal_to_card(20)
    await table.hands.now("hold_feeder")
    state = await table.verdict(state.machine.attempt or 0)
    proof = state.fairness[-1]
    assert (proof.outcome, proof.reasons) == (Outcome.VOID, ["JAM"])
    await table.placed("JAM", "feeder")


async def test_a_card_that_is_held_for_a_moment_costs_nothing_but_time(table: Table) -> None:
    await table.hands.ready("hold_feeder_a_moment")
    state = await table.deal_to_card(20)
    await table.hands.now("hold_feeder_a_moment")
    state = await table.verdict(state.machine.attempt or 0)
    assert state.fairness[-1].outcome is Outcome.OK


async def test_a_card_that_is_caught_in_a_pockets_mouth_is_missed(table: Table) -> None:
    table.expects("NOT_LANDED", "JAM")
    await table.hands.ready("hold_landing")
    state = await table.deal_to_card(20)
    await table.hands.now("hold_landing")
    state = await table.verdict(state.machine.attempt or 0)
    proof = state.fairness[-1]
    assert proof.outcome in (Outcome.MISDEAL, Outcome.VOID)
    assert set(proof.reasons) <= {"NOT_LANDED", "JAM"}, f"wrong blame: {proof.reasons}"


async def test_a_hopper_that_seems_empty_too_early_costs_the_deal(table: Table) -> None:
    table.expects(*EARLY, "SET_BARRED")
    await table.hands.ready("lift_stack")
    state = await table.deal_to_card(50)
    await table.hands.now("lift_stack")
    state = await table.verdict(state.machine.attempt or 0)
    proof = state.fairness[-1]
    assert proof.outcome in (Outcome.MISDEAL, Outcome.VOID)
    assert proof.reasons
    assert set(proof.reasons) <= set(EARLY), f"wrong blame: {proof.reasons}"
