"""Whether the reasons of an attempt that was given up follow from its opened record.

A record shows what boards and reader saw. Some reasons leave no trace in it (a
jam, the power, the lid, a person's order): they are told apart, not disproved.
"""

from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

from controller.cards import FACES
from controller.journal.verify.course import SEATS, TRAY, Course
from controller.journal.wire_group import Look

# At most so many cards may go to the tray; a sure reading, as the vault takes it.
_TRAY_CARDS = 6
_SURE = 128
_BACKS = {"A": 0, "B": 1}


class Evidence(NamedTuple):
    """An opened record: the course, the set it should be, the last look at the sensors.

    `settled` is what the sensors said when they were last asked, at the count or at a
    refused beginning; empty where they never were.
    """

    course: Course
    sequence: str
    composition: tuple[int, ...]
    back: int
    settled: dict[str, Any]

    def faces(self) -> Counter[int]:
        """Return how many of each face lie in the seats' pockets."""
        looks = [self.course.looks.get(card.index, []) for card in self.course.placed().values()]
        return Counter(face for card in looks if (face := self._face(card)) is not None)

    def _face(self, looks: list[Look]) -> int | None:
        return next((look.face for look in looks if self.good(look)), None)

    def good(self, look: Look) -> bool:
        """Tell whether a look does: a sure face, the set's back, face down."""
        sure = 0 <= look.face < FACES and look.confidence >= _SURE
        return sure and look.back == self.back and not look.face_up

    def any_look(self, wrong: Callable[[Look], bool]) -> bool:
        """Tell whether any look at any card was wrong in this way."""
        return any(wrong(look) for looks in self.course.looks.values() for look in looks)

    def says(self, name: str, value: object) -> bool:
        """Tell whether the count at the end said so."""
        return bool(self.settled.get(name) == value)


def back_number(text: object) -> int:
    """Return how the reader board numbers a set's back, "A" or "B"."""
    return _BACKS.get(str(text), -1)


def unshown(reasons: list[str], evidence: Evidence | None) -> list[str]:
    """Return the reasons that no record can show, or that this one has no last look for."""
    if evidence is None:
        return list(reasons)
    blind = frozenset() if evidence.settled else _BY_SENSORS
    return [r for r in reasons if r not in _SHOWN_BY or (r in blind and not _SHOWN_BY[r](evidence))]


def disproved(reasons: list[str], evidence: Evidence) -> list[str]:
    """Return the reasons that the record should show and does not."""
    apart = unshown(reasons, evidence)
    return [r for r in reasons if r not in apart and not _SHOWN_BY[r](evidence)]


def _count_short(evidence: Evidence) -> bool:
    hand = len(evidence.sequence) // len(SEATS)
    return any(evidence.course.landed(seat) < hand for seat in SEATS)


def _count_over(evidence: Evidence) -> bool:
    hand = len(evidence.sequence) // len(SEATS)
    course = evidence.course
    return (
        any(course.landed(seat) > hand for seat in SEATS)
        or any(card.place is None for card in course.cards.values())
        or course.fed > len(evidence.sequence)
        or course.landed(TRAY) > course.refed
        or course.strays > 0
        or evidence.says("tray_empty", False)
    )


def _wrong_pocket(evidence: Evidence) -> bool:
    course, sequence = evidence.course, evidence.sequence
    return course.strays > 0 or any(
        card.landed not in (None, card.gate)
        or (
            card.place is not None
            and card.gate not in (None, TRAY, *sequence[card.place - 1 : card.place])
        )
        for card in course.cards.values()
    )


def _not_landed(evidence: Evidence) -> bool:
    cards = evidence.course.cards.values()
    return evidence.course.jams > 0 or any(card.gate and not card.landed for card in cards)


def _tray_full(evidence: Evidence) -> bool:
    course = evidence.course
    return course.landed(TRAY) + len(course.doubled) - course.refed > _TRAY_CARDS


def _unreadable(evidence: Evidence) -> bool:
    """A card in the tray that no look showed; also one whose look never came."""
    course = evidence.course
    return any(
        not any(evidence.good(look) for look in course.looks.get(index, []))
        for index, card in course.cards.items()
        if card.landed == TRAY or card.gate is None
    ) or evidence.any_look(lambda look: not 0 <= look.face < FACES or look.confidence < _SURE)


def _missing_card(evidence: Evidence) -> bool:
    have = evidence.faces()
    return any(have[face] < due for face, due in enumerate(evidence.composition))


def _third_copy(evidence: Evidence) -> bool:
    have = evidence.faces()
    return any(have[face] > due for face, due in enumerate(evidence.composition))


def _pulse_count(evidence: Evidence) -> bool:
    course = evidence.course
    unseen = set(course.looks) - set(course.cards)
    return bool(unseen) or {
        course.pulses,
        evidence.settled.get("reader_pulses", course.pulses),
    } != {len(course.cards)}


_SHOWN_BY: dict[str, Callable[[Evidence], bool]] = {
    "COUNT_SHORT": _count_short,
    "COUNT_OVER": _count_over,
    "WRONG_POCKET": _wrong_pocket,
    "NOT_LANDED": _not_landed,
    "TRAY_FULL": _tray_full,
    "DOUBLE_FEED": lambda evidence: bool(evidence.course.doubled or evidence.course.followers),
    "UNREADABLE": _unreadable,
    "FACE_UP": lambda evidence: evidence.any_look(lambda look: bool(look.face_up)),
    "FOREIGN_BACK": lambda evidence: evidence.any_look(lambda look: look.back != evidence.back),
    "MISSING_CARD": _missing_card,
    "THIRD_COPY": _third_copy,
    "PULSE_COUNT": _pulse_count,
    "HOPPER_NOT_EMPTY": lambda evidence: evidence.says("hopper_empty", False),
    "PATH_NOT_CLEAR": lambda evidence: evidence.says("path_empty", False),
    "POCKET_NOT_EMPTY": lambda evidence: evidence.says("pockets_empty", False),
}
# What the last look at the sensors may show although the events do not.
_BY_SENSORS = frozenset(
    {"COUNT_OVER", "PULSE_COUNT", "HOPPER_NOT_EMPTY", "PATH_NOT_CLEAR", "POCKET_NOT_EMPTY"}
)
