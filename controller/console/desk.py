"""The order desk of the console: a person's order, with his role's key, to a table.

An order is written down, signed, before it is sent; then its answer. The console sends none twice
by itself: one whose answer did not come is shown as unknown, and whoever gave it, somebody of his
role or the chief asks again by the same id, with the same bytes. The table carries an id out once;
an order that never reached it is refused after its restart, because it was signed for another run.
"""

import asyncio
from collections.abc import Callable, Collection, Coroutine, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

import msgspec

from controller import signing
from controller.client.client import NoAnswer
from controller.client.line import BadAddress
from controller.commands import COMMANDS, refusal
from controller.console.keys import identity, opened
from controller.console.people import Person
from controller.console.seen import Result, Run, Seen, Tables
from controller.console.store.archive import StoreError
from controller.console.store.orders import Given, Orders
from controller.console.wish import Answered, CommandStatusView, ConsoleCommandRequest, Fate
from controller.console.wrong import Wrong, no_table
from controller.loggers import structlog
from controller.messages import Command, Event, Failure, Phase, Reply, Role
from controller.tomlwords import escape_unprintable

_log = structlog.get_logger("console")

LAST: Final = 20
"""Orders that a table's page shows."""
_MAX_REMEMBERED_COMMANDS: Final = 1_024
"""How many executed orders are remembered for one table."""
_MAX_ID_LENGTH: Final = 64
_UNKNOWN_RESULT_CODES: Final = frozenset({"MACHINE_AWAY", "MACHINE_LATE"})
"""The gateway's word that it does not know what became of an order."""
_NO_RESULT_CODES: Final = (
    _UNKNOWN_RESULT_CODES
    | {"TOO_MANY", "UNKNOWN_KEY", "KEY_REVOKED", "KEY_EXPIRED"}
    | {"WRONG_ROLE", "BAD_SIGNATURE", "ORDER_OVER", "ID_TAKEN"}
)
"""What an order that is asked for again may be told without that its fate is known: who may give
one now says nothing of then, and of one that is over the table itself does not know more."""
STORE_UNAVAILABLE: Final = Failure(
    code="",
    message="the console's database takes nothing down, so that nothing was sent",
    action="its log says why",
    message_zh="控制台数据库无法写入，命令未发出",
    action_zh="原因见其日志",
)
"""What is written down nowhere is not sent."""


class Line(Protocol):
    """What a client of a table does for the desk."""

    async def send(self, command: Command) -> Reply:
        """Send a command as it is and return the answer. Raises NoAnswer, BadAddress."""


Lines = Callable[[str, Role], Line]
"""The client for a table and a role. Raises Wrong where the console has no key for that."""


class Desk:
    """Gives people's orders. `ids` names the console's own questions.

    `table_key` and `keys` return a table's public key (Z85) and the folder of the console's keys
    for it. `executed` returns which of some orders a table's archived journal has as carried out,
    with their numbers; it may block. `on_orders` is called for every table whose orders changed,
    `on_fate` for an order that goes out (None) and with its answer, `on_executed` with a table and
    an order that its journal contains as carried out.
    """

    def __init__(
        self,
        tables: Tables,
        orders: Orders,
        run: Run,
        lines: Lines,
        *,
        table_key: Callable[[str], str],
        keys: Callable[[str], Path],
        ids: Callable[[], str],
        now_ms: Callable[[], int],
        executed: Callable[[str, Collection[str]], Mapping[str, int]] = lambda table, orders: {},
    ) -> None:
        self._tables, self._orders, self._run, self._lines = tables, orders, run, lines
        self._table_key_of, self._key_folder_of = table_key, keys
        self._new_id, self._now_ms = ids, now_ms
        self._seen: dict[str, dict[str, int | None]] = {}
        self._find_archived = executed
        self._open: dict[str, _PendingCommand] = {}
        self._sent_ids: set[str] = set()
        self.on_orders: Callable[[str], None] = lambda table: None
        self.on_fate: Callable[[str, Answered | None], None] = lambda order, told: None
        self.on_executed: Callable[[str, str], None] = lambda table, order: None

    async def do(self, person: Person, table: str, wish: ConsoleCommandRequest) -> Answered:
        """Give an order; the same id again asks for the fate of the same order.

        Raises Wrong where the person may not, or the id is another order's. Who goes away
        meanwhile changes nothing: it is carried on.
        """
        self._check_permission(person, table, wish)
        known = self._open.get(wish.id)
        if known is None:
            known = self._start_task(
                person.name, table, wish, self._write_and_send(person, table, wish)
            )
        elif (known.person, known.table, known.wish) != (person.name, table, wish):
            raise _other(wish.id)
        told = await asyncio.shield(known.task)
        return self._unseal(person, table, told)

    async def again(self, person: Person, table: str, order: str) -> Answered:
        """Ask what became of an order that has no answer, whoever has given it.

        It goes out in its very bytes, so that it acts once, in the name of who gave it; who asks
        must be of his role, or the chief. Raises Wrong, StoreError.
        """
        self._require_table(table)
        given = await self._run(lambda: self._orders.find(order))
        if given is None or given.table != table:
            raise Wrong(404, f"there is no order {order} here", "没有此命令")
        _require_may_ask(person, given)
        if given.reply is None:
            said = given.command
            wish = ConsoleCommandRequest(
                id=said.id, cmd=said.cmd, args=said.args, deal=said.deal, attempt=said.attempt
            )
            known = self._open.get(order)
            if known is None:
                _log.info("asked for again", table=table, cmd=said.cmd, by=person.name)
                known = self._start_task(
                    given.person, table, wish, self._send_logged(given, again=True)
                )
            told = await asyncio.shield(known.task)
        else:
            told = Answered(given.reply)
        # What was sealed to a chief is for the one alone who ordered it.
        return self._unseal(person, table, told) if person.name == given.person else told

    def _start_task(
        self,
        person: str,
        table: str,
        wish: ConsoleCommandRequest,
        carried: Coroutine[Any, Any, Answered],
    ) -> "_PendingCommand":
        task = asyncio.create_task(carried)
        known = self._open[wish.id] = _PendingCommand(person, table, wish, task)
        task.add_done_callback(lambda done: self._task_done(wish.id, table, done))
        return known

    async def read(
        self,
        table: str,
        cmd: str,
        args: Mapping[str, Any] | None = None,
        role: Role = Role.OBSERVER,
    ) -> Reply:
        """Ask a table what changes nothing. Raises Wrong where it does not answer."""
        command = Command(id=self._new_id(), cmd=cmd, args=dict(args or {}))
        try:
            return await self._lines(table, role).send(command)
        except (NoAnswer, BadAddress) as silent:
            raise Wrong(
                504, f"table {table} does not answer: {silent}", f"{table}没有应答"
            ) from None

    async def orders(self, table: str) -> list[CommandStatusView]:
        """Return the newest orders of a table with their fate, the newest first."""
        given = await self._run(lambda: self._orders.last(table, LAST))
        seen = await self.executed(table, [one.command.id for one in given])
        return [self._status_view(one, seen.get(one.command.id)) for one in given]

    async def executed(self, table: str, orders: Collection[str]) -> dict[str, int]:
        """Return which of these orders a table's journal has as carried out, with their numbers.

        The archive is asked once for an order that is not remembered. Raises StoreError.
        """
        known = self._seen.get(table, {})
        unknown = [order for order in orders if order not in known]
        found = await self._run(lambda: self._find_archived(table, unknown)) if unknown else {}
        told = {**found, **{o: n for o in orders if (n := self._seen.get(table, {}).get(o))}}
        for order in unknown:
            self._remember(table, order, told.get(order))
        return told

    def saw(self, event: Event) -> None:
        """Take from the feed that an order was carried out, at the table that says so."""
        order = event.data.get("id")
        if event.kind != "command" or not isinstance(order, str) or "refused" in event.data:
            return
        if len(order) > _MAX_ID_LENGTH:  # no order of ours
            return
        self._remember(event.table, order, event.n)
        self.on_executed(event.table, order)
        self.on_orders(event.table)

    def _remember(self, table: str, order: str, n: int | None) -> None:
        """Remember the number of an order's entry. None: the archive has none, the feed may bring
        one."""
        seen = self._seen.setdefault(table, {})
        seen.pop(order, None)
        if len(seen) >= _MAX_REMEMBERED_COMMANDS:
            del seen[next(iter(seen))]
        seen[order] = n

    async def close(self) -> None:
        """End what waits; an order under way stays unknown until somebody asks."""
        waiting = [known.task for known in self._open.values()]
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)

    def _require_table(self, table: str) -> Seen:
        try:
            return self._tables.seen(table)
        except KeyError:
            raise no_table(table) from None

    def _check_permission(self, person: Person, table: str, wish: ConsoleCommandRequest) -> None:
        self._require_table(table)
        order = COMMANDS.get(wish.cmd)
        if order is not None and not order.signed:
            raise Wrong(400, f"{wish.cmd} orders nothing", f"{wish.cmd}不是命令")
        if order is None or person.role not in order.roles:
            why = refusal(wish.cmd, person.role, Phase.EMPTY)
            assert why is not None  # whatever the phase
            en, zh = f"{why.message}: {why.action}", f"{why.message_zh}：{why.action_zh}"
            raise Wrong(
                403 if order is not None else 400, escape_unprintable(en), escape_unprintable(zh)
            )

    async def _write_and_send(
        self, person: Person, table: str, wish: ConsoleCommandRequest
    ) -> Answered:
        given = await self._use_store(lambda: self._orders.find(wish.id))
        if given is not None:
            if not _is_same_request(given, person, table, wish):
                raise _other(wish.id)
            if given.reply is not None:
                return Answered(given.reply)
            return await self._send_logged(given, again=True)
        given = Given(
            table=table,
            person=person.name,
            role=person.role,
            at_ms=self._now_ms(),
            command=await self._sign(person, table, wish),
        )
        await self._use_store(lambda: self._orders.write(given))
        self._remember(table, wish.id, None)
        return await self._send_logged(given, again=False)

    async def _use_store(self, call: Callable[[], Result]) -> Result:
        """Read or write what has to be before anything is sent. Raises Wrong where it cannot be."""
        try:
            return await self._run(call)
        except StoreError as failed:
            _log.error("order not sent: the database failed", why=str(failed))
            en, zh = STORE_UNAVAILABLE.message, STORE_UNAVAILABLE.message_zh
            raise Wrong(503, en, zh) from None

    async def _sign(self, person: Person, table: str, wish: ConsoleCommandRequest) -> Command:
        """Return the order as it goes out. Raises Wrong where the table was never heard."""
        state = self._require_table(table).state
        boot = state.boot if state is not None else await self._boot(table, person.role)
        command = Command(
            id=wish.id,
            cmd=wish.cmd,
            deal=wish.deal,
            attempt=wish.attempt,
            boot=boot,
            person=person.name,
            args=wish.args,
        )
        self._require_table(table)  # it may have been let go meanwhile
        seed = identity(self._key_folder_of(table), person.role).seed
        assert seed is not None
        try:
            return signing.sign(command, self._table_key_of(table), seed)
        except ValueError as wrong:
            raise Wrong(
                400, f"{wish.cmd} cannot be signed: {wrong}", f"无法签名：{wrong}"
            ) from None

    async def _boot(self, table: str, role: Role) -> str:
        reply = await self.read(table, "snapshot", role=role)
        state = reply.result or {}
        boot, named = state.get("boot"), state.get("table")
        if not isinstance(boot, str):
            raise Wrong(504, f"table {table} says of no run of its own", f"{table}没有应答")
        if named != table:  # its key fits, so that it would do what is meant for another one
            raise Wrong(
                409,
                f"what answers for table {table} is another table: set it up again",
                f"以{table}之名应答的是另一张台，请重新设置",
            )
        return boot

    async def _send_logged(self, given: Given, again: bool) -> Answered:
        order, table = given.command, given.table
        try:
            line = self._lines(table, given.role)
        except KeyError:  # let go meanwhile
            raise no_table(table) from None
        self._sent_ids.add(order.id)
        self.on_orders(table)
        self.on_fate(order.id, None)
        try:
            reply = await line.send(order)
        except (NoAnswer, BadAddress) as silent:
            return self._unknown_result(given, str(silent))
        untold = _NO_RESULT_CODES if again else _UNKNOWN_RESULT_CODES
        if reply.error is not None and reply.error.code in untold:
            return self._unknown_result(given, reply.error.message)
        try:
            await self._run(lambda: self._orders.answered(order.id, reply))
        except StoreError as failed:  # it is unknown again after a restart, and can be asked for
            _log.error("answer not kept", table=table, cmd=order.cmd, why=str(failed))
        return Answered(reply)

    def _task_done(self, order: str, table: str, done: "asyncio.Task[Answered]") -> None:
        """Tell how an order ended; whoever asked may be gone."""
        del self._open[order]
        was_out = order in self._sent_ids
        self._sent_ids.discard(order)
        if done.cancelled():  # the desk ends: nobody is left to be told
            return
        failed = done.exception()
        if failed is None:
            self.on_fate(order, done.result())
        elif was_out:  # it may have acted
            _log.error("order failed", table=table, order=order, exc_info=failed)
            self.on_fate(order, Answered(None))
        self.on_orders(table)

    def _unknown_result(self, given: Given, why: str) -> Answered:
        _log.warning("order unanswered", table=given.table, cmd=given.command.cmd, why=why)
        return Answered(None, why)

    def _unseal(self, person: Person, table: str, told: Answered) -> Answered:
        """Open what was sealed to a chief, for the one who ordered it, on its way to him."""
        reply = told.reply
        if reply is None or reply.result is None or person.role is not Role.CHIEF:
            return told
        result = opened(self._key_folder_of(table), Role.CHIEF, reply.result)
        return Answered(msgspec.structs.replace(reply, result=result))

    def _status_view(self, given: Given, seen: int | None) -> CommandStatusView:
        reply, command = given.reply, given.command
        error = None if reply is None else reply.error
        return CommandStatusView(
            id=command.id,
            cmd=command.cmd,
            person=given.person,
            role=given.role,
            at_ms=given.at_ms,
            fate=self._status(given),
            seen=seen,
            error=error,
        )

    def _status(self, given: Given) -> Fate:
        if given.reply is None:
            return "sent" if given.command.id in self._open else "unknown"
        return "done" if given.reply.ok else "refused"


class _PendingCommand(NamedTuple):
    """An order that is carried on, whoever waits for it."""

    person: str
    table: str
    wish: ConsoleCommandRequest
    task: "asyncio.Task[Answered]"


def _require_may_ask(person: Person, given: Given) -> None:
    """Let only those ask for another's order who could have given it as it was. Raises Wrong."""
    order = COMMANDS.get(given.command.cmd)
    may = order is not None and person.role in order.roles
    if not (may and person.role in (given.role, Role.CHIEF)):
        raise Wrong(
            403,
            f"this is an order of {given.person}: it is his, another's of his role, or the chief's",
            f"此命令由{given.person}下达：须由本人、同一角色的人员或裁判长查询",
        )


def _is_same_request(given: Given, person: Person, table: str, wish: ConsoleCommandRequest) -> bool:
    """Tell whether somebody means the order that was given, and gave it himself."""
    said = given.command
    meant = (person.name, table, wish.cmd, wish.args, wish.deal, wish.attempt)
    return meant == (given.person, given.table, said.cmd, said.args, said.deal, said.attempt)


def _other(order: str) -> Wrong:
    return Wrong(409, f"{order} is the id of another order", f"{order}是另一命令的编号")
