"""The order desk: who may order what, and when; each order acts once.

A command comes in as anybody could send it and leaves as an `Order` that a part
of the machine takes; that part writes the effect into the journal before it
answers.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from controller.commands import COMMANDS, refusal
from controller.faults import fault
from controller.machine.record import Record
from controller.messages import Command, Failure, Phase, Reply, Role
from controller.roster import Roster
from controller.signing import BadSignature, check

PANEL = "panel"
"""Stands for the signer's key in an order that a button of the table gave."""

Reading = Callable[[Mapping[str, Any]], dict[str, Any]]


class OrderRefused(Exception):
    """A command that is not carried out, with what the client is told."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


def failure(name: str, **evidence: object) -> Failure:
    """Return a refusal out of the fault catalogue."""
    row = fault(name)
    return Failure(code=name, message=row.cause(evidence), action=row.action(evidence))


class Order:
    """A command that was found in order. It ends with `done` or `refuse`."""

    def __init__(self, command: Command, role: Role, record: Record) -> None:
        self.command = command
        self.role = role
        self.args = command.args
        self.answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._record = record
        self._result: dict[str, Any] | None = None

    def write(self, result: Mapping[str, Any] | None = None) -> None:
        """Journal that the command acts; whoever took it syncs, then calls `done`."""
        self._result = dict(result or {})
        self._write({"result": self._result})

    def done(self) -> None:
        """Answer with the result that was written."""
        if not self.answer.done():
            self.answer.set_result(self._result or {})

    def refuse(self, name: str, **evidence: object) -> None:
        """Answer that it is not carried out, and why; its id is known to have failed."""
        if self._result is not None:
            self._write({"refused": name})
            self._record.journal.flush()
        if not self.answer.done():
            self.answer.set_exception(OrderRefused(failure(name, **evidence)))

    def _write(self, how: dict[str, Any]) -> None:
        command, state = self.command, self._record.state
        data = {"id": command.id, "key": command.key, "cmd": command.cmd, "role": self.role.value}
        self._record.write("command", data | how, deal=state.deal, attempt=state.attempt)


def uncut_reason(order: Order) -> str | None:
    """Return why an order starts a deal without its cut; None where it does not say so."""
    reason = order.args.get("reason")
    uncut = order.args.get("uncut") is True
    return reason if uncut and isinstance(reason, str) and reason else None


class OrderDesk:
    """Checks commands and hands them to whoever waits for them.

    `boot` names this run of the daemon, in the ids of orders by button.
    `phase` is the phase that people see. `reading` are the commands that change
    nothing, by name.
    """

    def __init__(
        self,
        record: Record,
        roster: Roster,
        table_key: str,
        *,
        boot: str,
        phase: Callable[[], Phase],
        reading: Mapping[str, Reading],
    ) -> None:
        self._record = record
        self._roster = roster
        self._table_key = table_key
        self._phase = phase
        self._reading = reading
        self._boot = boot
        self._pressed = 0
        self._takers: dict[str, asyncio.Future[Order]] = {}
        self._open: dict[tuple[str, str], Order] = {}

    async def submit(self, command: Command) -> Reply:
        """Return the answer to a command, whoever sent it; never raises for a bad one."""
        try:
            result = await self._carry_out(command)
        except OrderRefused as refused:
            return Reply(id=command.id, ok=False, error=refused.failure)
        return Reply(id=command.id, ok=True, result=result)

    def press(self, cmd: str) -> None:
        """Give an order by a button of the table itself, if anybody waits for it now."""
        if cmd in self._takers and self._phase() in COMMANDS[cmd].phases:
            self._pressed += 1
            command = Command(id=f"{self._boot}-{self._pressed}", cmd=cmd, key=PANEL)
            self._hand_over(Order(command, Role.TABLE, self._record))

    async def take(self, *names: str) -> Order:
        """Wait for the next order with one of these names."""
        taker: asyncio.Future[Order] = asyncio.get_running_loop().create_future()
        for name in names:
            self._takers[name] = taker
        try:
            return await taker
        finally:
            for name in names:
                self._takers.pop(name, None)

    async def _carry_out(self, command: Command) -> dict[str, Any]:
        reading = self._reading.get(command.cmd)
        if reading is not None:
            return reading(command.args)
        if command.cmd not in COMMANDS:
            raise OrderRefused(failure("UNKNOWN_COMMAND", found=command.cmd))
        role = self._signer(command)
        signed = (command.key or "", command.id)
        known = self._record.state.answers.get(signed)
        if known is not None and "refused" in known:
            raise OrderRefused(failure(known["refused"]))
        if known is not None:
            return dict(known["result"])
        order = self._open.get(signed)
        if order is None:
            self._check_time(command, role)
            order = self._hand_over(Order(command, role, self._record))
            self._open[signed] = order
            order.answer.add_done_callback(lambda _: self._open.pop(signed, None))
        return await asyncio.shield(order.answer)

    def _signer(self, command: Command) -> Role:
        role = self._roster.role_of(command.key)
        if role is None:
            raise OrderRefused(failure("UNKNOWN_KEY"))
        try:
            check(command, self._table_key)
        except BadSignature:
            raise OrderRefused(failure("BAD_SIGNATURE")) from None
        return role

    def _check_time(self, command: Command, role: Role) -> None:
        state = self._record.state
        phase = self._phase()
        refused = refusal(command.cmd, role, phase)
        if refused is not None:
            raise OrderRefused(refused)
        present, meant = (state.deal, state.attempt), (command.deal, command.attempt)
        if COMMANDS[command.cmd].bound and meant != present:
            raise OrderRefused(failure("STALE", expected=_named(*present), found=_named(*meant)))
        if command.cmd not in self._takers:
            raise OrderRefused(failure("WRONG_PHASE", found=phase.value, expected="a moment"))

    def _hand_over(self, order: Order) -> Order:
        taker = self._takers[order.command.cmd]
        for name in [name for name, waiting in self._takers.items() if waiting is taker]:
            del self._takers[name]
        taker.set_result(order)
        return order


def _named(deal: int | None, attempt: int | None) -> str:
    return f"deal {deal}, attempt {attempt}" if deal is not None else "no deal"
