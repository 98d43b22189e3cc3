"""What people ordered of whole areas, and how far it came at each table.

One press is an order for every table that is meant. Which these were is written down before the
first one goes out, so that whoever comes later, also after the console was started again, sees at
which table it acted, and has the rest done: never twice, whoever asks.
"""

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final, Literal

import msgspec

from controller.console.desk import UNWRITTEN, Desk
from controller.console.people import Person
from controller.console.seen import Run, Seen
from controller.console.store.acts import KeptAct, KeptActs
from controller.console.store.archive import StoreError
from controller.console.store.orders import Orders
from controller.console.wish import Answered, Wish
from controller.console.wrong import Wrong
from controller.loggers import structlog
from controller.messages import Failure, Reply

_log = structlog.get_logger("console")

AreaFate = Literal["unsent", "sent", "silent", "accepted", "seen", "refused"]
"""Of one table's order: not sent, on its way, no answer (it may have acted), answered, told by the
table's own journal, refused."""
Fated = tuple[AreaFate, Failure | None]
"""A fate, and why it is not done."""
MOST_KEPT: Final = 50
"""Taken up after a restart, the newest."""
MOST_ALIKE: Final = 5
"""Of one kind and area that are shown, as long as something of them is not known."""
_SERVERS_OWN: Final = 500
_NEVER_GIVEN: Final = 404


class AtTable(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """One table's order and its fate; `error`: why it is not done."""

    table: str
    fate: AreaFate
    error: Failure | None = None


class ActView(msgspec.Struct, frozen=True, kw_only=True):
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
    tables: tuple[AtTable, ...]
    unheard: tuple[str, ...] = ()


class Acts:
    """The last acts of each kind of every area: a start, a pause, its end, added time.

    The very last one, and up to MOST_ALIKE with those before it of which something is left.
    `orders` and `kept` are what is written, `run` runs that.
    """

    def __init__(self, desk: Desk, orders: Orders, kept: KeptActs, run: Run) -> None:
        self._desk, self._orders, self._kept, self._run = desk, orders, kept, run
        self._beginning = asyncio.Lock()
        self._shown: dict[str, KeptAct] = {}
        self._fates: dict[str, Fated] = {}
        self._redone: set[str] = set()
        self._executed: set[str] = set()
        desk.on_fate, desk.on_executed = self._told, self._note_executed

    async def load(self) -> None:
        """Take up what was kept. Raises StoreError."""
        for act in reversed(await self._run(lambda: self._kept.newest(MOST_KEPT))):
            self._show(act, await self._run(partial(self._fates_kept, act)))
        sent: dict[str, list[str]] = {}
        for act in self._shown.values():
            for table, order in act.orders.items():
                if self._fates[order][0] in ("accepted", "silent"):
                    sent.setdefault(table, []).append(order)
        for table, orders in sent.items():
            self._executed.update(await self._desk.executed(table, orders))

    async def order(self, person: Person, act: KeptAct) -> dict[str, Reply | None]:
        """Let the tables of an act do it, all at once; return what each has answered.

        None: it is not known whether it acted; with the same id it acts once. Raises Wrong.
        """
        async with self._beginning:
            known = await self.known(act.id)
            if known is None:
                await self._begin(act)
        if known is not None and not _is_same(known, act):
            raise Wrong(409, f"{act.id} is the id of another order", f"{act.id}是另一命令的编号")
        act = known or act
        return await self._all(person, act, act.orders)

    def open(self, act: str) -> KeptAct:
        """Return an act that is shown. Raises Wrong."""
        known = self._shown.get(act)
        if known is None:
            en = "something else was ordered of this area since: look at its tables"
            raise Wrong(409, en, "该区此后已有其他命令，请到台查看")
        return known

    async def again(self, person: Person, act: KeptAct) -> dict[str, Reply | None]:
        """Ask what became of an act where that is not known, and send what was never sent.

        What is not known is asked for in the name of who ordered it. Raises Wrong.
        """
        return await self._all(person, act, self._due(act))

    def view(self, seen: Sequence[Seen], now_ms: int) -> list[ActView]:
        """Return the last acts of each kind of each area, the newest first."""
        return [self._view(act) for act in reversed(self._shown.values())]

    def _view(self, act: KeptAct) -> ActView:
        fates = {table: self._fate(order) for table, order in act.orders.items()}
        return ActView(
            id=act.id,
            area=act.area,
            act=act.act,
            person=act.person,
            at_ms=act.at_ms,
            reason=act.args.get("reason"),
            seconds=act.args.get("seconds"),
            tables=tuple(
                AtTable(table=table, fate=fate, error=error)
                for table, (fate, error) in fates.items()
                if not (fate == "refused" and act.orders[table] in self._redone)
            ),
            unheard=act.unheard,
        )

    def _fate(self, order: str) -> Fated:
        fate, error = self._fates.get(order, _UNSENT)
        if fate != "refused" and order in self._executed:
            return "seen", None
        return fate, error

    async def _begin(self, act: KeptAct) -> None:
        try:
            await self._run(lambda: self._kept.write(act))
        except StoreError as failed:
            _log.error("area not ordered: the database failed", why=str(failed))
            raise Wrong(503, UNWRITTEN.message, UNWRITTEN.message_zh) from None
        self._show(act, dict.fromkeys(act.orders.values(), _UNSENT))

    def _show(self, act: KeptAct, fates: Mapping[str, Fated]) -> None:
        """Show an act; those of its kind before it of which nothing is left go, and the oldest."""
        alike = [one for one in self._shown.values() if (one.area, one.act) == (act.area, act.act)]
        for n, one in enumerate(alike):
            self._redone.update(one.orders[table] for table in act.orders if table in one.orders)
            if len(alike) - n >= MOST_ALIKE or not self._is_left(one):
                del self._shown[one.id]
                for order in one.orders.values():
                    del self._fates[order]
                    self._redone.discard(order)
                    self._executed.discard(order)
        self._shown[act.id] = act
        self._fates.update(fates)

    def _is_left(self, act: KeptAct) -> bool:
        """Tell whether something of an act is not known, or was refused and not ordered anew."""
        refused = (
            self._fate(order)[0] == "refused" and order not in self._redone
            for order in act.orders.values()
        )
        return bool(self._due(act)) or any(refused)

    def _due(self, act: KeptAct) -> dict[str, str]:
        """Return the orders of an act that were not sent, or of which nothing was heard."""
        return {
            table: order
            for table, order in act.orders.items()
            if self._fate(order)[0] in ("unsent", "sent", "silent")
        }

    async def known(self, act: str) -> KeptAct | None:
        """Return what was ordered under an id; None where nothing was."""
        shown = self._shown.get(act)
        return shown or await self._run(lambda: self._kept.find(act))

    async def _all(
        self, person: Person, act: KeptAct, orders: dict[str, str]
    ) -> dict[str, Reply | None]:
        replies = await asyncio.gather(
            *(self._ordered(person, act, table, order) for table, order in orders.items())
        )
        return dict(zip(orders, replies, strict=True))

    async def _ordered(self, person: Person, act: KeptAct, table: str, order: str) -> Reply | None:
        """Return a table's reply; one that the console itself refuses looks alike."""
        try:
            told = await self._asked(person, act, table, order)
        except (Wrong, StoreError) as wrong:
            error = UNWRITTEN if isinstance(wrong, StoreError) else _words(wrong)
            if order in self._fates and self._fates[order][0] == "unsent":
                ours = isinstance(wrong, StoreError) or wrong.status >= _SERVERS_OWN
                self._fates[order] = ("unsent" if ours else "refused"), error
            return Reply(id=order, ok=False, error=error)
        self._told(order, told)
        return told.reply

    async def _asked(self, person: Person, act: KeptAct, table: str, order: str) -> Answered:
        """Ask after an order, in whoever's name it was given; give it where it never was."""
        try:
            return await self._desk.again(person, table, order)
        except Wrong as wrong:
            if wrong.status != _NEVER_GIVEN:
                raise
        return await self._desk.do(person, table, Wish(id=order, cmd=act.cmd, args=act.args))

    def _told(self, order: str, told: Answered | None) -> None:
        """Take what an order was answered; None: it goes out now."""
        if order in self._fates:
            self._fates[order] = ("sent", None) if told is None else _fate_of(told.reply)

    def _note_executed(self, table: str, order: str) -> None:
        """Note that a journal contains an order as carried out; only its own table's counts."""
        if any(act.orders.get(table) == order for act in self._shown.values()):
            self._executed.add(order)

    def _fates_kept(self, act: KeptAct) -> dict[str, Fated]:
        given = {order: self._orders.find(order) for order in act.orders.values()}
        return {
            order: _UNSENT if one is None else _fate_of(one.reply) for order, one in given.items()
        }


_UNSENT: Final[Fated] = "unsent", None


def _fate_of(reply: Reply | None) -> Fated:
    if reply is None:
        return "silent", None
    return ("accepted", None) if reply.ok else ("refused", reply.error)


def _words(wrong: Wrong) -> Failure:
    return Failure(code="", message=wrong.en, action="", message_zh=wrong.zh, action_zh="")


def _is_same(known: KeptAct, act: KeptAct) -> bool:
    meant = (act.area, act.act, act.cmd, act.args, act.person)
    return meant == (known.area, known.act, known.cmd, known.args, known.person)
