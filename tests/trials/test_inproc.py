"""A table in process: its rulebook, its sets, and what its people can do with their hands."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from controller.config import CardSetSection
from controller.messages import AttemptOutcome, MachinePhase, Role
from controller.rules.profile_files import load_profile
from sim.mechanics.card_handling import OutOfReach
from sim.mechanics.mechanics_settings import MechanicsSettings
from sim.tables.table_in_process import TableInProcess, run_table_in_process
from sim.virtual_loop import VirtualLoop, VirtualTimeError

TWO_SETS = (CardSetSection(id="S1", back="A"), CardSetSection(id="S2", back="B"))

Tables = Callable[..., AbstractAsyncContextManager[TableInProcess]]


@pytest.fixture
def table(runtime_dir: Path) -> Tables:
    """Make a table: `async with table(card_sets=TWO_SETS) as trial`."""

    def make(**options: Any) -> AbstractAsyncContextManager[TableInProcess]:
        return run_table_in_process(MechanicsSettings(), runtime_dir, **options)

    return make


@pytest.mark.virtual
async def test_a_table_with_a_rulebook_of_big_two_deals_13_each_from_52(table: Tables) -> None:
    async with table(profile=load_profile("bigtwo-2017-002")) as trial:
        held = await trial.play_attempt(cut=20)
        assert held.machine.phase is MachinePhase.HELD
        assert [len(pocket) for pocket in trial.sim.world.truth().pockets] == [13, 13, 13, 13, 0]
        faces = [card.face for card in trial.sim.world.truth().all_cards()]
        assert sorted(faces) == list(range(52))


@pytest.mark.virtual
async def test_an_event_is_part_of_the_rulebook_of_a_table(
    table: Tables, request: pytest.FixtureRequest
) -> None:
    event = request.config.rootpath / "deploy" / "event.toml"
    profile = load_profile("international-000", event)
    async with table(profile=profile) as trial:
        state = await trial.wait_for_phase(MachinePhase.EMPTY)
        assert state.match.profile == "international-000"
        held = await trial.play_attempt()
        assert held.machine.phase is MachinePhase.HELD


@pytest.mark.virtual
async def test_cards_are_taken_played_and_loaded_again_while_the_second_set_waits(
    table: Tables,
) -> None:
    async with table(card_sets=TWO_SETS) as trial:
        await trial.play_attempt()
        assert (await trial.send_command(Role.REFEREE, "release")).ok
        await trial.take_hands()
        assert [len(hand) for hand in trial.people.hands] == [27] * 4
        with pytest.raises(OutOfReach, match="S1 is neither"):
            await trial.load("S1")
        trial.lay_down()
        assert len(trial.people.table) == 108
        await trial.wait_until_seen(lambda truth: truth.lift_down)
        await trial.load("S1")
        truth = trial.sim.world.truth()
        assert {card.back for card in truth.hopper} == {0}
        assert (truth.table, len(truth.beside["S2"])) == ((), 108)
        await trial.wait_for_state(lambda state: state.fairness[-1].reveal is not None)


@pytest.mark.virtual
async def test_the_machine_finds_cards_of_the_other_set(table: Tables) -> None:
    async with table(card_sets=TWO_SETS) as trial:
        await trial.wait_for_phase(MachinePhase.EMPTY)
        trial.people.mix("S2", 2)
        refused = await trial.play_attempt()
        proof = refused.fairness[-1]
        assert proof.outcome is AttemptOutcome.MISDEAL
        assert "FOREIGN_BACK" in proof.reasons


@pytest.mark.virtual
async def test_people_press_start_and_the_buttons_of_their_seats(table: Tables) -> None:
    async with table() as trial:
        await trial.wait_for_phase(MachinePhase.EMPTY)
        await trial.press("W", "red")
        called = await trial.wait_for_state(lambda state: bool(state.calls))
        assert [call.seat for call in called.calls] == ["W"]
        await trial.press("W", "green")
        await trial.wait_for_state(lambda state: not state.calls)
        await trial.press_start()
        assert (await trial.wait_for_phase(MachinePhase.COMMITTED)).machine.deal == 1


@pytest.mark.virtual
async def test_an_order_may_name_another_deal_and_attempt_than_the_present(table: Tables) -> None:
    async with table() as trial:
        await trial.wait_for_phase(MachinePhase.EMPTY)
        await trial.send_command(Role.REFEREE, "start_deal")
        await trial.wait_for_phase(MachinePhase.COMMITTED)
        stale = await trial.send_command(Role.TABLE, "cut", about=(1, 7), n=40)
        assert stale.error is not None
        assert stale.error.code == "STALE"
        assert (await trial.send_command(Role.TABLE, "cut", n=40)).ok


@pytest.mark.virtual
def test_a_trial_whose_button_is_held_down_leaves_no_timer(table: Tables) -> None:
    async def main() -> None:
        async with table() as trial:
            await trial.wait_for_phase(MachinePhase.EMPTY)
            holding = asyncio.ensure_future(trial.hold_button("N"))
            await asyncio.sleep(0.5)
            holding.cancel()
            (await trial.panel()).press("east_red")
            await asyncio.sleep(0.001)
        await asyncio.Event().wait()  # nothing is left that could end this

    with (
        asyncio.Runner(loop_factory=VirtualLoop) as runner,
        pytest.raises(VirtualTimeError, match="no timer is set"),
    ):
        runner.run(main())
