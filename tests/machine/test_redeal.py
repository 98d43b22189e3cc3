"""The redeal rule in a match: what one bad deal leads to, and two; sets, claims and the chief."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from controller.messages import CardSetState, MachinePhase, Role
from sim.mechanics.fault_menu import parse_fault
from sim.tables.table_in_process import TableInProcess
from tests.machine.redeals import kept
from tests.machine.stages import (
    STAGES,
    alerts,
    all_press,
    at,
    cut,
    deal_two_due,
    opened,
    ordered,
    refused,
    started,
)
from tests.machine.troubles import Ground

pytestmark = pytest.mark.virtual
A_WHILE_S = 5.0
EVERY_TIME = "wrong_pocket:at=5,repeat=true"


@pytest.fixture
def ground(runtime_dir: Path, tmp_path: Path) -> Ground:
    """Make a place for tables with two sets."""
    return Ground(runtime_dir, tmp_path)


def calls(trial: TableInProcess) -> list[str]:
    return [call.reason for call in trial.states[-1].calls]


def card_set(trial: TableInProcess, name: str) -> CardSetState:
    return next(each for each in trial.states[-1].sets if each.id == name)


async def over(trial: TableInProcess, number: int) -> None:
    """Wait until an attempt has its verdict, whatever comes behind it."""
    await trial.wait_for_state(
        lambda state: any(
            proof.attempt == number and proof.outcome is not None for proof in state.fairness
        )
    )


async def cut_again(trial: TableInProcess, number: int) -> None:
    """Cut an attempt that has begun by itself, and wait for its verdict."""
    await trial.wait_for_state(
        lambda s: (s.machine.attempt, s.machine.phase) == (number, MachinePhase.COMMITTED)
    )
    await cut(trial)
    await over(trial, number)


async def cards_back(trial: TableInProcess, name: str) -> None:
    """Have everything laid down, and a set in the hopper; let the machine see its lid closed."""
    trial.lay_down()
    if name == "S1":
        await trial.people.collect(name)
    else:
        await trial.people.change_set(card_set=name)
    await asyncio.sleep(1)


async def claimed(trial: TableInProcess, seat: str, **counts: int) -> None:
    """Claim a wrong count, and have four counts entered, 27 each where nothing else is said."""
    await ordered(trial, Role.TABLE, "claim_count", seat=seat)
    await ordered(trial, Role.REFEREE, "recount", counts=dict.fromkeys("NWSE", 27) | counts)


# -- misdeals -----------------------------------------------------------------


async def test_after_two_misdeals_the_referee_is_called_and_alone_starts_the_third(
    ground: Ground,
) -> None:
    async with ground.table() as trial:
        await deal_two_due(trial)
        was = kept(trial)
        trial.sim.world.add_fault(parse_fault(EVERY_TIME))
        await started(trial)
        await cut(trial)
        await over(trial, 1)
        assert "TWO_MISDEALS" not in alerts(trial)
        await trial.people.collect("S1")
        await cut_again(trial, 2)
        await trial.people.collect("S1")
        await asyncio.sleep(A_WHILE_S)
        assert alerts(trial) == ["TWO_MISDEALS"]
        assert calls(trial) == ["misdeals_in_a_row"]
        assert trial.states[-1].machine.attempt == 2
        await started(trial)
        assert (trial.states[-1].machine.attempt, alerts(trial)) == (3, [])
        assert kept(trial) == was


async def test_right_hands_between_two_bad_deals_end_the_row(ground: Ground) -> None:
    async with ground.table() as trial:
        await deal_two_due(trial)
        trial.sim.world.add_fault(parse_fault("wrong_pocket:at=5"))
        await started(trial)
        await cut(trial)
        await over(trial, 1)
        await trial.people.collect("S1")
        await cut_again(trial, 2)
        await trial.wait_for_phase(MachinePhase.HELD)
        await trial.people.collect("S1")
        await trial.wait_for_state(lambda state: state.machine.attempt == 3)
        assert (alerts(trial), calls(trial)) == ([], [])


async def test_hands_that_are_recalled_count_as_one_of_two_in_a_row(ground: Ground) -> None:
    async with ground.table() as trial:
        await STAGES["count_check"](trial)
        await claimed(trial, "N", N=26)
        await cards_back(trial, "S2")
        await ordered(trial, Role.REFEREE, "replace_set", set="S2")
        trial.sim.world.add_fault(parse_fault("wrong_pocket:at=5"))
        await started(trial)
        await cut(trial)
        await over(trial, 2)
        await asyncio.sleep(1)
        assert "TWO_MISDEALS" in alerts(trial)
        assert calls(trial) == ["misdeals_in_a_row"]


async def test_a_deal_drawn_by_hand_after_a_bad_one_leaves_the_machine_ready_for_the_next(
    ground: Ground,
) -> None:
    async with ground.table() as trial:
        await STAGES["held"](trial)
        await ordered(trial, Role.REFEREE, "dealt_by_hand", reason="smoke")
        await ordered(trial, Role.REFEREE, "shuffled", seat="E")
        await ordered(trial, Role.REFEREE, "cut_by_hand", seat="N", n=40)
        await ordered(trial, Role.REFEREE, "hands_dealt")
        await all_press(trial, "NWSE")
        await ordered(trial, Role.REFEREE, "anti", stands=True)
        await ordered(trial, Role.REFEREE, "result", order=["N", "S"])
        await cards_back(trial, "S1")
        await ordered(trial, Role.REFEREE, "confirm")
        await asyncio.sleep(A_WHILE_S)
        assert alerts(trial) == []
        await started(trial)
        assert trial.states[-1].machine.deal == 3
        await cut(trial)
        await trial.wait_for_phase(MachinePhase.HELD)


# -- claims -------------------------------------------------------------------


async def test_between_tribute_and_return_payers_hold_26_and_receivers_28(ground: Ground) -> None:
    async with ground.table() as trial:
        await STAGES["return"](trial)
        await claimed(trial, "N", N=28, S=28, W=26, E=26)
        assert at(trial) == "return"
        await claimed(trial, "E")  # 27 each would be right in any other phase
        assert at(trial) == "cut"
        assert trial.states[-1].fairness[-1].recalled == ["COUNT_WRONG"]


async def test_a_pairs_second_claim_calls_the_chief_and_the_other_pairs_first_does_not(
    ground: Ground,
) -> None:
    async with ground.table() as trial:
        await STAGES["count_check"](trial)
        for seat, called in (("N", "count"), ("E", "count"), ("S", "second_count")):
            await ordered(trial, Role.TABLE, "claim_count", seat=seat)
            assert calls(trial) == [called]
            counts = dict.fromkeys("NWSE", 27)
            if called == "second_count":
                said = await refused(trial, Role.REFEREE, "recount", counts=counts)
                assert said == "NEEDS_CHIEF"
            decides = Role.CHIEF if called == "second_count" else Role.REFEREE
            await ordered(trial, decides, "recount", counts=counts)
            assert calls(trial) == []


async def test_a_pairs_second_claim_may_be_answered_by_the_chiefs_word(ground: Ground) -> None:
    async with ground.table() as trial:
        await STAGES["count_check"](trial)
        await claimed(trial, "N")
        await ordered(trial, Role.TABLE, "claim_count", seat="S")
        counts = dict.fromkeys("NWSE", 27) | {"S": 26}
        await ordered(trial, Role.REFEREE, "recount", counts=counts, verbal=True, by="Chen Hua")
        assert at(trial) == "cut"


async def test_nothing_goes_on_while_a_count_is_claimed(ground: Ground) -> None:
    async with ground.table() as trial:
        await STAGES["count_check"](trial)
        await ordered(trial, Role.TABLE, "claim_count", seat="N")
        assert await refused(trial, Role.TABLE, "confirm", seat="N") == "SUSPENDED"
        assert await refused(trial, Role.TABLE, "claim_count", seat="W") == "SUSPENDED"
        assert await refused(trial, Role.REFEREE, "resume") == "WRONG_COUNTS"
        assert await refused(trial, Role.REFEREE, "start_deal") in ("WRONG_PHASE", "NO_DEAL_DUE")


async def test_the_chief_who_opened_a_hand_cannot_order_that_deals_redeal(ground: Ground) -> None:
    async with ground.table() as trial:
        await STAGES["play, after the first lead"](trial)
        await ordered(trial, Role.CHIEF, "open_hand", seat="N", reason="a hidden card?")
        assert await refused(trial, Role.CHIEF, "redeal", reason="no") == "OPENED_BY_YOU"


async def test_the_chief_who_opened_a_hand_cannot_answer_the_claim_himself(ground: Ground) -> None:
    async with ground.table() as trial:
        await STAGES["count_check"](trial)
        await ordered(trial, Role.TABLE, "claim_count", seat="N")
        await ordered(trial, Role.CHIEF, "open_hand", seat="N", reason="what was dealt?")
        counts = dict.fromkeys("NWSE", 27)
        assert await refused(trial, Role.CHIEF, "recount", counts=counts) == "OPENED_BY_YOU"
        await ordered(trial, Role.REFEREE, "recount", counts=counts)


# -- sets ---------------------------------------------------------------------


async def barred_by_a_recall(trial: TableInProcess) -> None:
    await STAGES["count_check"](trial)
    await claimed(trial, "N", N=26)
    await asyncio.sleep(1)


async def test_a_set_whose_hands_were_counted_wrong_is_barred_until_it_is_counted_in_full(
    ground: Ground,
) -> None:
    async with ground.table() as trial:
        await barred_by_a_recall(trial)
        assert card_set(trial, "S1").barred == ["COUNT_WRONG"]
        assert alerts(trial) == ["SET_BARRED"]
        await cards_back(trial, "S1")
        await asyncio.sleep(A_WHILE_S)
        assert await refused(trial, Role.REFEREE, "start_deal") == "SET_BARRED"
        count = {"set": "S1", "cards": 107}
        assert await refused(trial, Role.REFEREE, "clear_set", **count) == "SET_NOT_WHOLE"
        unknown = {"set": "S9", "cards": 108}
        assert await refused(trial, Role.REFEREE, "clear_set", **unknown) == "NO_SUCH_SET"
        await ordered(trial, Role.REFEREE, "clear_set", set="S1", cards=108)
        await asyncio.sleep(1)
        assert (card_set(trial, "S1").barred, alerts(trial)) == ([], [])
        await started(trial)


async def test_another_set_is_named_and_an_unknown_one_by_its_back(ground: Ground) -> None:
    async with ground.table() as trial:
        await barred_by_a_recall(trial)
        await cards_back(trial, "S2")
        assert await refused(trial, Role.REFEREE, "replace_set", set="S9") == "NO_SUCH_SET"
        await ordered(trial, Role.REFEREE, "replace_set", set="S9", back="B")
        assert trial.states[-1].machine.card_set == "S9"
        await started(trial)
        await cut(trial)
        await trial.wait_for_phase(MachinePhase.HELD)
        assert await refused(trial, Role.REFEREE, "replace_set", set="S2") == "MACHINE_BUSY"
        assert card_set(trial, "S1").barred == ["COUNT_WRONG"]
        assert card_set(trial, "S9").attempts == 1


async def test_the_set_that_was_out_is_barred_though_another_one_is_loaded_by_then(
    ground: Ground,
) -> None:
    async with ground.table() as trial:
        await STAGES["count_check"](trial)
        await ordered(trial, Role.REFEREE, "replace_set", set="S2")
        await claimed(trial, "N", N=26)
        await asyncio.sleep(1)
        assert card_set(trial, "S1").barred == ["COUNT_WRONG"]
        assert card_set(trial, "S2").barred == []


async def test_a_set_has_a_history(ground: Ground) -> None:
    async with ground.table() as trial:
        await barred_by_a_recall(trial)
        await cards_back(trial, "S1")
        await ordered(trial, Role.REFEREE, "clear_set", set="S1", cards=108)
        await started(trial)
        await cut(trial)
        await trial.wait_for_phase(MachinePhase.HELD)
        await ordered(trial, Role.REFEREE, "release")
        await trial.wait_for_phase(MachinePhase.RELEASED)
        history = card_set(trial, "S1")
        counted = (history.attempts, history.deals, history.misdeals, history.cleared)
        assert counted == (2, 2, 1, 1)
        assert (history.last_match, history.last_deal) == ("M1", 2)


async def test_a_set_found_wrong_at_its_next_feed_names_the_last_deal_that_was_played_with_it(
    ground: Ground,
) -> None:
    async with ground.table() as trial:
        await STAGES["result"](trial)
        await ordered(trial, Role.REFEREE, "confirm")
        trial.sim.world.add_fault(parse_fault("missing_card"))  # as the set is gathered
        await cards_back(trial, "S1")
        await started(trial)
        await cut(trial)
        await over(trial, 2)
        await asyncio.sleep(1)
        assert (card_set(trial, "S1").last_match, card_set(trial, "S1").last_deal) == ("M1", 2)
        barred = next(each for each in trial.states[-1].alerts if each.name == "SET_BARRED")
        assert "last played in deal 2" in barred.cause


async def test_a_set_in_the_hopper_before_the_result_is_confirmed_is_evidence_and_begins_nothing(
    ground: Ground,
) -> None:
    async with ground.table() as trial:
        await STAGES["result"](trial)
        await cards_back(trial, "S1")
        await asyncio.sleep(A_WHILE_S)
        assert alerts(trial) == ["SET_TOO_EARLY"]
        assert await refused(trial, Role.REFEREE, "start_deal") in ("WRONG_PHASE", "NO_DEAL_DUE")
        assert trial.states[-1].machine.attempt == 1
        await ordered(trial, Role.REFEREE, "confirm")
        await asyncio.sleep(1)
        assert alerts(trial) == []
        await started(trial)


async def test_a_practice_deal_whose_set_is_wrong_is_barred_as_any_other(
    table: Callable[..., Any],
) -> None:
    async with table("missing_card") as trial:
        await trial.play_attempt()
        await trial.people.collect()
        await asyncio.sleep(A_WHILE_S)
        assert alerts(trial) == ["SET_BARRED"]
        assert trial.states[-1].machine.attempt == 1


async def test_a_misdeal_of_the_first_deal_leaves_a_fresh_match(ground: Ground) -> None:
    async with ground.table() as trial:
        await opened(trial)
        was = kept(trial)
        trial.sim.world.add_fault(parse_fault("wrong_pocket:at=5"))
        await started(trial)
        await ordered(trial, Role.TABLE, "cut", n=40)
        await over(trial, 1)
        assert kept(trial) == was
        assert trial.states[-1].match is not None
        assert trial.states[-1].match.deal == 1
