"""What people do at a table whose daemon may die: they look, and do what is due."""

import asyncio

from controller.deal import sequence as fair
from controller.messages import AttemptOutcome, MachinePhase, PublicState, Role
from controller.seats import SEATS
from controller.vault.dealt_hands import dealt_hand
from sim.tables.table_in_process import TableInProcess
from tests.crash.lives import Scene, Script

GLANCE_S = 0.2
CUT = 40
_FAILED = (AttemptOutcome.MISDEAL, AttemptOutcome.VOID)


def practice(deals: int) -> Script:
    """Return what people do to play that many practice deals, each until its seed is out."""

    async def play(scene: Scene, at: TableInProcess) -> None:
        await scene.repeat(at)
        while _played(at) < deals:
            if at.states:
                await _act(scene, at, at.states[-1])
            await asyncio.sleep(GLANCE_S)

    return play


def _played(at: TableInProcess) -> int:
    """Return how many deals are over, as the feed's last state has it."""
    if not at.states or at.states[-1].machine.phase is not MachinePhase.EMPTY:
        return -1
    return at.states[-1].counters.deals


async def _act(scene: Scene, at: TableInProcess, state: PublicState) -> None:
    machine, truth = state.machine, scene.sim.world.truth()
    failed = bool(state.fairness) and state.fairness[-1].outcome in _FAILED
    if failed and machine.phase in (MachinePhase.FAULT, MachinePhase.EMPTY):
        lying = any(truth.pockets) or truth.path or truth.window or truth.feeder
        if lying or not truth.hopper:
            await scene.with_hands(scene.sim.world.people.collect())
    if machine.phase is MachinePhase.EMPTY:
        # Somebody may have to say so: after the first deal, or two misdeals in a row.
        due = f"start {machine.deal} {machine.attempt}"
        await scene.order(at, due, Role.REFEREE, "start_deal")
    elif machine.phase is MachinePhase.COMMITTED:
        await scene.order(at, f"cut {machine.attempt}", Role.TABLE, "cut", n=CUT)
    elif machine.phase is MachinePhase.HELD:
        await scene.order(at, f"release {machine.attempt}", Role.REFEREE, "release")
    elif machine.phase is MachinePhase.RELEASED and truth.lift_up and any(truth.pockets):
        hands_are_right(at)
        scene.sim.world.people.take_hands()
    elif machine.phase is MachinePhase.RELEASED and truth.lift_down and any(truth.hands):
        scene.sim.world.people.load()


def hands_are_right(at: TableInProcess) -> None:
    """Assert that each pocket holds the hand that the vault bound for its seat."""
    run = at.machine.table_boards.hands_with_players.run or at.machine.table_boards.run
    assert run is not None
    pockets = at.sim.world.truth().pockets
    assert [len(cards) for cards in pockets] == [27, 27, 27, 27, 0]
    if run.writer.is_key_lost:
        return
    record = run.writer.build_record((), {})
    bound = fair.hands_commitment(
        bytes.fromhex(at.states[-1].fairness[-1].commitment),
        bytes.fromhex(record["nonce"]),
        bytes.fromhex(record["hands"]),
    )
    assert bound.hex() == at.states[-1].fairness[-1].hands
    for seat, cards in zip(SEATS, pockets[:4], strict=True):
        dealt = dealt_hand(run.writer.vault, run.writer.sequence, seat)
        assert sorted(dealt) == sorted(card.face for card in cards)
