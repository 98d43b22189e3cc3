"""A table of real processes as people who play a match have it.

Buttons are pins of the simulator, over its control socket; everything else goes over the
table's public sockets.
"""

import asyncio
from contextlib import AsyncExitStack, suppress
from typing import Any, Self

import msgspec

from controller.client.client import Client, ReceivedMessage
from controller.messages import CommandReply, PublicEvent, PublicState, Role, Seat
from controller.seats import SEATS
from drivers.panel import LONG_PRESS_S
from sim.tables.handled_table import SEAT_NAMES, TAP_S
from sim.tables.table_processes import TableProcess
from tests.answers import answer_once
from tests.matches.people import Eyes

_ROLES = (Role.OBSERVER, Role.TABLE, Role.REFEREE, Role.CHIEF)


class AtHall:
    """People at a running table, for the block."""

    def __init__(self, table: TableProcess) -> None:
        self.table = table
        self.states: list[PublicState] = []
        self.events: list[PublicEvent] = []
        self._news = asyncio.Event()
        self._stack = AsyncExitStack()
        self._clients: dict[Role, Client] = {}
        self._listening: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        for role in _ROLES:
            client = self.table.client(role)
            self._clients[role] = await self._stack.enter_async_context(client)
        self._listening = asyncio.create_task(self._listen())
        return self

    async def __aexit__(self, *why: object) -> None:
        if self._listening is not None:
            self._listening.cancel()
            with suppress(asyncio.CancelledError):
                await self._listening
        await self._stack.aclose()

    async def _listen(self) -> None:
        async for heard in self._clients[Role.OBSERVER].feed():
            self._take(heard)
            self._news.set()

    def _take(self, heard: ReceivedMessage) -> None:
        if heard.topic.startswith("state/"):
            self.states.append(msgspec.json.decode(heard.body, type=PublicState))
        else:
            self.events.append(msgspec.json.decode(heard.body, type=PublicEvent))

    async def later(self, limit_s: float | None = None) -> None:
        """Wait for something of the feed, `limit_s` at most."""
        self._news.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                await self._news.wait()

    async def ask(
        self, role: Role, cmd: str, about: tuple[int | None, int | None], args: dict[str, Any]
    ) -> CommandReply:
        """Give a command over the command socket."""
        deal, attempt = about
        return await self._clients[role].ask(cmd, args, deal=deal, attempt=attempt)

    async def eyes(self) -> Eyes:
        """Look at the table."""
        truth = await self.table.control.request("truth")
        return Eyes(
            lift_up=truth["lift_up"],
            lift_down=truth["lift_down"],
            in_pockets=any(truth["pockets"][:4]),
            in_hands=any(truth["hands"]),
            on_table=bool(truth["table"]),
            in_hopper=bool(truth["hopper"]),
        )

    async def lift(self, *, is_up: bool) -> None:
        """Wait for the lift."""
        await answer_once(
            self.eyes,
            lambda eyes: eyes.lift_up if is_up else eyes.lift_down and not eyes.in_pockets,
        )

    async def pockets(self) -> dict[Seat, tuple[int, ...]]:
        """Return the faces in the pockets."""
        truth = await self.table.control.request("truth")
        return {
            seat: tuple(card["face"] for card in truth["pockets"][number])
            for number, seat in enumerate(SEATS)
        }

    async def press(self, seat: Seat) -> None:
        """Tap a green button."""
        await self._tap(f"{SEAT_NAMES[seat]}_green", TAP_S)

    async def hold(self, seat: Seat) -> None:
        """Hold a green button."""
        await self._tap(f"{SEAT_NAMES[seat]}_green", LONG_PRESS_S + TAP_S)

    async def start(self) -> None:
        """Tap the start button."""
        await self._tap("start", TAP_S)

    async def _tap(self, name: str, for_s: float) -> None:
        """Press a button for a time of the daemon's. The simulator counts the machine's."""
        speed = (await self.table.control.request("info"))["speed"]
        await self.table.control.request("tap", name=name, hold_ms=1000 * for_s * speed)

    async def hands(self, deed: str, *args: str) -> None:
        """Do something with the cards."""
        await self.table.control.request(deed, **({"card_set": args[0]} if args else {}))

    async def lid(self, *, is_open: bool) -> None:
        """Open or close the lid."""
        await self.table.control.request("lid", open=is_open)

    async def fault(self, text: str) -> None:
        """Let something be wrong."""
        name, _, fields = text.partition(":")
        said = dict(field.split("=") for field in fields.split(",") if field)
        numbers = {key: int(word) if word.isdigit() else word for key, word in said.items()}
        await self.table.control.request("fault", name=name, **numbers)
