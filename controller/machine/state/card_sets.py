"""Which set is out, and which one is dealt with next: with deal-ahead two sets alternate.

The set that the players hold cannot lie in the hopper. So once a match's hands are out, the
next deal is dealt with a set of the other back, and the used one waits on the table as
evidence until its deal is over.
"""

from collections.abc import Iterator, Mapping

import msgspec

from controller.messages import CardSetState


class SetInPlay(msgspec.Struct, frozen=True, gc=False):
    """The attempt whose hands the players hold, and its set."""

    attempt: int
    card_set: str


def next_set(
    known: Mapping[str, CardSetState],
    loaded: str | None,
    used: str | None,
    sets: Mapping[str, str],
    *,
    ahead: bool,
) -> CardSetState:
    """Return the set that lies in the machine, or is to be laid into it for the next deal.

    `known` sets by id; `loaded` was dealt with last, or said to be loaded; the hands of `used`
    were the last to go out in a match, where nobody has said since which set is loaded. `sets`
    are the table's by id with their backs, the first one in the machine at the beginning.
    `ahead`: deals are dealt ahead.
    """
    name = loaded or next(iter(sets))
    if ahead and name == used:
        name = next(_sets_of_other_back(name, known, sets), name)
    return known.get(name, CardSetState(id=name, back=sets.get(name, "A")))


def mixed_sets(known: Mapping[str, CardSetState], card_set: CardSetState) -> tuple[str, ...]:
    """Return the sets whose count is in doubt with this one's, where foreign backs lay in it.

    A card with another back came out of a set that has it: both counts are wrong then.
    """
    return tuple(name for name, one in known.items() if one.back != card_set.back)


def _sets_of_other_back(
    name: str, known: Mapping[str, CardSetState], sets: Mapping[str, str]
) -> Iterator[str]:
    """Yield the table's sets of another back, those behind `name` first, barred ones last."""
    order = list(sets)
    begin = order.index(name) + 1 if name in sets else 0
    turned = [*order[begin:], *order[:begin]]
    back = known[name].back if name in known else sets.get(name)
    others = [one for one in turned if sets[one] != back]
    return iter(sorted(others, key=lambda one: one in known and bool(known[one].barred)))
