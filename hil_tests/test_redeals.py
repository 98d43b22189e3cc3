"""Scenarios of redeals (重发): each is another attempt of the same deal, for a public reason."""

from controller.messages import AttemptOutcome, MachinePhase, Role
from hil_tests.harness.features import needs
from hil_tests.harness.scenario_table import ScenarioTable, alert_names

REDEAL_WAIT_S = 1.5
"""By this time a redeal that needs no person has begun."""


async def test_a_misdeal_is_another_attempt_of_the_same_deal_with_its_reason_in_public(
    table: ScenarioTable,
) -> None:
    table.expect_alerts("FACE_UP")
    before = table.state.counters.redeals
    await table.hands.do_step("turn_card")
    refused = await table.play_attempt()
    assert refused.counters.redeals == before + 1
    failed = refused.fairness[-1]
    assert failed.reveal is not None, "the seed of a misdeal is open at once"
    kept = await table.wait_for_event("verdict", failed.attempt)
    assert kept.data["reasons"] == failed.reasons
    await table.clear_up()
    held = await table.deal_to_held()
    right = held.fairness[-1]
    assert (right.deal, right.outcome) == (failed.deal, AttemptOutcome.OK)
    assert right.attempt > failed.attempt
    assert right.commitment != failed.commitment


async def test_after_two_misdeals_in_a_row_a_referee_is_called(table: ScenarioTable) -> None:
    table.expect_alerts("FACE_UP")
    deals = set()
    for number in (1, 2):
        await table.hands.do_step("turn_card")
        state = await table.play_attempt()
        assert state.fairness[-1].outcome is AttemptOutcome.MISDEAL
        deals.add(state.fairness[-1].deal)
        if number == 2:
            await table.wait_for_alert("TWO_MISDEALS")
        await table.clear_up()
    await table.until(lambda state: "FACE_UP" not in alert_names(state), "the cards put back")
    known = [proof.attempt for proof in table.state.fairness]
    refused = await table.ask(Role.TABLE, "start_deal")
    assert refused.error is not None
    await table.wait(REDEAL_WAIT_S)
    assert [proof.attempt for proof in table.state.fairness] == known, "dealt without a referee"
    await table.give_command(Role.REFEREE, "acknowledge", code="TWO_MISDEALS")
    held = await table.deal_to_held()
    assert deals == {held.fairness[-1].deal}


async def test_held_hands_are_never_dealt_again_for_nothing(table: ScenarioTable) -> None:
    held = await table.deal_to_held()
    for role in (Role.TABLE, Role.REFEREE):
        refused = await table.ask(role, "redeal", reason="a bad hand")
        assert refused.error is not None
    assert table.state.machine.phase is MachinePhase.HELD
    assert table.state.fairness[-1].commitment == held.fairness[-1].commitment


@needs("two_sets")
async def test_a_set_in_doubt_is_barred_and_the_match_goes_on_with_another(
    table: ScenarioTable,
) -> None:
    table.expect_alerts("COUNT_SHORT", "MISSING_CARD", "SET_BARRED", "LID_OPENED")
    await table.hands.do_step("take_one_card")
    refused = await table.play_attempt()
    assert refused.fairness[-1].outcome is AttemptOutcome.MISDEAL
    await table.hands.do_step("other_set")
    table.cleared_attempts.add(refused.fairness[-1].attempt)
    await table.give_command(Role.REFEREE, "replace_set", set="S2")
    held = await table.deal_to_held()
    assert held.machine.card_set == "S2"
    barred = {card_set.id: card_set.barred for card_set in held.sets}
    assert barred["S1"]
    assert not barred["S2"]
