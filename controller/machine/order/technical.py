"""What a technician may order: tests and settings of the boards, never a hand or a match."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from controller.arguments import Calibrating, Configuring
from controller.faults import fault_name
from controller.machine.order.desk import Order, OrderRefused, failure
from drivers.dealer import Dealer
from drivers.errors import DriverError
from drivers.reader import Reader


class Technical:
    """Carries a technician's orders out on the two boards, between deals."""

    def __init__(self, dealer: Dealer, reader: Reader, busy: Callable[[], bool]) -> None:
        self._dealer, self._reader, self._busy = dealer, reader, busy

    async def selftest(self, order: Order) -> None:
        """Have both boards test themselves; what they find comes as their events."""
        await self._do(self._dealer.selftest, self._reader.selftest)
        await order.carried_out({"boards": ["dealer", "reader"]})

    async def configure(self, order: Order) -> None:
        """Change settings of a board, by their names in PROTOCOL.md, one after the other."""
        args: Configuring = order.args
        board = self._board(args.board)
        for name, value in args.settings.items():
            await self._do(partial(board.configure, name, value))
        await order.carried_out({"board": args.board, "settings": dict(args.settings)})

    async def calibrate(self, order: Order) -> None:
        """Bring a board to its known positions: the lift down, motors and engine tried."""
        args: Calibrating = order.args
        if args.board == "dealer":
            await self._do(self._dealer.retract)
        await self._do(self._board(args.board).selftest)
        await order.carried_out({"board": args.board})

    def _board(self, name: str) -> Dealer | Reader:
        return self._dealer if name == "dealer" else self._reader

    async def _do(self, *commands: Callable[[], Awaitable[Any]]) -> None:
        """Give the boards commands, or say which one cannot. Raises OrderRefused."""
        if self._busy():
            raise OrderRefused(failure("MACHINE_BUSY"))
        for command in commands:
            try:
                await command()
            except DriverError as error:
                name = fault_name(error)
                raise OrderRefused(failure("BOARD_AWAY", found=f"{name}: {error}")) from None
            except KeyError as error:
                what = f"setting {error.args[0]}"
                why = failure("BAD_COMMAND", found=what, expected="a setting of this board")
                raise OrderRefused(why) from None
