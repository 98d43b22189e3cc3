"""A client signs for the run of the table that it saw, and never anew by itself."""

from collections.abc import Callable, Sequence

import msgspec
import pytest

from controller.client.client import Client
from controller.client.discovery import Endpoints
from controller.commands.registry import refusal_reply
from controller.gateway_protocol import CommandMessage
from controller.messages import CommandReply, PublicEvent
from controller.signing import signed_commands
from tests.gateway.scripted import Connect, MakeState, ScriptedMachine, code

FIRST, SECOND = "a1" * 16, "b2" * 16


@pytest.fixture
def unseeing(connect: Connect) -> Client:
    """A referee's client that has not looked at its table yet."""
    client = connect("referee")
    client.boot = None
    return client


def shows(machine: ScriptedMachine, boot: str) -> None:
    """Let the machine be of a run, as the machine's desk takes orders."""

    def answer(message: CommandMessage) -> list[CommandReply]:
        command = message.body
        if command.cmd == "snapshot":
            return [CommandReply(id=command.id, ok=True, result={"boot": boot})]
        if command.boot != boot:
            return [refusal_reply(command.id, "OTHER_RUN")]
        return [CommandReply(id=command.id, ok=True)]

    machine.script = answer


def asked(machine: ScriptedMachine) -> Sequence[tuple[str, str | None]]:
    """What came to the machine, and for which run."""
    return [(message.body.cmd, message.body.boot) for message in machine.commands]


async def test_before_its_first_order_a_client_looks_once_and_signs_for_what_it_saw(
    machine: ScriptedMachine, unseeing: Client, endpoints: Endpoints
) -> None:
    shows(machine, FIRST)
    assert (await unseeing.ask("hold", {"reason": "tea"}, person="Li Na")).ok
    assert (await unseeing.ask("resume")).ok
    assert asked(machine) == [("snapshot", None), ("hold", FIRST), ("resume", FIRST)]
    assert [message.body.person for message in machine.commands] == [None, "Li Na", None]
    for message in machine.commands[1:]:
        signed_commands.check_command(message.body, endpoints.server_key)


async def test_who_only_reads_is_asked_for_no_look(
    machine: ScriptedMachine, unseeing: Client
) -> None:
    await unseeing.ask("sheet")
    assert asked(machine) == [("sheet", None)]


async def test_a_snapshot_that_somebody_asked_for_is_a_look(
    machine: ScriptedMachine, unseeing: Client
) -> None:
    shows(machine, FIRST)
    await unseeing.ask("snapshot")
    await unseeing.ask("resume")
    assert asked(machine) == [("snapshot", None), ("resume", FIRST)]


async def test_who_hears_the_feed_has_seen_the_run_that_it_is_of(
    machine: ScriptedMachine,
    unseeing: Client,
    make_state: MakeState,
    make_event: Callable[[int], PublicEvent],
) -> None:
    shows(machine, SECOND)
    await unseeing.next_message()  # the state that the machine greeted with
    assert unseeing.boot == machine.state.boot
    for value in (make_state(boot=FIRST), msgspec.structs.replace(make_event(1), boot=SECOND)):
        machine.publish(value)
        while unseeing.boot != value.boot:
            await unseeing.next_message()
    assert (await unseeing.ask("resume")).ok
    assert asked(machine) == [("resume", SECOND)]


async def test_an_order_that_a_restart_overtook_is_not_signed_anew_and_the_next_one_looks_first(
    machine: ScriptedMachine, unseeing: Client
) -> None:
    shows(machine, FIRST)
    assert (await unseeing.ask("resume")).ok
    shows(machine, SECOND)
    machine.commands.clear()
    assert code(await unseeing.ask("hold")) == "OTHER_RUN"
    assert asked(machine) == [("hold", FIRST)]
    assert (await unseeing.ask("hold")).ok
    assert asked(machine)[1:] == [("snapshot", None), ("hold", SECOND)]


async def test_where_there_is_nothing_to_see_the_order_is_refused_for_that_under_its_id(
    machine: ScriptedMachine, unseeing: Client
) -> None:
    machine.script = lambda message: [refusal_reply(message.body.id, "STORAGE_FAILED")]
    reply = await unseeing.ask("hold", command_id="mine")
    assert (reply.id, code(reply)) == ("mine", "STORAGE_FAILED")
    assert asked(machine) == [("snapshot", None)]
