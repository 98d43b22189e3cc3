"""The penalties that pairs carry into a match which is laid out: those of their earlier matches.

Counters belong to pairs and persons, and travel with them within an event (seed 000 A15.3.3,
A15.3.5, A19.2). A match that goes to another table takes its own along; one that is laid out anew
has them from what the tables have published. An overturned ruling counts nowhere.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final

from controller.console.view.cases import read_rulings
from controller.console.view.counters import penalty_entry
from controller.messages import PublicEvent
from controller.rules.penalties.records import PenaltyEntry, PenaltyRecord

MAX_RECORDS: Final = 30
"""Penalties that a match brings along, the newest: an order has no room for many more."""

_MatchKey = tuple[str, int, str]
"""A match: its event, round and id."""


def earlier_penalties(
    matches: Iterable[Sequence[PublicEvent]], pairs: Collection[str]
) -> PenaltyRecord:
    """Return what was given to these pairs so far, in the order in which it happened.

    `matches`: each from its `meeting` on, as tables published them. What a match of which nothing
    is known here left behind is taken from what later ones brought along.
    """
    found: dict[tuple[object, ...], PenaltyEntry | None] = {}
    brought: dict[PenaltyEntry, None] = {}
    known: set[_MatchKey] = set()
    for entries in sorted(matches, key=lambda entries: entries[0].time):
        known.add(_match_key(entries[0]))
        told = read_rulings(entries)
        brought |= dict.fromkeys(told.earlier_penalties or ())
        for case in told.cases:
            # At another table the same ruling stands once more, with that table's times.
            key = (*_match_key(entries[0]), case.id, case.charge.offence, case.charge.deal)
            found[(*key, case.charge.side, case.charge.seat)] = penalty_entry(case)
    before = [one for one in brought if (one.event, one.round, one.match) not in known]
    given = [*before, *(one for one in found.values() if one is not None)]
    return tuple(one for one in given if one.pair in pairs)[-MAX_RECORDS:]


def _match_key(laid_out: PublicEvent) -> _MatchKey:
    said: dict[str, Any] = laid_out.data.get("meeting", {})
    return str(said.get("event")), int(said.get("round", 0)), str(said.get("match_id"))
