"""Dispatcher of people's commands to the tables, signed with the key of the person's role.

The signed command is stored before it is sent. Then its reply is stored. The console never sends a
command twice automatically. A command without a reply is shown as unknown. The person who gave it,
another person of that role or the chief can ask again, with the same id and the same bytes. The
table executes an id only once. If a command never reached the table, the table refuses it after a
restart, because the command was signed for another run.
"""

import asyncio
from collections.abc import Callable, Collection, Coroutine, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

import msgspec

from controller.client.client import NoAnswer
from controller.client.connection import BadAddress
from controller.commands.registry import COMMANDS, role_or_phase_refusal
from controller.console.accounts.account_store import Account
from controller.console.commands.command_log import (
    CommandLog,
    CommandResult,
    CommandStatus,
    CommandStatusView,
    ConsoleCommandRequest,
    LoggedCommand,
)
from controller.console.commands.table_clients import load_identity, unseal_result
from controller.console.request_error import RequestError, unknown_table
from controller.console.store.database import StoreError
from controller.console.table_snapshots import Result, RunBlocking, Tables, TableSnapshot
from controller.host.loggers import structlog
from controller.host.printable_text import escape_unprintable
from controller.messages import (
    ClientCommand,
    CommandReply,
    Failure,
    MachinePhase,
    PublicEvent,
    Role,
)
from controller.signing import signed_commands

_log = structlog.get_logger("console")

MAX_SHOWN_COMMANDS: Final = 20
"""The maximum of commands that a table's page shows."""
_MAX_REMEMBERED_COMMANDS: Final = 1_024
"""The maximum of remembered commands of one table."""
_MAX_ID_LENGTH: Final = 64
_UNKNOWN_RESULT_CODES: Final = frozenset({"MACHINE_AWAY", "MACHINE_LATE"})
"""Error codes with which the gateway reports that the result of a command is unknown."""
_NO_RESULT_CODES: Final = (
    _UNKNOWN_RESULT_CODES
    | {"TOO_MANY", "UNKNOWN_KEY", "KEY_REVOKED", "KEY_EXPIRED"}
    | {"WRONG_ROLE", "BAD_SIGNATURE", "ORDER_OVER", "ID_TAKEN"}
)
"""Error codes that leave the result of a repeated command unknown. A refusal by present permissions
does not show the result of the first time. For an expired command the table has no result.
"""
STORE_UNAVAILABLE: Final = Failure(
    code="",
    message="the console's database stores nothing, so nothing was sent",
    action="see the console's log",
    message_zh="控制台数据库无法写入，命令未发出",
    action_zh="原因见其日志",
)
"""The failure for a command that was not sent because it could not be stored."""


class CommandClient(Protocol):
    """The part of a table's client that the dispatcher uses."""

    async def send(self, command: ClientCommand) -> CommandReply:
        """Send a command unchanged and return the reply. Raises NoAnswer, BadAddress."""


ClientFactory = Callable[[str, Role], CommandClient]
"""A function that returns the client for a table and a role.

It raises RequestError if there is no key.
"""


class CommandDispatcher:
    """A dispatcher that signs people's commands and sends them to the tables.

    `new_id` returns ids for the console's own queries. `table_key_of` and `key_folder_of` return a
    table's public key (Z85) and the folder of the console's keys for the table. `find_archived`
    returns the entry numbers, by command id, of those commands of a table that are in the archive.
    It may block. `on_commands_changed` is called with a table after a change of its
    commands. `on_result` is called with a command's id: with None when the command is sent,
    then with its result. `on_executed` is called with a table and the id of a command in the
    table's journal.
    """

    def __init__(
        self,
        tables: Tables,
        command_log: CommandLog,
        run_blocking: RunBlocking,
        client_for: ClientFactory,
        *,
        table_key_of: Callable[[str], str],
        key_folder_of: Callable[[str], Path],
        new_id: Callable[[], str],
        now_ms: Callable[[], int],
        find_archived: Callable[
            [str, Collection[str]], Mapping[str, int]
        ] = lambda table, orders: {},
    ) -> None:
        self._tables, self._command_log = tables, command_log
        self._run_blocking, self._client_for = run_blocking, client_for
        self._table_key_of, self._key_folder_of = table_key_of, key_folder_of
        self._new_id, self._now_ms = new_id, now_ms
        self._entry_of_command: dict[str, dict[str, int | None]] = {}
        self._find_archived = find_archived
        self._pending: dict[str, _PendingCommand] = {}
        self._sent_ids: set[str] = set()
        self.on_commands_changed: Callable[[str], None] = lambda table: None
        self.on_result: Callable[[str, CommandResult | None], None] = lambda order, told: None
        self.on_executed: Callable[[str, str], None] = lambda table, order: None

    async def send(
        self, person: Account, table: str, request: ConsoleCommandRequest
    ) -> CommandResult:
        """Send a command and return its result.

        A second call with the same id returns the result of the same command. Raises RequestError
        if the person has no permission, or if the id belongs to another command. The command
        continues even if the caller is cancelled.
        """
        self._require_table(table)
        order = COMMANDS.get(request.cmd)
        if order is not None and not order.signed:
            raise RequestError(400, f"{request.cmd} only reads", f"{request.cmd}不是命令")
        if order is None or person.role not in order.roles:
            why = role_or_phase_refusal(request.cmd, person.role, MachinePhase.EMPTY)
            assert why is not None  # The role is refused in every phase.
            en, zh = f"{why.message}: {why.action}", f"{why.message_zh}：{why.action_zh}"
            raise RequestError(
                403 if order is not None else 400, escape_unprintable(en), escape_unprintable(zh)
            )
        known = self._pending.get(request.id)
        if known is None:
            known = self._start_task(
                person.name, table, request, self._write_and_send(person, table, request)
            )
        elif (known.person, known.table, known.request) != (person.name, table, request):
            raise id_taken(request.id)
        told = await asyncio.shield(known.task)
        return self._unseal(person, table, told)

    async def ask_again(self, person: Account, table: str, command_id: str) -> CommandResult:
        """Return the result of an earlier command. A command without a reply is sent again.

        The command is sent with the same bytes and in the name of the person who gave it, so that
        it acts only once. The person who asks must have the same role or be the chief. Raises
        RequestError, StoreError.
        """
        self._require_table(table)
        given = await self._run_blocking(lambda: self._command_log.find(command_id))
        if given is None or given.table != table:
            raise RequestError(404, f"there is no command {command_id} here", "没有此命令")
        # People may ask for commands of their role, and the chief for all.
        order = COMMANDS.get(given.command.cmd)
        may = order is not None and person.role in order.roles
        if not (may and person.role in (given.role, Role.CHIEF)):
            raise RequestError(
                403,
                f"this command is from {given.person}: only they, their role or the chief may ask",
                f"此命令由{given.person}下达：须由本人、同一角色的人员或裁判长查询",
            )
        if given.reply is None:
            known = self._pending.get(command_id)
            if known is None:
                _log.info("command sent again", table=table, cmd=given.command.cmd, by=person.name)
                known = self._start_task(
                    given.person, table, _request_of(given), self._send_logged(given, again=True)
                )
            told = await asyncio.shield(known.task)
        else:
            told = CommandResult(given.reply)
        # Only the chief who gave the command may read the sealed result.
        return self._unseal(person, table, told) if person.name == given.person else told

    def _start_task(
        self,
        person: str,
        table: str,
        request: ConsoleCommandRequest,
        coroutine: Coroutine[Any, Any, CommandResult],
    ) -> "_PendingCommand":
        task = asyncio.create_task(coroutine)
        known = self._pending[request.id] = _PendingCommand(person, table, request, task)
        task.add_done_callback(lambda done: self._task_done(request.id, table, done))
        return known

    async def query(
        self,
        table: str,
        cmd: str,
        args: Mapping[str, Any] | None = None,
        role: Role = Role.OBSERVER,
    ) -> CommandReply:
        """Send the query `cmd` (a command that changes nothing) to a table, and return the reply.

        Raises RequestError if the table does not answer.
        """
        command = ClientCommand(id=self._new_id(), cmd=cmd, args=dict(args or {}))
        try:
            return await self._client_for(table, role).send(command)
        except (NoAnswer, BadAddress) as silent:
            raise RequestError(
                504, f"table {table} does not answer: {silent}", f"{table}没有应答"
            ) from None

    async def recent_commands(self, table: str) -> list[CommandStatusView]:
        """Return the newest commands of a table with their status, the newest first."""
        given = await self._run_blocking(
            lambda: self._command_log.newest(table, MAX_SHOWN_COMMANDS)
        )
        seen = await self.find_executed(table, [one.command.id for one in given])
        return [
            CommandStatusView(
                id=one.command.id,
                cmd=one.command.cmd,
                person=one.person,
                role=one.role,
                at_ms=one.at_ms,
                fate=self._status(one),
                seen=seen.get(one.command.id),
                error=None if one.reply is None else one.reply.error,
            )
            for one in given
        ]

    async def find_executed(self, table: str, command_ids: Collection[str]) -> dict[str, int]:
        """Map the id of each executed command in `command_ids` to the number of its journal entry.

        Commands without a known entry are left out. The archive is queried only for commands
        that are not remembered. Raises StoreError.
        """
        known = self._entry_of_command.get(table, {})
        unknown = [order for order in command_ids if order not in known]
        told: dict[str, int] = {}
        if unknown:
            told.update(await self._run_blocking(lambda: self._find_archived(table, unknown)))
        known = self._entry_of_command.get(table, {})
        told |= {order: n for order in command_ids if (n := known.get(order))}
        for order in unknown:
            self._remember(table, order, told.get(order))
        return told

    def note_event(self, event: PublicEvent) -> None:
        """Record that a command was executed, if `event` is the entry of an executed command."""
        order = event.data.get("id")
        if event.kind != "command" or not isinstance(order, str) or "refused" in event.data:
            return
        if len(order) > _MAX_ID_LENGTH:  # No command of this console has such an id.
            return
        self._remember(event.table, order, event.n)
        self.on_executed(event.table, order)
        self.on_commands_changed(event.table)

    def _remember(self, table: str, command_id: str, n: int | None) -> None:
        """Store the number `n` of the journal entry of a command.

        None means that the archive has no such entry. The feed may still bring it.
        """
        seen = self._entry_of_command.setdefault(table, {})
        seen.pop(command_id, None)
        if len(seen) >= _MAX_REMEMBERED_COMMANDS:
            del seen[next(iter(seen))]
        seen[command_id] = n

    async def close(self) -> None:
        """Cancel the task of every command that still waits for its reply.

        The results of these commands stay unknown until a person asks again.
        """
        waiting = [known.task for known in self._pending.values()]
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)

    def _require_table(self, table: str) -> TableSnapshot:
        try:
            return self._tables.snapshot(table)
        except KeyError:
            raise unknown_table(table) from None

    async def _write_and_send(
        self, person: Account, table: str, request: ConsoleCommandRequest
    ) -> CommandResult:
        given = await self._use_store(lambda: self._command_log.find(request.id))
        if given is not None:
            if (given.person, given.table, _request_of(given)) != (person.name, table, request):
                raise id_taken(request.id)
            if given.reply is not None:
                return CommandResult(given.reply)
            return await self._send_logged(given, again=True)
        given = LoggedCommand(
            table=table,
            person=person.name,
            role=person.role,
            at_ms=self._now_ms(),
            command=await self._sign(person, table, request),
        )
        await self._use_store(lambda: self._command_log.write(given))
        self._remember(table, request.id, None)
        return await self._send_logged(given, again=False)

    async def _use_store(self, call: Callable[[], Result]) -> Result:
        """Run a database call that must succeed before a command is sent, and return its result.

        Raises RequestError if the database fails.
        """
        try:
            return await self._run_blocking(call)
        except StoreError as failed:
            _log.error("command not sent: the database failed", why=str(failed))
            en, zh = STORE_UNAVAILABLE.message, STORE_UNAVAILABLE.message_zh
            raise RequestError(503, en, zh) from None

    async def _sign(
        self, person: Account, table: str, request: ConsoleCommandRequest
    ) -> ClientCommand:
        """Return the command of a request, signed with the key of the person's role.

        Raises RequestError if the table's run is unknown, or if the command cannot be signed.
        """
        state = self._require_table(table).state
        boot = state.boot if state is not None else await self._query_boot(table, person.role)
        command = ClientCommand(
            id=request.id,
            cmd=request.cmd,
            deal=request.deal,
            attempt=request.attempt,
            boot=boot,
            person=person.name,
            args=request.args,
        )
        self._require_table(table)  # The table may have been removed meanwhile.
        seed = load_identity(self._key_folder_of(table), person.role).seed
        assert seed is not None
        try:
            return signed_commands.sign_command(command, self._table_key_of(table), seed)
        except ValueError as wrong:
            raise RequestError(
                400, f"{request.cmd} cannot be signed: {wrong}", f"无法签名：{wrong}"
            ) from None

    async def _query_boot(self, table: str, role: Role) -> str:
        reply = await self.query(table, "snapshot", role=role)
        state = reply.result or {}
        boot, named = state.get("boot"), state.get("table")
        if not isinstance(boot, str):
            raise RequestError(504, f"the state of table {table} has no run", f"{table}没有应答")
        # The key fits, so the other table would execute a command that is not meant for it.
        if named != table:
            raise RequestError(
                409,
                f"another table answers in the name of table {table}: set it up again",
                f"以{table}之名应答的是另一张台，请重新设置",
            )
        return boot

    async def _send_logged(self, given: LoggedCommand, again: bool) -> CommandResult:
        order, table = given.command, given.table
        try:
            line = self._client_for(table, given.role)
        except KeyError:  # The table was removed meanwhile.
            raise unknown_table(table) from None
        self._sent_ids.add(order.id)
        self.on_commands_changed(table)
        self.on_result(order.id, None)
        try:
            reply = await line.send(order)
        except (NoAnswer, BadAddress) as silent:
            return self._unknown_result(given, str(silent))
        untold = _NO_RESULT_CODES if again else _UNKNOWN_RESULT_CODES
        if reply.error is not None and reply.error.code in untold:
            return self._unknown_result(given, reply.error.message)
        try:
            await self._run_blocking(lambda: self._command_log.write_reply(order.id, reply))
        # After a restart the result is unknown again, and a person can ask for it.
        except StoreError as failed:
            _log.error("answer not stored", table=table, cmd=order.cmd, why=str(failed))
        return CommandResult(reply)

    def _task_done(self, command_id: str, table: str, done: "asyncio.Task[CommandResult]") -> None:
        """Forget a command's task that has ended. Call `on_result` and `on_commands_changed`.

        A task that failed before it sent the command, or was cancelled, has no `on_result` call.
        """
        del self._pending[command_id]
        was_out = command_id in self._sent_ids
        self._sent_ids.discard(command_id)
        if done.cancelled():  # The dispatcher is closing.
            return
        failed = done.exception()
        if failed is None:
            self.on_result(command_id, done.result())
        elif was_out:  # The table may have executed the command.
            _log.error("command failed", table=table, order=command_id, exc_info=failed)
            self.on_result(command_id, CommandResult(None))
        self.on_commands_changed(table)

    def _unknown_result(self, given: LoggedCommand, why: str) -> CommandResult:
        _log.warning("command unanswered", table=given.table, cmd=given.command.cmd, why=why)
        return CommandResult(None, why)

    def _unseal(self, person: Account, table: str, command_result: CommandResult) -> CommandResult:
        """Return `command_result`, with its sealed part opened if `person` is a chief."""
        reply = command_result.reply
        if reply is None or reply.result is None or person.role is not Role.CHIEF:
            return command_result
        result = unseal_result(self._key_folder_of(table), Role.CHIEF, reply.result)
        return CommandResult(msgspec.structs.replace(reply, result=result))

    def _status(self, given: LoggedCommand) -> CommandStatus:
        if given.reply is None:
            return "sent" if given.command.id in self._pending else "unknown"
        return "done" if given.reply.ok else "refused"


class _PendingCommand(NamedTuple):
    """A command without a reply yet. Its task continues even if no caller waits for the result."""

    person: str
    table: str
    request: ConsoleCommandRequest
    task: "asyncio.Task[CommandResult]"


def _request_of(given: LoggedCommand) -> ConsoleCommandRequest:
    """Return the request from which a stored command was made."""
    sent = given.command
    return ConsoleCommandRequest(
        id=sent.id, cmd=sent.cmd, args=sent.args, deal=sent.deal, attempt=sent.attempt
    )


def id_taken(command_id: str) -> RequestError:
    """Return the error for an id that another command or action already has."""
    return RequestError(
        409, f"{command_id} is the id of another command", f"{command_id}是另一命令的编号"
    )
