"""What people do in a match whose daemon may die: each looks at the feed, and does what is due."""

import asyncio

from controller.match.phase import MatchPhase as MatchPhase
from controller.messages import AttemptOutcome, MachinePhase, PublicMatch, PublicState, Role
from controller.seats import SEATS
from sim.mechanics.fault_menu import parse_fault
from sim.tables.table_in_process import TableInProcess
from tests.crash.lives import Scene, Script
from tests.crash.people import CUT, GLANCE_S
from tests.match.people import meeting

Orders = tuple[list[str], list[str]]
ORDERS: Orders = (["N", "W", "S"], ["W", "N", "E"])
"""Who goes out in each deal: then N and S, W and E, in turn, are first and third."""
_FAILED = (AttemptOutcome.MISDEAL, AttemptOutcome.VOID)


def a_match(faults_of_second: tuple[str, ...] = (), orders: Orders = ORDERS) -> Script:
    """Return what people do to play a match of two deals up to its signed sheet.

    `faults_of_second`: what the machine has in the second deal, in which tribute is paid.
    `orders`: the order in which players go out, in each deal.
    """
    spoiled = False

    async def play(scene: Scene, at: TableInProcess) -> None:
        nonlocal spoiled
        await scene.repeat(at)
        while not (at.states and at.states[-1].match.phase == MatchPhase.SIGNED):
            if at.states:
                if at.states[-1].match.deal == 2 and not spoiled:
                    spoiled = True
                    for fault in faults_of_second:
                        scene.sim.world.add_fault(parse_fault(fault))
                await _act(scene, at, at.states[-1], orders)
            await asyncio.sleep(GLANCE_S)

    return play


async def _act(scene: Scene, at: TableInProcess, state: PublicState, orders: Orders) -> None:
    match = state.match
    if match.match is None:
        said = meeting()
        pairs = {
            side: {
                "id": pair.id,
                "name": pair.name,
                "players": {str(seat): who for seat, who in pair.players.items()},
            }
            for side, pair in said.pairs.items()
        }
        await scene.order(
            at,
            "lay out",
            Role.REFEREE,
            "set_match",
            match_id=said.match_id,
            event=said.event,
            round=said.round,
            match_no=said.match_no,
            table_no=said.table_no,
            stage=said.stage,
            pairs=pairs,
        )
    elif match.phase in (MatchPhase.CUT, MatchPhase.DEALING, MatchPhase.HELD):
        await _deal(scene, at, state)
    else:
        await _hands(scene, state)
        await _at_the_table(scene, at, match, orders)


async def _deal(scene: Scene, at: TableInProcess, state: PublicState) -> None:
    """Have the deal started, cut and released, and the machine cleared where it failed."""
    machine, truth = state.machine, scene.sim.world.truth()
    proof = state.fairness[-1] if state.fairness else None
    failed = proof is not None and proof.outcome in _FAILED
    if failed and machine.phase in (MachinePhase.FAULT, MachinePhase.EMPTY):
        lying = any(truth.pockets) or truth.path or truth.window or truth.feeder
        if lying or not truth.hopper:
            await scene.with_hands(scene.sim.world.people.collect())
            return
    if machine.phase is MachinePhase.RELEASED:
        await _hands(scene, state)
    elif machine.phase is MachinePhase.EMPTY:
        if truth.table:
            scene.sim.world.people.load()
        what = f"start {state.match.deal} {machine.attempt}"
        await scene.order(at, what, Role.REFEREE, "start_deal")
    elif machine.phase is MachinePhase.COMMITTED:
        await scene.order(at, f"cut {machine.attempt}", Role.TABLE, "cut", n=CUT)
    elif machine.phase is MachinePhase.HELD:
        await scene.order(at, f"release {machine.attempt}", Role.REFEREE, "release")


async def _hands(scene: Scene, state: PublicState) -> None:
    """Take hands that are lifted; lay them on the table once the result is there."""
    truth = scene.sim.world.truth()
    if truth.lift_up and any(truth.pockets[:4]):
        scene.sim.world.people.take_hands()
    elif any(truth.hands) and state.match.phase in (MatchPhase.RESULT, MatchPhase.OVER):
        scene.sim.world.people.lay_down()


async def _at_the_table(
    scene: Scene, at: TableInProcess, match: PublicMatch, orders: Orders
) -> None:
    """Do what the match waits for."""
    deal = match.deal
    if match.phase == MatchPhase.SETUP:
        for seat in SEATS:
            if seat not in match.seated:
                await scene.order(at, f"seat {seat}", Role.TABLE, "confirm", seat=seat)
        if len(match.seated) == len(SEATS):
            await scene.order(at, "start", Role.CHIEF, "start_match")
    elif match.phase == MatchPhase.COUNT_CHECK:
        for seat in SEATS:
            if seat not in match.counted:
                await scene.order(at, f"count {deal} {seat}", Role.TABLE, "confirm", seat=seat)
    elif match.phase == MatchPhase.TRIBUTE and match.tribute is not None:
        for seat in match.tribute.payers:
            if seat not in match.tribute.laid:
                await scene.order(at, f"lay {deal} {seat}", Role.TABLE, "confirm", seat=seat)
    elif match.phase == MatchPhase.RETURN and match.tribute is not None:
        for back in match.tribute.returns:
            if back.giver not in match.tribute.given:
                what = f"return {deal} {back.giver}"
                await scene.order(at, what, Role.TABLE, "confirm", seat=back.giver)
    elif match.phase == MatchPhase.PLAY:
        assert deal is not None
        order = orders[(deal - 1) % len(orders)]
        await scene.order(at, f"result {deal}", Role.REFEREE, "result", order=order)
    elif match.phase == MatchPhase.RESULT:
        for seat, side in (("N", "NS"), ("E", "EW")):
            if side not in match.confirmed:
                await scene.order(at, f"confirm {deal} {side}", Role.TABLE, "confirm", seat=seat)
    elif match.phase == MatchPhase.OVER:
        for signer in match.signers:
            said = {"signer": signer, "person": signer}
            await scene.order(at, f"sign {signer}", Role.REFEREE, "sign", **said)
