"""What lies in the console's database, and in which version."""

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from typing import Final

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
"""Of these tables. A change of one of them raises it, and is a row of MIGRATIONS."""

VERSION_ROWS: Final = Table(
    "schema_version", METADATA, Column("version", Integer, primary_key=True)
)
"""The version of the tables that lie here: one row. In version 1 this table was missing."""


def _journal_column() -> Column[int]:
    return Column("journal", Integer, nullable=False, server_default="1")


EVENTS: Final = Table(
    "events",
    METADATA,
    Column("table_id", String(24), primary_key=True),
    Column("n", BigInteger, primary_key=True),
    Column("head", String(64), primary_key=True),
    Column("kind", String(64), nullable=False),
    Column("match_id", String(64)),
    Column("deal", Integer),
    Column("attempt", Integer),
    Column("time", String(40), nullable=False),
    Column("body", LargeBinary, nullable=False),
    _journal_column(),
)
"""Public entries as their tables published them. The head is part of the key: a table that
writes its past anew has both pasts here. `journal` counts a table's journals, from 1: it begins
another one on a new disk, with the numbers from 1 again. What two of them share is the later's."""

Index("events_by_match", EVENTS.c.match_id, EVENTS.c.table_id, EVENTS.c.n)

IS_COMMAND: Final = EVENTS.c.kind == literal_column("'command'")
"""Spelled out and not a parameter: SQLite uses an index of some rows only where it reads so."""
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
    Column("table_id", String(24), primary_key=True),
    Column("n", BigInteger, primary_key=True),
    Column("head", String(64), primary_key=True),
    Column("table_key", String(40), nullable=False),
    Column("sig", String(128), nullable=False),
    Column("time", String(40), nullable=False),
)
"""Heads of journals, signed by their tables. `time`: the table's, when it was first shown."""

DISAGREEMENTS: Final = Table(
    "disagreements",
    METADATA,
    Column("table_id", String(24), primary_key=True),
    Column("n", BigInteger, primary_key=True),
    Column("head", String(64), primary_key=True),
    Column("body", LargeBinary, nullable=False),
)
"""Signed heads that contradict one that was kept before, both in `body`: another past was told."""

JOURNAL_MARKS: Final = Table(
    "complete",
    METADATA,
    Column("table_id", String(24), primary_key=True),
    Column("n", BigInteger, nullable=False),
    Column("head", String(64), nullable=False),
    _journal_column(),
)
"""Up to which entry nothing public of a table is missing; behind it there may be holes. `journal`
is the present one of the table."""

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
"""Commands, written before they are sent; without a reply it is not known whether they acted."""

AREA_ACTION_LOG: Final = Table(
    "acts",
    METADATA,
    Column("id", String(40), primary_key=True),
    Column("at_ms", BigInteger, nullable=False),
    Column("body", LargeBinary, nullable=False),
)
"""What people ordered of whole areas; what became of it stands in each table's order."""

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
"""Who may log in. `table_id`: the one table of a display. `pin`: its argon2 hash."""

INVITATIONS: Final = Table(
    "invitations",
    METADATA,
    Column("person", String(40), primary_key=True),
    Column("code", String(64), nullable=False, unique=True),
    Column("until_ms", BigInteger, nullable=False),
)
"""Invitations that nobody has used yet, one a person, by the hash of their code."""

SESSIONS: Final = Table(
    "sessions",
    METADATA,
    Column("token", String(64), primary_key=True),
    Column("person", String(40), nullable=False),
    Column("until_ms", BigInteger, nullable=False),
)
"""Who is logged in, by the hash of what his browser holds."""

CALL_ASSIGNMENTS: Final = Table(
    "takes",
    METADATA,
    Column("table_id", String(24), primary_key=True),
    Column("person", String(40), nullable=False),
    Column("at_ms", BigInteger, nullable=False),
)
"""Who goes to a table that waits."""

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
"""Score sheets as their tables told them: one for every version and every signature under it.

`start_ms`: of the match by its table's clock, so that two matches of one name stay two; `at_ms`:
when it was written down here."""

_UNVERSIONED: Final = 1
"""The version of a database that has tables, and none that says its version."""


class DatabaseTooNew(Exception):
    """A database of a newer console; one line says its version, and what to do."""


def migrate(engine: Engine) -> None:
    """Make the tables that are missing, and change those of an older version.

    A step that a power cut interrupted is done again at the next start. Raises VersionError.
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
    """Number the journals of each table: all entries are of journal 1.

    If there are entries of two journals, those of the present one are of journal 2.
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
    """Return the entries of one table's journal up to the one with this head, the last one first.

    The chain of heads leads back. It runs over private entries, too, which are not here: before
    those comes an entry of the same run of the table's daemon, as a run has one journal; before the
    first entry of a run, the last one of the latest run whose numbers are all smaller.
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


def _index_commands(base: Connection) -> None:
    """Let the entries of carried-out orders be found without reading a table's whole journal."""
    _COMMAND_INDEX.create(base, checkfirst=True)


MIGRATIONS: Final[Mapping[int, Callable[[Connection], None]]] = {
    1: _number_journals,
    2: _index_commands,
}
"""By version: what leads to the next one. Each may be done twice."""

_EVENT_DECODER: Final = msgspec.json.Decoder(PublicEvent)
