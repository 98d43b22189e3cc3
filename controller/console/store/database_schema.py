"""The tables of the console's database, their version and the migrations between versions."""

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import msgspec
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    Engine,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    bindparam,
    delete,
    func,
    insert,
    inspect,
    literal_column,
    select,
    text,
    update,
)

from controller.messages import PublicEvent

METADATA: Final = MetaData()
SCHEMA_VERSION: Final = 3
"""The version of these tables. Each change of a table raises it and adds a row to MIGRATIONS."""

VERSION_ROWS: Final = Table(
    "schema_version", METADATA, Column("version", Integer, primary_key=True)
)
"""The version of the tables in the database: one row. Version 1 did not have this table."""


def _entry_key() -> tuple[Column[Any], ...]:
    return (
        Column("table_id", String(24), primary_key=True),
        Column("n", BigInteger, primary_key=True),
        Column("head", String(64), primary_key=True),
    )


def _journal_column() -> Column[int]:
    return Column("journal", Integer, nullable=False, server_default="1")


EVENTS: Final = Table(
    "events",
    METADATA,
    *_entry_key(),
    Column("kind", String(64), nullable=False),
    Column("match_id", String(64)),
    Column("deal", Integer),
    Column("attempt", Integer),
    Column("time", String(40), nullable=False),
    Column("body", LargeBinary, nullable=False),
    _journal_column(),
)
"""Public entries as their tables published them. The head is part of the key: if a table rewrites
its past, both pasts are stored here. `journal` counts the journals of a table, from 1. A table
begins another journal on a new disk, with entry numbers from 1 again. An entry that two journals
share belongs to the later journal.
"""

Index("events_by_match", EVENTS.c.match_id, EVENTS.c.table_id, EVENTS.c.n)

IS_COMMAND: Final = EVENTS.c.kind == literal_column("'command'")
"""A literal and not a parameter: SQLite uses a partial index only if the query contains the same
literal.
"""
_COMMAND_INDEX: Final = Index(
    "events_of_commands",
    EVENTS.c.table_id,
    EVENTS.c.n,
    sqlite_where=IS_COMMAND,
    postgresql_where=IS_COMMAND,
)

HEADS: Final = Table(
    "heads",
    METADATA,
    *_entry_key(),
    Column("table_key", String(40), nullable=False),
    Column("sig", String(128), nullable=False),
    Column("time", String(40), nullable=False),
)
"""Heads of journals, signed by their tables.

`time` is the time of the table when the head was first shown.
"""

DISAGREEMENTS: Final = Table(
    "disagreements", METADATA, *_entry_key(), Column("body", LargeBinary, nullable=False)
)
"""Signed heads that contradict a head that was stored before. `body` contains both: the table has
published two different pasts.
"""

JOURNAL_MARKS: Final = Table(
    "complete",
    METADATA,
    Column("table_id", String(24), primary_key=True),
    Column("n", BigInteger, nullable=False),
    Column("head", String(64), nullable=False),
    _journal_column(),
)
"""The entry up to which no public entry of a table is missing. After it there may be gaps.
`journal` is the number of the present journal of the table.
"""

COMMAND_LOG: Final = Table(
    "orders",
    METADATA,
    Column("id", String(64), primary_key=True),
    Column("table_id", String(24), nullable=False),
    Column("person", String(40), nullable=False),
    Column("role", String(16), nullable=False),
    Column("at_ms", BigInteger, nullable=False),
    Column("command", LargeBinary, nullable=False),
    Column("reply", LargeBinary),
)
"""Commands, stored before they are sent. Without a reply it is unknown whether the command was
carried out.
"""

AREA_ACTION_LOG: Final = Table(
    "acts",
    METADATA,
    Column("id", String(40), primary_key=True),
    Column("at_ms", BigInteger, nullable=False),
    Column("body", LargeBinary, nullable=False),
)
"""Commands that people gave to whole areas. The result is stored with the command to each table."""

ACCOUNTS: Final = Table(
    "people",
    METADATA,
    Column("name", String(40), primary_key=True),
    Column("role", String(16), nullable=False),
    Column("pin", String(200)),
    Column("language", String(2), nullable=False),
    Column("table_id", String(24)),
    Column("active", Boolean, nullable=False),
)
"""Accounts that may log in.

`table_id` is the one table of a display. `pin` is the argon2 hash of the PIN.
"""

INVITATIONS: Final = Table(
    "invitations",
    METADATA,
    Column("person", String(40), primary_key=True),
    Column("code", String(64), nullable=False, unique=True),
    Column("until_ms", BigInteger, nullable=False),
)
"""Unused invitations, one for each person. `code` is the hash of the invitation code."""

SESSIONS: Final = Table(
    "sessions",
    METADATA,
    Column("token", String(64), primary_key=True),
    Column("person", String(40), nullable=False),
    Column("until_ms", BigInteger, nullable=False),
)
"""Sessions of people who are logged in. `token` is the hash of the token in the browser."""

CALL_ASSIGNMENTS: Final = Table(
    "takes",
    METADATA,
    Column("table_id", String(24), primary_key=True),
    Column("person", String(40), nullable=False),
    Column("at_ms", BigInteger, nullable=False),
)
"""The person who is on the way to a table that waits."""

SHEETS: Final = Table(
    "sheets",
    METADATA,
    Column("table_id", String(24), primary_key=True),
    Column("match_id", String(64), primary_key=True),
    Column("start_ms", BigInteger, primary_key=True),
    Column("version", Integer, primary_key=True),
    Column("signed", Integer, primary_key=True),
    Column("state", String(8), nullable=False),
    Column("event", String(64), nullable=False),
    Column("round", Integer, nullable=False),
    Column("match_no", Integer, nullable=False),
    Column("table_no", String(64), nullable=False),
    Column("at_ms", BigInteger, nullable=False),
    Column("body", LargeBinary, nullable=False),
)
"""Score sheets as their tables published them: one row for every version and number of signatures.

`start_ms` is the start of the match by the clock of its table, so that two matches of one name stay
separate. `at_ms` is the time when the row was written.
"""

_UNVERSIONED: Final = 1
"""The version of a database that has tables but no stored version."""


class DatabaseTooNew(Exception):
    """An error for a database that a newer version of the console created or updated.

    The message states its version and what to do.
    """


def migrate(engine: Engine) -> None:
    """Create missing database tables, and convert a database of an older version.

    A step that a power cut interrupted is repeated at the next start. Raises DatabaseTooNew.
    """
    there = inspect(engine)
    with engine.connect() as base:
        known = (
            base.scalar(select(func.max(VERSION_ROWS.c.version)))
            if there.has_table(VERSION_ROWS.name)
            else None
        )
    found = known or (_UNVERSIONED if there.has_table(EVENTS.name) else SCHEMA_VERSION)
    if found > SCHEMA_VERSION:
        raise DatabaseTooNew(
            f"it is of version {found}, and this console knows {SCHEMA_VERSION}: start the newer "
            "console, or name another database in console.toml"
        )
    METADATA.create_all(engine)
    with engine.begin() as base:
        for version in range(found, SCHEMA_VERSION):
            MIGRATIONS[version](base)
        if known != SCHEMA_VERSION:
            base.execute(delete(VERSION_ROWS))
            base.execute(insert(VERSION_ROWS), {"version": SCHEMA_VERSION})


def _number_journals(base: Connection) -> None:
    """Add the column `journal` to an older database, and number each table's journals from 1.

    The number is 1 for all entries of a table. If there are entries of two journals, it is 2 for
    those of the present one.
    """
    for table in (EVENTS, JOURNAL_MARKS):
        if "journal" not in {column["name"] for column in inspect(base).get_columns(table.name)}:
            base.execute(
                text(f"ALTER TABLE {table.name} ADD COLUMN journal INTEGER NOT NULL DEFAULT 1")
            )
    numbered = select(EVENTS.c.table_id).group_by(EVENTS.c.table_id, EVENTS.c.n)
    for table_id in set(base.scalars(numbered.having(func.count() > 1))):
        mark = base.execute(
            select(JOURNAL_MARKS).where(JOURNAL_MARKS.c.table_id == table_id)
        ).one_or_none()
        bodies = base.scalars(select(EVENTS.c.body).where(EVENTS.c.table_id == table_id))
        entries = [_EVENT_DECODER.decode(body) for body in bodies]
        present = [] if mark is None else _journal_of(mark.head, entries)
        if present:
            of_table = EVENTS.c.table_id == table_id
            same = of_table & (EVENTS.c.n == bindparam("at")) & (EVENTS.c.head == bindparam("its"))
            rows = [{"at": one.n, "its": one.head} for one in present]
            base.execute(update(EVENTS).where(same).values(journal=2), rows)
            known = JOURNAL_MARKS.c.table_id == table_id
            base.execute(update(JOURNAL_MARKS).where(known).values(journal=2))


def _journal_of(head: str, entries: Sequence[PublicEvent]) -> list[PublicEvent]:
    """Return the entries of one journal, from the entry with the hash `head` back to the first.

    `entries` are all entries of one table. The chain of heads leads back. The chain also contains
    private entries, which are not stored here. Before private entries comes the previous entry of
    the same run of the table's daemon, because a run has one journal. Before the first entry of a
    run comes the last entry of the latest run whose numbers are all smaller.
    """
    by_head = {entry.head: entry for entry in entries}
    runs: dict[str, list[PublicEvent]] = {}
    for entry in sorted(entries, key=lambda one: one.n):
        runs.setdefault(entry.boot, []).append(entry)
    found: list[PublicEvent] = []
    last = by_head.get(head)
    while last is not None:
        found.append(last)
        before = last.n - 1
        chained = by_head.get(last.prev)
        if chained is None and before:
            run = runs[last.boot]
            at = bisect_left(run, before, key=lambda one: one.n)
            ended = [one[-1] for one in runs.values() if one[-1].n < before]
            chained = run[at - 1] if at else max(ended, key=lambda one: one.time, default=None)
        last = chained
    return found


MIGRATIONS: Final[Mapping[int, Callable[[Connection], None]]] = {
    1: _number_journals,
    # An index that finds entries of commands without reading a table's whole journal.
    2: lambda base: _COMMAND_INDEX.create(base, checkfirst=True),
}
"""For each version, the function that updates to the next version.

Each may run twice without harm.
"""

_EVENT_DECODER: Final = msgspec.json.Decoder(PublicEvent)
