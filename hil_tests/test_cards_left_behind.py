"""Cards left in forbidden places: detected before the first card of the deal moves."""

import pytest

from controller.messages import AttemptOutcome
from hil_tests.harness.scenario_table import ScenarioTable

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
