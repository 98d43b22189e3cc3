"""The moment hands go out: what may stop it, what may not, and what is never undone."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from controller.cards import parse_face
from controller.messages import AttemptOutcome, ClientCommand, MachinePhase, Role
from controller.rules.profile_files import load_profile
from tests.waiting import until

pytestmark = pytest.mark.virtual
Tables = Callable[..., Any]
LIFTED_S = 3.0


def kinds(trial: Any) -> list[str]:
    return [event.kind for event in trial.events]


async def test_held_hands_outlive_the_loss_of_the_reader(table: Tables) -> None:
    async with table() as trial:
        await trial.play_attempt()
        trial.sim.kill("reader")
        lost = await trial.wait_for_state(lambda state: bool(state.alerts))
        assert lost.machine.phase is MachinePhase.HELD
        trial.sim.start("reader")
        await trial.wait_for_state(lambda state: not state.alerts)
        done = await trial.return_hands()
        assert done.fairness[-1].outcome is AttemptOutcome.OK
        assert "withdrawn" not in kinds(trial)


async def test_a_lid_that_opens_while_the_release_is_written_keeps_the_hands_in(
    table: Tables,
) -> None:
    async with table() as trial:
        await trial.play_attempt()
        journal = trial.machine.record.journal
        synced = journal.sync

        async def lid_opens_meanwhile() -> None:
            journal.sync = synced
            await synced()
            trial.machine.table_boards.stop_attempt("LID_OPENED")

        journal.sync = lid_opens_meanwhile
        await trial.send_command(Role.REFEREE, "release")
        ended = await trial.wait_for_state(lambda s: s.fairness[-1].outcome is AttemptOutcome.VOID)
        assert ended.fairness[-1].reasons == ["LID_OPENED"]
        await asyncio.sleep(LIFTED_S)
        assert trial.sim.world.truth().lift_down
        assert [len(cards) for cards in trial.sim.world.truth().pockets[:4]] == [27] * 4


async def test_a_refused_release_is_refused_again_under_the_same_id(table: Tables) -> None:
    async with table() as trial:
        held = await trial.play_attempt()

        order = ClientCommand(
            id="once", cmd="release", deal=1, attempt=held.machine.attempt, args={}
        )
        signed = trial.sign_command(order, trial.signers[Role.REFEREE])
        answering = asyncio.ensure_future(trial.machine.submit(signed))
        await asyncio.sleep(0)
        trial.sim.world.set_lid(True)
        first = await answering
        assert not first.ok
        again = await trial.machine.submit(signed)
        assert not again.ok
        assert "released" not in kinds(trial)


async def test_an_open_lid_and_a_pressed_estop_are_shown_before_anybody_starts(
    table: Tables,
) -> None:
    async with table() as trial:
        await trial.wait_for_phase(MachinePhase.EMPTY)
        trial.sim.world.set_lid(True)
        shown = await trial.wait_for_state(lambda state: bool(state.alerts))
        assert [alert.name for alert in shown.alerts] == ["LID_OPENED"]
        assert not (await trial.send_command(Role.REFEREE, "start_deal")).ok
        trial.sim.world.set_lid(False)
        await trial.wait_for_phase(MachinePhase.EMPTY)
        assert (await trial.send_command(Role.REFEREE, "start_deal")).ok


@pytest.mark.parametrize("board", ["dealer", "reader"])
async def test_a_board_that_missed_its_host_goes_on_and_a_later_void_still_opens(
    table: Tables, board: Any
) -> None:
    async with table() as trial:
        await trial.wait_for_phase(MachinePhase.EMPTY)
        await trial.send_command(Role.REFEREE, "start_deal")
        await trial.send_command(Role.TABLE, "cut", n=40)
        await trial.wait_for_state(lambda state: state.machine.fed >= 20)
        to_board = trial.sim.port(board).to_board
        to_board.distort = lambda data: []
        await asyncio.sleep(0.6)
        to_board.distort = None
        await trial.wait_for_state(lambda state: state.machine.fed >= 40)
        trial.sim.world.set_lid(True)
        await trial.wait_for_state(lambda state: state.fairness[-1].outcome is not None)
        await trial.wait_for_state(lambda state: state.fairness[-1].reveal is not None)
        assert kinds(trial).count("record") == 1


async def test_a_lift_that_does_not_rise_is_shown_and_goes_on_once_it_is_free(
    table: Tables,
) -> None:
    async with table("stall:motor=lift,at=50") as trial:
        await trial.play_attempt()
        releasing = asyncio.ensure_future(trial.send_command(Role.REFEREE, "release"))
        stuck = await trial.wait_for_state(lambda state: bool(state.alerts))
        assert {alert.name for alert in stuck.alerts} == {"STALL"}
        assert stuck.machine.phase is MachinePhase.HELD
        trial.sim.world.motors["lift"].free()
        assert (await releasing).ok


@pytest.mark.parametrize("taken", [False, True], ids=["still there", "taken"])
async def test_hands_that_are_up_stay_out_though_the_board_forgets_them(
    table: Tables, taken: bool
) -> None:
    async with table() as trial:
        await trial.play_attempt()
        to_host = trial.sim.port("dealer").to_host
        releasing = asyncio.ensure_future(trial.send_command(Role.REFEREE, "release"))
        await until(lambda: not trial.sim.world.truth().lift_down)
        to_host.distort = lambda data: []  # so that nobody hears that the lift is up
        await until(lambda: trial.sim.world.truth().lift_up)
        if taken:
            trial.sim.world.people.take_hands()
        trial.sim.kill("dealer")
        to_host.distort = None
        trial.sim.start("dealer")
        assert (await releasing).ok
        await trial.wait_for_state(lambda state: not state.alerts)
        assert trial.states[-1].fairness[-1].outcome is AttemptOutcome.OK
        assert {"withdrawn", "record"}.isdisjoint(kinds(trial))


async def test_hands_below_the_table_are_withdrawn_when_the_board_forgets_them(
    table: Tables,
) -> None:
    async with table("stall:motor=lift,at=50") as trial:
        await trial.play_attempt()
        releasing = asyncio.ensure_future(trial.send_command(Role.REFEREE, "release"))
        await trial.wait_for_state(lambda state: bool(state.alerts))
        trial.sim.kill("dealer")
        trial.sim.start("dealer")
        reply = await releasing
        assert reply.error is not None
        assert reply.error.code == "BOARD_RESET"
        assert trial.sim.world.truth().lift_down
        ended = await trial.wait_for_state(
            lambda state: state.fairness[-1].outcome is AttemptOutcome.VOID
        )
        assert ended.fairness[-1].reasons == ["BOARD_RESET"]


async def test_hands_that_are_recalled_are_told_with_their_reason_and_opened(table: Tables) -> None:
    async with table() as trial:
        await trial.play_attempt()
        assert (await trial.send_command(Role.REFEREE, "release")).ok
        await trial.wait_for_phase(MachinePhase.RELEASED)
        run = trial.machine.table_boards.hands_with_players.run or trial.machine.table_boards.run
        await run.recall("COUNT_WRONG")
        told = {event.kind: event for event in trial.events}
        assert told["recalled"].data["reasons"] == ["COUNT_WRONG"]
        assert told["record"].data["hands"]
        assert told["recalled"].n < told["revealed"].n < told["record"].n


async def test_in_big_two_the_release_names_who_holds_the_card_that_leads_and_no_card(
    table: Tables,
) -> None:
    async with table(profile=load_profile("bigtwo-2017-002")) as trial:
        await trial.play_attempt(cut=20)
        assert (await trial.send_command(Role.REFEREE, "release")).ok
        await trial.wait_for_phase(MachinePhase.RELEASED)
        (released,) = [event for event in trial.events if event.kind == "released"]
        assert set(released.data) <= {"leader", "at_ms"}
        pocket = "NWSE".index(released.data["leader"])
        assert parse_face("♦3") in trial.sim.world.truth().faces_in(pocket)
