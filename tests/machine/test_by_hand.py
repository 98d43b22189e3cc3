"""A deal drawn by hand (人工发牌): the machine takes no part in it, whatever it was doing."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from controller.journal.store import JournalStore
from controller.journal.verify import verify
from controller.messages import AttemptOutcome, MachinePhase, PublicState, Role
from controller.rules.profile_files import load_profile
from sim.tables.table_in_process import TableInProcess
from tests.machine.by_hand import drawn_by_hand, drawn_on, exchanged, match_at, played
from tests.machine.stages import all_press, opened, ordered, refused
from tests.match.table import BIG_TWO, GUANDAN

pytestmark = pytest.mark.virtual
Tables = Callable[..., Any]
A_LOOK_S = 2.0
"""Within this the machine has looked at its sensors again."""
REASON = "the machine is broken"


async def committed(trial: TableInProcess) -> None:
    await opened(trial)
    await ordered(trial, Role.REFEREE, "start_deal")
    await trial.wait_for_phase(MachinePhase.COMMITTED)


async def dealing(trial: TableInProcess) -> None:
    await committed(trial)
    await ordered(trial, Role.TABLE, "cut", n=40)
    await trial.wait_for_state(lambda state: state.machine.fed > 20)


async def held(trial: TableInProcess) -> None:
    await committed(trial)
    await ordered(trial, Role.TABLE, "cut", n=40)
    await trial.wait_for_state(lambda state: state.match.phase == "held")


def void(state: PublicState) -> bool:
    """Whether the last attempt is void, and its record open."""
    return bool(state.fairness) and state.fairness[-1].reveal is not None


@pytest.mark.parametrize(
    "profile", [GUANDAN[0], *(pytest.param(name, marks=pytest.mark.slow) for name in GUANDAN[1:])]
)
async def test_three_deals_by_hand_then_the_machine_again(
    table: Tables, tmp_path: Path, profile: str
) -> None:
    store = JournalStore.open(tmp_path)
    async with table(profile=load_profile(profile), store=store, state_dir=tmp_path) as trial:
        await opened(trial)
        for order in ("NS", "NWS", "EW"):
            await drawn_by_hand(trial)
            assert match_at(trial).by_hand
            await exchanged(trial)
            assert match_at(trial).phase == "play"
            await played(trial, order)
        assert not match_at(trial).by_hand
        reply = await trial.send_command(Role.OBSERVER, "sheet")
        assert reply.result is not None
        assert [row["by_hand"] for row in reply.result["deals"]] == [True] * 3
        await ordered(trial, Role.REFEREE, "start_deal")
        assert (await trial.wait_for_phase(MachinePhase.COMMITTED)).machine.deal == 4
    assert verify(tmp_path).findings == []


@pytest.mark.parametrize("stage", [opened, committed, dealing, held])
async def test_an_attempt_under_way_is_void_with_its_record_open(
    table: Tables, tmp_path: Path, stage: Callable[[TableInProcess], Any]
) -> None:
    store = JournalStore.open(tmp_path)
    async with table(store=store, state_dir=tmp_path) as trial:
        await stage(trial)
        await ordered(trial, Role.REFEREE, "dealt_by_hand", reason=REASON)
        state = await trial.wait_for_state(lambda state: void(state) or stage is opened)
        assert [proof.outcome for proof in state.fairness] == (
            [] if stage is opened else [AttemptOutcome.VOID]
        )
        assert all(proof.reasons == ["NOT_NEEDED"] for proof in state.fairness)
        kinds = [event.kind for event in trial.events]
        assert ("record" in kinds) == (stage in (dealing, held, committed))
        assert ("withdrawn" in kinds) == (stage is held)
        match = match_at(trial)
        assert (match.by_hand, match.phase, match.misdeals) == (True, "shuffle", 0)
        assert match.hand_duties is not None
        about = (state.machine.deal, state.machine.attempt)
        for role, cmd, said in (
            (Role.REFEREE, "start_deal", {}),
            (Role.TABLE, "cut", {"n": 40}),
            (Role.REFEREE, "release", {}),
        ):
            reply = await trial.send_command(role, cmd, about=about, **said)
            assert reply.error is not None
            assert reply.error.code == "BY_HAND"
        await trial.press_start()
        await trial.press("S", "green")
        assert match_at(trial).phase == "shuffle"
        await drawn_on(trial)
        assert match_at(trial).phase == "play"
        assert "released" not in [event.kind for event in trial.events]
    assert verify(tmp_path).findings == []


@pytest.mark.parametrize(
    ("stage", "board"),
    [
        pytest.param(stage, board, marks=() if (stage, board) in core else pytest.mark.slow)
        for core in [((dealing, "dealer"), (held, "reader"))]
        for stage in (opened, dealing, held)
        for board in ("dealer", "reader")
    ],
)
async def test_a_deal_is_drawn_by_hand_while_a_board_is_gone_and_the_next_when_it_is_back(
    table: Tables, tmp_path: Path, stage: Callable[[TableInProcess], Any], board: str
) -> None:
    store = JournalStore.open(tmp_path)
    async with table(store=store, state_dir=tmp_path) as trial:
        await stage(trial)
        trial.sim.kill(board)
        await trial.wait_for_state(
            lambda state: any(board in alert.cause for alert in state.alerts)
        )
        await drawn_by_hand(trial)
        await played(trial, "NS")
        assert match_at(trial).deal == 2
        await drawn_by_hand(trial)
        await exchanged(trial)
        await played(trial, "EW")
        trial.sim.start(board)
        await trial.people.collect()
        await trial.wait_for_phase(MachinePhase.EMPTY)
        await ordered(trial, Role.REFEREE, "start_deal")
        assert (await trial.wait_for_phase(MachinePhase.COMMITTED)).machine.deal == 3
    assert verify(tmp_path).findings == []


async def test_a_deal_is_drawn_by_hand_while_the_e_stop_is_pressed(table: Tables) -> None:
    async with table() as trial:
        await dealing(trial)
        trial.sim.world.set_estop(True)
        await trial.wait_for_state(
            lambda state: any(a.name == "ESTOP_PRESSED" for a in state.alerts)
        )
        await drawn_by_hand(trial)
        assert match_at(trial).phase == "play"


async def test_hands_on_their_way_out_are_not_played(table: Tables) -> None:
    async with table() as trial:
        await held(trial)
        releasing = asyncio.ensure_future(trial.send_command(Role.REFEREE, "release"))
        await trial.wait_for_state(lambda state: "released" in state.match.next_en)
        await drawn_by_hand(trial)
        await releasing
        await trial.take_hands()
        trial.lay_down()
        assert match_at(trial).by_hand
        assert match_at(trial).phase == "play"
        await trial.load()
        await played(trial, "NS")
        await trial.wait_for_phase(MachinePhase.EMPTY)
        await asyncio.sleep(A_LOOK_S)
        await ordered(trial, Role.REFEREE, "start_deal")
        assert (await trial.wait_for_phase(MachinePhase.COMMITTED)).machine.deal == 2


async def test_questions_of_tribute_go_to_the_referee(table: Tables) -> None:
    async with table() as trial:
        await opened(trial)
        await drawn_by_hand(trial)
        await played(trial, "NWS")
        await drawn_by_hand(trial)
        assert match_at(trial).phase == "anti_check"
        assert match_at(trial).waiting_for == ["E"]
        await ordered(trial, Role.REFEREE, "anti", stands=False)
        await all_press(trial, "E")
        assert match_at(trial).phase == "tribute"
        await ordered(trial, Role.REFEREE, "tribute", seat="E", card="HA")
        assert match_at(trial).phase == "return"
        await ordered(trial, Role.REFEREE, "return", seat="N", card="D4")
        assert match_at(trial).phase == "play"


async def test_only_a_deal_that_is_not_out_is_dealt_by_hand(table: Tables) -> None:
    async with table() as trial:
        await held(trial)
        await ordered(trial, Role.REFEREE, "release")
        await trial.wait_for_phase(MachinePhase.RELEASED)
        assert await refused(trial, Role.REFEREE, "dealt_by_hand", reason=REASON) == "WRONG_PHASE"


async def test_big_two_is_not_dealt_by_hand(table: Tables) -> None:
    """A stated gap: its rulebook has no way to draw by hand, and no table has asked."""
    async with table(profile=load_profile(BIG_TWO)) as trial:
        await opened(trial)
        assert await refused(trial, Role.REFEREE, "dealt_by_hand", reason=REASON) == "OTHER_RULES"
