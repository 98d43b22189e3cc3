"""Scenarios of wrong cards: the table names the fault, releases nothing and deals again."""

import pytest

from controller.messages import AttemptOutcome, MachinePhase
from hil_tests.harness.scenario_table import ScenarioTable, alert_names

ALERTS_BY_STEP: dict[str, tuple[str, ...]] = {
    "leave_in_pocket": ("POCKET_NOT_EMPTY",),
    "leave_in_tray": ("PATH_NOT_CLEAR",),
    "leave_in_path": ("PATH_NOT_CLEAR",),
    "cover_pocket_sensor": ("POCKET_NOT_EMPTY", "SENSOR_STUCK"),
}
"""Each step, and its right alerts: one of them must appear, and no other."""


@pytest.mark.parametrize("step", ALERTS_BY_STEP)
async def test_a_card_that_lies_where_none_may_be_stops_the_deal_before_it_begins(
    table: ScenarioTable, step: str
) -> None:
    table.expect_alerts(*ALERTS_BY_STEP[step])
    await table.hands.do_step(step)
    refused = await table.play_attempt()
    proof = refused.fairness[-1]
    assert proof.outcome is AttemptOutcome.MISDEAL
    assert proof.reasons
    assert set(proof.reasons) <= set(ALERTS_BY_STEP[step]), f"wrong blame: {proof.reasons}"
    assert refused.machine.fed == 0
    if step == "cover_pocket_sensor":
        await table.hands.do_step("uncover_pocket_sensor")


REASONS_BY_STEP: dict[str, tuple[str, ...]] = {
    "take_one_card": ("COUNT_SHORT", "MISSING_CARD"),
    "add_card": ("HOPPER_NOT_EMPTY",),
    "third_copy": ("MISSING_CARD", "THIRD_COPY"),
    "foreign_back": ("FOREIGN_BACK",),
    "turn_card": ("FACE_UP",),
    "keep_80": ("COUNT_SHORT", "MISSING_CARD"),
}
"""Each step, and the reasons that must be among the reasons of the refusal."""
OTHER_ALERTS: dict[str, tuple[str, ...]] = {
    "add_card": ("MISSING_CARD", "THIRD_COPY", "COUNT_OVER"),
    "keep_80": ("LID_OPENED",),
}
"""Further alerts that are permitted. An extra card leaves another card of the set in the hopper.
Taking cards out opens the lid.
"""


@pytest.mark.parametrize("step", REASONS_BY_STEP)
async def test_a_set_that_is_wrong_is_refused_for_its_reason(
    table: ScenarioTable, step: str
) -> None:
    table.expect_alerts(*REASONS_BY_STEP[step], *OTHER_ALERTS.get(step, ()))
    await table.hands.do_step(step)
    refused = await table.play_attempt()
    proof = refused.fairness[-1]
    assert proof.outcome is AttemptOutcome.MISDEAL
    assert set(REASONS_BY_STEP[step]) <= set(proof.reasons)
    assert set(proof.reasons) <= table.expected_alerts, f"wrong blame: {proof.reasons}"
    refused = await table.until(
        lambda state: set(proof.reasons) <= alert_names(state), f"the alerts {proof.reasons}"
    )
    assert refused.machine.phase is MachinePhase.FAULT


async def test_a_set_that_was_wrong_is_barred_until_it_was_counted(table: ScenarioTable) -> None:
    table.expect_alerts("COUNT_SHORT", "MISSING_CARD", "SET_BARRED")
    await table.hands.do_step("take_one_card")
    await table.play_attempt()
    await table.hands.do_step("fresh_set")
    state = await table.wait_for_alert("SET_BARRED")
    assert [card_set.barred != [] for card_set in state.sets if card_set.id == "S1"] == [True]
