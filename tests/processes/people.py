"""The people at a running table: one listens, a referee and a player give orders."""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Self

import msgspec

from controller.client.client import Client
from controller.client.endpoints import NoEndpoints, read_endpoints
from controller.messages import Event, Outcome, Phase, Reply, Role, State
from controller.trials.hall import RunningTable
from tests.processes.processes import LOOK_S

PATIENCE_S = 30.0
CUT = 40
SLOW = 1.0
FAST = 20.0


class People:
    """Whoever sits at `table`, for the block. `states` and `events` are what the feed told."""

    def __init__(self, table: RunningTable) -> None:
        self.table = table
        self.states: list[State] = []
        self.events: list[Event] = []
        self._stack = AsyncExitStack()
        self._clients: dict[Role, Client] = {}

    async def __aenter__(self) -> Self:
        for role in (Role.OBSERVER, Role.REFEREE, Role.TABLE):
            client = self.table.client(role)
            self._clients[role] = await self._stack.enter_async_context(client)
        return self

    async def __aexit__(self, *why: object) -> None:
        await self._stack.aclose()

    async def until(self, fits: Callable[[State], bool]) -> State:
        """Return the newest state if it fits, or the next one that does."""
        async with asyncio.timeout(PATIENCE_S):
            while not self.states or not fits(self.states[-1]):
                await self._hear()
        return self.states[-1]

    async def event(self, kind: str, attempt: int) -> Event:
        """Return the event of a kind, as soon as the feed has told it."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                for event in self.events:
                    if (event.kind, event.attempt) == (kind, attempt):
                        return event
                await self._hear()

    async def order(self, role: Role, cmd: str, /, **args: object) -> Reply:
        """Give an order about the deal that the newest state tells of."""
        machine = self.states[-1].machine
        client = self._clients[role]
        client.boot = self.states[-1].boot  # they all look at the one feed
        return await client.ask(cmd, args, deal=machine.deal, attempt=machine.attempt)

    async def deal(self, far: Callable[[State], bool]) -> State:
        """Have a deal started and cut; return the first state that is so far."""
        async with asyncio.timeout(PATIENCE_S):
            while not (self.states and far(self.states[-1])):
                told = len(self.states)
                while len(self.states) == told:
                    await self._hear()
                if self.states[-1].machine.phase is Phase.EMPTY:
                    await self.order(Role.REFEREE, "start_deal")
                elif self.states[-1].machine.phase is Phase.COMMITTED:
                    await self.order(Role.TABLE, "cut", n=CUT)
        return self.states[-1]

    async def mid_deal(self) -> State:
        """Deal until cards are on their way, and from there slowly."""
        state = await self.deal(lambda s: s.machine.phase is Phase.DEALING and s.machine.fed >= 20)
        await self.table.control.do("speed", value=SLOW)
        assert (await self.table.control.do("truth"))["arrived"] < 108
        return state

    async def held(self) -> State:
        """Deal until the hands are held."""
        return await self.deal(lambda state: state.machine.phase is Phase.HELD)

    async def pockets(self) -> list[int]:
        """Return how many cards really lie in N, W, S, E and the tray."""
        return [len(cards) for cards in (await self.table.control.do("truth"))["pockets"]]

    async def _hear(self) -> None:
        heard = await self._clients[Role.OBSERVER].hear()
        if heard.topic.startswith("state/"):
            self.states.append(msgspec.json.decode(heard.body, type=State))
        else:
            self.events.append(msgspec.json.decode(heard.body, type=Event))


async def another_gateway(table: RunningTable) -> None:
    """Wait until a gateway says where it listens."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            try:
                read_endpoints(table.state_dir)
            except NoEndpoints:
                await asyncio.sleep(LOOK_S)
            else:
                return


async def held_after_all(people: People, before: State) -> State:
    """See the attempt of `before` through to held hands, at full speed again."""
    await people.table.control.do("speed", value=FAST)
    held = await people.held()
    (proof,) = held.fairness
    assert (proof.attempt, proof.outcome) == (1, Outcome.OK)
    assert proof.commitment == before.fairness[-1].commitment
    assert await people.pockets() == [27, 27, 27, 27, 0]
    return held
