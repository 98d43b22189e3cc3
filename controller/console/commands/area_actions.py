"""What was ordered of whole areas, kept over a restart: which tables were meant, and by whom."""

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final, Literal

import msgspec
from sqlalchemy import Engine, insert, select

from controller.console.accounts.account_store import Account
from controller.console.commands.command_dispatcher import STORE_UNAVAILABLE, CommandDispatcher
from controller.console.commands.command_log import CommandLog, CommandResult, ConsoleCommandRequest
from controller.console.request_error import RequestError
from controller.console.store.database import StoreError
from controller.console.store.database_schema import AREA_ACTION_LOG
from controller.console.table_snapshots import RunBlocking, TableSnapshot
from controller.host.loggers import structlog
from controller.messages import CommandReply, Failure


class LoggedAreaAction(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that an area's tables were to do: the command, and its order's id by table.

    `unheard`: tables of the area whose present was not known and that were not meant by their last
    word, if there was one: nothing was sent there.
    `at_ms`: when, by the console's clock.
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
    """All of them. Every call is one transaction, and may block."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def write(self, act: LoggedAreaAction) -> None:
        """Write one down before its first order is sent; its id must be new."""
        row = {"id": act.id, "at_ms": act.at_ms, "body": msgspec.json.encode(act)}
        with self._engine.begin() as base:
            base.execute(insert(AREA_ACTION_LOG).values(row))

    def find(self, action_id: str) -> LoggedAreaAction | None:
        """Return the one of an id; None where there was none."""
        with self._engine.connect() as base:
            body = base.scalar(
                select(AREA_ACTION_LOG.c.body).where(AREA_ACTION_LOG.c.id == action_id)
            )
        return None if body is None else _ACTION_DECODER.decode(body)

    def newest(self, limit: int) -> list[LoggedAreaAction]:
        """Return so many at most, the newest first."""
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
"""Of one table's order: not sent, on its way, no answer (it may have acted), answered, told by the
table's own journal, refused."""
StatusAndError = tuple[AreaCommandStatus, Failure | None]
"""A fate, and why it is not done."""
MAX_LOADED_ACTIONS: Final = 50
"""Taken up after a restart, the newest."""
MAX_SHOWN_ALIKE: Final = 5
"""Of one kind and area that are shown, as long as something of them is not known."""
_FIRST_SERVER_ERROR: Final = 500
_NOT_FOUND: Final = 404


class AreaTableResult(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """One table's order and its fate; `error`: why it is not done."""

    table: str
    fate: AreaCommandStatus
    error: Failure | None = None


class AreaActionView(msgspec.Struct, frozen=True, kw_only=True):
    """What was ordered of an area, table by table, but where it refused and was ordered anew.

    `unheard`: tables whose present nobody knew then, and that it was not due at by their last
    word: nothing was sent there.
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
    """The last acts of each kind of every area: a start, a pause, its end, added time.

    The very last one, and up to MOST_ALIKE with those before it of which something is left.
    `orders` and `kept` are what is written, `run` runs that.
    """

    def __init__(
        self,
        dispatcher: CommandDispatcher,
        command_log: CommandLog,
        action_log: AreaActionLog,
        run_blocking: RunBlocking,
    ) -> None:
        self._dispatcher, self._command_log, self._action_log, self._run_blocking = (
            dispatcher,
            command_log,
            action_log,
            run_blocking,
        )
        self._log_lock = asyncio.Lock()
        self._shown_actions: dict[str, LoggedAreaAction] = {}
        self._status_by_command: dict[str, StatusAndError] = {}
        self._replaced_commands: set[str] = set()
        self._executed_commands: set[str] = set()
        dispatcher.on_result, dispatcher.on_executed = self._note_result, self._note_executed

    async def load(self) -> None:
        """Take up what was kept. Raises StoreError."""
        for act in reversed(
            await self._run_blocking(lambda: self._action_log.newest(MAX_LOADED_ACTIONS))
        ):
            self._show(act, await self._run_blocking(partial(self._load_statuses, act)))
        sent: dict[str, list[str]] = {}
        for act in self._shown_actions.values():
            for table, order in act.orders.items():
                if self._status_by_command[order][0] in ("accepted", "silent"):
                    sent.setdefault(table, []).append(order)
        for table, orders in sent.items():
            self._executed_commands.update(await self._dispatcher.find_executed(table, orders))

    async def send(self, person: Account, act: LoggedAreaAction) -> dict[str, CommandReply | None]:
        """Let the tables of an act do it, all at once; return what each has answered.

        None: it is not known whether it acted; with the same id it acts once. Raises RequestError.
        """
        async with self._log_lock:
            known = await self.find(act.id)
            if known is None:
                await self._log_action(act)
        if known is not None and not _is_same_action(known, act):
            raise RequestError(
                409, f"{act.id} is the id of another order", f"{act.id}是另一命令的编号"
            )
        act = known or act
        return await self._send_to_tables(person, act, act.orders)

    def find_shown(self, action_id: str) -> LoggedAreaAction:
        """Return an act that is shown. Raises RequestError."""
        known = self._shown_actions.get(action_id)
        if known is None:
            en = "something else was ordered of this area since: look at its tables"
            raise RequestError(409, en, "该区此后已有其他命令，请到台查看")
        return known

    async def ask_again(
        self, person: Account, act: LoggedAreaAction
    ) -> dict[str, CommandReply | None]:
        """Ask what became of an act where that is not known, and send what was never sent.

        What is not known is asked for in the name of who ordered it. Raises RequestError.
        """
        return await self._send_to_tables(person, act, self._commands_without_result(act))

    def view(self, snapshots: Sequence[TableSnapshot], now_ms: int) -> list[AreaActionView]:
        """Return the last acts of each kind of each area, the newest first."""
        return [self._view(act) for act in reversed(self._shown_actions.values())]

    def _view(self, act: LoggedAreaAction) -> AreaActionView:
        fates = {table: self._status(order) for table, order in act.orders.items()}
        return AreaActionView(
            id=act.id,
            area=act.area,
            act=act.act,
            person=act.person,
            at_ms=act.at_ms,
            reason=act.args.get("reason"),
            seconds=act.args.get("seconds"),
            tables=tuple(
                AreaTableResult(table=table, fate=fate, error=error)
                for table, (fate, error) in fates.items()
                if not (fate == "refused" and act.orders[table] in self._replaced_commands)
            ),
            unheard=act.unheard,
        )

    def _status(self, command_id: str) -> StatusAndError:
        fate, error = self._status_by_command.get(command_id, _NOT_SENT)
        if fate != "refused" and command_id in self._executed_commands:
            return "seen", None
        return fate, error

    async def _log_action(self, act: LoggedAreaAction) -> None:
        try:
            await self._run_blocking(lambda: self._action_log.write(act))
        except StoreError as failed:
            _log.error("area not ordered: the database failed", why=str(failed))
            raise RequestError(
                503, STORE_UNAVAILABLE.message, STORE_UNAVAILABLE.message_zh
            ) from None
        self._show(act, dict.fromkeys(act.orders.values(), _NOT_SENT))

    def _show(self, act: LoggedAreaAction, fates: Mapping[str, StatusAndError]) -> None:
        """Show an act; those of its kind before it of which nothing is left go, and the oldest."""
        alike = [
            one
            for one in self._shown_actions.values()
            if (one.area, one.act) == (act.area, act.act)
        ]
        for n, one in enumerate(alike):
            self._replaced_commands.update(
                one.orders[table] for table in act.orders if table in one.orders
            )
            if len(alike) - n >= MAX_SHOWN_ALIKE or not self._has_open_commands(one):
                del self._shown_actions[one.id]
                for order in one.orders.values():
                    del self._status_by_command[order]
                    self._replaced_commands.discard(order)
                    self._executed_commands.discard(order)
        self._shown_actions[act.id] = act
        self._status_by_command.update(fates)

    def _has_open_commands(self, act: LoggedAreaAction) -> bool:
        """Tell whether something of an act is not known, or was refused and not ordered anew."""
        refused = (
            self._status(order)[0] == "refused" and order not in self._replaced_commands
            for order in act.orders.values()
        )
        return bool(self._commands_without_result(act)) or any(refused)

    def _commands_without_result(self, act: LoggedAreaAction) -> dict[str, str]:
        """Return the orders of an act that were not sent, or of which nothing was heard."""
        return {
            table: order
            for table, order in act.orders.items()
            if self._status(order)[0] in ("unsent", "sent", "silent")
        }

    async def find(self, action_id: str) -> LoggedAreaAction | None:
        """Return what was ordered under an id; None where nothing was."""
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
        """Return a table's reply; one that the console itself refuses looks alike."""
        try:
            told = await self._ask_or_send(person, act, table, command_id)
        except (RequestError, StoreError) as wrong:
            error = STORE_UNAVAILABLE if isinstance(wrong, StoreError) else _failure_of(wrong)
            if (
                command_id in self._status_by_command
                and self._status_by_command[command_id][0] == "unsent"
            ):
                ours = isinstance(wrong, StoreError) or wrong.status >= _FIRST_SERVER_ERROR
                self._status_by_command[command_id] = ("unsent" if ours else "refused"), error
            return CommandReply(id=command_id, ok=False, error=error)
        self._note_result(command_id, told)
        return told.reply

    async def _ask_or_send(
        self, person: Account, act: LoggedAreaAction, table: str, command_id: str
    ) -> CommandResult:
        """Ask after an order, in whoever's name it was given; give it where it never was."""
        try:
            return await self._dispatcher.ask_again(person, table, command_id)
        except RequestError as wrong:
            if wrong.status != _NOT_FOUND:
                raise
        return await self._dispatcher.send(
            person, table, ConsoleCommandRequest(id=command_id, cmd=act.cmd, args=act.args)
        )

    def _note_result(self, command_id: str, result: CommandResult | None) -> None:
        """Take what an order was answered; None: it goes out now."""
        if command_id in self._status_by_command:
            self._status_by_command[command_id] = (
                ("sent", None) if result is None else _status_of(result.reply)
            )

    def _note_executed(self, table: str, command_id: str) -> None:
        """Note that a journal contains an order as carried out; only its own table's counts."""
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


def _failure_of(wrong: RequestError) -> Failure:
    return Failure(code="", message=wrong.en, action="", message_zh=wrong.zh, action_zh="")


def _is_same_action(known: LoggedAreaAction, act: LoggedAreaAction) -> bool:
    meant = (act.area, act.act, act.cmd, act.args, act.person)
    return meant == (known.area, known.act, known.cmd, known.args, known.person)
