"""What the table makes of each trouble: looked at from outside, in the words of REDEAL.md."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from itertools import count
from typing import Any, NamedTuple

from controller.journal.verify import verify
from controller.match.deal_start import required_counts
from controller.messages import AttemptOutcome, MachinePhase, PublicEvent, Role, Seat
from sim.hardware_in_process import HardwareInProcess
from sim.mechanics.mechanics_settings import BACKS, MechanicsSettings, PhysicalSet
from sim.tables.table_in_process import TableInProcess
from tests.machine.stages import STAGES, at, cut, deal_two_due, ordered, started
from tests.machine.troubles import CHIEF, REFEREE, SETS, Ground, Trouble

A_WHILE_S = 5.0
"""Longer than the machine takes to begin what it begins by itself."""
DASH = "–"


class Seen(NamedTuple):
    """What became of one trouble: a row of REDEAL.md.

    `then`: what it took until the next attempt began, in its order.
    """

    stage: str
    reason: str
    how: str
    outcome: str
    why: str
    card_set: str
    record: str
    decides: str
    then: str


def refusal(stage: str, reason: str, how: str, outcome: str, decides: str) -> Seen:
    """Return the row of what changed nothing."""
    return Seen(stage, reason, how, outcome, DASH, DASH, DASH, decides, DASH)


def kept(trial: TableInProcess) -> tuple[Any, ...]:
    """Return what no misdeal changes: deal number, level, results, and whose duty follows."""
    match: Any = trial.machine.record.match_written.match
    return match.deal, match.level, match.owner, match.standing, match.follows


# -- before the release -------------------------------------------------------


async def before_release(ground: Ground, trouble: Trouble, stage: str) -> Seen:
    """Make a trouble before the release, and see what becomes of its deal."""
    if trouble.away is not None:
        return await _over_two_lives(ground, trouble, stage)
    async with ground.table() as trial:
        if stage == "begin" or trouble.faults:
            await deal_two_due(trial)
            was = kept(trial)
            number = await _with_the_deal(trial, trouble)
        else:
            await STAGES[stage](trial)
            was, number = kept(trial), _attempt(trial)
            assert trouble.does is not None
            await trouble.does(trial)
        await _over(trial, number)
        if trouble.faults:
            assert found_at(trial.events, number) == stage, (trouble, stage)
        return await _seen(trial, trial.events, trouble, stage, number, was)


async def _with_the_deal(trial: TableInProcess, trouble: Trouble) -> int:
    """Deal with a trouble that was there before; return the attempt."""
    for fault in trouble.menu:
        trial.sim.world.add_fault(fault)
    await started(trial)
    number = _attempt(trial)
    if trouble.does is not None:
        await trouble.does(trial)
    elif not trouble.faults:
        trial.sim.world.set_lid(True)  # without the panel only its board sees that
    await cut(trial)
    return number


async def _over_two_lives(ground: Ground, trouble: Trouble, stage: str) -> Seen:
    """Make a trouble while no daemon runs, and see what the next one makes of it."""
    assert trouble.away is not None
    boots = count(1)
    packed = tuple(PhysicalSet(each.id, BACKS[each.back]) for each in SETS)
    sim = HardwareInProcess(
        MechanicsSettings(sets=packed), random.Random(2), boots=lambda: next(boots)
    )
    journal = f"{trouble.reason} {stage}".replace(",", "")
    try:
        async with ground.table(sim=sim, journal=journal) as trial:
            await STAGES[stage](trial)
            was, number = kept(trial), _attempt(trial)
            if trouble.does is not None:
                await trouble.does(trial)
            events = trial.events
        trouble.away(ground, sim)
        async with ground.table(sim=sim, journal=journal, life=1) as trial:
            await _over(trial, number)
            seen = await _seen(trial, [*events, *trial.events], trouble, stage, number, was)
        found = [each.means for each in verify(ground.disk / journal, None).findings]
        assert found == (["attempt 2 was left out"] if trouble.forgotten else []), (trouble, stage)
        return seen
    finally:
        sim.close()


def found_at(events: list[PublicEvent], number: int) -> str:
    """Return the stage at which an attempt ended."""
    kinds = {event.kind for event in events if event.attempt == number}
    if "begun" not in kinds:
        return "begin"
    if "shuffled" not in kinds:
        return "shuffling"
    return "held" if "held" in kinds else "dealing"


# -- after the release --------------------------------------------------------


async def after_release(ground: Ground, trouble: Trouble, stage: str) -> Seen:
    """Make a trouble while the players have their hands; it is none of theirs."""
    if trouble.away is not None:
        return await _over_two_lives(ground, trouble, stage)
    async with ground.table() as trial:
        await STAGES[stage](trial)
        was, number = kept(trial), _attempt(trial)
        assert trouble.does is not None
        await trouble.does(trial)
        await asyncio.sleep(A_WHILE_S)
        return await _seen(trial, trial.events, trouble, stage, number, was)


class Claim(NamedTuple):
    """How a claimed count goes: who claims, in turn, and what is counted the last time.

    `wrong`: how many cards the last one lacks; `found`: a card was found on the spot.
    """

    how: str
    seats: str
    wrong: int = 0
    found: bool = False


CLAIMS = (
    Claim("the four counts are right", "N"),
    Claim("a missing card is found, and the four counts are right", "N", found=True),
    Claim("one count is wrong", "N", wrong=1),
    Claim("the pair's second claim, and the four counts are right", "NS"),
    Claim("the pair's second claim, and one count is wrong", "NS", wrong=1),
)
CLAIMED = "a claimed count"


async def claimed(ground: Ground, claim: Claim, stage: str) -> Seen:
    """Claim a wrong count at a stage, have the hands counted, and see what becomes of them."""
    async with ground.table() as trial:
        await STAGES[stage](trial)
        was, number, phase = kept(trial), _attempt(trial), at(trial)
        calls: list[str] = []
        for place, seat in enumerate(claim.seats):
            reply = await trial.send_command(Role.TABLE, "claim_count", seat=seat)
            if not reply.ok:
                assert reply.error is not None
                assert (at(trial), kept(trial)) == (phase, was)
                outcome = f"refused: {reply.error.code}"
                return refusal(stage, CLAIMED, claim.how, outcome, REFEREE)
            await asyncio.sleep(0.3)
            calls = [call.reason for call in trial.states[-1].calls]
            assert (await trial.send_command(Role.REFEREE, "resume")).error is not None
            last = place == len(claim.seats) - 1
            decides_now = Role.CHIEF if "second_count" in calls else Role.REFEREE
            await _recount(trial, claim if last else Claim("", seat), decides_now)
        await asyncio.sleep(A_WHILE_S)
        decides = CHIEF if "second_count" in calls else REFEREE
        trouble = Trouble(CLAIMED, claim.how, (stage,), decides=decides)
        return await _seen(trial, trial.events, trouble, stage, number, was)


async def _recount(trial: TableInProcess, claim: Claim, role: Role) -> None:
    match: Any = trial.machine.record.match_written.match
    counts: dict[Seat, int] = required_counts(match)
    counts["N"] -= claim.wrong
    await ordered(trial, role, "recount", counts=counts, found=claim.found)


REDEALS: dict[str, Callable[[TableInProcess], Awaitable[str]]] = {}
"""Who orders that hands which are out are dealt again, and how; each returns a refusal or ""."""


def _redeal(how: str, role: Role, cmd: str, **args: Any) -> None:
    async def order(trial: TableInProcess) -> str:
        reply = await trial.send_command(role, cmd, reason="cards were seen", **args)
        return "" if reply.error is None else reply.error.code

    REDEALS[how] = order


_redeal("a referee sends the command `redeal`", Role.REFEREE, "redeal")
_redeal(
    "a referee enters the chief's verbal decision with the command `redeal`",
    Role.REFEREE,
    "redeal",
    verbal=True,
    by="Chi",
)
_redeal("the chief sends the command `redeal`", Role.CHIEF, "redeal")
VOID = "the chief sends the command `void`"
_redeal(VOID, Role.CHIEF, "void")


async def ordered_again(ground: Ground, how: str, stage: str) -> Seen:
    """Order a redeal at a stage, and see what becomes of the hands."""
    async with ground.table() as trial:
        await STAGES[stage](trial)
        was, number, phase = kept(trial), _attempt(trial), trial.states[-1].machine.phase
        refused = await REDEALS[how](trial)
        await asyncio.sleep(0.5)
        if refused:
            assert (trial.states[-1].machine.phase, kept(trial)) == (phase, was)
            return refusal(stage, "ORDERED", how, f"refused: {refused}", CHIEF)
        trouble = Trouble("ORDERED", how, (stage,), decides=CHIEF)
        return await _seen(trial, trial.events, trouble, stage, number, was)


# -- what is seen -------------------------------------------------------------


def _attempt(trial: TableInProcess) -> int:
    number = trial.states[-1].machine.attempt
    assert number is not None
    return number


async def _over(trial: TableInProcess, number: int) -> None:
    """Wait for the end of an attempt; one that goes on is no matter."""
    ended = (AttemptOutcome.MISDEAL, AttemptOutcome.VOID)
    try:
        async with asyncio.timeout(4 * A_WHILE_S):
            await trial.wait_for_state(
                lambda state: any(
                    proof.attempt == number and proof.outcome in ended for proof in state.fairness
                )
            )
    except TimeoutError:
        return


async def _seen(
    trial: TableInProcess,
    events: list[PublicEvent],
    trouble: Trouble,
    stage: str,
    number: int,
    was: tuple[Any, ...],
) -> Seen:
    """Return what a trouble led to, once the next attempt has begun or play goes on."""
    state = trial.states[-1]
    proof = next(each for each in state.fairness if each.attempt == number)
    (used,) = (each for each in state.sets if each.id == "S1")
    ended = proof.outcome in (AttemptOutcome.MISDEAL, AttemptOutcome.VOID) or bool(proof.recalled)
    then = await begun_again(trial, number) if ended else DASH
    assert kept(trial) == was, (trouble, stage)
    happened = [*events, *(event for event in trial.events if event not in events)]
    kinds = {event.kind for event in happened if event.attempt == number}
    opened = (
        "published"
        if "record" in kinds
        else "sealed to the chief"
        if "sealed_to_chief" in kinds
        else DASH
    )
    if ended:
        named = trouble.reason in [*proof.reasons, *proof.recalled, CLAIMED]
        assert named, (trouble, stage, proof)
        assert opened != DASH, (trouble, stage)
    if proof.recalled:
        outcome = "recalled"
    elif ended:
        outcome = f"{proof.outcome}, withdrawn" if "withdrawn" in kinds else str(proof.outcome)
    else:
        outcome = _GOES_ON.get(state.machine.phase, str(state.machine.phase))
    why = ", ".join(proof.recalled or proof.reasons) or DASH
    barred = "barred" if used.barred else "the same" if ended else DASH
    return Seen(
        stage, trouble.reason, trouble.how, outcome, why, barred, opened, trouble.decides, then
    )


_GOES_ON = {MachinePhase.HELD: "hands stay held", MachinePhase.RELEASED: "hands stay released"}


async def begun_again(trial: TableInProcess, number: int) -> str:
    """Do what people have to until the next attempt begins; return it in its order."""
    then: list[str] = []
    for step in _STEPS:
        word = await step(trial)
        if word is None:
            continue
        then.append(word)
        await asyncio.sleep(A_WHILE_S)
        state = trial.states[-1]
        assert state.match is not None
        if state.match.by_hand:
            return "dealt by hand"
        if (state.machine.attempt or 0) > number:
            return ", ".join(filter(None, then)) or "at once"
    raise AssertionError(f"no attempt begins: {trial.states[-1]}")


async def _wait(trial: TableInProcess) -> str | None:
    return ""


async def _boards_back(trial: TableInProcess) -> str | None:
    if trial.sim.has_power("dealer"):
        return None
    trial.sim.start("dealer")
    return "board back"


async def _estop_out(trial: TableInProcess) -> str | None:
    if not trial.sim.world.estop:
        return None
    trial.sim.world.set_estop(False)
    return "emergency stop released"


async def _cards_back(trial: TableInProcess) -> str | None:
    trial.lay_down()
    if _barred(trial):
        await trial.people.change_set(card_set="S2")
        return "another set"
    await trial.people.collect("S1")
    return "cards back"


async def _acknowledged(trial: TableInProcess) -> str | None:
    if not any(alert.name == "ESTOP_PRESSED" for alert in trial.states[-1].alerts):
        return None
    await ordered(trial, Role.REFEREE, "acknowledge", code="ESTOP_PRESSED")
    return "acknowledge"


async def _set_named(trial: TableInProcess) -> str | None:
    if not _barred(trial):
        return None
    await ordered(trial, Role.REFEREE, "replace_set", set="S2")
    return "replace_set"


async def _counted(trial: TableInProcess) -> str | None:
    if not _barred(trial):
        return None
    await ordered(trial, Role.REFEREE, "clear_set", set="S2", cards=108)
    return "clear_set"


async def _start(trial: TableInProcess) -> str | None:
    await ordered(trial, Role.REFEREE, "start_deal")
    return "start_deal"


def _barred(trial: TableInProcess) -> bool:
    state = trial.states[-1]
    return any(each.barred for each in state.sets if each.id == state.machine.card_set)


_STEPS = (_wait, _boards_back, _estop_out, _cards_back, _acknowledged, _set_named, _counted, _start)
