"""Boards that go, come back, or were never the right ones."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from controller.journal.store import JournalStore
from controller.messages import AttemptOutcome, MachinePhase, Role
from sim.hardware_in_process import DEALER_ID, READER_ID, own_firmware_hash

pytestmark = pytest.mark.virtual
Tables = Callable[..., Any]


@pytest.mark.parametrize("board", ["dealer", "reader"])
async def test_a_board_lost_in_mid_deal_voids_it_and_the_table_deals_again_with_it(
    table: Tables, board: Any
) -> None:
    async with table() as trial:
        await trial.wait_for_phase(MachinePhase.EMPTY)
        await trial.send_command(Role.REFEREE, "start_deal")
        await trial.send_command(Role.TABLE, "cut", n=40)
        await trial.wait_for_state(lambda state: state.machine.fed >= 30)
        trial.sim.kill(board)
        lost = await trial.wait_for_state(lambda state: state.fairness[-1].outcome is not None)
        assert lost.fairness[-1].outcome is AttemptOutcome.VOID
        alerts = await trial.wait_for_state(lambda s: any(board in a.cause for a in s.alerts))
        assert all(alert.action and alert.action_zh for alert in alerts.alerts)

        trial.sim.start(board)
        await trial.sim.world.people.collect()
        again = await trial.play_attempt()
        assert again.machine.attempt == 2
        assert again.fairness[-1].outcome is AttemptOutcome.OK
        assert again.alerts == []


async def test_two_boards_in_each_others_place_are_named_and_nothing_moves(table: Tables) -> None:
    async with table(board_ids=(READER_ID, DEALER_ID)) as trial:
        swapped = await trial.wait_for_state(lambda state: bool(state.alerts))
        assert {alert.name for alert in swapped.alerts} == {"BOARDS_SWAPPED"}
        assert swapped.machine.phase is MachinePhase.FAULT
        refused = await trial.send_command(Role.REFEREE, "start_deal")
        assert refused.error.code == "WRONG_PHASE"
        assert trial.sim.world.truth().arrived == 0


async def test_a_strange_board_is_named_with_both_ids(table: Tables) -> None:
    async with table(board_ids=("00000000000000ff", READER_ID)) as trial:
        strange = await trial.wait_for_state(lambda state: bool(state.alerts))
        (alert,) = strange.alerts
        assert alert.name == "WRONG_BOARD"
        assert "00000000000000ff" in alert.cause
        assert DEALER_ID in alert.cause


@pytest.mark.parametrize("board", ["dealer", "reader"])
async def test_a_board_with_other_firmware_of_the_same_version_deals_nothing(
    board: Any, table: Tables
) -> None:
    async with table() as trial:
        await trial.wait_for_phase(MachinePhase.EMPTY)
        trial.sim.kill(board)
        await trial.wait_for_phase(MachinePhase.FAULT)
        trial.sim.start(board, firmware=bytes(8))
        wrong = await trial.wait_for_state(
            lambda state: state.alerts and state.alerts[0].code == 308
        )
        assert "0" * 16 in wrong.alerts[0].cause
        assert own_firmware_hash().hex() in wrong.alerts[0].cause
        refused = await trial.send_command(Role.REFEREE, "start_deal")
        assert refused.error.code == "WRONG_PHASE"

        trial.sim.kill(board)
        trial.sim.start(board)
        again = await trial.play_attempt()
        assert again.alerts == []


async def test_an_attempt_whose_boards_were_reset_too_is_void_and_its_record_opened(
    table: Tables, tmp_path: Path
) -> None:
    async with table(store=JournalStore.open(tmp_path), state_dir=tmp_path) as trial:
        await trial.wait_for_phase(MachinePhase.EMPTY)
        await trial.send_command(Role.REFEREE, "start_deal")
        await trial.send_command(Role.TABLE, "cut", n=40)
        await trial.wait_for_state(lambda state: state.machine.fed >= 30)
    async with table(store=JournalStore.open(tmp_path), state_dir=tmp_path, seed=1) as trial:
        voided = await trial.wait_for_state(
            lambda state: bool(state.fairness) and state.fairness[0].reveal is not None
        )
        assert voided.fairness[0].outcome is AttemptOutcome.VOID
        assert voided.fairness[0].reasons == ["BOARD_RESET"]
        assert [e.kind for e in trial.events if e.attempt == 1] == ["verdict", "revealed", "record"]
        await trial.sim.world.people.collect()
        again = await trial.play_attempt()
        assert (again.machine.deal, again.machine.attempt) == (1, 2)
