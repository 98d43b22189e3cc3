"""The archive of events, in which no event is stored twice and none is lost.

If a table publishes two different pasts, both are stored.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec
from sqlalchemy import ColumnElement, Connection, Engine, Row, ScalarSelect, and_, func, select
from sqlalchemy.exc import SQLAlchemyError

from controller.console.store.database import StoreError, dialect_insert, first_line
from controller.console.store.database_schema import (
    DISAGREEMENTS,
    EVENTS,
    HEADS,
    IS_COMMAND,
    JOURNAL_MARKS,
)
from controller.messages import PublicEvent
from controller.signing.signed_heads import HeadConflict, KeptHead, head_conflict

PAGE_ROWS: Final = 1_000


class StoredEvent(msgspec.Struct, frozen=True, gc=False):
    """One event that a table published: decoded (`event`) and as JSON text (`body`).

    `journal` is the number of the journal that contains the event.
    """

    event: PublicEvent
    body: bytes
    journal: int = 1


class JournalMark(msgspec.Struct, frozen=True, gc=False):
    """A mark in a table's journal: up to entry `n`, no public entry is missing in the archive.

    `head` is the hash of entry `n`. `journal` counts the journals that the table has begun, from 1.
    `n` belongs to this journal.
    """

    n: int
    head: str
    journal: int = 1


class WriteBatch(msgspec.Struct, frozen=True):
    """Rows to write in one transaction: events, journal marks by table id, and signed heads."""

    events: tuple[StoredEvent, ...] = ()
    marks: Mapping[str, JournalMark] = {}
    heads: tuple[KeptHead, ...] = ()


class WriteResult(msgspec.Struct, frozen=True):
    """The result of `Archive.write`: the number of new events, the marks, and new head conflicts.

    `events` is the number of events that were not stored before. `marks` are the written marks by
    table. `disagreements` are the new conflicts between signed heads.
    """

    events: int
    marks: Mapping[str, JournalMark]
    disagreements: tuple[HeadConflict, ...]


class Archive:
    """The archive of the events and signed heads of many tables. Every call may block.

    Reads of one table's events use only its present journal, unless the method states otherwise.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._insert: Any = dialect_insert(engine)

    def keep(self, kept: Sequence[StoredEvent]) -> int:
        """Write events, and return how many of them were not stored before. Raises StoreError."""
        return self.write([WriteBatch(tuple(kept))]).events

    def write(self, batches: Sequence[WriteBatch]) -> WriteResult:
        """Write batches in one transaction, and return the result. Raises StoreError.

        Stored rows do not change, except that an event may move to a later journal. Of several
        marks of a table, the last is stored.
        """
        rows = [_event_row(one) for batch in batches for one in batch.events]
        marks = {table: mark for batch in batches for table, mark in batch.marks.items()}
        heads = [head for batch in batches for head in batch.heads]
        try:
            with self._engine.begin() as base:
                # A stored event moves to a later journal if it is received as part of that
                # journal: the first events of a new journal arrive before the console has
                # detected that the journal is new.
                new = self._insert(EVENTS)
                new = self._execute(
                    base,
                    new.on_conflict_do_update(
                        index_elements=list(EVENTS.primary_key),
                        set_={"journal": new.excluded.journal},
                        where=EVENTS.c.journal < new.excluded.journal,
                    ),
                    rows,
                )
                self._write_marks(base, marks)
                wrong = tuple(one for head in heads for one in self._write_head(base, head))
        except SQLAlchemyError as error:
            raise StoreError(first_line(error)) from None
        return WriteResult(new, marks, wrong)

    def marks(self) -> dict[str, JournalMark]:
        """Return the journal marks by table id. A table without a mark is not contained."""
        with self._engine.connect() as base:
            return {
                row.table_id: JournalMark(row.n, row.head, row.journal)
                for row in base.execute(select(JOURNAL_MARKS)).all()
            }

    def disagreements(self) -> list[HeadConflict]:
        """Return all pairs of signed heads of one table that contradict each other."""
        asked = select(DISAGREEMENTS.c.body)
        with self._engine.connect() as base:
            return [_DISAGREEMENT_DECODER.decode(body) for body in base.scalars(asked)]

    def heads(self, table: str) -> list[KeptHead]:
        """Return a table's signed heads (journal hashes), sorted by entry number and time."""
        asked = select(HEADS).where(HEADS.c.table_id == table).order_by(HEADS.c.n, HEADS.c.time)
        with self._engine.connect() as base:
            return [_head_of_row(row) for row in base.execute(asked)]

    def last_number(self, table: str) -> int:
        """Return the number of the last event in a table's present journal, or 0 if it is empty."""
        return self._last_number(_is_of_present_journal(table))

    def last_number_of(self, table: str, kinds: Collection[str]) -> int:
        """Return the number of the present journal's last event of `kinds`, or 0 if none exists."""
        return self._last_number(and_(_is_of_present_journal(table), EVENTS.c.kind.in_(kinds)))

    def newest(self, table: str, count: int, kind: str | None = None) -> list[PublicEvent]:
        """Return the last `count` events of a table (or fewer), in the order of their numbers.

        With `kind`, only events of this kind are returned.
        """
        asked = select(EVENTS.c.body).where(_is_of_present_journal(table))
        if kind is not None:
            asked = asked.where(EVENTS.c.kind == kind)
        asked = asked.order_by(EVENTS.c.n.desc()).limit(count)
        with self._engine.connect() as base:
            return [_EVENT_DECODER.decode(body) for body in base.scalars(asked)][::-1]

    def find_executed(self, table: str, command_ids: Collection[str]) -> dict[str, int]:
        """Return the executed commands of `command_ids`, each with the number of its journal entry.

        All journals of the table are searched. A refused command is not contained. Entries
        with high numbers are read first, until all commands are found.
        """
        asked = select(EVENTS.c.body).where(EVENTS.c.table_id == table, IS_COMMAND)
        found: dict[str, int] = {}
        with self._engine.connect() as base:
            for body in base.scalars(
                asked.order_by(EVENTS.c.n.desc()).execution_options(yield_per=PAGE_ROWS)
            ):
                if len(found) == len(command_ids):
                    break
                entry = _EVENT_DECODER.decode(body)
                order = entry.data.get("id")
                if isinstance(order, str) and order in command_ids and "refused" not in entry.data:
                    found.setdefault(order, entry.n)
        return found

    def events(self, table: str, since: int = 0) -> Iterator[PublicEvent]:
        """Yield a table's events with a number above `since`, in the order of their numbers."""
        # The journal is read once, because another may begin while events are read.
        with self._engine.connect() as base:
            journal = base.scalar(select(_present_journal(table)))
        asked = select(EVENTS.c.n, EVENTS.c.body).where(
            EVENTS.c.table_id == table, EVENTS.c.journal == journal
        )
        while True:
            page = asked.where(EVENTS.c.n > since).order_by(EVENTS.c.n).limit(PAGE_ROWS)
            with self._engine.connect() as base:
                rows = base.execute(page).all()
            for row in rows:
                yield _EVENT_DECODER.decode(row.body)
            if len(rows) < PAGE_ROWS:
                return
            since = rows[-1].n

    def _last_number(self, which: ColumnElement[bool]) -> int:
        asked = select(EVENTS.c.n).where(which).order_by(EVENTS.c.n.desc()).limit(1)
        with self._engine.connect() as base:
            return int(base.scalar(asked) or 0)

    def _insert_new(self, base: Connection, into: Any, rows: list[dict[str, Any]]) -> int:
        """Insert the rows that the database table `into` does not have, and return their number."""
        return self._execute(base, self._insert(into).on_conflict_do_nothing(), rows)

    def _execute(self, base: Connection, new: Any, rows: list[dict[str, Any]]) -> int:
        """Execute the insert `new` for each row, and return how many rows were written.

        One statement is executed row by row. With RETURNING, all rows would be part of one
        statement, and each number of rows would make another statement. SQLite's driver caches 128
        statements, hundreds of KiB each.
        """
        if not rows:
            return 0
        return base.execute(new, rows, execution_options={"preserve_rowcount": True}).rowcount

    def _write_marks(self, base: Connection, marks: Mapping[str, JournalMark]) -> None:
        rows = [{"table_id": table} | msgspec.structs.asdict(m) for table, m in marks.items()]
        if rows:
            new = self._insert(JOURNAL_MARKS)
            said = {name: new.excluded[name] for name in JournalMark.__struct_fields__}
            base.execute(new.on_conflict_do_update(index_elements=["table_id"], set_=said), rows)

    def _write_head(self, base: Connection, shown: KeptHead) -> Iterable[HeadConflict]:
        """Store a signed head, and return the conflict between it and a stored head, if any.

        The result is empty if the head was stored already, or if it contradicts no stored head.
        """
        kept = select(HEADS).where(HEADS.c.table_id == shown.table)
        same = base.execute(kept.where(HEADS.c.n == shown.n, HEADS.c.head != shown.head)).first()
        furthest = base.execute(kept.order_by(HEADS.c.n.desc())).first()
        head = msgspec.structs.asdict(shown)
        head["table_id"] = head.pop("table")
        if not self._insert_new(base, HEADS, [head]):
            return ()
        other, last = (None if row is None else _head_of_row(row) for row in (same, furthest))
        wrong = head_conflict(other, last, shown)
        if wrong is None:
            return ()
        row = {"table_id": shown.table, "n": shown.n, "head": shown.head}
        self._insert_new(base, DISAGREEMENTS, [row | {"body": msgspec.json.encode(wrong)}])
        return (wrong,)


def _present_journal(table: str) -> ScalarSelect[int]:
    """Return a query for the number of a table's present journal. Its first journal is number 1."""
    known = select(func.coalesce(func.max(JOURNAL_MARKS.c.journal), 1))
    return known.where(JOURNAL_MARKS.c.table_id == table).scalar_subquery()


def _is_of_present_journal(table: str) -> ColumnElement[bool]:
    return and_(EVENTS.c.table_id == table, EVENTS.c.journal == _present_journal(table))


def _event_row(stored: StoredEvent) -> dict[str, Any]:
    told = stored.event
    match = told.data.get("match", told.data.get("match_id"))
    return {
        "table_id": told.table,
        "n": told.n,
        "head": told.head,
        "kind": told.kind,
        "match_id": match if isinstance(match, str) else None,
        "deal": told.deal,
        "attempt": told.attempt,
        "time": told.time,
        "body": stored.body,
        "journal": stored.journal,
    }


def _head_of_row(row: Row[Any]) -> KeptHead:
    return KeptHead(
        table=row.table_id,
        table_key=row.table_key,
        n=row.n,
        head=row.head,
        sig=row.sig,
        time=row.time,
    )


_EVENT_DECODER = msgspec.json.Decoder(PublicEvent)
_DISAGREEMENT_DECODER = msgspec.json.Decoder(HeadConflict)
