"""What crosses the sockets of a real table fits the schemas that we print."""

from typing import Any

import msgspec

from controller.messages import CommandReply, MachinePhase, PublicState, Role
from sim.tables.table_processes import TableProcess
from tests.messages.strict import event_name, reply_name, wrong

CUT = 40


async def test_all_that_is_heard_of_a_deal_fits_and_so_do_the_replies(table: TableProcess) -> None:
    heard: list[tuple[str, Any]] = []
    replies: list[tuple[str, CommandReply]] = []
    async with table.client(Role.REFEREE) as referee, table.client(Role.TABLE) as player:
        replies.append(("release", await referee.ask("release", deal=1, attempt=1)))  # too early
        async for message in referee.feed():
            heard.append((message.topic.partition("/")[0], msgspec.json.decode(message.body)))
            if heard[-1][0] != "state":
                continue
            machine = msgspec.json.decode(message.body, type=PublicState).machine
            about: dict[str, Any] = {"deal": machine.deal, "attempt": machine.attempt}
            if machine.phase is MachinePhase.EMPTY:
                replies.append(("start_deal", await referee.ask("start_deal")))
            elif machine.phase is MachinePhase.COMMITTED:
                replies.append(("cut", await player.ask("cut", {"n": CUT}, **about)))
            elif machine.phase is MachinePhase.HELD:
                replies.append(("release", await referee.ask("release", **about)))
            elif machine.phase is MachinePhase.RELEASED:
                break
        for cmd in ("snapshot", "events", "sheet"):
            replies.append((cmd, await referee.ask(cmd)))
    kinds = {body["kind"] for topic, body in heard if topic == "event"}
    assert {"committed", "cut", "begun", "shuffled", "dealt", "held", "verdict"} <= kinds
    for topic, body in heard:
        assert wrong(topic if topic == "state" else event_name(body["kind"]), body) == []
    for cmd, reply in replies:
        assert wrong(reply_name(cmd) if reply.ok else "RefusedReply", reply) == []
    assert not replies[0][1].ok
