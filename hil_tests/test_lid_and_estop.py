"""Lid and emergency stop: they stop the cards, void the deal, and are named."""

from typing import NamedTuple

import pytest

from controller.messages import Outcome, Phase, Role
from hil_tests.features import needs
from hil_tests.table import Table, alerts


class Stop(NamedTuple):
    """A way to stop the machine: how it is done and undone, what it is called and measured as."""

    does: str
    undo_step: str
    name: str
    quantity: str


LID = Stop("open_lid", "close_lid", "LID_OPENED", "lid_to_fault_s")
ESTOP = Stop("press_estop", "release_estop", "ESTOP_PRESSED", "estop_to_fault_s")
STOPS = [
    pytest.param(LID, marks=needs("lid"), id="lid"),
    pytest.param(ESTOP, marks=needs("estop"), id="estop"),
]
CARDS = (1, 50)


@pytest.mark.parametrize("card", CARDS)
@pytest.mark.parametrize("stop", STOPS)
async def test_stopping_the_machine_at_a_card_voids_the_deal(
    table: Table, stop: Stop, card: int
) -> None:
    await table.hands.ready(stop.does)
    state = await table.deal_to_card(card)
    stopped_s = table.now_s
    await table.hands.now(stop.does)
    state = await table.alert(stop.name)
    table.measure(stop.quantity, table.now_s - stopped_s)
    state = await table.verdict(state.machine.attempt or 0)
    proof = state.fairness[-1]
    assert (proof.outcome, proof.reasons) == (Outcome.VOID, [stop.name])
    assert state.machine.phase is Phase.FAULT
    await table.hands.do(stop.undo_step)


@pytest.mark.parametrize("stop", STOPS)
async def test_hands_that_are_held_are_void_once_somebody_could_reach_them(
    table: Table, stop: Stop
) -> None:
    held = await table.held()
    await table.hands.do(stop.does)
    state = await table.alert(stop.name)
    state = await table.until(
        lambda state: state.fairness[-1].outcome is Outcome.VOID, "the void of the held hands"
    )
    assert state.fairness[-1].attempt == held.machine.attempt
    await table.hands.do(stop.undo_step)


@needs("lid")
async def test_no_deal_begins_under_an_open_lid(table: Table) -> None:
    await table.hands.do("open_lid")
    state = await table.alert("LID_OPENED")
    assert state.machine.phase is Phase.FAULT
    refused = await table.ask(Role.REFEREE, "start_deal")
    assert refused.error is not None
    await table.hands.do("close_lid")
    state = await table.quiet()
    assert "LID_OPENED" not in alerts(state)


@needs("estop")
async def test_the_estop_stays_up_until_a_referee_has_seen_that_it_is_out(table: Table) -> None:
    await table.hands.do("press_estop")
    await table.alert("ESTOP_PRESSED")
    early = await table.ask(Role.REFEREE, "acknowledge", code="ESTOP_PRESSED")
    assert early.error is not None
    assert early.error.code == "STILL_THERE"
    await table.hands.do("release_estop")
    await table.order(Role.REFEREE, "acknowledge", code="ESTOP_PRESSED")
    assert "ESTOP_PRESSED" not in alerts(await table.quiet())
