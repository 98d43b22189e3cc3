"""A disk that is full at any entry, for a while: a safe stop, and on again with room."""

import asyncio
import random
from collections.abc import Callable, Sequence
from itertools import dropwhile
from pathlib import Path

import pytest

from controller.journal.entries import JournalError, StorageFailed, StoredRow
from controller.journal.store import JournalStore
from controller.messages import MachinePhase, Role
from sim.tables.daemon_death import KillableStore
from sim.tables.table_in_process import TableInProcess
from tests.crash.deaths import AS_IT_GOES, ENTRIES, FAULTS
from tests.crash.lives import Scene, Script
from tests.crash.people import practice

pytestmark = pytest.mark.virtual

BRAKING_S = 0.6
"""A card that is on its way when the host falls silent still lands."""


class Disk:
    """A disk that is full from the writing of entry `full_from` on, until somebody makes room."""

    def __init__(self, full_from: int) -> None:
        self.full_from = full_from
        self.full = False
        self.on_full: Callable[[], None] = lambda: None

    def make_room(self) -> None:
        """Take something away."""
        self.full, self.full_from = False, 1 << 30

    def store(self) -> type[KillableStore]:
        """Return a store on this disk."""
        disk = self

        class OnDisk(KillableStore):
            def write(self, rows: Sequence[StoredRow], *, durable: bool) -> None:
                disk.full = disk.full or any(row.n >= disk.full_from for row in rows)
                if disk.full:
                    # Just behind the fault, before the machine has come to a stand.
                    asyncio.get_running_loop().call_later(0, disk.on_full)
                    raise StorageFailed("database or disk is full")
                super().write(rows, durable=durable)

        return OnDisk


def with_somebody_who_makes_room(disk: Disk, away_s: float) -> Script:
    """Return what people do where somebody makes room once the table says that it needs it."""

    async def play(scene: Scene, at: TableInProcess) -> None:
        playing = asyncio.ensure_future(practice(1)(scene, at))
        disk.on_full = at.lasting.machine.publish_state
        try:
            full = asyncio.ensure_future(
                at.wait_for_state(lambda state: "STORAGE_FAILED" in _alerts(state))
            )
            await asyncio.wait({playing, full}, return_when=asyncio.FIRST_COMPLETED)
            assert full.done()
            assert full.result().machine.phase is MachinePhase.FAULT
            await nothing_happens(scene, at, away_s)
            since = dropwhile(lambda state: "STORAGE_FAILED" not in _alerts(state), at.states)
            assert {state.machine.phase for state in since} == {MachinePhase.FAULT}
            disk.make_room()
            back = await at.wait_for_state(lambda state: "STORAGE_FAILED" not in _alerts(state))
            assert back.boot != full.result().boot
            await playing
        finally:
            playing.cancel()

    return play


async def nothing_happens(scene: Scene, at: TableInProcess, for_s: float) -> None:
    """See that no card moves, nothing is told but the fault, and no order is taken."""
    await asyncio.sleep(BRAKING_S)
    truth, told, states = scene.sim.world.truth(), len(at.events), len(at.states)
    await asyncio.sleep(for_s)
    after = scene.sim.world.truth()
    assert after.arrived in (truth.arrived, 0)  # people may clear up meanwhile
    assert after.landed in (truth.landed, 0)
    assert after.lift_up is truth.lift_up
    assert len(at.events) == told
    assert len(at.states) > states  # whoever comes now sees the fault
    refused = await at.send_command(Role.REFEREE, "hold", reason="look")
    assert refused.error is not None
    assert refused.error.code == "STORAGE_FAILED"
    assert "STORAGE_FAILED" in _alerts(at.states[-1])


def _alerts(state: object) -> set[str]:
    return {alert.name for alert in state.alerts}  # type: ignore[attr-defined]


@pytest.mark.parametrize("full", [50, pytest.param(300, marks=pytest.mark.slow)])
async def test_with_room_the_same_attempt_goes_on_wherever_the_disk_was_full(
    scale: Callable[[int], int], tmp_path: Path, runtime_dir: Path, full: int
) -> None:
    times = scale(full)
    chance = random.Random("full")
    for number in range(times):
        disk = Disk(2 + (2 * number + 1) * (ENTRIES - 3) // (2 * times))
        scene = Scene.new(FAULTS, tmp_path / str(number), runtime_dir, seed=number)
        scene.store_type = disk.store()

        def reopen(scene: Scene = scene, disk: Disk = disk) -> JournalStore:
            if disk.full:
                raise JournalError("there is no room yet")
            return scene.store_type.open(scene.state_dir)

        script = with_somebody_who_makes_room(disk, chance.choice((1.0, 5.0, 60.0)))
        try:
            assert await scene.live(script, reopen=reopen)
            scene.check()
            ended = [(outcome, reasons) for _, outcome, reasons in scene.outcomes() if outcome]
            assert ended == AS_IT_GOES
        except BaseException as error:
            error.add_note(f"disk full from {disk.full_from}, run {number}")
            raise
        finally:
            scene.sim.close()
