"""Actions for whole areas: the commands to the tables, the tables' results, and a stored log.

The log stays over a restart of the console. It has the tables and the sender of each action.
"""

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final, Literal

import msgspec
from sqlalchemy import Engine, insert, select

from controller.console.accounts.account_store import Account
from controller.console.commands.command_dispatcher import (
    STORE_UNAVAILABLE,
    CommandDispatcher,
    id_taken,
)
from controller.console.commands.command_log import CommandLog, CommandResult, ConsoleCommandRequest
from controller.console.request_error import RequestError
from controller.console.store.database import StoreError
from controller.console.store.database_schema import AREA_ACTION_LOG
from controller.console.table_snapshots import RunBlocking, TableSnapshot
from controller.host.loggers import structlog
from controller.messages import CommandReply, Failure


class LoggedAreaAction(msgspec.Struct, frozen=True, kw_only=True):
    """One logged action: a command that the console sends to several tables of the area.

    `orders` has the id of the command for each table. `unheard` are tables of the area without a
    present state that did not need the action in their last state. Nothing was sent to them.
    `at_ms` is the time of the action, by the console's clock.
    """

    id: str
    area: str
    act: str
    cmd: str
    args: dict[str, Any] = {}
    person: str
    at_ms: int
    orders: dict[str, str]
    unheard: tuple[str, ...] = ()


class AreaActionLog:
    """The stored log of all area actions. Every call is one transaction, and may block."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def write(self, act: LoggedAreaAction) -> None:
        """Store an action before its first command is sent. Its id must be new."""
        row = {"id": act.id, "at_ms": act.at_ms, "body": msgspec.json.encode(act)}
        with self._engine.begin() as base:
            base.execute(insert(AREA_ACTION_LOG).values(row))

    def find(self, action_id: str) -> LoggedAreaAction | None:
        """Return the action that has this id, or None if there is none."""
        with self._engine.connect() as base:
            body = base.scalar(
                select(AREA_ACTION_LOG.c.body).where(AREA_ACTION_LOG.c.id == action_id)
            )
        return None if body is None else _ACTION_DECODER.decode(body)

    def newest(self, limit: int) -> list[LoggedAreaAction]:
        """Return the newest actions, at most `limit` of them, the newest first."""
        asked = (
            select(AREA_ACTION_LOG.c.body)
            .order_by(AREA_ACTION_LOG.c.at_ms.desc(), AREA_ACTION_LOG.c.id)
            .limit(limit)
        )
        with self._engine.connect() as base:
            return [_ACTION_DECODER.decode(body) for body in base.scalars(asked)]


_ACTION_DECODER: Final = msgspec.json.Decoder(LoggedAreaAction)

_log = structlog.get_logger("console")

AreaCommandStatus = Literal["unsent", "sent", "silent", "accepted", "seen", "refused"]
"""The status of one table's command.

`silent` means that there is no answer, and that the table may have executed the command. `accepted`
means that the table answered, and `seen` that the table's own journal contains the command.
"""
StatusAndError = tuple[AreaCommandStatus, Failure | None]
"""A status, and the reason why the command was not executed."""
MAX_LOADED_ACTIONS: Final = 50
"""The number of actions that are loaded after a restart. They are the newest."""
MAX_SHOWN_ALIKE: Final = 5
"""The most actions of one kind and area that are shown because they have open commands."""


class AreaTableResult(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """The status of an area action's command to one table.

    `error` is the reason if the command was not executed.
    """

    table: str
    fate: AreaCommandStatus
    error: Failure | None = None


class AreaActionView(msgspec.Struct, frozen=True, kw_only=True):
    """An area action with the results of its tables, as a page shows it.

    A refused command is left out if a later action of the same kind has a command for the table.
    `unheard` are tables without a present state that did not need the action in their last state.
    Nothing was sent to them.
    """

    id: str
    area: str
    act: str
    person: str
    at_ms: int
    reason: str | None = None
    seconds: int | None = None
    tables: tuple[AreaTableResult, ...]
    unheard: tuple[str, ...] = ()


class AreaActions:
    """A service that sends one command to the tables of an area, and lists the newest actions.

    The last action of each kind is shown, together with earlier ones that have open commands, at
    most MAX_SHOWN_ALIKE in all. `command_log` and `action_log` are the logs, and `run_blocking`
    runs their calls.
    """

    def __init__(
        self,
        dispatcher: CommandDispatcher,
        command_log: CommandLog,
        action_log: AreaActionLog,
        run_blocking: RunBlocking,
    ) -> None:
        self._dispatcher, self._command_log = dispatcher, command_log
        self._action_log, self._run_blocking = action_log, run_blocking
        self._log_lock = asyncio.Lock()
        self._shown_actions: dict[str, LoggedAreaAction] = {}
        self._status_by_command: dict[str, StatusAndError] = {}
        self._replaced_commands: set[str] = set()
        self._executed_commands: set[str] = set()
        dispatcher.on_result, dispatcher.on_executed = self._note_result, self._note_executed

    async def load(self) -> None:
        """Load the newest actions from the log. Raises StoreError."""
        known = await self._run_blocking(lambda: self._action_log.newest(MAX_LOADED_ACTIONS))
        for act in reversed(known):
            self._show(act, await self._run_blocking(partial(self._load_statuses, act)))
        sent: dict[str, list[str]] = {}
        for act in self._shown_actions.values():
            for table, order in act.orders.items():
                if self._status_by_command[order][0] in ("accepted", "silent"):
                    sent.setdefault(table, []).append(order)
        for table, orders in sent.items():
            self._executed_commands.update(await self._dispatcher.find_executed(table, orders))

    async def send(self, person: Account, act: LoggedAreaAction) -> dict[str, CommandReply | None]:
        """Log an action, send its command to all its tables, and return the replies by table.

        A reply is None if it is unknown whether the table executed the command. A table executes
        the command of one id only once. Raises RequestError.
        """
        async with self._log_lock:
            known = await self.find(act.id)
            if known is None:
                try:
                    await self._run_blocking(lambda: self._action_log.write(act))
                except StoreError as failed:
                    _log.error("area action not sent: the database failed", why=str(failed))
                    raise RequestError(
                        503, STORE_UNAVAILABLE.message, STORE_UNAVAILABLE.message_zh
                    ) from None
                self._show(act, dict.fromkeys(act.orders.values(), _NOT_SENT))
        if known is not None and (
            (known.area, known.act, known.cmd, known.args, known.person)
            != (act.area, act.act, act.cmd, act.args, act.person)
        ):
            raise id_taken(act.id)
        act = known or act
        return await self._send_to_tables(person, act, act.orders)

    def find_shown(self, action_id: str) -> LoggedAreaAction:
        """Return the shown action that has this id, or raise RequestError if it is not shown.

        Newer actions of the same kind and area can replace a shown action.
        """
        known = self._shown_actions.get(action_id)
        if known is None:
            en = "this area has had another command since then: check its tables"
            raise RequestError(409, en, "该区此后已有其他命令，请到台查看")
        return known

    async def ask_again(
        self, person: Account, act: LoggedAreaAction
    ) -> dict[str, CommandReply | None]:
        """Send the action's command to each table without a known result. Return the replies.

        A command that was sent before is repeated in the name of the person who gave it. Raises
        RequestError.
        """
        return await self._send_to_tables(person, act, self._commands_without_result(act))

    def view(self, snapshots: Sequence[TableSnapshot], now_ms: int) -> list[AreaActionView]:
        """Return the shown actions, the newest first, with the results of their tables."""
        return [
            AreaActionView(
                id=act.id,
                area=act.area,
                act=act.act,
                person=act.person,
                at_ms=act.at_ms,
                reason=act.args.get("reason"),
                seconds=act.args.get("seconds"),
                tables=tuple(
                    AreaTableResult(table=table, fate=fate, error=error)
                    for table, order in act.orders.items()
                    for fate, error in [self._status(order)]
                    if not (fate == "refused" and order in self._replaced_commands)
                ),
                unheard=act.unheard,
            )
            for act in reversed(self._shown_actions.values())
        ]

    def _status(self, command_id: str) -> StatusAndError:
        fate, error = self._status_by_command.get(command_id, _NOT_SENT)
        if fate != "refused" and command_id in self._executed_commands:
            return "seen", None
        return fate, error

    def _show(self, act: LoggedAreaAction, statuses: Mapping[str, StatusAndError]) -> None:
        """Add an action, with the status of each of its commands, to the list for the pages.

        Earlier actions of its kind that have no open commands are removed. If there are still too
        many of its kind, the oldest are removed too.
        """
        shown, kind = self._shown_actions.values(), (act.area, act.act)
        alike = [one for one in shown if (one.area, one.act) == kind]
        for n, one in enumerate(alike):
            self._replaced_commands.update(
                one.orders[table] for table in act.orders if table in one.orders
            )
            is_open = self._commands_without_result(one) or any(
                self._status(order)[0] == "refused" and order not in self._replaced_commands
                for order in one.orders.values()
            )
            if len(alike) - n >= MAX_SHOWN_ALIKE or not is_open:
                del self._shown_actions[one.id]
                for order in one.orders.values():
                    del self._status_by_command[order]
                    self._replaced_commands.discard(order)
                    self._executed_commands.discard(order)
        self._shown_actions[act.id] = act
        self._status_by_command.update(statuses)

    def _commands_without_result(self, act: LoggedAreaAction) -> dict[str, str]:
        """Return, by table, the ids of those commands of an action whose result is unknown."""
        return {
            table: order
            for table, order in act.orders.items()
            if self._status(order)[0] in ("unsent", "sent", "silent")
        }

    async def find(self, action_id: str) -> LoggedAreaAction | None:
        """Return the action that has this id, even if it is not shown, or None if there is none."""
        shown = self._shown_actions.get(action_id)
        return shown or await self._run_blocking(lambda: self._action_log.find(action_id))

    async def _send_to_tables(
        self, person: Account, act: LoggedAreaAction, orders: dict[str, str]
    ) -> dict[str, CommandReply | None]:
        replies = await asyncio.gather(
            *(self._send_to_table(person, act, table, order) for table, order in orders.items())
        )
        return dict(zip(orders, replies, strict=True))

    async def _send_to_table(
        self, person: Account, act: LoggedAreaAction, table: str, command_id: str
    ) -> CommandReply | None:
        """Send the action's command to one table. If it was sent before, ask for its result.

        Return the reply, or None without one. A refusal by the console has the form of a reply.
        """
        try:
            try:
                told = await self._dispatcher.ask_again(person, table, command_id)
            except RequestError as wrong:
                if wrong.status != 404:
                    raise
                request = ConsoleCommandRequest(id=command_id, cmd=act.cmd, args=act.args)
                told = await self._dispatcher.send(person, table, request)
        except (RequestError, StoreError) as wrong:
            error, ours = STORE_UNAVAILABLE, True
            if isinstance(wrong, RequestError):
                ours = wrong.status >= 500
                error = Failure(
                    code="", message=wrong.en, action="", message_zh=wrong.zh, action_zh=""
                )
            known = self._status_by_command.get(command_id)
            if known is not None and known[0] == "unsent":
                self._status_by_command[command_id] = ("unsent" if ours else "refused"), error
            return CommandReply(id=command_id, ok=False, error=error)
        self._note_result(command_id, told)
        return told.reply

    def _note_result(self, command_id: str, result: CommandResult | None) -> None:
        """Set the status of a shown action's command. Without a `result` the status is `sent`."""
        if command_id in self._status_by_command:
            self._status_by_command[command_id] = (
                ("sent", None) if result is None else _status_of(result.reply)
            )

    def _note_executed(self, table: str, command_id: str) -> None:
        """Record that `table` executed a command, if a shown action sent this command."""
        if any(act.orders.get(table) == command_id for act in self._shown_actions.values()):
            self._executed_commands.add(command_id)

    def _load_statuses(self, act: LoggedAreaAction) -> dict[str, StatusAndError]:
        given = {order: self._command_log.find(order) for order in act.orders.values()}
        return {
            order: _NOT_SENT if one is None else _status_of(one.reply)
            for order, one in given.items()
        }


_NOT_SENT: Final[StatusAndError] = "unsent", None


def _status_of(reply: CommandReply | None) -> StatusAndError:
    if reply is None:
        return "silent", None
    return ("accepted", None) if reply.ok else ("refused", reply.error)
