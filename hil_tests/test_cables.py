"""A board whose cable is pulled: it is named, no card moves, and plugged in the table goes on."""

from typing import Literal

import pytest

from controller.messages import Outcome, Phase
from hil_tests.features import explains, needs
from hil_tests.table import Table

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
    dealing = await table.mid_deal(20)
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
