"""Scenario of a match of two deals with a tribute, controlled mostly by the panel's buttons."""

from typing import Any

from controller.machine.panel_control import RELEASE_DELAY_MS
from controller.messages import AttemptOutcome, MachinePhase, PublicState, Role
from controller.seats import SEATS
from hil_tests.harness.features import needs
from hil_tests.harness.scenario_table import ScenarioTable, StatePredicate

pytestmark = needs("buttons")

MATCH: dict[str, Any] = {
    "match_id": "M1",
    "event": "Bench",
    "round": 1,
    "match_no": 1,
    "table_no": "1",
    "stage": "swiss",
    "pairs": {
        "NS": {"id": "P1", "name": "Plum", "players": {"N": "Nan", "S": "Sun"}},
        "EW": {"id": "P2", "name": "Bamboo", "players": {"E": "Eve", "W": "Wu"}},
    },
}
ORDER = ("N", "E", "S", "W")
"""N finishes first and W last: one tribute, from W to N."""


def in_phase(*phases: str) -> StatePredicate:
    """Return a predicate that is true if the match is in one of these phases."""
    return lambda state: state.match.phase in phases


async def press_until(table: ScenarioTable, over: StatePredicate) -> None:
    """Press the green buttons of the seats that the match waits for, until `over` is True."""
    while not over(
        before := await table.until(lambda state: over(state) or bool(state.match.waiting_for))
    ):
        await press_first_waiting(table, before, over)


async def press_first_waiting(
    table: ScenarioTable, before: PublicState, over: StatePredicate
) -> None:
    """Press the green button of the first seat that the match waits for in `before`.

    Then wait until the match no longer waits for this press, or until `over` is True.
    """
    seat, phase = before.match.waiting_for[0], before.match.phase
    await table.tap(seat)
    await table.until(
        lambda state: (
            over(state) or state.match.phase != phase or seat not in state.match.waiting_for
        ),
        f"what follows from a press of {seat}",
    )


async def deal_by_buttons(table: ScenarioTable) -> None:
    """Deal by the panel's buttons, from the start of the deal to the beginning of play."""
    await table.until(in_phase("cut"), "the cut")
    await table.tap("start")
    await table.until(lambda state: state.machine.counter is not None, "the counter for the cut")
    await table.tap(table.state.match.cutters[0])
    state = await table.until(
        lambda state: state.match.phase == "held" and state.machine.phase is MachinePhase.HELD,
        "hands",
    )
    assert state.fairness[-1].outcome is AttemptOutcome.OK
    await table.wait(RELEASE_DELAY_MS / 1000)  # A press right now could confirm the last result.
    await table.tap(state.match.waiting_for[0])
    await table.wait_for_phase(MachinePhase.RELEASED)
    await table.hands.do_step("take_hands")
    await press_until(table, in_phase("play"))


async def play_deal(table: ScenarioTable) -> None:
    """Play a deal: lead, enter and confirm the result, and put the cards back."""
    leader = table.state.match.leader
    assert leader is not None
    await table.tap(leader)
    await table.until(lambda state: state.match.led, "the first lead")
    await table.give_command(Role.REFEREE, "result", order=list(ORDER))
    await table.give_command(Role.REFEREE, "confirm")
    await table.hands.do_step("lay_down")
    await table.hands.do_step("put_back")


async def test_two_deals_of_a_match_go_by_buttons_with_a_tribute_between_them(
    table: ScenarioTable,
) -> None:
    await table.until(lambda state: state.machine.phase is MachinePhase.EMPTY, "the empty machine")
    await table.give_command(Role.REFEREE, "set_match", **MATCH)
    await table.until(in_phase("setup"), "the seats")
    await press_until(table, lambda state: set(state.match.seated) == set(SEATS))
    await table.give_command(Role.CHIEF, "start_match")
    await deal_by_buttons(table)
    assert table.state.match.leader in SEATS
    await play_deal(table)
    state = await table.until(lambda state: state.match.deal == 2, "the second deal")
    assert state.match.levels["NS"] != state.match.levels["EW"]
    await deal_by_buttons(table)
    tribute = table.state.match.tribute
    assert tribute is not None
    assert tribute.payers == ["W"]
    if not tribute.anti:
        assert [payment.to for payment in tribute.payments] == ["N"]
        assert len(tribute.returns) == 1
    await play_deal(table)
