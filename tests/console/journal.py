"""A table's journal as consoles see it: public entries, private ones between, one chain."""

import hashlib
from typing import Any

from sqlalchemy import Engine, func, select

from controller.console.store.database_schema import EVENTS
from controller.messages import PublicEvent

ZERO = "0" * 64


def contradicting_numbers(engine: Engine, table: str) -> list[int]:
    """Return the numbers at which the archive has two different entries of a table."""
    twice = select(EVENTS.c.n).where(EVENTS.c.table_id == table).group_by(EVENTS.c.n)
    with engine.connect() as base:
        return list(base.scalars(twice.having(func.count() > 1).order_by(EVENTS.c.n)))


class Journal:
    """Entries of one table. `past` makes chains differ from their very beginning."""

    def __init__(self, table: str = "T01", past: str = "") -> None:
        self.table, self.past = table, past
        self.n, self.head = 0, ZERO
        self.public: list[PublicEvent] = []
        self.asked: list[int] = []

    def private(self) -> None:
        """Write an entry that is not told."""
        self.n += 1
        said = f"{self.past}{self.head}{self.n}"
        self.head = hashlib.sha256(said.encode()).hexdigest()

    def happens(self, kind: str = "state", **data: Any) -> PublicEvent:
        """Write a public entry."""
        prev = self.head
        self.private()
        event = PublicEvent(
            table=self.table,
            boot="b" * 8,
            n=self.n,
            time="2027-01-01T00:00:00.000Z",
            simulated=True,
            kind=kind,
            deal=1,
            attempt=None,
            data=data,
            prev=prev,
            head=self.head,
        )
        self.public.append(event)
        return event

    def events(self, since: int, most: int = 7) -> list[PublicEvent]:
        """Answer `events`, few at a time."""
        self.asked.append(since)
        return [event for event in self.public if event.n > since][:most]
