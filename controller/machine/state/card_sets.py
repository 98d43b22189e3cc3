"""The sets of cards of a table: the set that the players have, and the set of the next deal.

If deals are dealt ahead, two sets alternate, because the set that the players have cannot be in the
hopper. After a release in a match, the next deal is dealt with a set that has another back. The
used set stays on the table as evidence until its deal is over.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from controller.faults import fault
from controller.journal.entries import JournalEntry
from controller.machine.state.table_state import MAX_SHOWN_PROOFS, TableState
from controller.messages import CardSetState


def next_set(
    known: Mapping[str, CardSetState],
    loaded: str | None,
    used: str | None,
    sets: Mapping[str, str],
    *,
    ahead: bool,
) -> CardSetState:
    """Return the set of cards for the next deal, even if another set is in the machine now.

    `known` has the sets by id. `loaded` is the set that was dealt last or was reported as loaded
    since. `used` is the set of the hands that a match released last, or None after such a report.
    `sets` has the back of each set of the table by its id. The first is in the machine at the
    beginning. `ahead` is True if deals are dealt ahead.
    """
    name = loaded or next(iter(sets))
    if ahead and name == used:
        name = next(_sets_of_other_back(name, known, sets), name)
    return known.get(name, CardSetState(id=name, back=sets.get(name, "A")))


def _sets_of_other_back(
    name: str, known: Mapping[str, CardSetState], sets: Mapping[str, str]
) -> Iterator[str]:
    """Yield the ids of all sets that have another back than the set `name`, barred sets last.

    The order is that of `sets`, from the set after `name` to the end, then from the beginning.
    """
    order = list(sets)
    begin = order.index(name) + 1 if name in sets else 0
    turned = [*order[begin:], *order[:begin]]
    back = known[name].back if name in known else sets.get(name)
    others = [one for one in turned if sets[one] != back]
    return iter(sorted(others, key=lambda one: one in known and bool(known[one].barred)))


_FOREIGN = "FOREIGN_BACK"


def set_changes_of_attempt(state: TableState, entry: JournalEntry) -> dict[str, Any]:
    """Return the new values of the set fields of `state`, because `entry` begins an attempt."""
    name = entry.data["set"]
    known = state.sets.get(name, CardSetState(id=name, back=entry.data["back"]))
    used = replace(known, attempts=known.attempts + 1)
    dealt_with = {**state.set_by_attempt, entry.attempt or 0: name}
    return {
        "sets": state.sets | {name: used},
        "loaded_set": name,
        "set_by_attempt": dict(list(dealt_with.items())[-MAX_SHOWN_PROOFS:]),
    }


def set_of_attempt(state: TableState, entry: JournalEntry) -> CardSetState | None:
    """Return the set of cards of the entry's attempt, or None if the state no longer has it.

    The state has only the sets of the last attempts. Another set may be loaded now.
    """
    return state.sets.get(state.set_by_attempt.get(entry.attempt or 0, ""))


def sets_after_verdict(state: TableState, entry: JournalEntry) -> dict[str, CardSetState]:
    """Return all sets of cards after a verdict, which may bar the set of its attempt.

    A set is barred if a reason of the verdict puts its number of cards in doubt.
    """
    doubts = [name for name in entry.data["reasons"] if not fault(name).counts_hold]
    known = set_of_attempt(state, entry)
    if known is None:
        return state.sets
    barred = list(dict.fromkeys([*known.barred, *doubts]))
    sets = replace_set(state, known, barred=barred, misdeals=known.misdeals + bool(doubts))
    for name, one in sets.items() if _FOREIGN in doubts else ():
        # A card with another back came from a set with that back, so both counts are wrong.
        if one.back != known.back:
            barred = list(dict.fromkeys([*one.barred, _FOREIGN]))
            sets = sets | {name: replace(one, barred=barred)}
    return sets


def replace_set(state: TableState, known: CardSetState, **changes: Any) -> dict[str, CardSetState]:
    """Return all sets of `state` by id, after `changes` to the fields of the set `known`."""
    return state.sets | {known.id: replace(known, **changes)}
