"""Scenarios of the daemon's end: a kill lets the attempt continue, a stop makes it void."""

import pytest

from controller.messages import AttemptOutcome
from drivers.board_events import BoardActivity
from hil_tests.harness.features import needs
from hil_tests.harness.scenario_table import ScenarioTable

pytestmark = pytest.mark.explains("gaps", "duplicates", "foreign", "sessions")
"""A board repeats events that the last daemon may have missed, in frames of its old session."""
HOST_SILENCE_S = 0.5
"""Time without the host after which a board stops (drivers/link/PROTOCOL.md §6)."""
SETTLED_S = 2 * HOST_SILENCE_S
"""By then a board without a host has stopped, and the moving card has landed."""


@needs("truth")
async def test_cards_stop_by_themselves_when_the_daemon_is_killed(table: ScenarioTable) -> None:
    dealing = await table.deal_to_card(20)
    await table.kill()
    table.measure("silence_to_stop_s", await table.watch_last_card())
    assert (await table.hands.read_truth())["arrived"] < table.profile.deck.cards
    begun_s = table.now_s
    await table.start()
    state = await table.wait_for_verdict(dealing.machine.attempt or 0)
    table.measure("restart_to_held_s", table.now_s - begun_s)
    assert state.fairness[-1].outcome is AttemptOutcome.OK
    assert state.fairness[-1].commitment == dealing.fairness[-1].commitment


async def test_the_board_says_itself_that_it_stopped_when_the_daemon_was_killed(
    table: ScenarioTable,
) -> None:
    dealing = await table.deal_to_card(20)
    await table.kill()
    await table.wait(SETTLED_S)
    seen = await table.read_board_status()
    assert seen.doing is BoardActivity.STOPPED
    assert 20 <= seen.fed < table.profile.deck.cards
    await table.start()
    state = await table.wait_for_verdict(dealing.machine.attempt or 0)
    assert state.fairness[-1].outcome is AttemptOutcome.OK


async def test_a_daemon_that_is_stopped_in_mid_deal_voids_it_and_says_so(
    table: ScenarioTable,
) -> None:
    table.expect_alerts("STOPPED")
    dealing = await table.deal_to_card(20)
    await table.stop()
    await table.start()
    state = await table.wait_for_verdict(dealing.machine.attempt or 0)
    assert (state.fairness[-1].outcome, state.fairness[-1].reasons) == (
        AttemptOutcome.VOID,
        ["STOPPED"],
    )


async def test_held_hands_outlast_a_daemon_that_is_stopped(table: ScenarioTable) -> None:
    held = await table.deal_to_held()
    await table.stop()
    await table.start()
    state = await table.until(lambda state: bool(state.fairness), "the proofs")
    assert state.fairness[-1].attempt == held.machine.attempt
    assert state.fairness[-1].outcome is AttemptOutcome.OK
