"""`dealtable watch` and `dealtable send` as people call them: processes against a gateway."""

import asyncio
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import msgspec
import pytest

from controller.client.discovery import Endpoints
from controller.config import TableConfig
from controller.gateway_protocol import CommandMessage
from controller.keys.table_keys import create_client_keys
from controller.messages import (
    Alert,
    CommandReply,
    Failure,
    MachinePhase,
    PublicEvent,
    PublicMachine,
    PublicState,
    Role,
)
from controller.signing import signed_commands
from tests.gateway.scripted import MakeState, ScriptedMachine
from tests.waiting import until

Run = Callable[..., Awaitable[Process]]
DEALTABLE = (sys.executable, "-c", "from controller.cli import main; main(prog_name='dealtable')")


@pytest.fixture
async def start() -> AsyncIterator[Run]:
    """Start `dealtable` with arguments; what still runs at the end is killed."""
    started: list[Process] = []

    async def start(*args: str | Path) -> Process:
        words = [str(arg) for arg in args]
        process = await asyncio.create_subprocess_exec(*DEALTABLE, *words, stdout=PIPE, stderr=PIPE)
        started.append(process)
        return process

    yield start
    for process in started:
        if process.returncode is None:
            process.kill()
        await process.communicate()


@pytest.fixture
def dealtable(start: Run) -> Callable[..., Awaitable[tuple[int, str, str]]]:
    """Run `dealtable` to its end; returns its exit code, output and error."""

    async def run(*args: str | Path) -> tuple[int, str, str]:
        process = await start(*args)
        out, err = await process.communicate()
        return process.returncode or 0, out.decode(), err.decode()

    return run


Dealtable = Callable[..., Awaitable[tuple[int, str, str]]]


async def line(process: Process) -> str:
    assert process.stdout is not None
    return (await process.stdout.readline()).decode()


async def error_line(process: Process) -> str:
    assert process.stderr is not None
    return (await process.stderr.readline()).decode()


# ---------------------------------------------------------------------------
# watch


async def test_watch_prints_the_json_of_every_message_as_it_came(
    machine: ScriptedMachine,
    endpoints: Endpoints,
    state_dir: Path,
    start: Run,
    make_event: Callable[[int], PublicEvent],
) -> None:
    process = await start("watch", "--json", "--state-dir", state_dir)

    assert msgspec.json.decode(await line(process), type=PublicState) == machine.state
    machine.publish(make_event(5))
    assert msgspec.json.decode(await line(process), type=PublicEvent) == make_event(5)


async def test_watch_can_be_told_to_print_events_alone(
    machine: ScriptedMachine,
    endpoints: Endpoints,
    state_dir: Path,
    start: Run,
    make_event: Callable[[int], PublicEvent],
) -> None:
    both = await start("watch", "--json", "--state-dir", state_dir)
    events = await start("watch", "--json", "--topic", "event", "--state-dir", state_dir)
    await line(both)
    reading = asyncio.ensure_future(line(events))

    def published_and_printed() -> bool:
        """Publish the event; a subscription is not acknowledged, so this is done repeatedly."""
        machine.publish(make_event(5))
        return reading.done()

    await until(published_and_printed)

    assert msgspec.json.decode(await reading, type=PublicEvent) == make_event(5)


async def test_watch_prints_a_line_for_each_change(
    machine: ScriptedMachine,
    endpoints: Endpoints,
    state_dir: Path,
    start: Run,
    make_state: MakeState,
) -> None:
    process = await start("watch", endpoints.feed, "--state-dir", state_dir)
    assert "connected" in await line(process)
    assert "T01" in (first := await line(process))
    assert "empty" in first

    dealing = PublicMachine(phase=MachinePhase.DEALING, deal=3, attempt=7, of_deal=2, fed=54)
    machine.publish(make_state(dealing))
    machine.publish(make_state(dealing))
    jam = Alert(
        code=301,
        name="JAM",
        since="",
        cause="a card is stuck at the gate",
        action="open the lid and take it out",
        cause_zh="",
        action_zh="",
    )
    machine.publish(make_state(dealing, alerts=[jam]))
    machine.publish(make_state(dealing))

    assert "dealing     deal 3 attempt 2  fed 54" in await line(process)
    assert "JAM (301): a card is stuck at the gate. Next: open the lid" in await line(process)
    assert "JAM is over" in await line(process)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_watch_leaves_quietly_when_told_to(
    endpoints: Endpoints, state_dir: Path, start: Run, number: signal.Signals
) -> None:
    process = await start("watch", "--state-dir", state_dir)
    await line(process)

    process.send_signal(number)

    _, err = await process.communicate()
    assert (process.returncode, err) == (0, b"")


async def test_watch_says_that_its_key_is_refused(
    endpoints: Endpoints, state_dir: Path, start: Run
) -> None:
    guest = create_client_keys(state_dir, "guest", Role.OBSERVER).with_suffix(".key_secret")

    process = await start("watch", "--state-dir", state_dir, "--key", guest)

    assert "key refused" in await line(process)


async def test_watch_says_that_another_key_answers(
    endpoints: Endpoints, state_dir: Path, start: Run, tmp_path: Path
) -> None:
    other = create_client_keys(tmp_path / "other", "guest", Role.OBSERVER)

    process = await start(
        "watch", endpoints.feed, "--server-key", other, "--state-dir", state_dir, "--json"
    )

    assert "different key" in await error_line(process)


async def test_watch_says_when_the_gateway_is_gone_and_since_when(
    endpoints: Endpoints, machine: ScriptedMachine, state_dir: Path, start: Run
) -> None:
    process = await start("watch", "--state-dir", state_dir)
    assert "connected" in await line(process)
    await line(process)

    await machine.stop()  # and with it every state: silence, on an open line

    assert f"silent since {machine.state.time}" in await line(process)


# ---------------------------------------------------------------------------
# send


async def test_send_prints_what_the_table_answered(
    machine: ScriptedMachine, endpoints: Endpoints, state_dir: Path, dealtable: Dealtable
) -> None:
    assert await dealtable("send", "snapshot", "--state-dir", state_dir) == (
        0,
        '{\n  "did": "snapshot"\n}\n',
        "",
    )


async def test_send_signs_and_names_the_present_deal_and_attempt(
    machine: ScriptedMachine,
    endpoints: Endpoints,
    state_dir: Path,
    dealtable: Dealtable,
    make_state: MakeState,
) -> None:
    present = make_state(PublicMachine(phase=MachinePhase.COMMITTED, deal=3, attempt=7))

    def answer(message: CommandMessage) -> list[CommandReply]:
        result = msgspec.to_builtins(present) if message.body.cmd == "snapshot" else {}
        return [CommandReply(id=message.body.id, ok=True, result=result)]

    machine.script = answer

    code, out, _ = await dealtable(
        "send", "cut", "n=40", "why=the 4th", "--as", "table", "--state-dir", state_dir
    )

    command = machine.commands[-1].body
    signed_commands.check_command(command, endpoints.server_key)
    assert (code, out) == (0, "ok\n")
    assert (command.deal, command.attempt) == (3, 7)
    assert command.args == {"n": 40, "why": "the 4th"}


async def test_send_names_the_deal_of_the_match_for_what_the_match_decides(
    machine: ScriptedMachine,
    endpoints: Endpoints,
    state_dir: Path,
    dealtable: Dealtable,
    make_state: MakeState,
) -> None:
    state = make_state(PublicMachine(phase=MachinePhase.COMMITTED, deal=4, attempt=8))
    match = msgspec.structs.replace(state.match, deal=3, attempt=7)
    present = msgspec.to_builtins(msgspec.structs.replace(state, match=match))
    machine.script = lambda message: [CommandReply(id=message.body.id, ok=True, result=present)]

    code, _, _ = await dealtable("send", "out", "seat=N", "--as", "table", "--state-dir", state_dir)

    command = machine.commands[-1].body
    assert (code, command.cmd, command.deal, command.attempt) == (0, "out", 3, 7)


async def test_send_takes_the_deal_and_attempt_it_is_given(
    machine: ScriptedMachine, endpoints: Endpoints, state_dir: Path, dealtable: Dealtable
) -> None:
    where = ("--state-dir", state_dir, "--deal", "4", "--attempt", "9", "--json")

    code, out, _ = await dealtable("send", "release", "--as", "referee", *where)

    reply = msgspec.json.decode(out, type=CommandReply)
    looked, given = (message.body for message in machine.commands)
    assert (code, reply.ok, looked.cmd) == (0, True, "snapshot")
    assert (given.deal, given.attempt, given.person) == (4, 9, None)


async def test_send_says_who_gives_the_order(
    machine: ScriptedMachine, endpoints: Endpoints, state_dir: Path, dealtable: Dealtable
) -> None:
    words = ("send", "hold", "reason=tea", "--as", "referee", "--state-dir", state_dir)

    code, _, _ = await dealtable(*words, "--person", "李娜")
    assert (code, machine.commands[-1].body.person) == (0, "李娜")

    for wrong in ("", "Li (chief)", "x" * 41):
        code, _, err = await dealtable(*words, "--person", wrong)
        assert code == 2
        assert "1 to 40 printable characters" in err
    assert len(machine.commands) == 2


async def test_send_tells_a_refusal_in_one_line_and_ends_with_1(
    machine: ScriptedMachine, endpoints: Endpoints, state_dir: Path, dealtable: Dealtable
) -> None:
    failure = Failure(code="WRONG_PHASE", message="no hands are held", action="Wait for held")
    machine.script = lambda message: [CommandReply(id=message.body.id, ok=False, error=failure)]

    code, out, err = await dealtable(
        "send", "start_deal", "--as", "referee", "--state-dir", state_dir
    )

    assert (code, out) == (1, "")
    assert err == "refused, WRONG_PHASE: no hands are held. Wait for held.\n"


async def test_send_ends_with_1_when_its_key_is_refused(
    endpoints: Endpoints, state_dir: Path, dealtable: Dealtable
) -> None:
    create_client_keys(state_dir, "guest", Role.OBSERVER)

    code, _, err = await dealtable("send", "snapshot", "--as", "guest", "--state-dir", state_dir)

    assert code == 1
    assert "key refused" in err


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["release"], "--as ROLE"),
        (["cut", "forty", "--as", "table"], "NAME=VALUE"),
        (["snapshot", "--as", "nobody"], "nobody.key_secret"),
        ([], "CMD"),
    ],
)
async def test_send_ends_with_2_when_called_wrongly(
    endpoints: Endpoints, state_dir: Path, dealtable: Dealtable, args: list[str], said: str
) -> None:
    code, _, err = await dealtable("send", *args, "--state-dir", state_dir)

    assert code == 2
    assert said in err


async def test_without_a_gateway_both_say_in_one_line_where_they_looked(
    config: TableConfig, dealtable: Dealtable
) -> None:
    for words in (["watch"], ["send", "snapshot"]):
        code, _, err = await dealtable(*words, "--state-dir", config.table.state_dir)

        assert code == 2
        assert err.count("\n") == 1
        assert "endpoints.json" in err


async def test_an_address_that_is_none_is_bad_usage(state_dir: Path, dealtable: Dealtable) -> None:
    code, _, err = await dealtable("watch", "table-12", "--state-dir", state_dir)

    assert (code, err.count("\n")) == (2, 1)
