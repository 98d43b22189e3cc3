"""The record of penalties: all penalties that were applied, and functions that search it.

The record belongs to pairs and persons, not to a table, and is carried into their next match.
Counters are never stored. They are counted from the record when they are needed.
"""

from collections.abc import Callable
from typing import Literal

import msgspec

from controller.messages import Seat, Side

Penalty = Literal["none", "warning", "violation", "foul", "match_forfeit", "disqualification"]
"""Oral warning 口头警告, violation 违例, foul 犯规, match lost, disqualified (seed 000 A15.3)."""

CountedParty = Literal["player", "pair", "side"]
"""The party whose offences are added up."""

CountScope = Literal["occasion", "deal", "match", "round", "event"]
"""The scope of the count. "occasion" means no count: each offence is separate."""


class Incident(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One offence, with the offender, and the match, deal and time in which it happened.

    `seat` and `person` are None if the pair committed the offence, for example by coming late.
    `match` is unique in its round. `deal` counts from 1 in its match, and is 0 before the first
    deal. `at_ms`: the time of the offence, by the clock of the match's events. It is only displayed
    and never used for a count.
    """

    offence: str
    seat: Seat | None
    person: str | None
    pair: str
    side: Side
    event: str
    round: int
    match: str
    deal: int
    at_ms: int


class PenaltyEntry(Incident, frozen=True, kw_only=True, gc=False):
    """One penalty or warning that was applied. `article` is None if its rule is provisional."""

    penalty: Penalty
    article: str | None


PenaltyRecord = tuple[PenaltyEntry, ...]
"""Everything applied so far, in order of time."""


def earlier_entries(
    record: PenaltyRecord, incident: Incident, counted: CountedParty, scope: CountScope
) -> PenaltyRecord:
    """Return the entries of `record` with the same offender as `incident` and in the same `scope`.

    The offender is the player, pair or side (`counted`). With the scope "deal", for example, the
    entries of the same deal are returned. The result is empty for the scope "occasion".
    """
    if scope == "occasion":
        return ()
    return tuple(
        entry
        for entry in record
        if _SAME_OWNER[counted](entry, incident)
        and _place_in_scope(entry, scope) == _place_in_scope(incident, scope)
    )


def pairs_disqualified(record: PenaltyRecord, event: str) -> frozenset[str]:
    """Return the pairs that are excluded from the tournament `event`. Source: seed 000 A15.3.5."""
    return frozenset(
        entry.pair
        for entry in record
        if entry.penalty == "disqualification" and entry.event == event
    )


_SAME_OWNER: dict[CountedParty, Callable[[Incident, Incident], bool]] = {
    "player": lambda one, other: (
        one.person is not None and (one.person, one.pair) == (other.person, other.pair)
    ),
    "pair": lambda one, other: one.pair == other.pair,
    "side": lambda one, other: one.side == other.side,
}

_SCOPE_DEPTHS: dict[CountScope, int] = {"event": 1, "round": 2, "match": 3, "deal": 4}


def _place_in_scope(incident: Incident, scope: CountScope) -> tuple[object, ...]:
    place = (incident.event, incident.round, incident.match, incident.deal)
    return place[: _SCOPE_DEPTHS[scope]]
