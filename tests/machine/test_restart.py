"""A daemon that was killed or stopped, and what the next one makes of its table.

Deaths behind every entry are those of tests/crash.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from controller.journal.store import JournalStore
from controller.journal.verify import verify
from controller.machine.attempts.attempt_run import AttemptRun
from controller.machine.attempts.recovery import StatusPoll, compare_with_boards
from controller.messages import AttemptOutcome, MachinePhase, Role
from sim.hardware_in_process import HardwareInProcess
from sim.mechanics.mechanics_settings import MechanicsSettings
from tests.machine.tables import Tables
from tests.waiting import until

pytestmark = pytest.mark.virtual
HALF_WAY_S = 0.7


@pytest.fixture
async def sim() -> AsyncIterator[HardwareInProcess]:
    """Boards and cards that outlive the daemon."""
    boots = count(1)
    lasting = HardwareInProcess(MechanicsSettings(), random.Random(1), boots=lambda: next(boots))
    yield lasting
    lasting.close()


@pytest.fixture
def daemon(table: Tables, sim: HardwareInProcess, tmp_path: Path) -> Callable[[int], Any]:
    """Start a daemon on the same boards and the same journal: `async with daemon(1) as trial`."""

    def start(run: int) -> Any:
        return table(store=JournalStore.open(tmp_path), state_dir=tmp_path, sim=sim, seed=run)

    return start


async def test_held_hands_are_still_held_and_released_by_the_next_daemon(
    daemon: Callable[[int], Any], tmp_path: Path
) -> None:
    async with daemon(1) as trial:
        await trial.play_attempt()
    async with daemon(2) as trial:
        held = await trial.wait_for_phase(MachinePhase.HELD)
        assert (held.machine.deal, held.machine.attempt) == (1, 1)
        done = await trial.return_hands()
        assert done.fairness[-1].outcome is AttemptOutcome.OK
        assert done.match.leader is None or done.match.turned_up is not None
        assert {event.kind for event in trial.events} >= {"released", "revealed"}
    assert not verify(tmp_path, None).findings


async def test_an_attempt_that_stood_still_in_mid_deal_goes_on_with_its_commitment(
    daemon: Callable[[int], Any], sim: HardwareInProcess, tmp_path: Path
) -> None:
    async with daemon(1) as trial:
        await trial.wait_for_phase(MachinePhase.EMPTY)
        await trial.send_command(Role.REFEREE, "start_deal")
        await trial.send_command(Role.TABLE, "cut", n=40)
        before = await trial.wait_for_state(lambda state: state.machine.fed >= 30)
    async with daemon(2) as trial:
        held = await trial.wait_for_phase(MachinePhase.HELD)
        assert held.machine.attempt == before.machine.attempt == 1
        assert held.fairness[-1].commitment == before.fairness[-1].commitment
        assert [len(cards) for cards in sim.world.truth().pockets] == [27, 27, 27, 27, 0]
        await trial.return_hands()
    assert not verify(tmp_path, None).findings


@pytest.mark.parametrize("board", ["dealer", "reader"])
async def test_an_attempt_one_of_whose_boards_was_reset_meanwhile_is_void(
    daemon: Callable[[int], Any], sim: HardwareInProcess, tmp_path: Path, board: Any
) -> None:
    async with daemon(1) as trial:
        await trial.wait_for_phase(MachinePhase.EMPTY)
        await trial.send_command(Role.REFEREE, "start_deal")
        await trial.send_command(Role.TABLE, "cut", n=40)
        await trial.wait_for_state(lambda state: state.machine.fed >= 30)
    sim.kill(board)
    sim.start(board)
    async with daemon(2) as trial:
        voided = await trial.wait_for_state(
            lambda state: bool(state.fairness) and state.fairness[0].reveal is not None
        )
        assert voided.fairness[0].reasons == ["BOARD_RESET"]
        assert "record" in {event.kind for event in trial.events}
    assert not verify(tmp_path, None).findings


async def test_a_lid_that_is_open_as_the_daemon_returns_leaves_the_cards_counted(
    daemon: Callable[[int], Any],
    sim: HardwareInProcess,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def heard_first(run: AttemptRun, looks: StatusPoll) -> None:
        run.stop("LID_OPENED")  # the panel's own contact says so before any board speaks
        await compare_with_boards(run, looks)

    monkeypatch.setattr("controller.machine.attempts.deal_cycle.compare_with_boards", heard_first)
    async with daemon(1) as trial:
        await trial.wait_for_phase(MachinePhase.EMPTY)
        await trial.send_command(Role.REFEREE, "start_deal")
        await trial.send_command(Role.TABLE, "cut", n=40)
        await trial.wait_for_state(lambda state: state.machine.fed >= 30)
    sim.world.set_lid(True)
    async with daemon(2) as trial:
        await trial.wait_for_state(lambda state: state.fairness[0].reveal is not None)
        (verdict,) = (event.data for event in trial.events if event.kind == "verdict")
        assert verdict["reasons"] == ["LID_OPENED"]
        landed = [len(cards) for cards in sim.world.truth().pockets]
        assert [verdict["landed"][seat] for seat in "NWSE"] == landed[:4]
        assert verdict["fed"] >= sum(landed) >= 29
    assert not verify(tmp_path, None).findings


async def test_hands_that_went_up_while_nobody_heard_stay_out_though_the_board_was_reset(
    daemon: Callable[[int], Any], sim: HardwareInProcess, tmp_path: Path
) -> None:
    async with daemon(1) as trial:
        await trial.play_attempt()
        releasing = asyncio.ensure_future(trial.send_command(Role.REFEREE, "release"))
        await until(lambda: not sim.world.truth().lift_down)
        sim.port("dealer").to_host.distort = lambda data: []
        await until(lambda: sim.world.truth().lift_up)
        releasing.cancel()
    sim.port("dealer").to_host.distort = None
    sim.world.people.take_hands()
    sim.kill("dealer")
    sim.start("dealer")
    async with daemon(2) as trial:
        released = await trial.wait_for_state(
            lambda state: state.machine.phase is not MachinePhase.HELD
        )
        assert released.fairness[0].outcome is AttemptOutcome.OK
        assert {"withdrawn", "record"}.isdisjoint({event.kind for event in trial.events})
    assert not verify(tmp_path, None).findings


async def test_an_attempt_that_was_stopped_by_a_person_stands_still_in_the_next_run_too(
    daemon: Callable[[int], Any], sim: HardwareInProcess
) -> None:
    async with daemon(1) as trial:
        await trial.wait_for_phase(MachinePhase.EMPTY)
        await trial.send_command(Role.REFEREE, "start_deal")
        await trial.send_command(Role.TABLE, "cut", n=40)
        await trial.wait_for_state(lambda state: state.machine.fed >= 30)
        assert (await trial.send_command(Role.REFEREE, "hold", reason="look")).ok
    async with daemon(2) as trial:
        await asyncio.sleep(5)
        arrived = sim.world.truth().arrived
        await asyncio.sleep(5)
        assert sim.world.truth().arrived == arrived < 108
        assert (await trial.send_command(Role.REFEREE, "resume")).ok
        held = await trial.wait_for_phase(MachinePhase.HELD)
        assert held.machine.attempt == 1


async def test_hands_that_were_touched_meanwhile_are_void(
    daemon: Callable[[int], Any], sim: HardwareInProcess, tmp_path: Path
) -> None:
    async with daemon(1) as trial:
        await trial.play_attempt()
    await sim.world.people.collect()
    async with daemon(2) as trial:
        voided = await trial.wait_for_state(
            lambda state: bool(state.fairness) and state.fairness[0].outcome is AttemptOutcome.VOID
        )
        assert voided.fairness[0].reasons == ["LID_OPENED"]
        again = await trial.play_attempt()
        assert (again.machine.deal, again.machine.attempt) == (1, 2)
    assert not verify(tmp_path, None).findings


@pytest.mark.parametrize("lid_open", [False, True])
async def test_hands_on_their_way_out_go_on_their_way(
    daemon: Callable[[int], Any], sim: HardwareInProcess, tmp_path: Path, lid_open: bool
) -> None:
    async with daemon(1) as trial:
        await trial.play_attempt()
        releasing = asyncio.ensure_future(trial.send_command(Role.REFEREE, "release"))
        await asyncio.sleep(HALF_WAY_S)
        assert not sim.world.truth().lift_up
        releasing.cancel()
    sim.world.set_lid(lid_open)
    async with daemon(2) as trial:
        await asyncio.sleep(HALF_WAY_S)
        sim.world.set_lid(False)
        await trial.wait_for_phase(MachinePhase.RELEASED)
        assert not [event for event in trial.events if event.kind == "withdrawn"]
        sim.world.people.take_hands()
    assert not verify(tmp_path, None).findings


async def test_a_lid_opened_while_the_lift_rises_only_delays_the_hands(
    daemon: Callable[[int], Any], sim: HardwareInProcess
) -> None:
    async with daemon(1) as trial:
        await trial.play_attempt()
        releasing = asyncio.ensure_future(trial.send_command(Role.REFEREE, "release"))
        await asyncio.sleep(HALF_WAY_S)
        sim.world.set_lid(True)
        shown = await trial.wait_for_state(lambda state: bool(state.alerts))
        assert [alert.name for alert in shown.alerts] == ["LID_OPENED"]
        sim.world.set_lid(False)
        assert (await releasing).ok
        sim.world.people.take_hands()
        assert not trial.machine.record.raised_faults
