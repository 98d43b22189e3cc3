"""Runs of a table in process, in which everything that is public is said at least once.

What was on the feed, and what was asked and answered: the schemas are held against all of it,
and the examples of controller/messages.md are taken from it.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

from controller.config import CardSetSection
from controller.journal.entries import JournalEntry
from controller.journal.store import JournalStore
from controller.machine.machine_supervisor import MachineSupervisor
from controller.messages import (
    ClientCommand,
    CommandReply,
    MachinePhase,
    ProgramRelease,
    PublicEvent,
    PublicState,
    Role,
)
from controller.rules.profile_files import load_profile
from controller.signing.signed_heads import verify_key
from sim.hardware_in_process import HardwareInProcess
from sim.mechanics.fault_menu import parse_fault
from sim.mechanics.mechanics_settings import MechanicsSettings
from sim.memory_folders import memory_folder
from sim.tables.table_in_process import TABLE_SIGN, TableInProcess, run_table_in_process
from sim.virtual_loop import VirtualLoop
from tests.machine.by_hand import drawn_by_hand, exchanged, match_at
from tests.machine.stages import STAGES, all_press, deal_two_due, opened, ordered

RELEASE = ProgramRelease(version="0.1.0", serial=7, hash="5a" * 32)
SETS = (CardSetSection(id="S1", back="A"), CardSetSection(id="S2", back="B"))
CHIEF, REFEREE, TABLE, OBSERVER = Role.CHIEF, Role.REFEREE, Role.TABLE, Role.OBSERVER
Does = Callable[[TableInProcess], Awaitable[None]]
Run = Callable[[Path, "Said"], Coroutine[Any, Any, None]]


@dataclass
class Said:
    """All that a table said, to everybody and to those who asked, and its journal.

    `entries`: private ones, too.
    """

    states: list[PublicState] = field(default_factory=list)
    events: list[PublicEvent] = field(default_factory=list)
    answered: list[tuple[ClientCommand, CommandReply]] = field(default_factory=list)
    entries: list[JournalEntry] = field(default_factory=list)


def said_in(run: str, runtime_dir: Path) -> Said:
    """Play a run of RUNS in a loop of its own; return what was said in it."""
    said = Said()
    with _listening(said), asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(RUNS[run](runtime_dir, said))
    return said


@cache
def all_said() -> dict[str, Said]:
    """Play every run once; return the messages of each."""
    found = {}
    for run in RUNS:
        with memory_folder() as folder:
            found[run] = said_in(run, folder)
    return found


@contextmanager
def _listening(said: Said) -> Iterator[None]:
    """Hear every command that a table gets, and what it answers."""
    real = MachineSupervisor.submit

    async def order(machine: MachineSupervisor, command: ClientCommand) -> CommandReply:
        reply = await real(machine, command)
        said.answered.append((command, reply))
        return reply

    with patch.object(MachineSupervisor, "submit", order):
        yield


async def _read_all(at: TableInProcess) -> None:
    """Ask everything that anybody may ask."""
    for cmd in ("snapshot", "events", "sheet"):
        await at.send_command(OBSERVER, cmd)


def _run(does: Does, *, profile: str = "international-000") -> Run:
    async def run(runtime_dir: Path, said: Said) -> None:
        rules = load_profile(profile)
        settings = MechanicsSettings()
        async with run_table_in_process(
            settings, runtime_dir, profile=rules, card_sets=SETS, release=RELEASE
        ) as at:
            await does(at)
            await _read_all(at)
            said.states += at.states
            said.events += at.events
            said.entries += [each.entry for each in at.machine.record.journal.entries()]

    return run


# -- a match by the international rulebook --------------------------------------


async def _a_match(at: TableInProcess) -> None:
    await STAGES["held"](at)
    await at.send_command(REFEREE, "claim_count", seat="N")  # too early
    await at.send_command(TABLE, "approve", ruling="R1")  # not his to say
    await ordered(at, REFEREE, "release")
    await at.wait_for_phase(MachinePhase.RELEASED)
    await at.take_hands()
    await at.wait_until_seen(lambda truth: truth.lift_down)
    await ordered(at, TABLE, "claim_count", seat="W")
    counts = dict.fromkeys("NWSE", 27)
    await ordered(at, REFEREE, "recount", counts=counts, found=True)
    await all_press(at, "NWSE")
    payers = list(match_at(at).waiting_for)
    await all_press(at, "".join(payers))
    await ordered(at, REFEREE, "tribute", seat=payers[0], card="D5")
    await ordered(at, REFEREE, "return", seat=match_at(at).waiting_for[0], card="D5")
    await all_press(at, "".join(match_at(at).waiting_for))
    await _in_play(at)
    await _rulings(at)
    await _out(at)
    await _behind_the_deal(at)
    await ordered(at, CHIEF, "forfeit", side="EW", reason="they have left")
    for signer in list(match_at(at).signers):
        await ordered(at, REFEREE, "sign", signer=signer, person=f"Person {signer}")


async def _in_play(at: TableInProcess) -> None:
    await ordered(at, TABLE, "call", seat="W")
    await ordered(at, TABLE, "call", seat="E", reason="a card lies on the floor")
    await at.press("W", "green")
    await ordered(at, REFEREE, "attend", seat="E")
    leader = match_at(at).leader
    assert leader is not None
    await all_press(at, leader)
    await ordered(at, REFEREE, "hold", reason="a spectator talks")
    await ordered(at, REFEREE, "resume")
    await ordered(at, CHIEF, "hold", reason="fire alarm", area=True)
    await ordered(at, CHIEF, "resume", area=True)
    await ordered(at, REFEREE, "add_time", seconds=60)
    await ordered(at, REFEREE, "call_clock", seat="W")
    await at.wait_for_state(
        lambda state: any(call.reason == "play_warning" for call in state.calls)
    )
    await ordered(at, REFEREE, "warn", seat="W")
    await all_press(at, "W")
    await ordered(at, CHIEF, "open_hand", seat="W", reason="a claimed count")


async def _rulings(at: TableInProcess) -> None:
    charge: dict[str, Any] = {"offence": "other", "seat": "W"}
    await at.send_command(OBSERVER, "rulings", **charge)
    await ordered(at, REFEREE, "propose", **charge, id="R1")
    await at.send_command(OBSERVER, "foresee", cmd="approve", args={"ruling": "R1"})
    await at.send_command(OBSERVER, "offers", role="referee")
    await at.send_command(OBSERVER, "lost_time")
    said = {"verbal": True, "by": "Chen", "penalty": "violation"}
    await ordered(at, REFEREE, "approve", ruling="R1", **said)
    await ordered(at, CHIEF, "confirm_verbal", ruling="R1")
    await ordered(at, REFEREE, "propose", **charge, id="R2")
    await ordered(at, CHIEF, "reject", ruling="R2")


async def _out(at: TableInProcess) -> None:
    await ordered(at, TABLE, "out", seat="N")
    await ordered(at, REFEREE, "withdraw_out", seat="N")
    await ordered(at, TABLE, "out", seat="N")
    await ordered(at, TABLE, "confirm", seat="E")
    await ordered(at, REFEREE, "result", order=["N", "W", "S"])
    await ordered(at, TABLE, "confirm", seat="S")
    await ordered(at, TABLE, "confirm", seat="W")


async def _behind_the_deal(at: TableInProcess) -> None:
    await at.wait_for_state(lambda state: state.fairness[-1].reveal is not None)
    order, reason = ["N", "S"], "read wrongly"
    word = {"verbal": True, "by": "Chen"}
    await ordered(at, REFEREE, "adjust", deal=2, order=order, reason=reason, **word)
    await at.wait_for_state(lambda state: bool(state.match.spoken))
    row = at.states[-1].match.spoken[0].row
    await ordered(at, CHIEF, "confirm_verbal", correction=row)


# -- what is dealt again, and what stops a machine -------------------------------


async def _redealt(at: TableInProcess) -> None:
    """The chief has hands dealt again, and a deal stopped; hands are withdrawn and voided."""
    await STAGES["play, after the first lead"](at)
    await ordered(at, CHIEF, "redeal", reason="cards were seen")
    at.lay_down()
    await at.load()
    await ordered(at, REFEREE, "replace_set", set="S2")
    await ordered(at, REFEREE, "replace_set", set="S1")
    await at.wait_for_state(
        lambda state: state.machine.phase in (MachinePhase.EMPTY, MachinePhase.COMMITTED)
    )
    if at.states[-1].machine.phase is MachinePhase.EMPTY:
        await ordered(at, REFEREE, "start_deal")
    await at.wait_for_phase(MachinePhase.COMMITTED)
    await ordered(at, CHIEF, "void", reason="the screen was seen")
    await at.wait_for_state(lambda state: state.machine.phase is not MachinePhase.COMMITTED)


async def _practice(at: TableInProcess) -> None:
    """A card is missing; then a deal without a cut, whose hands the lid takes back; a jam."""
    at.sim.world.add_fault(parse_fault("missing_card"))
    await at.play_attempt()
    await at.send_command(REFEREE, "acknowledge", code="PANEL_LOST")
    await at.people.change_set()
    await ordered(at, REFEREE, "clear_set", set="S1", cards=108)
    await at.wait_for_phase(MachinePhase.COMMITTED)
    await at.send_command(REFEREE, "start_deal", uncut=True, reason="nobody may cut")
    await at.wait_for_phase(MachinePhase.HELD)
    at.sim.world.set_lid(True)
    await at.wait_for_state(lambda state: state.fairness[-1].reasons == ["LID_OPENED"])
    at.sim.world.set_lid(False)
    await at.people.collect()
    at.sim.world.set_estop(True)
    await asyncio.sleep(1)
    at.sim.world.set_estop(False)
    await asyncio.sleep(1)
    await at.send_command(REFEREE, "acknowledge", code="ESTOP_PRESSED")
    technician, settings = Role.TECHNICIAN, dict[str, Any]()
    await at.send_command(technician, "selftest")
    await at.send_command(technician, "configure", board="dealer", settings=settings)
    await at.send_command(technician, "calibrate", board="dealer")


async def _by_hand(at: TableInProcess) -> None:
    """Two deals by hand; in the second a return is wrong. Then the match is over by time."""
    await deal_two_due(at)
    await drawn_by_hand(at)
    await exchanged(at)
    await ordered(at, REFEREE, "return", seat="N", card="D4")
    await at.send_command(CHIEF, "stop_deal", reason="time is up")  # it is not
    await all_press(at, match_at(at).leader or "N")
    await ordered(at, REFEREE, "propose", offence="other", seat="E", id="R1")
    await ordered(at, CHIEF, "approve", ruling="R1", penalty="foul")
    await ordered(at, REFEREE, "name_leader", seat="N")


async def _big_two(at: TableInProcess) -> None:
    await opened(at)
    await at.play_attempt()
    await asyncio.sleep(0.3)
    await ordered(at, REFEREE, "release")
    await at.wait_for_phase(MachinePhase.RELEASED)
    await at.take_hands()
    await asyncio.sleep(2)
    while match_at(at).phase == "choices":
        await ordered(at, TABLE, "answer", seat=match_at(at).waiting_for[0], yes=False)
    leader = match_at(at).leader
    assert leader is not None
    await all_press(at, leader)
    left = {"N": 0, "W": 3, "S": 7, "E": 1}
    await ordered(at, REFEREE, "left", left=left)
    await ordered(at, REFEREE, "confirm")


async def _huainan(at: TableInProcess) -> None:
    """Two equal tributes by hand: UP chooses, and the losers swap what they got back."""
    await deal_two_due(at)
    await drawn_by_hand(at)
    await ordered(at, REFEREE, "anti", stands=False)
    tribute = match_at(at).tribute
    assert tribute is not None
    await all_press(at, "".join(tribute.payers))
    await ordered(at, REFEREE, "tribute", seat=tribute.payers[0], card="DA", other="HA")
    await ordered(at, TABLE, "choose", payer=tribute.payers[1])
    for giver in list(match_at(at).waiting_for):
        await ordered(at, REFEREE, "return", seat=giver, card="D5")
    await ordered(at, REFEREE, "swap_returns")


async def _moved(runtime_dir: Path, said: Said) -> None:
    """A match goes to another table, with a deal begun: what that one says is said last."""
    folders = [runtime_dir / name for name in ("here", "there")]
    for folder in folders:
        folder.mkdir(mode=0o700)
    other: dict[str, Any] = {"seed": 1, "table_id": "T02"}
    async with (
        run_table_in_process(MechanicsSettings(), folders[0]) as here,
        run_table_in_process(MechanicsSettings(), folders[1], **other) as at,
    ):
        await STAGES["held"](here)
        await at.wait_for_phase(MachinePhase.EMPTY)
        await ordered(here, CHIEF, "transfer", table="T02")
        reply = await ordered(here, OBSERVER, "document")
        part = reply.result or {}
        taken = {name: part[name] for name in ("digest", "sig", "part", "parts", "text")}
        await at.send_command(CHIEF, "take_over", **taken, verify=verify_key(TABLE_SIGN).hex())
        for each in (here, at):
            said.states += each.states
            said.events += each.events


async def _power(runtime_dir: Path, said: Said) -> None:
    """The power goes while cards are dealt, and comes again: nobody has the seed but the chief."""
    sim = HardwareInProcess(
        MechanicsSettings(), random.Random(0), boots=partial(random.Random(1).getrandbits, 32)
    )
    folder = runtime_dir / "journal"
    folder.mkdir()
    try:
        for life in range(2):
            store = JournalStore.open(folder)
            async with run_table_in_process(
                MechanicsSettings(), runtime_dir, store=store, seed=life, sim=sim
            ) as at:
                if not life:
                    await at.wait_for_phase(MachinePhase.EMPTY)
                    await at.send_command(REFEREE, "start_deal")
                    await at.wait_for_phase(MachinePhase.COMMITTED)
                    await at.send_command(TABLE, "cut", n=40)
                    await at.wait_for_state(lambda state: state.machine.fed >= 30)
                    _forget_keys(runtime_dir)
                await asyncio.sleep(5)
                said.states += at.states
                said.events += at.events
    finally:
        sim.close()


def _forget_keys(runtime_dir: Path) -> None:
    """Lose every attempt's key, as memory does."""
    for key in runtime_dir.glob("*.key"):
        key.unlink()


RUNS: Mapping[str, Run] = {
    "a match": _run(_a_match),
    "dealt again": _run(_redealt),
    "practice": _run(_practice),
    "by hand": _run(_by_hand),
    "huainan": _run(_huainan, profile="huainan-2013-003"),
    "another table": _moved,
    "power cut": _power,
    "big two": _run(_big_two, profile="bigtwo-2017-002"),
}
