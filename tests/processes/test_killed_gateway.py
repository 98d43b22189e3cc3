"""A gateway of its own, killed behind one public entry after the other while a deal goes on.

People order what is due by the state they see. What was not answered they order again, under
the same id, from the next gateway.
"""

import asyncio
import random
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest

from controller.client.client import Client, NoAnswer
from controller.journal.entries import decode
from controller.journal.store import STORE_NAME, open_read_only
from controller.messages import (
    AttemptOutcome,
    CommandReply,
    MachinePhase,
    PublicEvent,
    PublicState,
    Role,
)
from sim.tables.table_processes import TableProcess
from tests.processes.program import Dealtable, Start
from tests.processes.units import Units

pytestmark = pytest.mark.slow

SPEED = 5.0
ENTRIES = 60
"""As many as the journal of such a deal has, or a few more; a death behind the last is none."""
FULL = 1_000
FAULT = {"name": "wrong_pocket", "at": 5}
ROLES = (Role.OBSERVER, Role.REFEREE, Role.TABLE)


class Story:
    """What people at `table` know, over all lives of the gateway."""

    def __init__(self, table: TableProcess, kill_behind: list[int]) -> None:
        self.table, self.kill_behind = table, kill_behind
        self.events: dict[int, PublicEvent] = {}
        self.last = 0  # up to here no public entry is missing
        self.told: dict[str, CommandReply] = {}
        self.asked: dict[str, tuple[Role, str, int | None, int | None, dict[str, int]]] = {}
        self.states: list[PublicState] = []
        self.boots: set[str] = set()
        self.cleared = self.taken = False

    @property
    def over(self) -> bool:
        """Whether the second attempt's seed is out."""
        return any((event.kind, event.attempt) == ("revealed", 2) for event in self.events.values())

    def take(self, event: PublicEvent) -> None:
        """Take an entry; one that came before must be the same."""
        assert self.events.setdefault(event.n, event) == event

    def due(self) -> bool:
        """Tell whether the gateway is to be killed behind what came last; not after the end."""
        wanted = bool(self.kill_behind) and self.kill_behind[0] <= self.last
        while self.kill_behind and self.kill_behind[0] <= self.last:
            self.kill_behind.pop(0)
        return wanted and not self.over


class Life:
    """One gateway's life, as three people see it who come when it has begun."""

    def __init__(self, story: Story) -> None:
        self.story = story
        self.clients: dict[Role, Client] = {role: story.table.client(role) for role in ROLES}
        self.fed: list[int] = []
        self._orders: dict[str, asyncio.Task[None]] = {}

    async def live(self) -> None:
        """Follow the feed until the gateway is to be killed, or the story is over."""
        await self._hear(until_state=True)
        for name in self.story.asked:
            self._ask(name)
        if await self.caught_up():
            return
        while not self.story.over and not self.story.due():
            await self._do_what_is_due()
            await self._hear()

    async def caught_up(self) -> bool:
        """Take all entries behind the last that is known; True where it is to die on the way."""
        story = self.story
        while True:
            reply = await self.clients[Role.OBSERVER].ask("events", {"since": story.last})
            assert reply.result is not None, reply.error
            found = [msgspec.convert(each, PublicEvent) for each in reply.result["events"]]
            for event in found:
                story.take(event)
                story.last = event.n
                if story.due():
                    return True
            if not found:
                return False

    async def answered(self) -> None:
        """Wait until all has its answer."""
        await asyncio.gather(*self._orders.values())

    async def close(self) -> None:
        """Go away, with answers that never came."""
        for task in self._orders.values():
            task.cancel()
        await asyncio.gather(*self._orders.values(), return_exceptions=True)
        for client in self.clients.values():
            await client.close()
        # The feed of one life: in order, nothing twice.
        assert self.fed == sorted(set(self.fed))

    async def _hear(self, *, until_state: bool = False) -> None:
        while True:
            heard = await self.clients[Role.OBSERVER].next_message()
            if heard.topic.startswith("state/"):
                state = msgspec.json.decode(heard.body, type=PublicState)
                self.story.states.append(state)
                self.story.boots.add(state.boot)
                return
            event = msgspec.json.decode(heard.body, type=PublicEvent)
            self.fed.append(event.n)
            self.story.take(event)
            if not until_state:  # else what is between is not known yet
                self.story.last = max(self.story.last, event.n)
            if not until_state:
                return

    async def _do_what_is_due(self) -> None:
        story, machine = self.story, self.story.states[-1].machine
        control, number = story.table.control, machine.attempt
        if machine.phase is MachinePhase.EMPTY and number is None:
            self._order("start", Role.REFEREE, "start_deal")
        elif machine.phase is MachinePhase.COMMITTED:
            self._order(f"cut {number}", Role.TABLE, "cut", n=40)
        elif machine.phase is MachinePhase.HELD:
            self._order(f"release {number}", Role.REFEREE, "release")
        elif number == 1 and _failed(story.states[-1]) and not story.cleared:
            story.cleared = True
            await control.request("collect")
        elif machine.phase is MachinePhase.RELEASED and not story.taken:
            story.taken = True
            await control.request("take_hands")
            await control.request("load")

    def _order(self, name: str, role: Role, cmd: str, **args: int) -> None:
        """Order something about what is present, once in all lives."""
        story, machine = self.story, self.story.states[-1].machine
        about = (None, None) if cmd == "start_deal" else (machine.deal, machine.attempt)
        story.asked.setdefault(name, (role, cmd, *about, args))
        self._ask(name)

    def _ask(self, name: str) -> None:
        """Say what was not answered yet, once in this life, under its id."""
        if name not in self._orders and name not in self.story.told:
            self._orders[name] = asyncio.ensure_future(self._answered(name))

    async def _answered(self, name: str) -> None:
        with suppress(NoAnswer):
            self.story.told[name] = await self.again(name)

    async def again(self, name: str) -> CommandReply:
        """Say the same under the same id."""
        role, cmd, deal, attempt, args = self.story.asked[name]
        return await self.clients[role].ask(cmd, args, deal=deal, attempt=attempt, command_id=name)


def _failed(state: PublicState) -> bool:
    return bool(state.fairness) and state.fairness[-1].outcome is AttemptOutcome.MISDEAL


async def test_a_gateway_killed_behind_any_public_entry_leaves_no_hole_and_the_machine_deals_on(
    boards: TableProcess,
    start: Start,
    dealtable: Dealtable,
    scale: Callable[[int], int],
    tmp_path: Path,
) -> None:
    chance = random.Random("gateway kills")
    behind = sorted(chance.sample(range(1, ENTRIES + 1), min(ENTRIES, max(3, scale(FULL) // 5))))
    story, units = Story(boards, behind), Units(boards, start)
    await boards.control.request("speed", value=SPEED if len(behind) == ENTRIES else 4 * SPEED)
    await boards.control.request("fault", **FAULT)
    await units.start_machine()
    machine = units.machine.process.pid
    lives, again = 0, dict[str, CommandReply]()
    while not story.over:
        lives += 1
        await units.start_gateway()
        life = Life(story)
        try:
            await life.live()
            if not story.over:
                await units.kill(units.gateway)
            else:
                await life.answered()
                await life.caught_up()
                again = {name: await life.again(name) for name in story.asked}
        finally:
            await life.close()

    assert (units.machine.process.pid, units.machine.process.returncode) == (machine, None)
    assert len(story.boots) == 1
    assert lives >= (len(story.events) if len(behind) == ENTRIES else 2)
    assert again == story.told
    assert all(reply.ok for reply in again.values())
    assert outcomes(story) == [(1, "misdeal"), (2, "ok")]
    told = [story.events[n] for n in sorted(story.events)]
    with open_read_only(boards.state_dir / STORE_NAME) as rows:
        kept_there = [row.n for row in rows if decode(row.body).public and row.n <= story.last]
    assert [event.n for event in told] == kept_there
    acted = [event.data["id"] for event in told if event.kind == "command"]
    assert acted == ["start", "cut 1", "cut 2", "release 2"]
    assert all(
        later.prev == earlier.head for earlier, later in pairwise(told) if later.n == earlier.n + 1
    )
    kept = tmp_path / "kept.jsonl"
    kept.write_bytes(b"\n".join(map(msgspec.json.encode, told)) + b"\n")
    for what in (boards.state_dir, kept):
        checked = await dealtable("verify", what)
        assert (checked.code, checked.err) == (0, "")


def outcomes(story: Story) -> list[tuple[int | None, str]]:
    """Return every attempt's number and verdict, as the feed had them."""
    told = [story.events[n] for n in sorted(story.events)]
    return [(event.attempt, event.data["outcome"]) for event in told if event.kind == "verdict"]
