"""What a technician may order: tests and settings of the boards, never a hand or a match."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, Final

from controller.arguments import CalibrateArgs, ConfigureArgs
from controller.faults import driver_error_fault
from controller.machine.order.desk import CommandRefused, Order, failure
from controller.machine.record import Record
from controller.machine.table import Table
from controller.tomlwords import unknown_key_mistake
from controller.words import Words
from drivers import dealer as of_dealer
from drivers import reader as of_reader
from drivers.dealer import Dealer
from drivers.errors import DriverError, Refused, Result
from drivers.events import Code, Event, Motor
from drivers.reader import Reader

LOOK_S: Final = 0.05
"""How often a board is asked whether it still moves."""
LOOKS: Final = 400
"""Looks at the longest motion of a test; the board's own limits end it long before."""
MAX_ENGINE_POLLS: Final = 30
"""Looks at the reader's engine: longer than a board waits for one."""
_BOUNDS: Final[Mapping[str, Mapping[str, tuple[int, int]]]] = {
    "dealer": of_dealer.BOUNDS,
    "reader": of_reader.BOUNDS,
}


class ServiceCommands:
    """Carries a technician's orders out on the two boards, between deals."""

    def __init__(self, record: Record, table: Table, dealer: Dealer, reader: Reader) -> None:
        self._record, self._table = record, table
        self._dealer, self._reader = dealer, reader

    async def selftest(self, order: Order) -> None:
        """Have both boards test themselves. A motor that does not turn is named, and latched.

        An engine that says nothing is named, too, and no more: some say nothing of an empty window.
        """
        found = await self._self_test(self._dealer, self._reader)
        await order.carried_out({"boards": ["dealer", "reader"], **found})

    async def configure(self, order: Order) -> None:
        """Change settings of a board, by their names in PROTOCOL.md.

        If one of them is not possible, none is changed. A board that goes away in between keeps the
        settings that it took: a row of the journal lists them, and the next row refuses the order.
        A setting whose answer was lost is `unknown` there: the board has the new or the old value.
        """
        args: ConfigureArgs = order.args
        self.require_no_attempt()
        _require_settings(args)
        board = self._board(args.board)
        changed: dict[str, int] = {}
        for name, value in args.settings.items():
            unknown = {name: value} if board.link.up else {}  # without a session nothing is sent
            try:
                await self._send(partial(board.configure, name, value))
            except CommandRefused as refused:
                if refused.failure.code != "BOARD_AWAY":
                    unknown = {}
                if changed or unknown:
                    order.write({"board": args.board, "settings": changed, "unknown": unknown})
                raise
            changed[name] = value
        await order.carried_out({"board": args.board, "settings": dict(args.settings)})

    async def calibrate(self, order: Order) -> None:
        """Bring a board to its known positions: the lift down, motors and engine tried."""
        args: CalibrateArgs = order.args
        if args.board == "dealer":
            await self._send(self._dealer.retract, self._wait_at_rest)
        found = await self._self_test(self._board(args.board))
        await order.carried_out({"board": args.board, **found})

    def require_free(self) -> None:
        """Return if the boards may be tested. Raises OrderRefused."""
        if self._table.overheard is not None:  # another test is under way
            raise CommandRefused(failure("BOARD_REFUSED", found=Result.BUSY.name))
        self.require_no_attempt()

    def require_no_attempt(self) -> None:
        """Return if no attempt is under way. Raises OrderRefused."""
        if self._table.run is not None:
            raise CommandRefused(failure("MACHINE_BUSY"))

    def _board(self, name: str) -> Dealer | Reader:
        return self._dealer if name == "dealer" else self._reader

    async def _self_test(self, *boards: Dealer | Reader) -> dict[str, list[str]]:
        """Have boards test themselves; return what did not turn, or answer. Raises OrderRefused."""
        self.require_free()
        stalled: list[str] = []
        answers: list[bool] = []

        def note(event: Event) -> None:
            if event.code is Code.STALL:
                stalled.append(Motor(event.place).name.lower())
            elif event.code is Code.ENGINE and event.index:
                answers.append(bool(event.place))

        self._table.overheard = note
        try:
            await self._send(*(board.selftest for board in boards))
            await self._send(self._wait_at_rest)
            if self._reader in boards:
                await self._wait_for_engine(answers)
        finally:
            self._table.overheard = None
        if stalled:
            self._record.latch("STALL", {"place": ", ".join(stalled)})
        elif self._dealer in boards:
            self._record.clear("STALL")
        silent = ["engine"] if self._reader in boards and not any(answers) else []
        return {"stalled": stalled, "silent": silent}

    async def _wait_for_engine(self, answers: list[bool]) -> None:
        """Return once the reader board has told what its engine did, or at the limit."""
        for _ in range(MAX_ENGINE_POLLS):
            if answers:
                return
            await asyncio.sleep(LOOK_S)

    async def _wait_at_rest(self) -> None:
        """Return once nothing of the dealer board moves, or at the limit."""
        for _ in range(LOOKS):
            if not await self._dealer.moves():
                return
            await asyncio.sleep(LOOK_S)

    async def _send(self, *commands: Callable[[], Awaitable[Any]]) -> None:
        """Give the boards commands, or say which one cannot. Raises OrderRefused."""
        for command in commands:
            self.require_no_attempt()
            try:
                await command()
            except Refused as error:
                found = {"board": error.board, "found": error.result.name}
                raise CommandRefused(failure("BOARD_REFUSED", **found)) from None
            except DriverError as error:
                name = driver_error_fault(error)
                raise CommandRefused(failure("BOARD_AWAY", found=f"{name}: {error}")) from None


def _require_settings(said: ConfigureArgs) -> None:
    """Refuse settings that the board does not have, or would not take. Raises OrderRefused."""
    bounds = _BOUNDS[said.board]
    for name, value in said.settings.items():
        if name not in bounds:
            wrong = unknown_key_mistake(f"settings.{name}", name, bounds)
            bad = failure("BAD_COMMAND", found=wrong.found, expected=wrong.expected)
            raise CommandRefused(bad)
        least, most = bounds[name]
        if not least <= value <= most:
            found, expected = (
                f"settings.{name} = {value}",
                Words(f"a number from {least} to {most}", f"{least}至{most}的数"),
            )
            raise CommandRefused(failure("BAD_COMMAND", found=found, expected=expected))
