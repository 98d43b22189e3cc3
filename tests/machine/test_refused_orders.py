"""Every command of the table, refused for every reason: role, phase, signature, arguments.

Each refusal says what would have been right, and leaves nothing behind in the journal.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest

from controller.commands.registry import COMMANDS
from controller.host.printable_text import is_printable
from controller.messages import ClientCommand, Failure, MachinePhase, Role
from controller.signing.signed_commands import sign_command
from controller.words import COMMAND_WORDS as CALLED
from controller.words import phase_clauses, roles_with_article
from sim.tables.table_in_process import TABLE_KEY, TableInProcess
from tests.commands.examples import example
from tests.machine.stages import ordered
from tests.machine.tables import Tables

pytestmark = pytest.mark.virtual
SIGNED = [cmd for cmd, order in COMMANDS.items() if order.signed]
LONGEST_LINE = 600
MOMENTS = 1000
LINE_MS = 20.0
"""What a byte takes to a board: long enough to ask while the board has not answered."""
ELSEWHERE = "U" * 40
NAME = re.compile("[A-Za-z]")


def giver(cmd: str) -> Role:
    """Somebody who may give a command."""
    return min(COMMANDS[cmd].roles)


# -- a machine in every phase -----------------------------------------------------


async def _empty(trial: TableInProcess) -> None:
    await trial.wait_for_phase(MachinePhase.EMPTY)


async def _committed(trial: TableInProcess) -> None:
    await _empty(trial)
    await ordered(trial, Role.REFEREE, "start_deal")
    await trial.wait_for_phase(MachinePhase.COMMITTED)


async def _cut(trial: TableInProcess) -> None:
    """Give the cut, and stop in the moment before the board has begun."""
    await _committed(trial)
    command = trial.make_command(Role.TABLE, "cut", n=40)
    cutting = asyncio.ensure_future(trial.machine.submit(command))
    for _ in range(MOMENTS):
        if trial.machine.table_boards.phase is MachinePhase.CUT:
            break
        await asyncio.sleep(0)
    cutting.add_done_callback(lambda done: done.result())


async def _shuffling(trial: TableInProcess) -> None:
    await _committed(trial)
    await ordered(trial, Role.TABLE, "cut", n=40)
    await trial.wait_for_phase(MachinePhase.SHUFFLING)


async def _dealing(trial: TableInProcess) -> None:
    await _shuffling(trial)
    await trial.wait_for_state(lambda state: state.machine.fed >= 30)


async def _held(trial: TableInProcess) -> None:
    await _shuffling(trial)
    await trial.wait_for_phase(MachinePhase.HELD)


async def _released(trial: TableInProcess) -> None:
    await _held(trial)
    await ordered(trial, Role.REFEREE, "release")
    await trial.wait_for_phase(MachinePhase.RELEASED)


async def _fault(trial: TableInProcess) -> None:
    await _empty(trial)
    trial.sim.kill("reader")
    await trial.wait_for_phase(MachinePhase.FAULT)


REACHED: dict[MachinePhase, Callable[[TableInProcess], Awaitable[None]]] = {
    MachinePhase.FAULT: _fault,
    MachinePhase.EMPTY: _empty,
    MachinePhase.COMMITTED: _committed,
    MachinePhase.CUT: _cut,
    MachinePhase.SHUFFLING: _shuffling,
    MachinePhase.DEALING: _dealing,
    MachinePhase.HELD: _held,
    MachinePhase.RELEASED: _released,
}


@asynccontextmanager
async def standing(table: Tables, phase: MachinePhase) -> AsyncIterator[TableInProcess]:
    """Give a table in a phase in which it stays while it is asked; no word may be written."""
    async with table(delay_ms=LINE_MS) as trial:
        await REACHED[phase](trial)
        assert trial.machine.table_boards.phase is phase
        journal = trial.machine.record.journal
        last = journal.last_number
        yield trial
        assert (trial.machine.table_boards.phase, journal.last_number) == (phase, last)


async def told(trial: TableInProcess, command: ClientCommand) -> Failure:
    """Return why a command is refused. Nothing is waited for: it is refused at once."""
    asking = asyncio.ensure_future(trial.machine.submit(command))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert asking.done(), f"{command.cmd} waits"
    reply = asking.result()
    assert reply.error is not None, (command.cmd, reply.result)
    assert (reply.id, reply.ok) == (command.id, False)
    assert all(map(is_printable, reply.error.message + reply.error.action))
    assert len(reply.error.message) < LONGEST_LINE
    return reply.error


def advised(error: Failure, words: dict[str, str]) -> set[str]:
    """The roles or phases whose `words` stand in the advice of a refusal."""
    return {name for name, said in words.items() if re.search(rf"\b{said}(,| or |$)", error.action)}


PEOPLE = {role.value: roles_with_article([role]).en for role in Role}
MEANWHILE = {phase.value: phase_clauses([phase]) for phase in MachinePhase}


# -- roles and phases -----------------------------------------------------------------


async def test_a_role_that_may_not_is_told_which_may_for_every_command(table: Tables) -> None:
    async with standing(table, MachinePhase.EMPTY) as trial:
        for cmd, order in COMMANDS.items():
            for role in set(Role) - order.roles:
                error = await told(trial, trial.make_command(role, cmd, **example(cmd)))
                assert error.code == "WRONG_ROLE", (cmd, role)
                assert error.message == f'"{CALLED[cmd].en}" is not for {PEOPLE[role]}'
                assert advised(error, PEOPLE) == {each.value for each in order.roles}, (cmd, role)
                assert not NAME.search(error.message_zh + error.action_zh)


@pytest.mark.parametrize("phase", MachinePhase)
async def test_a_phase_that_may_not_is_named_with_those_that_may(
    table: Tables, phase: MachinePhase
) -> None:
    async with standing(table, phase) as trial:
        for cmd, order in COMMANDS.items():
            if phase in order.phases:
                continue
            for role in order.roles:
                error = await told(trial, trial.make_command(role, cmd, **example(cmd)))
                assert error.code == "WRONG_PHASE", (cmd, role)
                what = f'"{CALLED[cmd].en}" is not possible while'
                assert error.message == f"{what} {MEANWHILE[phase]}"
                assert advised(error, MEANWHILE) == {each.value for each in order.phases}, (
                    cmd,
                    role,
                )
                assert not NAME.search(error.message_zh + error.action_zh)


async def test_what_may_not_for_its_role_is_not_told_of_the_phase(table: Tables) -> None:
    async with standing(table, MachinePhase.EMPTY) as trial:
        for role in (Role.OBSERVER, Role.TABLE, Role.TECHNICIAN):
            error = await told(trial, trial.make_command(role, "release"))
            assert error.code == "WRONG_ROLE"


# -- signatures -------------------------------------------------------------------------


def forged(trial: TableInProcess, cmd: str) -> Iterator[tuple[str, ClientCommand]]:
    """Yield commands whose signature is not theirs, and what is wrong with each."""
    role = giver(cmd)
    seed, changed = trial.signers[role], msgspec.structs.replace
    plain = ClientCommand(id="forged", cmd=cmd, deal=1, attempt=1, args=example(cmd))
    right = sign_command(plain, TABLE_KEY, seed)
    other = "cut" if cmd != "cut" else "release"
    assert right.sig is not None
    yield "missing", changed(right, sig=None)
    yield "empty", changed(right, sig="")
    yield "no hex", changed(right, sig="zz" * 64)
    yield "short", changed(right, sig=right.sig[:-2])
    yield "long", changed(right, sig=right.sig + "00")
    yield "one bit", changed(right, sig=f"{int(right.sig, 16) ^ 1:0128x}")
    yield "another table", sign_command(plain, ELSEWHERE, seed)
    yield (
        "another command",
        changed(sign_command(changed(plain, cmd=other), TABLE_KEY, seed), cmd=cmd),
    )
    yield "another id", changed(right, id="forged again")
    yield "another deal", changed(right, deal=2)
    yield "no deal", changed(right, deal=None)
    yield "another attempt", changed(right, attempt=2)
    yield "other arguments", changed(right, args={**plain.args, "more": 1})
    stranger = next(each for each in Role if each is not role)
    theirs = sign_command(plain, TABLE_KEY, trial.signers[stranger])
    yield "another's key", changed(right, key=theirs.key)
    yield "another's signature", changed(right, sig=theirs.sig)


async def test_a_signature_that_is_not_this_commands_is_refused_for_every_command(
    table: Tables,
) -> None:
    async with standing(table, MachinePhase.EMPTY) as trial:
        for cmd in SIGNED:
            for what, command in forged(trial, cmd):
                assert (await told(trial, command)).code == "BAD_SIGNATURE", (cmd, what)


@pytest.mark.parametrize("key", [None, "", "00" * 32, "zz" * 32, "0" * 63, "\x00", "牌"])
async def test_a_key_that_nobody_admitted_is_refused_for_every_command(
    table: Tables, key: str | None
) -> None:
    async with standing(table, MachinePhase.EMPTY) as trial:
        for cmd in SIGNED:
            command = ClientCommand(id="x", cmd=cmd, args=example(cmd), key=key, sig="00" * 64)
            assert (await told(trial, command)).code == "UNKNOWN_KEY", cmd
        stranger = sign_command(
            ClientCommand(id="x", cmd="hold", args={"reason": "x"}), TABLE_KEY, bytes(32)
        )
        assert (await told(trial, stranger)).code == "UNKNOWN_KEY"


# -- arguments -----------------------------------------------------------------------------

TABLES_AND_LISTS = {"settings", "pairs", "counts", "left", "record", "order"}
WHERE: dict[str, MachinePhase] = {
    "cut": MachinePhase.COMMITTED,
    "void": MachinePhase.COMMITTED,
    "release": MachinePhase.HELD,
}
"""Where a command is taken that is not taken by an empty machine."""


def wrong(cmd: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield arguments that a command does not take, and the one that is wrong."""
    right = example(cmd)
    for field in msgspec.structs.fields(COMMANDS[cmd].args):
        if field.required:
            yield field.name, {name: said for name, said in right.items() if name != field.name}
        for bad in (7, True) if field.name in TABLES_AND_LISTS else ({"no": 1}, [[]]):
            yield field.name, {**right, field.name: bad}
    for extra in ("more", "id", "牌"):
        yield extra, {**right, extra: 1}


@pytest.mark.parametrize("phase", [MachinePhase.EMPTY, *sorted(set(WHERE.values()))])
async def test_arguments_that_are_not_a_commands_are_refused_in_a_line_that_names_them(
    table: Tables, phase: MachinePhase
) -> None:
    async with standing(table, phase) as trial:
        for cmd in COMMANDS:
            if WHERE.get(cmd, MachinePhase.EMPTY) is not phase:
                continue
            for name, args in wrong(cmd):
                command = trial.make_command(giver(cmd), cmd, about=present(trial, cmd), **args)
                error = await told(trial, command)
                assert error.code == "BAD_COMMAND", (cmd, args)
                assert name in error.message, (cmd, name, error.message)


def present(trial: TableInProcess, cmd: str) -> tuple[int | None, int | None]:
    return trial.machine.processor.current_deal(cmd) or (None, None)


async def test_a_command_that_does_not_exist_is_refused_whoever_gives_it(table: Tables) -> None:
    async with standing(table, MachinePhase.EMPTY) as trial:
        for role in Role:
            for cmd in ("", "deal_better_hands", "CUT", "cut ", "a\nb", "x" * 9000):
                error = await told(trial, trial.make_command(role, cmd, n=40))
                assert error.code == "UNKNOWN_COMMAND", (cmd, role)
