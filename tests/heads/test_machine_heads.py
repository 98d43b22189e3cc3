"""What a machine signs: the head of what is synced, at each change of its phase."""

from itertools import pairwise
from pathlib import Path

import pytest

from controller.journal.store import JournalStore
from controller.machine.public.public_state import PhaseHeads
from controller.messages import MachinePhase, PublicState, Role, SignedHead
from controller.signing.signed_heads import KeptHead, KeptHeads, is_signed_by
from sim.mechanics.mechanics_settings import MechanicsSettings
from sim.tables.daemon_death import DaemonDeath
from sim.tables.table_in_process import TABLE_KEY, TABLE_SIGN, TableInProcess, run_table_in_process
from tests.crash.lives import Scene
from tests.crash.people import practice

pytestmark = pytest.mark.virtual


def heads_in(states: list[PublicState]) -> list[SignedHead]:
    """Return each signed head once, in the order in which they were shown."""
    shown = [state.signed for state in states if state.signed is not None]
    return [head for head, before in zip(shown, [None, *shown], strict=False) if head != before]


def kept(head: SignedHead) -> KeptHead:
    return KeptHead(
        table="T01", table_key=TABLE_KEY, n=head.n, head=head.head, sig=head.sig, time="now"
    )


async def test_each_phase_of_a_deal_has_its_head_signed_by_the_tables_own_key(
    runtime_dir: Path,
) -> None:
    async with run_table_in_process(MechanicsSettings(), runtime_dir) as at:
        await at.play_attempt()
        await at.return_hands()
        chained = {one.entry.n: one for one in at.machine.record.journal.entries()}
        opened = next(event for event in at.events if event.kind == "opened")
        verify = bytes.fromhex(opened.data["verify"])

    signed = heads_in(at.states)
    kinds = [chained[head.n].entry.kind for head in signed]
    assert {"begun", "shuffled", "verdict", "released"} <= set(kinds)
    for before, now in pairwise(at.states):
        # Boards that come up change the phase, and write nothing.
        other = before.machine.phase is not now.machine.phase and before.head != now.head
        assert not other or before.signed != now.signed
    assert all(is_signed_by(head, TABLE_KEY, verify) for head in signed)
    assert all(chained[head.n].head.hex() == head.head for head in signed)
    assert [head.n for head in signed] == sorted({head.n for head in signed})


async def test_within_a_phase_no_other_head_is_signed(runtime_dir: Path) -> None:
    async with run_table_in_process(MechanicsSettings(), runtime_dir) as at:
        before = await at.wait_for_phase(MachinePhase.EMPTY)
        reply = await at.send_command(Role.REFEREE, "hold", reason="a spectator talks")
        assert reply.ok
        after = await at.wait_for_state(lambda state: bool(state.machine.pauses))

    assert after.machine.phase is before.machine.phase
    assert after.head != before.head
    assert after.signed == before.signed


async def test_the_next_run_of_a_table_goes_on_from_the_heads_of_the_last(
    runtime_dir: Path, tmp_path: Path
) -> None:
    seen = KeptHeads()
    for life in range(2):
        async with run_table_in_process(
            MechanicsSettings(), runtime_dir, store=JournalStore.open(tmp_path), seed=life
        ) as at:
            await at.play_attempt()
        signed = heads_in(at.states)
        assert signed
        assert [seen.add(kept(head)) for head in signed] == [None] * len(signed)


DEATHS = tuple(range(2, 34, 5))
"""Entries of a first deal behind which the power goes."""


@pytest.mark.parametrize("entry", DEATHS)
async def test_no_power_cut_takes_back_a_head_that_was_shown(
    entry: int, tmp_path: Path, runtime_dir: Path
) -> None:
    scene = Scene.new((), tmp_path / "scene", runtime_dir)
    lives: list[list[PublicState]] = []

    async def watched(scene: Scene, at: TableInProcess) -> None:
        lives.append(at.states)
        await practice(1)(scene, at)

    try:
        assert not await scene.live(watched, DaemonDeath(entry, 0.05, power_lost=True))
        assert await scene.live(watched)
    finally:
        scene.sim.close()

    seen = KeptHeads()
    journal = {one.entry.n: one.head.hex() for one in scene.entries()}
    for states in lives:
        for head in heads_in(states):
            assert seen.add(kept(head)) is None
            assert journal[head.n] == head.head
        assert {state.head for state in states} <= {*journal.values(), bytes(32).hex()}


def test_a_head_is_signed_when_the_phase_changes_and_there_is_a_new_one() -> None:
    heads = PhaseHeads(TABLE_KEY, TABLE_SIGN)

    heads.on_phase(MachinePhase.FAULT, None)
    assert heads.latest is None
    heads.on_phase(MachinePhase.FAULT, (1, bytes(32)))
    first = heads.latest
    assert first is not None
    heads.on_phase(MachinePhase.FAULT, (2, bytes(32)))
    heads.on_phase(MachinePhase.EMPTY, (1, bytes(32)))
    assert heads.latest is first
    heads.on_phase(MachinePhase.COMMITTED, (3, bytes(32)))
    assert heads.latest.n == 3


def test_without_the_tables_secret_nothing_is_signed() -> None:
    heads = PhaseHeads(TABLE_KEY, None)

    heads.on_phase(MachinePhase.EMPTY, (1, bytes(32)))

    assert heads.latest is None
