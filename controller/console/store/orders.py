"""The orders that people gave: written before they are sent, with the answer once it is there."""

from typing import Any, Final

import msgspec
from sqlalchemy import Engine, Row, insert, select, update

from controller.console.store.tables import ORDERS
from controller.messages import Command, Reply, Role


class Given(msgspec.Struct, frozen=True, kw_only=True):
    """An order as it was signed, and its answer; None: it is not known whether it acted.

    `at_ms`: when it was given, by the console's clock.
    """

    table: str
    person: str
    role: Role
    at_ms: int
    command: Command
    reply: Reply | None = None


class Orders:
    """All orders of a console. Every call is one transaction, and may block."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def find(self, order: str) -> Given | None:
        """Return the order of an id; None where it was never given."""
        with self._engine.connect() as base:
            row = base.execute(select(ORDERS).where(ORDERS.c.id == order)).one_or_none()
        return None if row is None else _logged_command(row)

    def write(self, given: Given) -> None:
        """Write an order down, durably, before it is sent; its id must be new."""
        row = {
            "id": given.command.id,
            "table_id": given.table,
            "person": given.person,
            "role": given.role.value,
            "at_ms": given.at_ms,
            "command": msgspec.json.encode(given.command),
        }
        with self._engine.begin() as base:
            base.execute(insert(ORDERS).values(row))

    def answered(self, order: str, reply: Reply) -> None:
        """Keep what a table answered, as it came: what is sealed stays so."""
        body = msgspec.json.encode(reply)
        with self._engine.begin() as base:
            base.execute(update(ORDERS).where(ORDERS.c.id == order).values(reply=body))

    def last(self, table: str, most: int) -> list[Given]:
        """Return the newest orders of a table, the newest first."""
        newest = (
            select(ORDERS)
            .where(ORDERS.c.table_id == table)
            .order_by(ORDERS.c.at_ms.desc(), ORDERS.c.id)
            .limit(most)
        )
        with self._engine.connect() as base:
            return [_logged_command(row) for row in base.execute(newest)]


def _logged_command(row: Row[Any]) -> Given:
    return Given(
        table=row.table_id,
        person=row.person,
        role=Role(row.role),
        at_ms=row.at_ms,
        command=_COMMAND_DECODER.decode(row.command),
        reply=None if row.reply is None else _REPLY_DECODER.decode(row.reply),
    )


_COMMAND_DECODER: Final = msgspec.json.Decoder(Command)
_REPLY_DECODER: Final = msgspec.json.Decoder(Reply)
