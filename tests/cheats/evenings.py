"""What people do at the tables of these tests; no hand of theirs knows what machine it is."""

import asyncio
import random

from controller.config import CardSetSection
from controller.messages import AttemptOutcome, MachinePhase, PublicState, Role
from controller.rules.profile_files import load_profile
from sim.tables.table_in_process import TableInProcess
from tests.cheats.changed import Evening
from tests.machine.deals_ahead import deal_one_played
from tests.machine.stages import A_MOMENT_S, STAGES, all_press, deal_two_due, ordered
from tests.simulated_players import PlayerDurations, SimulatedPlayers

CUT = 40
_SETS = (CardSetSection(id="S1", back="A"), CardSetSection(id="S2", back="B"))
AHEAD = {"card_sets": _SETS, "deal_ahead": True}
A_LOOK_S = 20.0
"""How long a player looks at the display before he presses."""
BRISK = PlayerDurations(load=(2, 3), count=(2, 3), exchange=(1, 2), play=(3, 5), confirm=(1, 2))
"""People who lose no time: what they take is no matter here."""


async def begun(at: TableInProcess) -> int:
    """Do what the table asks for until it is cut; return the attempt."""
    await at.wait_for_state(lambda state: True)
    while True:
        machine = at.states[-1].machine
        if machine.phase is not MachinePhase.COMMITTED:
            await _looked_after(at)
        elif (await at.send_command(Role.TABLE, "cut", n=CUT)).ok:
            return machine.attempt or 0
        await asyncio.sleep(A_MOMENT_S)


async def _looked_after(at: TableInProcess) -> None:
    """Count a set that is barred; say that a pressed button was seen; start a deal that is due."""
    state = at.states[-1]
    alerts = [alert.name for alert in state.alerts]
    if "ESTOP_PRESSED" in alerts:
        await at.send_command(Role.REFEREE, "acknowledge", code="ESTOP_PRESSED")
    elif "SET_BARRED" in alerts:
        cards = len(at.sim.world.truth().hopper)
        await at.send_command(Role.REFEREE, "clear_set", set=state.machine.card_set, cards=cards)
    elif state.machine.phase is MachinePhase.EMPTY:
        await at.send_command(Role.REFEREE, "start_deal")


async def dealt(at: TableInProcess) -> PublicState:
    """Deal one attempt to its end, however it ends."""
    number = await begun(at)
    return await at.wait_for_state(
        lambda state: state.machine.attempt == number and state.fairness[-1].outcome is not None
    )


async def one_deal(at: TableInProcess) -> None:
    """Deal until there are right hands, whatever has to be cleared up; play and put them back."""
    while (proof := (await dealt(at)).fairness[-1]).outcome is not AttemptOutcome.OK:
        wrong_set = "THIRD_COPY" in proof.reasons
        await (at.people.change_set() if wrong_set else at.people.collect())
    await at.return_hands()


async def _three_deals(at: TableInProcess) -> None:
    for _ in range(3):
        await one_deal(at)


async def _uncut_first(at: TableInProcess) -> None:
    await at.wait_for_phase(MachinePhase.EMPTY)
    await ordered(at, Role.REFEREE, "start_deal", uncut=True, reason="nobody comes to cut")
    await at.wait_for_phase(MachinePhase.HELD)
    await at.return_hands()
    await one_deal(at)
    await one_deal(at)


async def _opened_while_dealing(at: TableInProcess) -> None:
    await begun(at)
    await at.wait_for_state(lambda state: state.machine.fed >= 30)
    at.sim.world.set_lid(True)
    await at.wait_for_state(lambda state: state.fairness[-1].outcome is not None)


async def _a_void_between(at: TableInProcess) -> None:
    await one_deal(at)
    await _opened_while_dealing(at)
    await at.people.collect()
    await one_deal(at)


async def _a_void_at_the_end(at: TableInProcess) -> None:
    await one_deal(at)
    await _opened_while_dealing(at)
    await at.send_command(Role.TABLE, "call", seat="N")
    await asyncio.sleep(A_LOOK_S)


async def _hands_withdrawn(at: TableInProcess) -> None:
    await one_deal(at)
    await dealt(at)
    at.sim.world.set_lid(True)
    await at.wait_for_state(lambda state: state.fairness[-1].outcome is AttemptOutcome.VOID)
    await at.people.collect()
    await one_deal(at)


async def _by_press(at: TableInProcess) -> None:
    await at.panel()
    for _ in range(3):
        await at.wait_for_phase(MachinePhase.EMPTY)
        await asyncio.sleep(A_MOMENT_S)
        await _looked_after(at)
        await at.wait_for_phase(MachinePhase.COMMITTED)
        await asyncio.sleep(A_LOOK_S)
        await at.press("S", "green")
        await at.wait_for_phase(MachinePhase.HELD)
        await at.return_hands()


async def _two_matches(at: TableInProcess) -> None:
    people = SimulatedPlayers(at, random.Random("two matches"), deal_ahead=False, durations=BRISK)
    await people.begin_match("cup/1")
    await people.play(2)
    await people.sign()
    await people.begin_match("cup/2")
    await people.play(1)
    await asyncio.sleep(A_LOOK_S)


async def _dealt_ahead(at: TableInProcess) -> None:
    people = SimulatedPlayers(at, random.Random("dealt ahead"), deal_ahead=True, durations=BRISK)
    await people.begin_match("cup/1")
    await people.play(3)
    await people.sign()
    await asyncio.sleep(A_LOOK_S)


async def _looked_at(at: TableInProcess) -> None:
    await deal_one_played(at)
    await all_press(at, at.states[-1].match.leader or "")
    await ordered(at, Role.CHIEF, "open_hand", seat="N", reason="a card too many is claimed")
    await at.send_command(Role.CHIEF, "redeal", reason="a card lay open")
    await asyncio.sleep(A_LOOK_S)


async def _stopped(at: TableInProcess) -> None:
    await STAGES["return"](at)
    await ordered(at, Role.TABLE, "call", seat="N")
    await ordered(at, Role.TABLE, "confirm", seat="N")
    await ordered(at, Role.TABLE, "call", seat="S")
    await ordered(at, Role.TABLE, "call", seat="E", reason="a card fell")
    await ordered(at, Role.REFEREE, "attend")
    await ordered(at, Role.REFEREE, "hold", reason="a card is looked for")
    await ordered(at, Role.CHIEF, "hold", reason="and another one")
    await ordered(at, Role.REFEREE, "resume")
    await ordered(at, Role.CHIEF, "resume")
    await ordered(at, Role.TABLE, "claim_count", seat="N")
    await ordered(at, Role.REFEREE, "hold", reason="they are counted")
    await ordered(at, Role.REFEREE, "recount", counts={"N": 27, "W": 27, "S": 27, "E": 27})
    await ordered(at, Role.REFEREE, "resume")
    await ordered(at, Role.CHIEF, "hold", reason="a fire", area=True)
    await ordered(at, Role.CHIEF, "resume", area=True)
    await ordered(at, Role.REFEREE, "replace_set", set="S2", back="B")
    await ordered(at, Role.REFEREE, "clear_set", set="S2", cards=108)


async def _corrected(at: TableInProcess) -> None:
    await deal_two_due(at)
    wrong = {"deal": 1, "order": ["E", "W"], "reason": "entered for the wrong side"}
    await ordered(at, Role.CHIEF, "adjust", **wrong)
    await asyncio.sleep(A_LOOK_S)


THREE_DEALS = Evening(name="three deals", people=_three_deals)
UNCUT_FIRST = Evening(name="three deals, the first uncut", people=_uncut_first)
BY_PRESS = Evening(name="three deals, cut by press", people=_by_press)
BIG_TWO = Evening(
    name="three deals of Big Two",
    people=_three_deals,
    options={"profile": load_profile("bigtwo-2017-002")},
)
A_VOID_BETWEEN = Evening(name="a void between two deals", people=_a_void_between)
A_VOID_AT_THE_END = Evening(name="a void at the end", people=_a_void_at_the_end)
WITHDRAWN = Evening(name="held hands withdrawn", people=_hands_withdrawn)
A_CARD_READ_TWICE = Evening(
    name="a card that goes to the tray",
    people=_three_deals,
    faults=("unreadable:at=5,times=5,repeat=true",),
)
A_FULL_TRAY = Evening(
    name="a tray that is full",
    people=_three_deals,
    faults=tuple(f"unreadable:at={card},times=5" for card in range(10, 80, 10)),
)
A_THIRD_COPY = Evening(
    name="a set with a third copy of a card", people=_three_deals, faults=("third_copy",)
)
TWO_MATCHES = Evening(name="two matches", people=_two_matches)
DEALT_AHEAD = Evening(name="a match, dealt ahead", people=_dealt_ahead, options=AHEAD)
LOOKED_AT = Evening(name="a hand that the chief looks at", people=_looked_at, options=AHEAD)
STOPPED = Evening(name="a table that people stop", people=_stopped)
CORRECTED = Evening(name="a result that is corrected", people=_corrected)
EVENINGS = (
    THREE_DEALS,
    UNCUT_FIRST,
    BY_PRESS,
    BIG_TWO,
    A_VOID_BETWEEN,
    A_VOID_AT_THE_END,
    WITHDRAWN,
    A_CARD_READ_TWICE,
    A_FULL_TRAY,
    A_THIRD_COPY,
    TWO_MATCHES,
    DEALT_AHEAD,
    LOOKED_AT,
    STOPPED,
    CORRECTED,
)
