"""The penalties that pairs carry into a match which is laid out: those of their earlier matches.

Counters belong to pairs and persons, and travel with them within an event (seed 000 A15.3.3,
A15.3.5, A19.2). A match that goes to another table takes its own along; one that is laid out anew
has them from what the tables have published. An overturned ruling counts nowhere.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final

from controller.console.view.cases import read_rulings
from controller.console.view.counters import entry_of
from controller.messages import Event
from controller.rules.penalties.records import Entry, Record

MOST: Final = 30
"""Penalties that a match brings along, the newest: an order has no room for many more."""

_MatchKey = tuple[str, int, str]
"""A match: its event, round and id."""


def carried(matches: Iterable[Sequence[Event]], pairs: Collection[str]) -> Record:
    """Return what was given to these pairs so far, in the order in which it happened.

    `matches`: each from its `meeting` on, as tables published them. What a match of which nothing
    is known here left behind is taken from what later ones brought along.
    """
    found: dict[tuple[object, ...], Entry | None] = {}
    brought: dict[Entry, None] = {}
    known: set[_MatchKey] = set()
    for entries in sorted(matches, key=lambda entries: entries[0].time):
        known.add(_match_key(entries[0]))
        told = read_rulings(entries)
        brought |= dict.fromkeys(told.brought or ())
        for case in told.cases:
            # At another table the same ruling stands once more, with that table's times.
            key = (*_match_key(entries[0]), case.id, case.charge.offence, case.charge.deal)
            found[(*key, case.charge.side, case.charge.seat)] = entry_of(case)
    before = [one for one in brought if (one.event, one.round, one.match) not in known]
    given = [*before, *(one for one in found.values() if one is not None)]
    return tuple(one for one in given if one.pair in pairs)[-MOST:]


def _match_key(laid_out: Event) -> _MatchKey:
    said: dict[str, Any] = laid_out.data.get("meeting", {})
    return str(said.get("event")), int(said.get("round", 0)), str(said.get("match_id"))
