"""What the archive has of the rulings of earlier matches, as their tables published them."""

from collections.abc import Collection, Iterator
from typing import Any, Final

import msgspec
from sqlalchemy import Engine, select

from controller.console.store.tables import EVENTS
from controller.messages import PublicEvent

_MATCH_START_KIND: Final = "meeting"
_RELEVANT_KINDS: Final = (_MATCH_START_KIND, "match")
_RULING_MARKERS: Final = (b'"Ruling', b'"VerbalConfirmed"')
"""One of these stands in the body of whatever changes a ruling."""
_EVENT_DECODER: Final = msgspec.json.Decoder(PublicEvent)


class EarlierRulings:
    """Reads the archive. Every call is one transaction, and may block."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def matches_of_pairs(self, event: str, pairs: Collection[str]) -> list[list[PublicEvent]]:
        """Return each match that one of these pairs has in an event: how it was laid out, and
        what was ruled in it. One that went to another table is there once for each table.
        """
        asked = (
            select(EVENTS.c.table_id, EVENTS.c.journal, EVENTS.c.kind, EVENTS.c.body)
            .where(EVENTS.c.kind.in_(_RELEVANT_KINDS))
            .order_by(EVENTS.c.table_id, EVENTS.c.journal, EVENTS.c.n)
        )
        with self._engine.connect() as base:
            return list(_matches(base.execute(asked), event, frozenset(pairs)))


def _matches(rows: Any, event: str, pairs: frozenset[str]) -> Iterator[list[PublicEvent]]:
    """Yield the entries of the matches that are meant, out of all tables' rows in their order."""
    of_journal, open_ = None, None
    for table, number, kind, body in rows:
        journal = (table, number)
        if kind == _MATCH_START_KIND or journal != of_journal:
            if open_:
                yield open_
            of_journal, open_ = journal, None
        if kind == _MATCH_START_KIND:
            laid_out = _EVENT_DECODER.decode(body)
            open_ = [laid_out] if _is_of_pairs(laid_out.data, event, pairs) else None
        elif open_ and any(word in body for word in _RULING_MARKERS):
            open_.append(_EVENT_DECODER.decode(body))
    if open_:
        yield open_


def _is_of_pairs(data: dict[str, Any], event: str, pairs: frozenset[str]) -> bool:
    said = data.get("meeting")
    if not isinstance(said, dict) or said.get("event") != event:
        return False
    named = said.get("pairs")
    both = named.values() if isinstance(named, dict) else ()
    return any(isinstance(one, dict) and one.get("id") in pairs for one in both)
