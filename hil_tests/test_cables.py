"""A board whose cable is pulled, or is another's: named, no card moves, put right it goes on."""

from typing import Literal

import pytest

from controller.faults import fault
from controller.messages import Outcome, Phase, Role, State
from hil_tests.features import explains, needs
from hil_tests.table import Table, alerts

pytestmark = [needs("cables"), explains("all")]

AWAY = ("LINE_LOST", "PORT_MISSING", "BOARD_SILENT", "BOARD_RESET")
BoardName = Literal["dealer", "reader"]
BOARDS: tuple[BoardName, ...] = ("dealer", "reader")


@pytest.mark.parametrize("board", BOARDS)
async def test_a_cable_that_is_pulled_in_mid_deal_voids_it_and_names_the_board(
    table: Table, board: BoardName
) -> None:
    table.expects(*AWAY)
    await table.hands.ready(f"unplug_{board}")
    dealing = await table.deal_to_card(20)
    pulled_s = table.now_s
    await table.hands.now(f"unplug_{board}")
    lost = await table.until(lambda state: state.machine.phase is Phase.FAULT, "the fault")
    table.measure("cable_to_fault_s", table.now_s - pulled_s)
    lost = await table.verdict(dealing.machine.attempt or 0)
    assert lost.fairness[-1].outcome is Outcome.VOID
    assert set(lost.fairness[-1].reasons) <= set(AWAY)
    assert any(f"{board} board" in alert.cause for alert in lost.alerts)
    await table.hands.do(f"plug_{board}")
    await table.until(
        lambda state: not any(f"{board} board" in alert.cause for alert in state.alerts),
        f"the {board} board",
    )


@pytest.mark.parametrize("board", BOARDS)
async def test_a_cable_that_is_pulled_at_rest_costs_no_deal(table: Table, board: BoardName) -> None:
    table.expects(*AWAY)
    await table.hands.do(f"unplug_{board}")
    lost = await table.until(lambda state: state.machine.phase is Phase.FAULT, "the fault")
    assert any(f"{board} board" in alert.cause for alert in lost.alerts)
    await table.hands.do(f"plug_{board}")
    await table.quiet()
    await table.held()


async def test_held_hands_outlast_the_readers_cable(table: Table) -> None:
    table.expects(*AWAY)
    held = await table.held()
    await table.hands.do("unplug_reader")
    await table.until(lambda state: bool(state.alerts), "the fault")
    assert table.state.machine.phase is Phase.HELD
    await table.hands.do("plug_reader")
    state = await table.until(
        lambda state: not any("reader board" in alert.cause for alert in state.alerts),
        "the reader board",
    )
    assert state.machine.attempt == held.machine.attempt


@needs("fault_menu")
async def test_boards_in_each_others_place_are_named_in_both_languages_and_nothing_moves(
    table: Table,
) -> None:
    table.expects(*AWAY, "BOARDS_SWAPPED")
    await table.hands.do("cross_cables")
    state = await table.until(lambda state: alerts(state) == {"BOARDS_SWAPPED"}, "the fault alone")
    await _check_named_and_still(table, state, "BOARDS_SWAPPED")
    await table.hands.do("cross_cables")
    await table.quiet()
    await table.held()


@needs("fault_menu")
@pytest.mark.parametrize("board", BOARDS)
async def test_another_tables_board_is_named_in_both_languages_and_nothing_moves(
    table: Table, board: BoardName
) -> None:
    table.expects(*AWAY, "WRONG_BOARD")
    await table.hands.fault("foreign_board", board=board, for_ms=8000)
    state = await table.until(lambda state: alerts(state) == {"WRONG_BOARD"}, "the fault alone")
    assert any(f"Another {board} board" in alert.cause for alert in state.alerts)
    await _check_named_and_still(table, state, "WRONG_BOARD")
    await table.quiet()
    await table.held()


async def _check_named_and_still(table: Table, state: State, name: str) -> None:
    """See what people are told in either language, and that no order moves a card."""
    row, before = fault(name), await table.hands.truth()
    assert state.machine.phase is Phase.FAULT
    for alert in state.alerts:
        assert (alert.action, alert.action_zh) == (row.action(), row.action({}, "zh"))
        assert alert.cause_zh.startswith(row.cause_zh.partition("[")[0])
    refused = await table.ask(Role.REFEREE, "start_deal")
    assert refused.error is not None
    assert refused.error.code == "WRONG_PHASE"
    assert await table.hands.truth() == before
