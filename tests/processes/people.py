"""The people at a running table: one listens, a referee and a player give orders."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Self

import msgspec

from controller.client.client import Client
from controller.client.discovery import NoEndpoints
from controller.messages import (
    AttemptOutcome,
    CommandReply,
    MachinePhase,
    PublicEvent,
    PublicState,
    Role,
)
from sim.tables.table_processes import TableProcess
from tests.waiting import until

CUT = 40
SLOW = 1.0
FAST = 20.0


class People:
    """The players at `table`, for the block. `states` and `events` are what the feed published.

    `on_news` is called for each message of the feed.
    """

    def __init__(self, table: TableProcess, on_news: Callable[[], object] = lambda: None) -> None:
        self.table = table
        self.on_news = on_news
        self.states: list[PublicState] = []
        self.events: list[PublicEvent] = []
        self._stack = AsyncExitStack()
        self._clients: dict[Role, Client] = {}

    async def __aenter__(self) -> Self:
        for role in (Role.OBSERVER, Role.REFEREE, Role.TABLE):
            client = self.table.client(role)
            self._clients[role] = await self._stack.enter_async_context(client)
        return self

    async def __aexit__(self, *why: object) -> None:
        await self._stack.aclose()

    async def until(self, fits: Callable[[PublicState], bool]) -> PublicState:
        """Return the newest state if it fits, or the next one that does."""
        while not self.states or not fits(self.states[-1]):
            await self._hear()
        return self.states[-1]

    async def event(self, fits: Callable[[PublicEvent], bool]) -> PublicEvent:
        """Return the first event that fits, as soon as it has come."""
        while not any(map(fits, self.events)):
            await self._hear()
        return next(filter(fits, self.events))

    async def order(self, role: Role, cmd: str, /, **args: object) -> CommandReply:
        """Give an order about the deal that the newest state tells of."""
        machine = self.states[-1].machine
        client = self._clients[role]
        client.boot = self.states[-1].boot  # they all look at the one feed
        return await client.ask(cmd, args, deal=machine.deal, attempt=machine.attempt)

    async def deal(self, far: Callable[[PublicState], bool]) -> PublicState:
        """Have a deal started and cut; return the first state that is so far."""
        while not (self.states and far(self.states[-1])):
            told = len(self.states)
            while len(self.states) == told:
                await self._hear()
            if self.states[-1].machine.phase is MachinePhase.EMPTY:
                await self.order(Role.REFEREE, "start_deal")
            elif self.states[-1].machine.phase is MachinePhase.COMMITTED:
                await self.order(Role.TABLE, "cut", n=CUT)
        return self.states[-1]

    async def deal_to_card(self, card: int = 20) -> PublicState:
        """Deal until `card` is in the reader's window, and from there slowly."""
        async with self.slower_from_card(card):
            await self.deal(lambda state: state.machine.phase is MachinePhase.DEALING)
        return await self.until(lambda state: state.machine.fed >= card)

    @asynccontextmanager
    async def slower_from_card(self, card: int) -> AsyncIterator[None]:
        """Make the simulator slow down at `card` of the deal that begins in the block.

        It does so automatically, however late this process is. The block ends at that card.
        """
        slow_down = {"card": card, "do": "speed", "with": {"value": SLOW}}
        script = {"do": "script", "with": {"steps": [slow_down]}}
        reader, writer = await asyncio.open_unix_connection(self.table.control.path)
        try:
            writer.write(msgspec.json.encode(script) + b"\n")
            await self.table.control.request("info")  # answered behind the script: it is in force
            yield
            answer = msgspec.json.decode(await reader.readline())
            assert answer["ok"], answer
        finally:
            writer.close()

    async def held(self) -> PublicState:
        """Deal until the hands are held."""
        return await self.deal(lambda state: state.machine.phase is MachinePhase.HELD)

    async def pockets(self) -> list[int]:
        """Return how many cards really lie in N, W, S, E and the tray."""
        return [len(cards) for cards in (await self.table.control.request("truth"))["pockets"]]

    async def _hear(self) -> None:
        heard = await self._clients[Role.OBSERVER].next_message()
        if heard.topic.startswith("state/"):
            self.states.append(msgspec.json.decode(heard.body, type=PublicState))
        else:
            self.events.append(msgspec.json.decode(heard.body, type=PublicEvent))
        self.on_news()


def is_open(table: TableProcess) -> bool:
    """Return whether a gateway has written where it listens."""
    try:
        return bool(table.endpoints)
    except NoEndpoints:
        return False


async def another_gateway(table: TableProcess) -> None:
    """Wait until a gateway says where it listens."""
    await until(lambda: is_open(table))


async def held_after_all(people: People, before: PublicState) -> PublicState:
    """See the attempt of `before` through to held hands, at full speed again."""
    await people.table.control.request("speed", value=FAST)
    held = await people.held()
    (proof,) = held.fairness
    assert (proof.attempt, proof.outcome) == (1, AttemptOutcome.OK)
    assert proof.commitment == before.fairness[-1].commitment
    assert await people.pockets() == [27, 27, 27, 27, 0]
    return held
