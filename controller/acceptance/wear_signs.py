"""Signs of wear of a machine, counted from its journal, and the parts to clean or replace.

The counts are a pure fold over entries. They use only codes and indices of the boards' events,
which are not encrypted. They contain no faces.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Final, Literal

import msgspec

from controller.host import toml_files
from controller.journal.entries import JournalEntry
from controller.journal.packed_board_events import LoggedBoardEvent, unpack_events
from controller.words import Words
from drivers.board_events import BoardEventCode, JamPlace

ServiceKind = Literal["cleaned", "replaced"]
WearDue = Literal["fine", "soon", "now"]
RECENT_ATTEMPTS: Final = 100
"""The number of attempts for a rate.

They have some ten thousand cards, so that one event in a thousand is visible.
"""
MIN_CARDS_FOR_RATE: Final = 1000
"""The minimum number of cards for a rate."""
SET_PART: Final = "set"


class WearCounts(msgspec.Struct, frozen=True, gc=False):
    """Counts of cards, jams and other events in one or more attempts, which show wear.

    `cards`: cards fed. `refed`: the number of these that were fed from the tray. `extra_looks`:
    looks at a card after the first. `not_landed`: cards whose landing was not seen, and landings
    without a command. `passes`: passes of the shuffler. `lifts`: the number of times that hands
    were lifted.
    """

    attempts: int = 0
    deals: int = 0
    cards: int = 0
    refed: int = 0
    extra_looks: int = 0
    jams: int = 0
    doubles: int = 0
    not_landed: int = 0
    stalls: int = 0
    passes: int = 0
    lifts: int = 0

    def __add__(self, other: "WearCounts") -> "WearCounts":
        """Return the sum of two counts, field by field."""
        names = self.__struct_fields__
        return WearCounts(*(getattr(self, name) + getattr(other, name) for name in names))


class AttemptWear(msgspec.Struct, frozen=True, gc=False):
    """The counts of one attempt that show wear, and the card set that was used.

    `n`: the number of the journal entry that began the attempt.
    """

    n: int
    card_set: str
    counts: WearCounts


class ServiceNote(msgspec.Struct, frozen=True, gc=False):
    """A note that a part was cleaned or replaced.

    `n`: the number of the last journal entry before that. `part`: for a card set, like `set:S1`.
    """

    n: int
    time: str
    part: str
    did: ServiceKind
    who: str = ""


class WearSign(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """One kind of wear that can be counted: a row of health.toml, which describes the fields."""

    part: str
    of: str
    per: Literal["1000", "since"]
    soon: float
    now: float
    en: str
    zh: str
    do_en: str
    do_zh: str
    reason: str
    since: ServiceKind | None = None


class WearFinding(msgspec.Struct, frozen=True, gc=False):
    """The value of one sign of wear at one part of the machine, and whether service is due.

    `value`: None if there are too few cards. `soon`, `now`: the limits for `due`. `since`:
    the time of the last service, "" if there was none.
    """

    sign: str
    part: str
    value: float | None
    soon: float
    now: float
    due: WearDue
    since: str = ""


class WearReport(msgspec.Struct, frozen=True, kw_only=True):
    """The wear of a machine: counts of its attempts, and the signs of wear at each part.

    `whole`: since its journal began. `recent`: over the last attempts. `sets`: of each card set.
    `found`: the signs of wear.
    """

    entries: int
    whole: WearCounts
    recent: WearCounts
    sets: dict[str, WearCounts]
    found: tuple[WearFinding, ...]

    @property
    def due(self) -> tuple[WearFinding, ...]:
        """Return the signs of wear that need service now, then the signs that need it soon."""
        order: tuple[WearDue, ...] = ("now", "soon")
        return tuple(one for due in order for one in self.found if one.due == due)


def count_attempts(entries: Iterable[JournalEntry]) -> list[AttemptWear]:
    """Return the wear counts and the card set of each attempt in a journal."""
    begun: dict[int, tuple[int, str]] = {}
    counts: dict[int, WearCounts] = defaultdict(WearCounts)
    looked: dict[int, set[int]] = defaultdict(set)
    for entry in entries:
        number, data = entry.attempt, entry.data
        if number is None:
            continue
        if entry.kind == "committed":
            begun[number] = (entry.n, str(data.get("set", "")))
        elif entry.kind == "wire":
            for event in unpack_events(data, number):
                if more := _count_event(event, looked[number]):
                    counts[number] += more
        elif entry.kind in _COUNT_OF_ENTRY:
            counts[number] += _COUNT_OF_ENTRY[entry.kind](data)
    return [
        AttemptWear(*begun.get(number, (0, "")), of) for number, of in counts.items() if of.attempts
    ]


_COUNT_OF_ENTRY: Final[Mapping[str, Callable[[Mapping[str, Any]], WearCounts]]] = {
    "begun": lambda data: WearCounts(attempts=1),
    "verdict": lambda data: WearCounts(cards=data["fed"] + data["refed"], refed=data["refed"]),
    "released": lambda data: WearCounts(deals=1),
    "shuffled": lambda data: WearCounts(passes=data["passes"]),
}
_COUNT_OF_EVENT: Final[Mapping[int, WearCounts]] = {
    BoardEventCode.JAM: WearCounts(jams=1),
    BoardEventCode.DOUBLE: WearCounts(doubles=1),
    BoardEventCode.STRAY: WearCounts(not_landed=1),
    BoardEventCode.STALL: WearCounts(stalls=1),
    BoardEventCode.RELEASED: WearCounts(lifts=1),
}


def _count_event(event: LoggedBoardEvent, looked: set[int]) -> WearCounts | None:
    """Return the counts that one board event adds, or None if the event adds nothing.

    `looked`: the indices of the attempt's cards that were already read. A READ event adds one.
    """
    if event.code == BoardEventCode.READ:
        again = event.index in looked
        looked.add(event.index)
        return WearCounts(extra_looks=1) if again else None
    if event.code == BoardEventCode.JAM and event.place == JamPlace.LANDING:
        return WearCounts(not_landed=1)
    return _COUNT_OF_EVENT.get(event.code)


def report_wear(
    attempts: Sequence[AttemptWear], marks: Sequence[ServiceNote] = (), entries: int = 0
) -> WearReport:
    """Return the wear of the machine, from the counts of its attempts and the service notes.

    `marks`: the service notes. `entries`: the number of journal entries, for the report.
    """
    names = dict.fromkeys(attempt.card_set for attempt in attempts)
    sets = {name: [one for one in attempts if one.card_set == name] for name in names}
    found = [
        _find_wear(name, sign, sign.part, attempts, marks)
        for name, sign in wear_signs().items()
        if sign.part != SET_PART
    ]
    found += [
        _find_wear(name, sign, f"{SET_PART}:{card_set}", of, marks)
        for card_set, of in sets.items()
        for name, sign in wear_signs().items()
        if sign.part == SET_PART
    ]
    return WearReport(
        entries=entries,
        whole=_sum_counts(attempts),
        recent=_sum_counts(attempts[-RECENT_ATTEMPTS:]),
        sets={name: _sum_counts(of) for name, of in sets.items()},
        found=tuple(found),
    )


def wear_signs() -> Mapping[str, WearSign]:
    """Return every kind of wear that can be counted, by name."""
    return _load_signs().sign


def service_parts() -> Mapping[str, Words]:
    """Return the names, by id, of all parts except card sets that can be cleaned or replaced."""
    return _load_signs().part


class _WearFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    part: dict[str, Words]
    sign: dict[str, WearSign]


@cache
def _load_signs() -> _WearFile:
    return toml_files.read_resource("controller.acceptance", "health.toml", _WearFile)


def _sum_counts(attempts: Iterable[AttemptWear]) -> WearCounts:
    return sum((attempt.counts for attempt in attempts), WearCounts())


def _find_wear(
    name: str,
    sign: WearSign,
    part: str,
    attempts: Sequence[AttemptWear],
    marks: Sequence[ServiceNote],
) -> WearFinding:
    # A replaced part is also clean.
    done = [
        mark
        for mark in marks
        if mark.part == part and (sign.since != "replaced" or mark.did == "replaced")
    ]
    last = max(done, key=lambda mark: mark.n, default=None)
    behind = 0 if last is None else last.n
    of = [attempt for attempt in attempts if attempt.n > behind]
    counts = _sum_counts(of if sign.per == "since" else of[-RECENT_ATTEMPTS:])
    value: float | None = getattr(counts, sign.of)
    if sign.per == "1000":
        value = None if counts.cards < MIN_CARDS_FOR_RATE else 1000 * (value or 0) / counts.cards
    due: WearDue = "fine" if value is None or value < sign.soon else "soon"
    if value is not None and value >= max(sign.soon, sign.now):
        due = "now"
    return WearFinding(
        name,
        part,
        None if value is None else round(value, 2),
        sign.soon,
        sign.now,
        due,
        "" if last is None else last.time,
    )
