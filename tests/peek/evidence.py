"""All that could be seen of a table, in the order in which it was, and the search through it."""

from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ahocorasick_rs import BytesAhoCorasick, Implementation

from tests.peek.hidden import Hidden
from tests.peek.reading import readings

_AROUND = 60
_SMALL = 1 << 16
_BETWEEN = b"\xff" * 150
"""So far that no row goes on from one exhibit to the next."""


class Exhibit(NamedTuple):
    """Some bytes of a place. `rows`: kinds and attempts of the journal's rows at that moment."""

    place: str
    name: str
    data: bytes
    rows: frozenset[tuple[str, int]] = frozenset()


class Find(NamedTuple):
    """A secret that was found while it was one."""

    place: str
    name: str
    what: str
    way: str
    around: bytes


@dataclass
class Evidence:
    """Exhibits in order; their place in it is the only time there is."""

    exhibits: list[Exhibit] = field(default_factory=list)
    _known: set[tuple[str, bytes]] = field(default_factory=set)

    def add(
        self, place: str, name: str, data: bytes, rows: frozenset[tuple[str, int]] = frozenset()
    ) -> None:
        """Take something in, unless the same was there before: what was seen first counts."""
        if data and (place, data) not in self._known:
            self._known.add((place, data))
            self.exhibits.append(Exhibit(place, name, data, rows))

    @property
    def now(self) -> int:
        """The number of the next exhibit."""
        return len(self.exhibits)

    def sizes(self) -> Counter[str]:
        """Return how many bytes each place has shown."""
        sizes: Counter[str] = Counter()
        for exhibit in self.exhibits:
            sizes[exhibit.place] += len(exhibit.data)
        return sizes


def search(evidence: Evidence, hidden: Collection[Hidden]) -> list[Find]:
    """Return everything hidden that somebody could have seen while it was."""
    of: dict[bytes, list[Hidden]] = defaultdict(list)
    for each in hidden:
        for pattern in each.patterns:
            of[pattern].append(each)
    patterns = list(of)
    automaton = BytesAhoCorasick(patterns, implementation=Implementation.DFA)
    found: dict[tuple[str, str, str], Find] = {}
    for number, exhibit in _together(evidence.exhibits, _moments(hidden)):
        for way, data, stride in readings(exhibit.data):
            for at, start, end in automaton.find_matches_as_indexes(data, overlapping=True):
                for each in of[patterns[at]]:
                    key = (exhibit.place, each.what, way)
                    if key in found or (each.is_text and stride > 1):
                        continue
                    if _is_hidden(each, number, exhibit):
                        around = data[max(0, start - _AROUND) : end + _AROUND]
                        found[key] = Find(exhibit.place, exhibit.name, each.what, way, around)
    return list(found.values())


def _moments(hidden: Iterable[Hidden]) -> list[int]:
    """Return when something became hidden or public."""
    return sorted({moment for each in hidden for moment in (each.since, each.until)})


def _together(exhibits: Iterable[Exhibit], moments: Sequence[int]) -> Iterator[tuple[int, Exhibit]]:
    """Yield exhibits with their numbers: small ones joined where the same was hidden then."""
    joined: dict[tuple[str, frozenset[tuple[str, int]], int], list[tuple[int, Exhibit]]] = {}
    for number, exhibit in enumerate(exhibits):
        if len(exhibit.data) > _SMALL:
            yield number, exhibit
        else:
            when = bisect(moments, number)
            joined.setdefault((exhibit.place, exhibit.rows, when), []).append((number, exhibit))
    for (place, rows, _), group in joined.items():
        names = " … ".join(dict.fromkeys((group[0][1].name, group[-1][1].name)))
        data = _BETWEEN.join(exhibit.data for _, exhibit in group)
        yield group[0][0], Exhibit(place, names, data, rows)


def _is_hidden(each: Hidden, number: int, exhibit: Exhibit) -> bool:
    return (
        each.since <= number < each.until
        and each.public_by not in exhibit.rows
        and each.but_in != exhibit.place
    )
