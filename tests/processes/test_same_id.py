"""The same command from two clients, again and again, while the machine is killed between."""

import asyncio
from collections import Counter
from typing import Any

import pytest

from controller.client.client import Client
from controller.messages import CommandReply, MachinePhase, Role
from sim.tables.table_processes import TableProcess
from tests.processes.people import CUT, FAST, People
from tests.processes.program import Dealtable, Start
from tests.processes.units import Units

pytestmark = pytest.mark.slow

ABOUT = (1, 1)
LIFT_PACE = 0.01
"""So slow that the hands are not out before the machine is killed."""


class Two:
    """Two clients with the same key: a console, and the terminal beside it."""

    def __init__(self, table: TableProcess, role: Role) -> None:
        self.clients = (table.client(role), table.client(role))

    async def say(
        self, cmd: str, who: str, about: tuple[int | None, int | None] = (None, None), **args: Any
    ) -> list[CommandReply]:
        """Send a command, its name its id, in turn from the clients of `who`: "abba".

        Each client waits for its answer before it asks again, and for nobody else's.
        """
        deal, attempt = about

        async def one(client: Client, times: int) -> list[CommandReply]:
            return [
                await client.ask(cmd, args, deal=deal, attempt=attempt, command_id=cmd)
                for _ in range(times)
            ]

        turns = zip(self.clients, (who.count("a"), who.count("b")), strict=True)
        return [
            each for said in await asyncio.gather(*(one(*turn) for turn in turns)) for each in said
        ]

    async def close(self) -> None:
        for client in self.clients:
            await client.close()


async def look_at(people: People, boot: str, *clients: Client) -> None:
    """Wait until another run of the machine is there, and let each client look at it."""
    await people.until(lambda state: state.boot != boot)
    for client in clients:
        assert (await client.ask("snapshot")).ok


async def events(client: Client) -> list[dict[str, Any]]:
    """Return every public entry so far."""
    found: list[dict[str, Any]] = []
    while True:
        reply = await client.ask("events", {"since": found[-1]["n"] if found else 0})
        assert reply.result is not None
        if not reply.result["events"]:
            return found
        found += reply.result["events"]


async def test_one_id_from_two_clients_over_a_killed_machine_acts_once_and_has_one_answer(
    boards: TableProcess, start: Start, dealtable: Dealtable
) -> None:
    units = Units(boards, start)
    await units.start_machine()
    await units.start_gateway()
    referees, players = Two(boards, Role.REFEREE), Two(boards, Role.TABLE)
    replies: dict[str, list[CommandReply]] = {}

    async def said(cmd: str, by: Two, who: str, *about: Any, **args: Any) -> None:
        replies.setdefault(cmd, []).extend(await by.say(cmd, who, *about, **args))

    looking = referees.clients[0]
    async with People(boards) as people:

        async def reached(phase: MachinePhase) -> str:
            """Wait for a phase; return the run of the machine that is in it."""
            return (await people.until(lambda state: state.machine.phase is phase)).boot

        await reached(MachinePhase.EMPTY)
        early = await referees.say("release", "ab", (None, None))
        await said("start_deal", referees, "ab")
        await reached(MachinePhase.COMMITTED)
        async with people.slower_from_card(1):
            await said("cut", players, "ab", ABOUT, n=CUT)
        boot = await reached(MachinePhase.DEALING)
        await said("hold", referees, "ab", reason="look")

        await units.kill(units.machine)
        away = await referees.say("hold", "ab", reason="look")
        await units.start_machine()
        await look_at(people, boot, looking)
        await said("hold", referees, "aab", reason="look")
        blind = await referees.say("clear_jam", "b")
        await look_at(people, boot, *referees.clients)
        await said("cut", players, "bab", ABOUT, n=CUT)
        await said("start_deal", referees, "bba")
        stale = await players.say("void", "a", (1, 2), reason="x")
        await boards.control.request("speed", value=FAST)
        await said("resume", referees, "ab")
        boot = await reached(MachinePhase.HELD)
        assert [reply.error and reply.error.code for reply in early] == ["WRONG_PHASE"] * 2
        late = await looking.ask("release", {}, deal=1, attempt=2, command_id="late")

        await boards.control.request("speed", value=LIFT_PACE)
        releasing = asyncio.ensure_future(
            referees.clients[1].ask("release", {}, deal=1, attempt=1, command_id="let out")
        )
        await people.event(lambda event: event.data.get("id") == "let out")
        await units.kill(units.machine)
        assert (await releasing).error is not None  # nobody was there to answer
        await units.start_machine()
        await look_at(people, boot, *referees.clients)
        await boards.control.request("speed", value=FAST)
        outs = [
            await client.ask("release", {}, deal=1, attempt=1, command_id="let out")
            for client in (*referees.clients, *referees.clients, looking)
        ]
        await reached(MachinePhase.RELEASED)
        await said("resume", referees, "bab")

    assert [reply.error and reply.error.code for reply in away] == ["MACHINE_AWAY"] * 2
    assert [reply.error and reply.error.code for reply in stale] == ["WRONG_ROLE"]
    assert [reply.error and reply.error.code for reply in blind] == ["OTHER_RUN"]
    assert late.error is not None
    assert late.error.code == "STALE"
    for cmd, same in {**replies, "let out": outs}.items():
        assert len(same) == 5, cmd
        assert same[0].ok, same[0].error
        assert all(reply == same[0] for reply in same), cmd
    acted = Counter(
        event["data"]["id"] for event in await events(looking) if event["kind"] == "command"
    )
    assert acted == dict.fromkeys(("start_deal", "cut", "hold", "resume", "let out"), 1)
    for each in (referees, players):
        await each.close()
    assert (await dealtable("verify", boards.state_dir)).code == 0
