"""The commands of a technician: self-tests and settings of the two boards."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, Final

from controller.commands.table_arguments import CalibrateArgs, ConfigureArgs
from controller.faults import driver_error_fault
from controller.host.toml_files import unknown_key_mistake
from controller.machine.boards.table_boards import TableBoards
from controller.machine.commands.command_request import AcceptedCommand, CommandRefused, failure
from controller.machine.table_record import TableRecord
from controller.words import Words
from drivers import typed_boards as of_dealer
from drivers import typed_boards as of_reader
from drivers.board_events import BoardEvent, BoardEventCode, DealerMotor
from drivers.errors import BoardRefused, DriverError
from drivers.link.frames import BoardResult
from drivers.typed_boards import DealerBoard, ReaderBoard

SERVICE_POLL_INTERVAL_S: Final = 0.05
"""Seconds between two requests for the motion of a board."""
MAX_REST_POLLS: Final = 400
"""Most polls during one motion of a self-test. The board's own limits end a motion long before."""
MAX_ENGINE_POLLS: Final = 30
"""Most waits for the reader's engine. Together they are longer than a board waits for it."""
_BOUNDS: Final[Mapping[str, Mapping[str, tuple[int, int]]]] = {
    "dealer": of_dealer.DEALER_SETTING_BOUNDS,
    "reader": of_reader.READER_SETTING_BOUNDS,
}


class ServiceCommands:
    """The handlers of a technician's commands to the two boards, between deals."""

    def __init__(
        self,
        record: TableRecord,
        table_boards: TableBoards,
        dealer: DealerBoard,
        reader: ReaderBoard,
    ) -> None:
        self._record, self._table_boards = record, table_boards
        self._dealer, self._reader = dealer, reader

    async def selftest(self, command: AcceptedCommand) -> None:
        """Run the self-test of both boards.

        A motor that does not turn is named and raises a fault. A reading engine that does not
        answer is only named, because some engines do not answer for an empty window.
        """
        found = await self._self_test(self._dealer, self._reader)
        await command.write_and_answer({"boards": ["dealer", "reader"], **found})

    async def configure(self, command: AcceptedCommand) -> None:
        """Change settings of a board. PROTOCOL.md has the names of the settings.

        If one setting is not possible, none is changed. A board that is lost during the command
        keeps the settings that it has accepted. A row of the journal lists them, and the next row
        refuses the command. If the answer to a setting was lost, the row lists it as `unknown`: the
        board has the new or the old value.
        """
        args: ConfigureArgs = command.args
        self.require_no_attempt()
        _require_settings(args)
        board = self._board(args.board)
        changed: dict[str, int] = {}
        for name, value in args.settings.items():
            unknown = {name: value} if board.link.is_up else {}  # No session: nothing is sent.
            try:
                await self._send(partial(board.configure, name, value))
            except CommandRefused as refused:
                if refused.failure.code != "BOARD_AWAY":
                    unknown = {}
                if changed or unknown:
                    command.write({"board": args.board, "settings": changed, "unknown": unknown})
                raise
            changed[name] = value
        await command.write_and_answer({"board": args.board, "settings": dict(args.settings)})

    async def calibrate(self, command: AcceptedCommand) -> None:
        """Run the self-test of one board. Lower the lift first if this is the dealer board."""
        args: CalibrateArgs = command.args
        if args.board == "dealer":
            await self._send(self._dealer.retract, self._wait_at_rest)
        found = await self._self_test(self._board(args.board))
        await command.write_and_answer({"board": args.board, **found})

    def require_no_test(self) -> None:
        """Raise CommandRefused while a self-test or an attempt is running."""
        if self._table_boards.event_listener is not None:  # Another test is running.
            raise CommandRefused(failure("BOARD_REFUSED", found=BoardResult.BUSY.name))
        self.require_no_attempt()

    def require_no_attempt(self) -> None:
        """Raise CommandRefused while an attempt is running."""
        if self._table_boards.run is not None:
            raise CommandRefused(failure("MACHINE_BUSY"))

    def _board(self, name: str) -> DealerBoard | ReaderBoard:
        return self._dealer if name == "dealer" else self._reader

    async def _self_test(self, *boards: DealerBoard | ReaderBoard) -> dict[str, list[str]]:
        """Run the self-tests of `boards`; return which motors stalled and which engine was silent.

        Raises CommandRefused.
        """
        self.require_no_test()
        stalled: list[str] = []
        answers: list[bool] = []

        def note(event: BoardEvent) -> None:
            if event.code is BoardEventCode.STALL:
                stalled.append(DealerMotor(event.place).name.lower())
            elif event.code is BoardEventCode.ENGINE and event.index:
                answers.append(bool(event.place))

        self._table_boards.event_listener = note
        try:
            await self._send(*(board.selftest for board in boards))
            await self._send(self._wait_at_rest)
            for _ in range(MAX_ENGINE_POLLS if self._reader in boards else 0):
                if answers:
                    break
                await asyncio.sleep(SERVICE_POLL_INTERVAL_S)
        finally:
            self._table_boards.event_listener = None
        if stalled:
            self._record.raise_fault("STALL", {"place": ", ".join(stalled)})
        elif self._dealer in boards:
            self._record.clear_fault("STALL")
        silent = ["engine"] if self._reader in boards and not any(answers) else []
        return {"stalled": stalled, "silent": silent}

    async def _wait_at_rest(self) -> None:
        """Poll the dealer board until its motors stop, but at most MAX_REST_POLLS times."""
        for _ in range(MAX_REST_POLLS):
            if not await self._dealer.is_moving():
                return
            await asyncio.sleep(SERVICE_POLL_INTERVAL_S)

    async def _send(self, *commands: Callable[[], Awaitable[Any]]) -> None:
        """Send commands to the boards, one after the other.

        Raises CommandRefused if an attempt is running, or if a board does not carry out a command.
        """
        for command in commands:
            self.require_no_attempt()
            try:
                await command()
            except BoardRefused as error:
                found = {"board": error.board, "found": error.result.name}
                raise CommandRefused(failure("BOARD_REFUSED", **found)) from None
            except DriverError as error:
                name = driver_error_fault(error)
                raise CommandRefused(failure("BOARD_AWAY", found=f"{name}: {error}")) from None


def _require_settings(args: ConfigureArgs) -> None:
    """Raise CommandRefused if the board does not have a setting, or does not accept its value."""
    bounds = _BOUNDS[args.board]
    for name, value in args.settings.items():
        if name not in bounds:
            wrong = unknown_key_mistake(f"settings.{name}", name, bounds)
            bad = failure("BAD_COMMAND", found=wrong.found, expected=wrong.expected)
            raise CommandRefused(bad)
        least, most = bounds[name]
        if not least <= value <= most:
            found = f"settings.{name} = {value}"
            expected = Words(f"a number from {least} to {most}", f"{least}至{most}的数")
            raise CommandRefused(failure("BAD_COMMAND", found=found, expected=expected))
