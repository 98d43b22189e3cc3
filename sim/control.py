"""The control socket of a simulated table: JSON lines that move people's hands and faults.

sim/CONTROL.md lists every request. The requests are a table of functions here, so
that a program in this process can use the same ones.
"""

import asyncio
from collections.abc import Awaitable, Callable
from inspect import isawaitable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from sim.inproc import BOARDS
from sim.lines import LineServer
from sim.mechanics.faults import SimulatedFault
from sim.outside import BoardName
from sim.script import run_script

if TYPE_CHECKING:
    from sim.hall import HardwareOnPtys


class ControlRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One request: `do` names it, `with` (args) are its words; `id` comes back in the answer."""

    do: str
    id: int = 0
    args: dict[str, Any] = msgspec.field(default_factory=dict, name="with")


class ControlAnswer(msgspec.Struct, frozen=True, omit_defaults=True):
    """The answer to the request of the same `id`: a result, or an error in one line."""

    id: int
    ok: bool
    result: Any = None
    error: str | None = None


class ControlError(ValueError):
    """A request that cannot be done; one line for people."""


RequestHandler = Callable[..., Awaitable[Any] | Any]


class ControlServer:
    """Answers requests about one table."""

    def __init__(self, table: "HardwareOnPtys", path: Path) -> None:
        self._table = table
        self._server = LineServer(path, self._serve)
        world, contacts = table.world, table.contacts
        self.handlers: dict[str, RequestHandler] = {
            "info": table.info,
            "truth": world.truth,
            "collect": world.people.collect,
            "take_hands": world.people.take_hands,
            "lay_down": world.people.lay_down,
            "gather": world.people.gather,
            "load": world.people.load,
            "put_right": world.people.put_right,
            "mix": lambda card_set, n: world.people.mix(card_set, int(n)),
            "change_set": self._change_set,
            "lid": lambda open: world.set_lid(bool(open)),
            "estop": lambda pressed: world.set_estop(bool(pressed)),
            "press": contacts.press,
            "release": contacts.release,
            "tap": contacts.tap,
            "pin": lambda number, level: contacts.set_pin(number, bool(level)),
            "pins": lambda: {"levels": contacts.levels, "lamps": contacts.lamps},
            "fault": lambda **fields: world.add_fault(msgspec.convert(fields, SimulatedFault)),
            "clear_faults": lambda name=None: world.faults.clear(name),
            "faults": lambda: {
                "struck": world.faults.past_strikes,
                "in_force": world.active_faults(),
            },
            "script": lambda steps: run_script(world, steps, self._carry_out),
            "kill": self._kill,
            "restart": self._restart,
            "speed": lambda value: world.clock.set_speed(float(value)),
            "attendant": lambda on: table.set_attendant(bool(on)),
        }

    async def open(self) -> None:
        """Listen."""
        await self._server.open()

    async def close(self) -> None:
        """Listen no more."""
        await self._server.close()

    async def answer(self, line: bytes) -> ControlAnswer:
        """Do what one line asks for."""
        try:
            request = msgspec.json.decode(line, type=ControlRequest)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            return ControlAnswer(0, False, error=f"no request: {error}")
        if request.do not in self.handlers:
            return ControlAnswer(request.id, False, error=self._unknown_request(request.do))
        try:
            return ControlAnswer(request.id, True, await self._carry_out(request.do, request.args))
        except (ValueError, TypeError) as error:
            return ControlAnswer(request.id, False, error=f"{request.do}: {error}")

    async def _carry_out(self, do: str, args: dict[str, Any]) -> Any:
        """Do one request; raises ValueError or TypeError where it cannot be done."""
        deed = self.handlers.get(do)
        if deed is None:
            raise ControlError(self._unknown_request(do))
        result = deed(**args)
        return await result if isawaitable(result) else result

    def _unknown_request(self, do: str) -> str:
        return f"nothing is called {do!r}: {', '.join(self.handlers)}"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async for line in reader:
            answer = await self.answer(line)
            writer.write(msgspec.json.encode(answer) + b"\n")
            await writer.drain()

    def _change_set(
        self, back: int | None = None, count: int | None = None, card_set: str | None = None
    ) -> Awaitable[None]:
        if back not in (None, 0, 1, 2) or not (count is None or 4 <= count <= 216):
            raise ControlError("back is 0 to 2, count 4 to 216")
        return self._table.world.people.change_set(back, count, card_set)

    def _kill(self, board: str) -> None:
        self._table.boards[_board_name(board)].kill()

    async def _restart(self, board: str) -> None:
        await self._table.restart(_board_name(board))


def _board_name(name: str) -> BoardName:
    for board in BOARDS:
        if board == name:
            return board
    raise ControlError(f"a board is {' or '.join(BOARDS)}, not {name!r}")
