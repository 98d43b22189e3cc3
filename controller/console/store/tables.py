"""What lies in the console's database."""

from typing import Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
)

ALL: Final = MetaData()

EVENTS: Final = Table(
    "events",
    ALL,
    Column("table_id", String(24), primary_key=True),
    Column("n", BigInteger, primary_key=True),
    Column("head", String(64), primary_key=True),
    Column("kind", String(64), nullable=False),
    Column("match_id", String(64)),
    Column("deal", Integer),
    Column("attempt", Integer),
    Column("time", String(40), nullable=False),
    Column("body", LargeBinary, nullable=False),
)
"""Public entries as their tables published them. The head is part of the key: a table that
writes its past anew has both pasts here."""

Index("events_by_match", EVENTS.c.match_id, EVENTS.c.table_id, EVENTS.c.n)

HEADS: Final = Table(
    "heads",
    ALL,
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
    ALL,
    Column("table_id", String(24), primary_key=True),
    Column("n", BigInteger, primary_key=True),
    Column("head", String(64), primary_key=True),
    Column("body", LargeBinary, nullable=False),
)
"""Signed heads that contradict one that was kept before, both in `body`: another past was told."""

COMPLETE: Final = Table(
    "complete",
    ALL,
    Column("table_id", String(24), primary_key=True),
    Column("n", BigInteger, nullable=False),
    Column("head", String(64), nullable=False),
)
"""Up to which entry nothing public of a table is missing; behind it there may be holes."""

ORDERS: Final = Table(
    "orders",
    ALL,
    Column("id", String(64), primary_key=True),
    Column("table_id", String(24), nullable=False),
    Column("person", String(40), nullable=False),
    Column("role", String(16), nullable=False),
    Column("at_ms", BigInteger, nullable=False),
    Column("command", LargeBinary, nullable=False),
    Column("reply", LargeBinary),
)
"""Commands, written before they are sent; without a reply it is not known whether they acted."""

ACTS: Final = Table(
    "acts",
    ALL,
    Column("id", String(40), primary_key=True),
    Column("at_ms", BigInteger, nullable=False),
    Column("body", LargeBinary, nullable=False),
)
"""What people ordered of whole areas; what became of it stands in each table's order."""

PEOPLE: Final = Table(
    "people",
    ALL,
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
    ALL,
    Column("person", String(40), primary_key=True),
    Column("code", String(64), nullable=False, unique=True),
    Column("until_ms", BigInteger, nullable=False),
)
"""Invitations that nobody has used yet, one a person, by the hash of their code."""

SESSIONS: Final = Table(
    "sessions",
    ALL,
    Column("token", String(64), primary_key=True),
    Column("person", String(40), nullable=False),
    Column("until_ms", BigInteger, nullable=False),
)
"""Who is logged in, by the hash of what his browser holds."""

TAKES: Final = Table(
    "takes",
    ALL,
    Column("table_id", String(24), primary_key=True),
    Column("person", String(40), nullable=False),
    Column("at_ms", BigInteger, nullable=False),
)
"""Who goes to a table that waits."""

SHEETS: Final = Table(
    "sheets",
    ALL,
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
