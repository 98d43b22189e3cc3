"""The redeal rule (重发): a reason, the same deal, another attempt, never a silent one more."""

from controller.messages import Outcome, Phase, Role
from hil_tests.features import needs
from hil_tests.table import Table, alerts

REDEAL_WAIT_S = 1.5
"""A redeal that needs nobody has begun by then."""


async def test_a_misdeal_is_another_attempt_of_the_same_deal_with_its_reason_in_public(
    table: Table,
) -> None:
    table.expects("FACE_UP")
    before = table.state.counters.redeals
    await table.hands.do("turn_card")
    refused = await table.deal()
    assert refused.counters.redeals == before + 1
    failed = refused.fairness[-1]
    assert failed.reveal is not None, "the seed of a misdeal is open at once"
    kept = await table.event("verdict", failed.attempt)
    assert kept.data["reasons"] == failed.reasons
    await table.clear_up()
    held = await table.held()
    right = held.fairness[-1]
    assert (right.deal, right.outcome) == (failed.deal, Outcome.OK)
    assert right.attempt > failed.attempt
    assert right.commitment != failed.commitment


async def test_after_two_misdeals_in_a_row_a_referee_is_called(table: Table) -> None:
    table.expects("FACE_UP")
    deals = set()
    for number in (1, 2):
        await table.hands.do("turn_card")
        state = await table.deal()
        assert state.fairness[-1].outcome is Outcome.MISDEAL
        deals.add(state.fairness[-1].deal)
        if number == 2:
            await table.alert("TWO_MISDEALS")
        await table.clear_up()
    await table.until(lambda state: "FACE_UP" not in alerts(state), "the cards put back")
    known = [proof.attempt for proof in table.state.fairness]
    refused = await table.ask(Role.TABLE, "start_deal")
    assert refused.error is not None
    await table.wait(REDEAL_WAIT_S)
    assert [proof.attempt for proof in table.state.fairness] == known, "dealt without a referee"
    await table.order(Role.REFEREE, "acknowledge", code="TWO_MISDEALS")
    held = await table.held()
    assert deals == {held.fairness[-1].deal}


async def test_held_hands_are_never_dealt_again_for_nothing(table: Table) -> None:
    held = await table.held()
    for role in (Role.TABLE, Role.REFEREE):
        refused = await table.ask(role, "redeal", reason="a bad hand")
        assert refused.error is not None
    assert table.state.machine.phase is Phase.HELD
    assert table.state.fairness[-1].commitment == held.fairness[-1].commitment


@needs("two_sets")
async def test_a_set_in_doubt_is_barred_and_the_match_goes_on_with_another(table: Table) -> None:
    table.expects("COUNT_SHORT", "MISSING_CARD", "SET_BARRED", "LID_OPENED")
    await table.hands.do("take_one_card")
    refused = await table.deal()
    assert refused.fairness[-1].outcome is Outcome.MISDEAL
    await table.hands.do("other_set")
    table.cleared.add(refused.fairness[-1].attempt)
    await table.order(Role.REFEREE, "replace_set", set="S2")
    held = await table.held()
    assert held.machine.card_set == "S2"
    barred = {card_set.id: card_set.barred for card_set in held.sets}
    assert barred["S1"]
    assert not barred["S2"]
