"""Scenarios of pulled or swapped board cables: an alert names the board, and no card moves.

With the right cables the table deals again.
"""

from typing import Literal

import pytest

from controller.faults import fault
from controller.messages import AttemptOutcome, MachinePhase, PublicState, Role
from hil_tests.harness.features import needs
from hil_tests.harness.scenario_table import ScenarioTable, alert_names

pytestmark = [needs("cables"), pytest.mark.explains("all")]

LOST_BOARD_ALERTS = ("LINE_LOST", "PORT_MISSING", "BOARD_SILENT", "BOARD_RESET")
CableBoard = Literal["dealer", "reader"]
BOARDS: tuple[CableBoard, ...] = ("dealer", "reader")


@pytest.mark.parametrize("board", BOARDS)
async def test_a_cable_that_is_pulled_in_mid_deal_voids_it_and_names_the_board(
    table: ScenarioTable, board: CableBoard
) -> None:
    table.expect_alerts(*LOST_BOARD_ALERTS)
    await table.hands.prepare_step(f"unplug_{board}")
    dealing = await table.deal_to_card(20)
    pulled_s = table.now_s
    await table.hands.signal_step(f"unplug_{board}")
    lost = await table.until(lambda state: state.machine.phase is MachinePhase.FAULT, "the fault")
    table.measure("cable_to_fault_s", table.now_s - pulled_s)
    lost = await table.wait_for_verdict(dealing.machine.attempt or 0)
    assert lost.fairness[-1].outcome is AttemptOutcome.VOID
    assert set(lost.fairness[-1].reasons) <= set(LOST_BOARD_ALERTS)
    assert any(f"{board} board" in alert.cause for alert in lost.alerts)
    await table.hands.do_step(f"plug_{board}")
    await table.until(
        lambda state: not any(f"{board} board" in alert.cause for alert in state.alerts),
        f"the {board} board",
    )


@pytest.mark.parametrize("board", BOARDS)
async def test_a_cable_that_is_pulled_at_rest_costs_no_deal(
    table: ScenarioTable, board: CableBoard
) -> None:
    table.expect_alerts(*LOST_BOARD_ALERTS)
    await table.hands.do_step(f"unplug_{board}")
    lost = await table.until(lambda state: state.machine.phase is MachinePhase.FAULT, "the fault")
    assert any(f"{board} board" in alert.cause for alert in lost.alerts)
    await table.hands.do_step(f"plug_{board}")
    await table.wait_for_quiet()
    await table.deal_to_held()


async def test_held_hands_outlast_the_readers_cable(table: ScenarioTable) -> None:
    table.expect_alerts(*LOST_BOARD_ALERTS)
    held = await table.deal_to_held()
    await table.hands.do_step("unplug_reader")
    await table.until(lambda state: bool(state.alerts), "the fault")
    assert table.state.machine.phase is MachinePhase.HELD
    await table.hands.do_step("plug_reader")
    state = await table.until(
        lambda state: not any("reader board" in alert.cause for alert in state.alerts),
        "the reader board",
    )
    assert state.machine.attempt == held.machine.attempt


@needs("fault_menu")
async def test_boards_in_each_others_place_are_named_in_both_languages_and_nothing_moves(
    table: ScenarioTable,
) -> None:
    table.expect_alerts(*LOST_BOARD_ALERTS, "BOARDS_SWAPPED")
    await table.hands.do_step("cross_cables")
    state = await table.until(
        lambda state: alert_names(state) == {"BOARDS_SWAPPED"}, "the fault alone"
    )
    await _check_named_and_still(table, state, "BOARDS_SWAPPED")
    await table.hands.do_step("cross_cables")
    await table.wait_for_quiet()
    await table.deal_to_held()


@needs("fault_menu")
@pytest.mark.parametrize("board", BOARDS)
async def test_another_tables_board_is_named_in_both_languages_and_nothing_moves(
    table: ScenarioTable, board: CableBoard
) -> None:
    table.expect_alerts(*LOST_BOARD_ALERTS, "WRONG_BOARD")
    await table.hands.cause_fault("foreign_board", board=board, for_ms=8000)
    state = await table.until(
        lambda state: alert_names(state) == {"WRONG_BOARD"}, "the fault alone"
    )
    assert any(f"The connected {board} board" in alert.cause for alert in state.alerts)
    await _check_named_and_still(table, state, "WRONG_BOARD")
    await table.wait_for_quiet()
    await table.deal_to_held()


async def _check_named_and_still(table: ScenarioTable, state: PublicState, name: str) -> None:
    """Check the texts of the alert `name`, that a new deal is refused, and that no card moves."""
    row, before = fault(name), await table.hands.read_truth()
    assert state.machine.phase is MachinePhase.FAULT
    for alert in state.alerts:
        assert (alert.action, alert.action_zh) == (row.action(), row.action({}, "zh"))
        assert alert.cause_zh.startswith(row.cause_zh.partition("[")[0])
    refused = await table.ask(Role.REFEREE, "start_deal")
    assert refused.error is not None
    assert refused.error.code == "WRONG_PHASE"
    assert await table.hands.read_truth() == before
