"""Cards that are wrong: the table says which, releases nothing, and deals again with right ones.

Each is a step of hands with cards; the simulator's people do the same.
"""

import pytest

from controller.messages import Outcome, Phase
from hil_tests.table import Table, alerts

WRONG: dict[str, tuple[str, ...]] = {
    "take_one_card": ("COUNT_SHORT", "MISSING_CARD"),
    "add_card": ("HOPPER_NOT_EMPTY",),
    "third_copy": ("MISSING_CARD", "THIRD_COPY"),
    "foreign_back": ("FOREIGN_BACK",),
    "turn_card": ("FACE_UP",),
    "keep_80": ("COUNT_SHORT", "MISSING_CARD"),
}
"""Each step, and the reasons that must be among those of the refusal."""
BESIDE: dict[str, tuple[str, ...]] = {
    "add_card": ("MISSING_CARD", "THIRD_COPY", "COUNT_OVER"),
    "keep_80": ("LID_OPENED",),
}
"""What may be said beside them: a card more leaves another one of the set in the hopper, and
whoever takes cards out opens the lid."""


@pytest.mark.parametrize("step", WRONG)
async def test_a_set_that_is_wrong_is_refused_for_its_reason(table: Table, step: str) -> None:
    table.expects(*WRONG[step], *BESIDE.get(step, ()))
    await table.hands.do(step)
    refused = await table.deal()
    proof = refused.fairness[-1]
    assert proof.outcome is Outcome.MISDEAL
    assert set(WRONG[step]) <= set(proof.reasons)
    assert set(proof.reasons) <= table.expected, f"wrong blame: {proof.reasons}"
    refused = await table.until(
        lambda state: set(proof.reasons) <= alerts(state), f"the alerts {proof.reasons}"
    )
    assert refused.machine.phase is Phase.FAULT


async def test_a_set_that_was_wrong_is_barred_until_it_was_counted(table: Table) -> None:
    table.expects("COUNT_SHORT", "MISSING_CARD", "SET_BARRED")
    await table.hands.do("take_one_card")
    await table.deal()
    await table.hands.do("fresh_set")
    state = await table.alert("SET_BARRED")
    assert [card_set.barred != [] for card_set in state.sets if card_set.id == "S1"] == [True]
