"""Each code of the catalogue can be raised: here, in REDEAL.md, or in a test that is named.

A code that nothing can raise any more is deleted from the catalogue; a test that is taken
away while it was the only one to raise its code is missed here.
"""

import ast
import asyncio
import re
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from controller.config import LimitsSection
from controller.faults import _FAULT_BY_DRIVER_ERROR, fault_catalogue
from controller.messages import MachinePhase, Role
from sim.tables.table_in_process import TableInProcess
from tests.machine.redeal_page import REASONS
from tests.machine.stages import STAGES, alerts, ordered, refused
from tests.machine.troubles import TROUBLES, Ground
from tests.match.refusal_scenes import REFUSED
from tests.rows import each_row

PLAYED = {trouble.reason for trouble in TROUBLES} | {"COUNT_WRONG"}
"""Reasons of attempts: tests/machine/test_redeal_table.py plays every one of them."""

TOLD = {
    "PORT_MISSING": "link/test_serial_port.py::test_a_port_that_is_not_there_is_missing",
    "PORT_BUSY": "link/test_serial_port.py::test_a_port_that_is_held_is_busy",
    "WRONG_BOARD": "machine/test_boards.py::test_a_strange_board_is_named_with_both_ids",
    "BOARDS_SWAPPED": (
        "machine/test_boards.py::test_two_boards_in_each_others_place_are_named_and_nothing_moves"
    ),
    "WRONG_KIND": "drivers/test_identity.py::test_another_board_is_refused_by_name",
    "WRONG_PROTOCOL": "drivers/test_identity.py::test_another_board_is_refused_by_name",
    "WRONG_FIRMWARE": "drivers/test_identity.py::test_another_board_is_refused_by_name",
    "WRONG_SETTINGS": "drivers/test_identity.py::test_another_board_is_refused_by_name",
    "BACKEND_MISMATCH": "drivers/test_identity.py::test_another_board_is_refused_by_name",
    "PANEL_LOST": ("machine/test_front.py::test_a_table_without_its_panel_says_so_and_deals_on"),
    "STORAGE_FAILED": (
        "processes/test_full_disk.py"
        "::test_a_full_disk_stops_the_cards_and_with_room_the_same_attempt_goes_on"
    ),
    "CUT_LATE": (
        "machine/test_deals.py::test_a_cut_that_does_not_come_calls_the_referee_and_may_still_come"
    ),
    "TWO_MISDEALS": (
        "machine/test_redeal.py"
        "::test_after_two_misdeals_the_referee_is_called_and_alone_starts_the_third"
    ),
    "SET_BARRED": (
        "machine/test_redeal.py"
        "::test_a_set_whose_hands_were_counted_wrong_is_barred_until_it_is_counted_in_full"
    ),
    "SET_TOO_EARLY": (
        "machine/test_redeal.py"
        "::test_a_set_in_the_hopper_before_the_result_is_confirmed_is_evidence_and_begins_nothing"
    ),
    "NO_CHIEF": (
        "machine/test_chief.py"
        "::test_no_deal_begins_without_a_chief_it_could_be_sealed_to_and_one_does_with_him"
    ),
    "RELEASE_OLDER": (
        "release/test_installed.py"
        "::test_a_release_older_than_one_that_ran_here_is_refused_in_the_catalogues_words"
    ),
    "NOT_CARRIED_OUT": "machine/test_orders_over.py::test_an_act_that_fails_is_answered_and_over",
    "STALE": "machine/test_orders.py::test_an_order_about_another_attempt_is_stale",
    "WRONG_ROLE": "machine/test_orders.py::test_a_deal_is_started_by_a_referee_alone",
    "BAD_SIGNATURE": (
        "machine/test_orders.py"
        "::test_an_order_signed_for_another_table_or_changed_on_its_way_is_refused"
    ),
    "UNKNOWN_KEY": (
        "machine/test_orders.py"
        "::test_an_order_signed_for_another_table_or_changed_on_its_way_is_refused"
    ),
    "KEY_REVOKED": (
        "attacks/test_orders.py"
        "::test_a_revoked_chief_is_refused_by_the_machine_whatever_gateway_lets_him_through"
    ),
    "KEY_EXPIRED": (
        "attacks/test_orders.py::test_a_key_that_expires_while_the_table_runs_gives_no_more_orders"
    ),
    "BAD_COMMAND": (
        "machine/test_orders.py"
        "::test_a_cut_too_near_an_end_or_no_number_is_refused_and_the_deal_waits_on"
    ),
    "MACHINE_AWAY": "gateway/test_commands.py::test_without_its_machine_the_gateway_says_so",
    "MACHINE_LATE": "gateway/test_commands.py::test_a_machine_that_is_late_is_called_late",
    "TOO_MANY": (
        "gateway/test_commands.py"
        "::test_what_a_key_sends_beyond_its_rate_is_refused_and_never_reaches_the_machine"
    ),
    "OTHER_RUN": (
        "machine/test_orders_over.py::test_what_was_refused_in_one_run_does_not_act_in_the_next"
    ),
    "ORDER_OVER": (
        "machine/test_orders_over.py"
        "::test_what_acted_does_not_act_again_when_the_journal_has_forgotten_its_answer"
    ),
    "ID_TAKEN": (
        "machine/test_orders_over.py"
        "::test_an_id_that_is_given_with_other_words_is_refused_and_that_is_in_the_journal"
    ),
    "TOO_MANY_ORDERS": (
        "machine/test_orders_over.py"
        "::test_a_key_that_gave_more_than_can_be_known_again_gives_no_more_and_others_do"
    ),
    "BAD_DOCUMENT": (
        "machine/test_transfer.py"
        "::test_a_match_is_taken_from_the_table_alone_whose_key_the_order_names"
    ),
    "PAUSED": ("machine/test_holds.py::test_no_step_of_a_deal_is_taken_while_the_table_is_held"),
    "NO_MATCH": (
        "machine/test_transfer.py"
        "::test_there_is_nothing_to_move_without_a_match_or_under_a_signed_sheet"
    ),
    "PAIR_DISQUALIFIED": (
        "machine/test_offers.py"
        "::test_no_match_is_laid_out_for_a_pair_that_is_disqualified_from_its_event"
    ),
    "MATCH_OPEN": "machine/test_transfer.py::test_a_table_that_has_a_match_takes_no_other",
    "MACHINE_BUSY": (
        "machine/test_redeal.py::test_another_set_is_named_and_an_unknown_one_by_its_back"
    ),
    "NO_SUCH_SET": (
        "machine/test_redeal.py::test_another_set_is_named_and_an_unknown_one_by_its_back"
    ),
    "SET_NOT_WHOLE": (
        "machine/test_redeal.py"
        "::test_a_set_whose_hands_were_counted_wrong_is_barred_until_it_is_counted_in_full"
    ),
    "NOT_LATCHED": (
        "machine/test_holds.py"
        "::test_a_released_e_stop_lets_nothing_go_on_before_somebody_has_seen_to_it"
    ),
    "STILL_THERE": (
        "machine/test_holds.py"
        "::test_a_released_e_stop_lets_nothing_go_on_before_somebody_has_seen_to_it"
    ),
    "NOT_YOUR_PAUSE": (
        "machine/test_holds.py::test_each_pause_is_ended_by_its_owner_and_the_chief_ends_them_all"
    ),
    "NOT_BY_HAND": (
        "machine/test_match_orders.py::test_what_the_machine_deals_is_not_entered_by_hand"
    ),
    "OPENED_BY_YOU": (
        "machine/test_redeal.py::test_the_chief_who_opened_a_hand_cannot_order_that_deals_redeal"
    ),
    "OTHER_MATCH": (
        "machine/test_transfer.py::test_a_document_for_another_table_or_other_rules_is_refused"
    ),
    "BY_HAND": "machine/test_by_hand.py::test_an_attempt_under_way_is_void_with_its_record_open",
    "TEST_MODE": "machine/test_record_mode.py::test_a_table_that_is_recorded_opens_no_match",
}
"""The test that raises a code, below tests/."""

TESTS = Path(__file__).parents[1]
LIMITS = LimitsSection()


async def _alert(trial: TableInProcess, name: str) -> list[str]:
    """Wait until an alert is up; return all that are."""
    await trial.wait_for_state(lambda state: name in alerts(trial))
    return alerts(trial)


async def _silent(ground: Ground) -> list[str]:
    async with ground.table() as trial:
        await trial.wait_for_phase(MachinePhase.EMPTY)
        board = trial.sim.boards["reader"].board
        assert board is not None
        board.close()  # the port stays, and the board sends nothing
        return await _alert(trial, "BOARD_SILENT")


def _kept_waiting(stage: str, for_s: float) -> Callable[[Ground], Awaitable[list[str]]]:
    async def wait(ground: Ground) -> list[str]:
        async with ground.table() as trial:
            await STAGES[stage](trial)
            await asyncio.sleep(for_s + 1)
            return alerts(trial)

    return wait


async def _out_unconfirmed(ground: Ground) -> list[str]:
    async with ground.table() as trial:
        await STAGES["play, after the first lead"](trial)
        await ordered(trial, Role.TABLE, "out", seat="N")
        return await _alert(trial, "OUT_UNCONFIRMED")


def _refusal(
    stage: str, role: Role, cmd: str, **args: object
) -> Callable[[Ground], Awaitable[list[str]]]:
    async def order(ground: Ground) -> list[str]:
        async with ground.table() as trial:
            await STAGES[stage](trial)
            return [await refused(trial, role, cmd, **args)]

    return order


async def _hands_unknown(ground: Ground) -> list[str]:
    opening = {"seat": "N", "reason": "hidden?"}
    async with ground.table() as trial:
        await STAGES["due"](trial)
        await ordered(trial, Role.REFEREE, "dealt_by_hand", reason="jam")
        await ordered(trial, Role.REFEREE, "shuffled", seat="E")
        await ordered(trial, Role.REFEREE, "cut_by_hand", seat="N", n=40)
        await ordered(trial, Role.REFEREE, "hands_dealt")
        await ordered(trial, Role.TABLE, "claim_count", seat="N")
        return [await refused(trial, Role.CHIEF, "open_hand", **opening)]


async def _board_away(ground: Ground) -> list[str]:
    async with ground.table() as trial:
        await trial.wait_for_phase(MachinePhase.EMPTY)
        trial.sim.kill("reader")
        await trial.wait_for_phase(MachinePhase.FAULT)
        return [await refused(trial, Role.TECHNICIAN, "selftest")]


SCENARIOS: dict[str, Callable[[Ground], Awaitable[list[str]]]] = {
    "BOARD_SILENT": _silent,
    "HANDS_WAIT": _kept_waiting("held", LIMITS.take_s),
    "OUT_UNCONFIRMED": _out_unconfirmed,
    "RESULT_UNCONFIRMED": _kept_waiting("result", LIMITS.result_s),
    "SLOW_DEAL": _kept_waiting("play, after the first lead", LIMITS.slow_deal_s),
    "UNKNOWN_COMMAND": _refusal("due", Role.CHIEF, "deal_better_hands"),
    "NO_DEAL_DUE": _refusal("tribute", Role.REFEREE, "start_deal"),
    "HAND_CLOSED": _refusal("count_check", Role.CHIEF, "open_hand", seat="N", reason="hidden?"),
    "HANDS_UNKNOWN": _hands_unknown,
    "BOARD_AWAY": _board_away,
    "NOBODY_CALLS": _refusal("due", Role.REFEREE, "attend", seat="N"),
    "SET_OUT": _refusal("tribute", Role.REFEREE, "replace_set", set="S1"),
}
"""How else a code is raised; each returns the names that came of it."""


def test_every_code_is_raised_by_a_test_and_every_test_raises_a_code() -> None:
    assert set(REASONS) <= PLAYED
    raised = PLAYED | set(REFUSED) | set(TOLD) | set(SCENARIOS)
    assert raised == set(fault_catalogue())


@each_row("code", TOLD)
def test_the_test_that_raises_a_code_is_there_and_speaks_of_it(code: str) -> None:
    path, _, name = TOLD[code].partition("::")
    source = source_of(TESTS / path, name)
    errors = [error for error, fault in _FAULT_BY_DRIVER_ERROR.items() if fault == code]
    assert any(re.search(rf"\b{word}\b", source) for word in (code, *errors))


@pytest.mark.virtual
@pytest.mark.parametrize("code", SCENARIOS)
async def test_a_code_is_raised_at_a_table(code: str, runtime_dir: Path, tmp_path: Path) -> None:
    assert code in await SCENARIOS[code](Ground(runtime_dir, tmp_path))


def source_of(file: Path, name: str) -> str:
    """Return a test with its decorators. Raises LookupError where it is not there."""
    text = file.read_text("utf-8")
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name:
            first = min(each.lineno for each in (node, *node.decorator_list))
            return "\n".join(text.splitlines()[first - 1 : node.end_lineno])
    raise LookupError(f"{file} has no test {name}")
