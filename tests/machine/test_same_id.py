"""A command that comes again under its id, over two lives of the daemon: acted once, one answer."""

import asyncio
import base64
import random
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from nacl.public import PrivateKey, SealedBox

from controller.cards import face_text
from controller.journal.entries import JournalEntry
from controller.journal.store import JournalStore
from controller.journal.verify import verify
from controller.messages import ClientCommand, CommandReply, MachinePhase, Role
from controller.signing.signed_commands import sign_command
from sim.hardware_in_process import HardwareInProcess
from sim.mechanics.mechanics_settings import MechanicsSettings
from sim.tables.table_in_process import TABLE_KEY, TableInProcess, run_table_in_process
from tests.crash.lives import SIGNERS
from tests.machine.stages import STAGES, ordered
from tests.machine.troubles import SETS

pytestmark = pytest.mark.virtual
BESIDE = "beside"
"""The id of another command that is sent between."""


@dataclass(frozen=True)
class Case:
    """A command, the stage of a match at which it is given, and the entry that it leaves."""

    stage: str
    role: Role
    cmd: str
    args: dict[str, Any] = field(default_factory=dict)
    leaves: str = "match"
    says: dict[str, Any] = field(default_factory=dict)


LED = "play, after the first lead"
CHARGE = {"offence": "other", "seat": "E"}
CASES = {
    "confirm": Case("count_check", Role.TABLE, "confirm", {"seat": "N"}, says={"event": "Counted"}),
    "claim_count": Case(
        "count_check", Role.TABLE, "claim_count", {"seat": "N"}, says={"event": "CountClaimed"}
    ),
    "result": Case(
        LED, Role.REFEREE, "result", {"order": ["N", "S"]}, says={"event": "ResultEntered"}
    ),
    "add_time": Case(LED, Role.REFEREE, "add_time", {"seconds": 60}, says={"event": "TimeAdded"}),
    "start_deal": Case("due", Role.REFEREE, "start_deal", leaves="committed"),
    "cut": Case("committed", Role.TABLE, "cut", {"n": 40}, leaves="cut"),
    "release": Case("held", Role.REFEREE, "release", leaves="released"),
    "void": Case("dealing", Role.CHIEF, "void", {"reason": "smoke"}, leaves="verdict"),
    "hold": Case("dealing", Role.REFEREE, "hold", {"reason": "look"}, leaves="pause"),
    "propose": Case(LED, Role.REFEREE, "propose", CHARGE, says={"event": "RulingProposed"}),
    "open_hand": Case(
        LED, Role.CHIEF, "open_hand", {"seat": "N", "reason": "hidden?"}, leaves="opened_hand"
    ),
    "replace_set": Case("due", Role.REFEREE, "replace_set", {"set": "S2"}, leaves="set_loaded"),
    "clear_jam": Case(
        "due", Role.REFEREE, "clear_jam", leaves="fault_cleared", says={"name": "JAM"}
    ),
    "acknowledge": Case(
        "due", Role.REFEREE, "acknowledge", {"code": "ESTOP_PRESSED"}, leaves="acknowledged"
    ),
    "configure": Case(
        "due",
        Role.TECHNICIAN,
        "configure",
        {"board": "dealer", "settings": {"jam_retries": 1}},
        leaves="command",
        says={"cmd": "configure"},
    ),
}
REFUSED = {
    "WRONG_PHASE": Case("committed", Role.REFEREE, "release"),
    "WRONG_ROLE": Case("held", Role.TABLE, "release"),
    "NOT_HIS_DUTY": Case("committed", Role.TABLE, "cut", {"n": 40, "seat": "W"}),
    "BAD_COMMAND": Case("committed", Role.TABLE, "cut", {"n": "many"}),
    "HAND_CLOSED": Case("tribute", Role.CHIEF, "open_hand", {"seat": "N", "reason": "hidden?"}),
    "NO_SUCH_RULING": Case(LED, Role.CHIEF, "approve", {"ruling": "R9"}),
}
Lives = Callable[[int], AbstractAsyncContextManager[TableInProcess]]


@pytest.fixture
def folder(runtime_dir: Path) -> Path:
    """Where the journal lies: in memory, for these disks are synced often."""
    folder = runtime_dir / "state"
    folder.mkdir()
    return folder


@pytest.fixture
async def lives(runtime_dir: Path, folder: Path) -> AsyncIterator[Lives]:
    """Give a table's lives, by number: boards, cards, people and journal are the same."""
    boots = count(1)
    sim = HardwareInProcess(MechanicsSettings(), random.Random(3), boots=lambda: next(boots))

    def live(number: int) -> AbstractAsyncContextManager[TableInProcess]:
        return run_table_in_process(
            MechanicsSettings(),
            runtime_dir,
            seed=number,
            store=JournalStore.open(folder),
            state_dir=folder,
            sim=sim,
            card_sets=SETS,
            signers=SIGNERS,
        )

    yield live
    sim.close()


def command(at: TableInProcess, case: Case, command_id: str = "once") -> ClientCommand:
    """Sign a case's command, about what is present now."""
    deal, attempt = at.machine.processor.current_deal(case.cmd) or (None, None)
    plain = ClientCommand(id=command_id, cmd=case.cmd, deal=deal, attempt=attempt, args=case.args)
    return at.sign_command(plain, SIGNERS[case.role])


def beside(at: TableInProcess) -> ClientCommand:
    call = ClientCommand(id=BESIDE, cmd="call", args={"seat": "S"})
    return at.sign_command(call, SIGNERS[Role.TABLE])


async def sent(at: TableInProcess, *commands: ClientCommand) -> list[CommandReply]:
    """Send commands one behind the other without waiting; return the answers to the case's."""
    replies = await asyncio.gather(*(at.lasting.submit(each) for each in commands))
    return [reply for reply in replies if reply.id != BESIDE]


async def reached(at: TableInProcess, case: Case) -> None:
    """Bring the match to the stage, and what the command needs besides."""
    await STAGES[case.stage](at)
    if case.cmd == "clear_jam":
        at.machine.record.raise_fault("JAM")
    if case.cmd == "acknowledge":
        at.machine.record.raise_fault("ESTOP_PRESSED")


def written(folder: Path) -> list[JournalEntry]:
    store = JournalStore.open(folder)
    try:
        return [item.entry for item in store.entries()]
    finally:
        store.close()


def left(entries: list[JournalEntry], case: Case) -> int:
    """How often an entry stands there that the command leaves."""
    found = [entry for entry in entries if entry.kind == case.leaves]
    return sum(case.says.items() <= entry.data.items() for entry in found)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
async def test_five_times_out_of_order_over_a_restart_it_acts_once_and_is_answered_the_same(
    lives: Lives, folder: Path, case: Case
) -> None:
    async with lives(1) as at:
        await reached(at, case)
        before = left([item.entry for item in at.machine.record.journal.entries()], case)
        same, other = command(at, case), beside(at)
        replies = await sent(at, same, other, same)
    async with lives(2) as at:
        replies += await sent(at, other, same, same, other, same)
    assert len(replies) == 5
    assert replies[0].ok, replies[0].error
    assert all(reply == replies[0] for reply in replies)
    entries = written(folder)
    assert left(entries, case) == before + 1
    for command_id, cmd in (("once", case.cmd), (BESIDE, "call")):
        acted = [entry for entry in entries if entry.data.get("id") == command_id]
        assert [entry.data["cmd"] for entry in acted if entry.kind == "command"] == [cmd]
    assert sum(entry.kind == "call" for entry in entries) == 1
    assert not verify(folder, None).findings


@pytest.mark.parametrize(("code", "case"), REFUSED.items(), ids=REFUSED)
async def test_what_was_refused_is_refused_however_often_in_any_run_and_leaves_nothing(
    lives: Lives, folder: Path, code: str, case: Case
) -> None:
    async with lives(1) as at:
        await reached(at, case)
        same, other = command(at, case), beside(at)
        replies = await sent(at, same, other, same)
    async with lives(2) as at:
        await at.wait_for_state(lambda state: state.machine.phase is not MachinePhase.FAULT)
        replies += await sent(at, other, same, same, other, same)
    assert len(replies) == 5
    later = code if code == "WRONG_ROLE" else "OTHER_RUN"
    assert [reply.error.code for reply in replies if reply.error] == [code] * 2 + [later] * 3
    assert replies[0] == replies[1]
    assert not [entry for entry in written(folder) if entry.data.get("id") == "once"]


async def test_a_hand_that_was_opened_comes_again_in_the_very_same_bytes_to_the_chief_alone(
    lives: Lives, folder: Path
) -> None:
    case = CASES["open_hand"]
    async with lives(1) as at:
        await reached(at, case)
        same = command(at, case)
        (first,) = await sent(at, same)
        held = at.sim.world.truth().hands[0]
    async with lives(2) as at:
        (again,) = await sent(at, same)
        new = command(at, case, "another")
        (other,) = await sent(at, new)
        # The id is the chief's own: to another key it is another command.
        theirs = sign_command(
            ClientCommand(id="once", cmd="snapshot"), TABLE_KEY, SIGNERS[Role.REFEREE]
        )
        snapshot = await at.lasting.submit(theirs)
        public = [event for event in at.events if event.kind == "opened_hand"]
    assert first.result is not None
    assert again == first
    assert other.result is not None
    assert other.result["sealed"] != first.result["sealed"]
    hands = [opened(reply) for reply in (first, again, other)]
    assert hands == [sorted(face_text(card.face) for card in held)] * 3
    assert snapshot.result is not None
    assert "sealed" not in snapshot.result
    assert [event.data["by"] for event in public] == ["chief"]  # in this life, the new one
    answers = [entry for entry in written(folder) if entry.kind == "answer"]
    assert [(entry.data["id"], entry.public) for entry in answers] == [
        ("once", False),
        ("another", False),
    ]


def opened(reply: CommandReply) -> list[str]:
    """Open a hand as the chief does."""
    assert reply.result is not None
    box = SealedBox(PrivateKey(SIGNERS[Role.CHIEF]))
    return sorted(box.decrypt(base64.b64decode(reply.result["sealed"])).decode().split())


# -- a deal that has moved on ------------------------------------------------------------


async def test_what_is_about_a_deal_that_is_over_is_stale_and_what_acted_has_its_answer(
    lives: Lives,
) -> None:
    confirm = CASES["confirm"]
    enter = Case(LED, Role.REFEREE, "result", {"order": ["N", "S"]})
    async with lives(1) as at:
        await STAGES["count_check"](at)
        acted, late = command(at, confirm), command(at, confirm, "late")
        (first,) = await sent(at, acted)
        assert first.ok
        for seat in "WSE":
            await ordered(at, Role.TABLE, "confirm", seat=seat)
        for seats in ("WE", "NS"):
            for seat in seats:
                await ordered(at, Role.TABLE, "confirm", seat=seat)
        leader = at.states[-1].match.leader
        await ordered(at, Role.TABLE, "confirm", seat=leader)
        entered = command(at, enter, "result")
        (result,) = await sent(at, entered)
        assert result.ok
        await at.wait_for_state(lambda state: state.match.phase == "result")
        await ordered(at, Role.REFEREE, "confirm")
        await at.wait_for_state(lambda state: state.match.deal == 3)
        assert await codes(at, late, acted, entered) == ["STALE", None, None]
    async with lives(2) as at:
        await at.wait_for_state(lambda state: state.match.deal == 3)
        assert await codes(at, late, acted, late, entered) == ["OTHER_RUN", None, "OTHER_RUN", None]
        assert await sent(at, acted, entered) == [first, result]
        match = at.machine.record.match_written.match
        assert match is not None
        assert match.deal == 3


@pytest.mark.parametrize("cmd", ["cut", "release", "void"])
async def test_a_step_of_an_attempt_that_is_over_is_stale_in_the_next_one(
    lives: Lives, cmd: str
) -> None:
    case = CASES[cmd]
    async with lives(1) as at:
        await STAGES[case.stage](at)
        late = command(at, case)
        await ordered(at, Role.CHIEF, "void", reason="smoke")
        if cmd != "cut":  # where nothing was dealt the next attempt begins by itself
            await at.wait_for_state(
                lambda state: state.machine.phase in (MachinePhase.EMPTY, MachinePhase.FAULT)
            )
            await at.people.collect("S1")
        await at.wait_for_state(lambda state: state.machine.attempt == 2)
        if cmd != "cut":
            await at.wait_for_phase(MachinePhase.COMMITTED)
            await ordered(at, Role.TABLE, "cut", n=40)
            await at.wait_for_phase(MachinePhase.HELD)
        assert await codes(at, late, late) == ["STALE", "STALE"]
    async with lives(2) as at:
        await at.wait_for_state(lambda state: state.machine.phase is not MachinePhase.FAULT)
        assert await codes(at, late) == ["OTHER_RUN"]
        assert at.machine.record.state.attempt == 2


async def codes(at: TableInProcess, *commands: ClientCommand) -> list[str | None]:
    replies = [await at.lasting.submit(each) for each in commands]
    return [None if reply.error is None else reply.error.code for reply in replies]


@pytest.mark.parametrize("cmd", ["clear_jam", "acknowledge"])
async def test_no_fault_is_taken_down_before_the_command_that_does_it_is_known(
    lives: Lives, folder: Path, cmd: str
) -> None:
    """Else a death between would have the command refused that had acted."""
    case = CASES[cmd]
    async with lives(1) as at:
        await reached(at, case)
        await sent(at, command(at, case))
    entries = written(folder)
    (given,) = (entry.n for entry in entries if entry.data.get("id") == "once")
    named = case.args.get("code", "JAM")
    cleared = [e.n for e in entries if e.kind == "fault_cleared" and e.data["name"] == named]
    assert cleared
    assert given < min(cleared)
