"""What people order of the table, command by command; the match's own go to its desk.

An act is checked (checks.py), journals and answers. Steps of a deal (start, cut, release) are no
acts: the deal itself waits for them.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from controller.arguments import AcknowledgeArgs, ClearSetArgs, HoldArgs, ReplaceSetArgs
from controller.faults import catalogue, fault
from controller.machine.calling import end_calls
from controller.machine.checks import STEPS, TableCommandChecks
from controller.machine.deals import Deals, DealSettings
from controller.machine.order.desk import CommandRefused, Order, failure
from controller.machine.order.match_desk import MatchCommands
from controller.machine.order.match_orders import EVENTS
from controller.machine.order.opening import OpenedHands
from controller.machine.order.transfers import TableTransfers
from controller.machine.order.who import Asked
from controller.machine.record import Record
from controller.machine.stops import FAULTS_TO_ACKNOWLEDGE, is_attempt_reason
from controller.machine.table import Table
from controller.machine.technical import ServiceCommands
from controller.match.events import TableSuspended
from controller.messages import Failure
from controller.words import Words
from drivers.dealer import Dealer
from drivers.errors import DriverError
from drivers.reader import Reader

Act = Callable[[Order], Awaitable[None]]

_LATCHED_SENSORS = {"ESTOP_PRESSED": "estop", "LID_OPENED": "lid_open"}
"""Faults that a sensor still sees; such a one cannot be acknowledged away."""


class TableCommands:
    """Carries orders out at one table."""

    def __init__(
        self,
        record: Record,
        table: Table,
        deals: Deals,
        desk: MatchCommands,
        custom: DealSettings,
        boards: tuple[Dealer, Reader],
        opened: OpenedHands,
        transfers: TableTransfers,
    ) -> None:
        self._record, self._table, self._deal_cycle = record, table, deals
        self._match_commands, self._dealer = desk, boards[0]
        technical = ServiceCommands(record, table, *boards)
        self._checks = TableCommandChecks(
            record, table, deals, desk, custom, opened, transfers, technical
        )
        self._actions: Mapping[str, Act] = {
            "set_match": desk.lay_out,
            "call": self._call,
            "attend": self._attend,
            "confirm": self._confirm,
            "hold": self._hold,
            "resume": self._resume,
            "recount": self._recount,
            "replace_set": self._replace_set,
            "clear_set": self._clear_set,
            "acknowledge": self._acknowledge,
            "clear_jam": self._clear_jam,
            "void": self._void,
            "tribute": desk.judge_tribute,
            "return": desk.judge_return,
            "open_hand": opened.open,
            "transfer": transfers.send,
            "take_over": transfers.take,
            "selftest": technical.selftest,
            "configure": technical.configure,
            "calibrate": technical.calibrate,
        }

    def act(self, cmd: str) -> Act | None:
        """Return what carries a command out at once; None: a step of the machine waits for it."""
        if cmd in STEPS:
            return None
        act = self._actions.get(cmd, self._match_commands.act if cmd in EVENTS else None)
        return self._add_check(act) if act is not None and self._checks.has(cmd) else act

    def _add_check(self, act: Act) -> Act:
        async def checked(order: Order) -> None:
            self._checks.require(order.asked)
            await act(order)

        return checked

    def refused(self, asked: Asked) -> Failure | None:
        """Return why an act would not be carried out; None: it would. Nothing is done."""
        return self._checks.refused(asked)

    def veto(self, cmd: str, args: Any) -> Failure | None:
        """Return why a step of the machine cannot be ordered now; None: it can."""
        return self._checks.veto(cmd, args)

    def without_machine(self, cmd: str) -> Failure | None:
        """Return why a step is not the machine's in this deal; None: it is, or it is no step."""
        return self._checks.without_machine(cmd)

    # Those who call.

    async def _call(self, order: Order) -> None:
        state, args = self._record.state, order.args
        said = {"seat": args.seat, "reason": args.reason or "button"}
        self._record.write("call", said, deal=state.deal)
        await order.carried_out()

    async def _attend(self, order: Order) -> None:
        end_calls(self._record, order.args.seat, order.who.by)
        await order.carried_out()

    async def _confirm(self, order: Order) -> None:
        """Take a green button; at a seat that calls it takes that back, and means nothing else."""
        if self._checks.is_call_withdrawal(order.asked):
            end_calls(self._record, order.args.seat)
            await order.carried_out()
        else:
            await self._match_commands.act(order)

    # Pauses: each is cleared by its owner, the chief clears every person's.

    async def _hold(self, order: Order) -> None:
        args: HoldArgs = order.args
        if args.area:
            self._match_commands.write(*self._match_commands.meant(order.asked))
        else:
            suspends = (
                () if self._record.play.match is None else self._match_commands.meant(order.asked)
            )
            if suspends and self._match_commands.refused(*suspends) is None:
                self._match_commands.write(*suspends)
            why = {"reason": order.who.role.value, "by": order.who.by, "why": args.reason}
            self._record.write("pause", why)
            self._table.hold()
        await order.carried_out()

    async def _resume(self, order: Order) -> None:
        if order.args.area:
            self._match_commands.write(*self._match_commands.meant(order.asked))
            await order.carried_out()
            return
        ended, goes_on = self._checks.pauses_to_end(order.asked)
        if goes_on:
            self._match_commands.write(*self._match_commands.meant(order.asked))
        for why in ended:
            self._record.write("pause_ended", {"reason": why, "by": order.who.by})
        await order.carried_out()
        if not self._record.state.pauses:
            self._table.go_on()

    async def _recount(self, order: Order) -> None:
        """Take four counts; a table that somebody holds besides stays so."""
        pauses, held = self._record.state.pauses, None
        if pauses:
            held = TableSuspended(at_ms=self._record.clock(), reason=", ".join(sorted(pauses)))
        await self._match_commands.act(order, held)

    # Sets.

    async def _replace_set(self, order: Order) -> None:
        args: ReplaceSetArgs = order.args
        back = self._checks.loadable_back(order.asked)
        said = {"set": args.set, "back": back, "by": order.who.by}
        self._record.write("set_loaded", said)
        await order.carried_out(said)
        self._deal_cycle.changed()

    async def _clear_set(self, order: Order) -> None:
        args: ClearSetArgs = order.args
        said = {"set": args.set, "by": order.who.by}
        self._record.write("set_cleared", said)
        await order.carried_out(said)
        self._deal_cycle.changed()

    # Faults.

    async def _acknowledge(self, order: Order) -> None:
        args: AcknowledgeArgs = order.args
        named, board = args.code, args.board or ""
        if await self._is_still_sensed(named):
            row = fault(named)
            found = Words(row.cause(), row.cause(language="zh"))
            raise CommandRefused(failure("STILL_THERE", found=found))
        name = named if named in catalogue() else named.lower()
        self._record.write("acknowledged", {"name": name, "by": order.who.by, "board": board})
        order.write()  # with it: asked again after a crash it is answered the same
        if named in FAULTS_TO_ACKNOWLEDGE or (named in catalogue() and is_attempt_reason(named)):
            self._record.clear(named, board)
        await self._record.sync()
        order.done()
        self._deal_cycle.changed()

    async def _is_still_sensed(self, name: str) -> bool:
        """Tell whether a sensor still sees what was latched."""
        if name not in _LATCHED_SENSORS:
            return False
        try:
            status = await self._dealer.status()
        except DriverError:
            return True
        return bool(getattr(status, _LATCHED_SENSORS[name]))

    async def _clear_jam(self, order: Order) -> None:
        order.write()  # first: asked again after a crash it is answered the same
        self._record.clear("JAM")
        await self._record.sync()
        order.done()
        self._deal_cycle.changed()

    async def _void(self, order: Order) -> None:
        run = self._table.run
        assert run is not None  # it was checked
        order.write({"reason": order.args.reason})
        run.broken("ORDERED")  # at once: a release in the same moment would come before it
        await self._record.sync()
        order.done()
