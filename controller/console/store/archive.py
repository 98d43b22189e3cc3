"""The archive of events: nothing twice, nothing lost, two pasts of one table side by side."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import msgspec
from sqlalchemy import Engine, create_engine, event, func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from controller.console.store.tables import ALL, EVENTS, HEADS
from controller.messages import Event, SignedHead

PAGE: Final = 1_000


class StoreError(Exception):
    """The database cannot be used; one line says which, why, and what to do."""


class Kept(msgspec.Struct, frozen=True, gc=False):
    """One event as it came, and what the archive finds it by."""

    event: Event
    body: bytes


def open_engine(url: str) -> Engine:
    """Return the database at `url`, with its tables. Raises StoreError.

    SQLite keeps what it said it kept through a power cut, and lets readers read meanwhile.
    """
    try:
        engine = create_engine(url, pool_pre_ping=True)
        if engine.dialect.name == "sqlite":
            event.listen(engine, "connect", _careful)
        ALL.create_all(engine)
    except (ArgumentError, SQLAlchemyError, ImportError) as error:
        raise StoreError(f"store {_shown(url)}: {_first_line(error)}") from None
    return engine


class Archive:
    """Events and heads of many tables. Every call is one transaction, and may block."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._insert: Any = _INSERT[engine.dialect.name]

    def keep(self, kept: Sequence[Kept]) -> int:
        """Write events that are not there yet; return how many were new. Raises StoreError."""
        return self._new(EVENTS, [_row(one) for one in kept])

    def keep_heads(self, table: str, heads: Iterable[SignedHead]) -> int:
        """Write signed heads that are not there yet; return how many were new.

        Raises StoreError.
        """
        rows = [
            {"table_id": table, "n": head.n, "head": head.head, "sig": head.sig} for head in heads
        ]
        return self._new(HEADS, rows)

    def last(self, table: str) -> int:
        """Return the number of the last event of a table, 0 where there is none."""
        with self._engine.connect() as base:
            found = base.scalar(select(func.max(EVENTS.c.n)).where(EVENTS.c.table_id == table))
        return int(found or 0)

    def events(self, table: str, since: int = 0, match_id: str | None = None) -> Iterator[Event]:
        """Yield a table's events behind number `since`, in order; of one match alone, if named."""
        asked = select(EVENTS.c.n, EVENTS.c.body).where(EVENTS.c.table_id == table)
        if match_id is not None:
            asked = asked.where(EVENTS.c.match_id == match_id)
        while True:
            page = asked.where(EVENTS.c.n > since).order_by(EVENTS.c.n).limit(PAGE)
            with self._engine.connect() as base:
                rows = base.execute(page).all()
            for row in rows:
                yield _EVENT.decode(row.body)
            if len(rows) < PAGE:
                return
            since = rows[-1].n

    def two_pasts(self, table: str) -> list[int]:
        """Return the numbers at which a table has told two different things."""
        twice = (
            select(EVENTS.c.n)
            .where(EVENTS.c.table_id == table)
            .group_by(EVENTS.c.n)
            .having(func.count() > 1)
            .order_by(EVENTS.c.n)
        )
        with self._engine.connect() as base:
            return list(base.scalars(twice))

    def _new(self, into: Any, rows: list[dict[str, Any]]) -> int:
        if not rows:
            return 0
        new = self._insert(into).on_conflict_do_nothing().returning(into.c.n)
        try:
            with self._engine.begin() as base:
                return len(base.execute(new, rows).all())
        except SQLAlchemyError as error:
            raise StoreError(_first_line(error)) from None


_INSERT: Final = {"sqlite": sqlite.insert, "postgresql": postgresql.insert}
"""Both know how to leave alone what is there; how they are told is not the same type."""


def _row(kept: Kept) -> dict[str, Any]:
    told = kept.event
    return {
        "table_id": told.table,
        "n": told.n,
        "head": told.head,
        "kind": told.kind,
        "match_id": told.data.get("match_id"),
        "deal": told.deal,
        "attempt": told.attempt,
        "time": told.time,
        "body": kept.body,
    }


def _careful(connection: Any, record: object) -> None:
    for setting in ("journal_mode=WAL", "synchronous=FULL", "busy_timeout=5000"):
        connection.execute(f"PRAGMA {setting}")


def _shown(url: str) -> str:
    """A database's URL without its password."""
    try:
        return make_url(url).render_as_string(hide_password=True)
    except ArgumentError:
        return "(no URL)"


def _first_line(error: Exception) -> str:
    return str(getattr(error, "orig", None) or error).strip().partition("\n")[0]


_EVENT = msgspec.json.Decoder(Event)
