"""What a journal tells of wear: counts by attempt, and what is to be cleaned or replaced when.

A pure fold over entries. Cards are counted, never seen: of the boards' events codes and
indices are looked at, which stand in the open.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Final, Literal

import msgspec

from controller import tomlfile
from controller.journal.entries import Entry
from controller.journal.wire_group import LoggedBoardEvent, unpack
from controller.words import Words
from drivers.events import Code, JamPlace

ServiceKind = Literal["cleaned", "replaced"]
Due = Literal["fine", "soon", "now"]
RECENT_ATTEMPTS: Final = 100
"""Attempts that rates are taken over: some ten thousand cards, so that one in a thousand shows."""
MIN_CARDS_FOR_RATE: Final = 1000
"""Fewer cards than these tell no rate."""
SET: Final = "set"


class Counts(msgspec.Struct, frozen=True, gc=False):
    """What is counted of one attempt, or of many.

    `cards` were fed, `refed` of them out of the tray; `extra_looks` are looks beyond the first at
    a card; `not_landed`: cards not seen to land, and landings unasked. `passes` are the
    shuffler's, `lifts` hands that came up.
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

    def __add__(self, other: "Counts") -> "Counts":
        """Add up, field by field."""
        names = self.__struct_fields__
        return Counts(*(getattr(self, name) + getattr(other, name) for name in names))


class Attempt(msgspec.Struct, frozen=True, gc=False):
    """The counts of one attempt: at which entry it began, and with which set."""

    n: int
    card_set: str
    counts: Counts


class Mark(msgspec.Struct, frozen=True, gc=False):
    """Something was done to a part, or to a set (`set:S1`), behind entry `n`."""

    n: int
    time: str
    part: str
    did: ServiceKind
    who: str = ""


class WearSign(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """One row of health.toml, which says what each field means."""

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


class Found(msgspec.Struct, frozen=True, gc=False):
    """A sign at one part: its number, None where there are too few cards, and what is due.

    `since`: when that was last done; "" for never.
    """

    sign: str
    part: str
    value: float | None
    soon: float
    now: float
    due: Due
    since: str = ""


class WearReport(msgspec.Struct, frozen=True, kw_only=True):
    """A table's health: since its journal began, over the last attempts, and what is due."""

    entries: int
    whole: Counts
    recent: Counts
    sets: dict[str, Counts]
    found: tuple[Found, ...]

    @property
    def due(self) -> tuple[Found, ...]:
        """What is due now, then what is due soon."""
        order: tuple[Due, ...] = ("now", "soon")
        return tuple(one for due in order for one in self.found if one.due == due)


def count_attempts(entries: Iterable[Entry]) -> list[Attempt]:
    """Fold a journal's entries into the counts of its attempts, in their order."""
    folding = _WearFold()
    for entry in entries:
        folding.take(entry)
    return folding.attempts()


def report_wear(
    attempts: Sequence[Attempt], marks: Sequence[Mark] = (), entries: int = 0
) -> WearReport:
    """Return what the counts of attempts, and what was done about them, come to."""
    names = dict.fromkeys(attempt.card_set for attempt in attempts)
    sets = {name: [one for one in attempts if one.card_set == name] for name in names}
    found = [
        _find_wear(name, sign, sign.part, attempts, marks)
        for name, sign in signs().items()
        if sign.part != SET
    ]
    found += [
        _find_wear(name, sign, f"{SET}:{card_set}", of, marks)
        for card_set, of in sets.items()
        for name, sign in signs().items()
        if sign.part == SET
    ]
    return WearReport(
        entries=entries,
        whole=_sum_counts(attempts),
        recent=_sum_counts(attempts[-RECENT_ATTEMPTS:]),
        sets={name: _sum_counts(of) for name, of in sets.items()},
        found=tuple(found),
    )


def signs() -> Mapping[str, WearSign]:
    """Return every sign of wear by its name."""
    return _load_signs().sign


def parts() -> Mapping[str, Words]:
    """Return the parts that can be cleaned or replaced, beside the sets."""
    return _load_signs().part


class _WearFold:
    """The fold's present state: attempts by number."""

    def __init__(self) -> None:
        self._begun: dict[int, tuple[int, str]] = {}
        self._counts: dict[int, Counts] = {}
        self._looked: dict[int, set[int]] = {}

    def take(self, entry: Entry) -> None:
        number, data = entry.attempt, entry.data
        if number is None:
            return
        if entry.kind == "committed":
            self._begun[number] = (entry.n, str(data.get("set", "")))
        elif entry.kind == "begun":
            self._add(number, Counts(attempts=1))
        elif entry.kind == "verdict":
            self._add(number, Counts(cards=data["fed"] + data["refed"], refed=data["refed"]))
        elif entry.kind == "released":
            self._add(number, Counts(deals=1))
        elif entry.kind == "shuffled":
            self._add(number, Counts(passes=data["passes"]))
        elif entry.kind == "wire":
            for event in unpack(data, number):
                self._add_event(number, event)

    def attempts(self) -> list[Attempt]:
        """Return what there is of each attempt whose cards were moved."""
        numbers = [number for number in self._counts if self._counts[number].attempts]
        begun = {number: self._begun.get(number, (0, "")) for number in numbers}
        return [Attempt(*begun[number], self._counts[number]) for number in numbers]

    def _add_event(self, number: int, event: LoggedBoardEvent) -> None:
        if event.code == Code.READ:
            looked = self._looked.setdefault(number, set())
            if event.index in looked:
                self._add(number, Counts(extra_looks=1))
            looked.add(event.index)
        elif event.code == Code.JAM and event.place == JamPlace.LANDING:
            self._add(number, Counts(not_landed=1))
        elif event.code in _COUNT_OF_EVENT:
            self._add(number, _COUNT_OF_EVENT[Code(event.code)])

    def _add(self, number: int, more: Counts) -> None:
        self._counts[number] = self._counts.get(number, Counts()) + more


_COUNT_OF_EVENT: Final[Mapping[Code, Counts]] = {
    Code.JAM: Counts(jams=1),
    Code.DOUBLE: Counts(doubles=1),
    Code.STRAY: Counts(not_landed=1),
    Code.STALL: Counts(stalls=1),
    Code.RELEASED: Counts(lifts=1),
}


class _WearFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    part: dict[str, Words]
    sign: dict[str, WearSign]


@cache
def _load_signs() -> _WearFile:
    text = resources.files("controller.acceptance").joinpath("health.toml").read_text("utf-8")
    return tomlfile.parse(text, _WearFile, name="health.toml")


def _sum_counts(attempts: Iterable[Attempt]) -> Counts:
    return sum((attempt.counts for attempt in attempts), Counts())


def _find_wear(
    name: str, sign: WearSign, part: str, attempts: Sequence[Attempt], marks: Sequence[Mark]
) -> Found:
    done = [mark for mark in marks if mark.part == part and _counts(mark, sign)]
    last = max(done, key=lambda mark: mark.n, default=None)
    behind = 0 if last is None else last.n
    of = [attempt for attempt in attempts if attempt.n > behind]
    counts = _sum_counts(of if sign.per == "since" else of[-RECENT_ATTEMPTS:])
    value: float | None = getattr(counts, sign.of)
    if sign.per == "1000":
        value = None if counts.cards < MIN_CARDS_FOR_RATE else 1000 * (value or 0) / counts.cards
    return Found(
        name,
        part,
        None if value is None else round(value, 2),
        sign.soon,
        sign.now,
        _due_for(value, sign),
        "" if last is None else last.time,
    )


def _counts(mark: Mark, sign: WearSign) -> bool:
    """Whether something that was done begins a sign's count anew: what is new is clean, too."""
    return sign.since != "replaced" or mark.did == "replaced"


def _due_for(value: float | None, sign: WearSign) -> Due:
    if value is None or value < sign.soon:
        return "fine"
    return "soon" if value < sign.now else "now"
