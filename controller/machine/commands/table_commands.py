"""The commands of the table. match_commands.py has the commands of the match.

An action checks its command (table_command_checks.py), writes the journal and answers. Steps of a
deal (start, cut, release) are not actions: the deal itself waits for them.
"""

from collections.abc import Mapping

from controller.commands.table_arguments import AcknowledgeArgs
from controller.faults import fault, fault_catalogue
from controller.machine.commands.command_events import EVENT_MAKERS
from controller.machine.commands.command_processor import CommandAction
from controller.machine.commands.command_request import AcceptedCommand, CommandRefused, failure
from controller.machine.commands.table_command_checks import (
    MACHINE_STEPS,
    CommandParts,
    TableCommandChecks,
)
from controller.machine.state.table_state import FAULTS_TO_ACKNOWLEDGE, is_attempt_reason
from controller.machine.table_calls import end_calls
from controller.match.match_events import TableSuspended
from controller.words import Words
from drivers.errors import DriverError
from drivers.typed_boards import DealerBoard

_LATCHED_SENSORS = {"ESTOP_PRESSED": "estop", "LID_OPENED": "lid_open"}
"""Faults with a sensor, and its field in the status of the board.

A fault cannot be acknowledged while its sensor detects the cause.
"""


class TableCommands:
    """The handlers of one table's commands. `checks` decide whether a command is possible."""

    def __init__(self, parts: CommandParts, dealer: DealerBoard) -> None:
        self._record, self._table_boards = parts.record, parts.table_boards
        self._deal_cycle, self._dealer = parts.deal_cycle, dealer
        match_commands = self._match_commands = parts.match_commands
        transfers, technical = parts.transfers, parts.service_commands
        self.checks = TableCommandChecks(parts)
        self._actions: Mapping[str, CommandAction] = {
            "set_match": match_commands.set_match,
            "call": self._call,
            "attend": self._attend,
            "confirm": self._confirm,
            "hold": self._hold,
            "resume": self._resume,
            "recount": self._recount,
            "replace_set": self._change_set,
            "clear_set": self._change_set,
            "acknowledge": self._acknowledge,
            "clear_jam": self._clear_jam,
            "void": self._void,
            "tribute": match_commands.judge_tribute,
            "return": match_commands.judge_return,
            "open_hand": parts.opened_hands.open,
            "transfer": transfers.transfer_out,
            "take_over": transfers.take_over,
            "selftest": technical.selftest,
            "configure": technical.configure,
            "calibrate": technical.calibrate,
        }

    def action_for(self, cmd: str) -> CommandAction | None:
        """Return the function that carries out a command, or None for a machine step."""
        if cmd in MACHINE_STEPS:
            return None
        act = self._actions.get(cmd, self._match_commands.execute if cmd in EVENT_MAKERS else None)
        if act is None or not self.checks.has_check(cmd):
            return act

        async def checked(command: AcceptedCommand) -> None:
            self.checks.require(command.request)
            await act(command)

        return checked

    # Calls.

    async def _call(self, command: AcceptedCommand) -> None:
        state, args = self._record.state, command.args
        said = {"seat": args.seat, "reason": args.reason or "button"}
        self._record.write("call", said, deal=state.deal)
        await command.write_and_answer()

    async def _attend(self, command: AcceptedCommand) -> None:
        end_calls(self._record, command.args.seat, command.signer.signed_text)
        await command.write_and_answer()

    async def _confirm(self, command: AcceptedCommand) -> None:
        """Withdraw the seat's call for a referee, or, without such a call, carry out `confirm`."""
        if self.checks.is_call_withdrawal(command.request):
            end_calls(self._record, command.args.seat)
            await command.write_and_answer()
        else:
            await self._match_commands.execute(command)

    # Pauses. A pause is ended by the role that began it, or by the chief.

    async def _hold(self, command: AcceptedCommand) -> None:
        args, signer, commands = command.args, command.signer, self._match_commands
        if args.area or self._record.match_written.match is not None:
            wanted = commands.match_events(command.request)
            if args.area or commands.events_refusal(*wanted) is None:
                commands.write_events(*wanted)
        if not args.area:
            by = {"reason": signer.role.value, "by": signer.signed_text}
            self._record.write("pause", by | {"why": args.reason})
            self._table_boards.pause()
        await command.write_and_answer()

    async def _resume(self, command: AcceptedCommand) -> None:
        area, ended, goes_on = command.args.area, list[str](), True
        if not area:
            ended, goes_on = self.checks.pauses_to_end(command.request)
        if goes_on:
            self._match_commands.write_events(*self._match_commands.match_events(command.request))
        for why in ended:
            self._record.write("pause_ended", {"reason": why, "by": command.signer.signed_text})
        await command.write_and_answer()
        if not area and not self._record.state.pauses:
            self._table_boards.resume()

    async def _recount(self, command: AcceptedCommand) -> None:
        """Record the number of cards in each hand, which a referee counted.

        A table that a person has paused as well stays paused.
        """
        pauses, held = self._record.state.pauses, None
        if pauses:
            held = TableSuspended(at_ms=self._record.clock(), reason=", ".join(sorted(pauses)))
        await self._match_commands.execute(command, held)

    # Sets.

    async def _change_set(self, command: AcceptedCommand) -> None:
        """Record that a set was loaded (`replace_set`) or was counted as complete (`clear_set`)."""
        loads = command.message.cmd == "replace_set"
        back = {"back": self.checks.loadable_back(command.request)} if loads else {}
        said = {"set": command.args.set, **back, "by": command.signer.signed_text}
        self._record.write("set_loaded" if loads else "set_cleared", said)
        await command.write_and_answer(said)
        self._deal_cycle.on_match_changed()

    # Faults.

    async def _acknowledge(self, command: AcceptedCommand) -> None:
        args: AcknowledgeArgs = command.args
        named, board = args.code, args.board or ""
        if await self._is_still_sensed(named):
            row = fault(named)
            found = Words(row.cause(), row.cause(language="zh"))
            raise CommandRefused(failure("STILL_THERE", found=found))
        name = named if named in fault_catalogue() else named.lower()
        self._record.write(
            "acknowledged", {"name": name, "by": command.signer.signed_text, "board": board}
        )
        command.write()  # Before the sync, so that a repeated request has the same answer.
        if named in FAULTS_TO_ACKNOWLEDGE or (
            named in fault_catalogue() and is_attempt_reason(named)
        ):
            self._record.clear_fault(named, board)
        await self._record.sync()
        command.send_answer()
        self._deal_cycle.on_match_changed()

    async def _is_still_sensed(self, name: str) -> bool:
        """Return True if a sensor still detects the cause of fault `name`, or cannot be read."""
        if name not in _LATCHED_SENSORS:
            return False
        try:
            status = await self._dealer.get_status()
        except DriverError:
            return True
        return bool(getattr(status, _LATCHED_SENSORS[name]))

    async def _clear_jam(self, command: AcceptedCommand) -> None:
        # The answer is first, so that a request that is repeated after a crash has the same answer.
        command.write()
        self._record.clear_fault("JAM")
        await self._record.sync()
        command.send_answer()
        self._deal_cycle.on_match_changed()

    async def _void(self, command: AcceptedCommand) -> None:
        run = self._table_boards.run
        assert run is not None  # Checked before.
        command.write({"reason": command.args.reason})
        run.stop("ORDERED")  # At once, so that no release comes before it.
        await self._record.sync()
        command.send_answer()
