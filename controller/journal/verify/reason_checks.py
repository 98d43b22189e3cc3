"""The check of the reasons why an attempt ended: they must follow from the attempt's record.

A record contains the observations of boards and reader. PROOF.md §7 states for each reason what
must be in the record. So a machine cannot stop an unwelcome deal under an arbitrary reason. Some
reasons leave no trace in the record (a jam, the power, the lid, a person's command). They are
reported separately and are not disproved.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import msgspec

from controller.cards import FACE_COUNT
from controller.faults import fault_catalogue
from controller.journal.packed_board_events import CardLook
from controller.journal.verify.card_course import SEATS, TRAY, CardCourse, CourseCard

ReasonResult = Literal["follows", "disproved", "not shown"]

# The largest number of cards in the tray, and of rounds through it. The numbers are provisional.
_MAX_TRAY_CARDS = 6
_MAX_TRAY_ROUNDS = 2
# The lowest confidence of an acceptable look, and the largest number of looks, as in the vault.
_MIN_CONFIDENCE = 128
_MAX_LOOKS = 3
_BACK_NUMBERS = {"A": 0, "B": 1}


class ReasonCheck(msgspec.Struct, frozen=True, gc=False):
    """A reason why an attempt ended, and whether the attempt's record supports or disproves it."""

    reason: str
    says: ReasonResult


class RecordEvidence(NamedTuple):
    """The content of an attempt's opened record, which can support or disprove a reason.

    `course` has the ways of the cards, `sequence` and `composition` the expected cards.
    `last_sensors` has the sensors of the last status, at the final count or at a refused BEGIN. It
    is empty without such a status. `last_look_lost`: a daemon that died had requested the status,
    and the next daemon wrote the record. `is_withdrawn`: right hands had been counted, and
    `last_sensors` lacks the later observations of them.
    """

    course: CardCourse
    sequence: str
    composition: tuple[int, ...]
    back: int
    last_sensors: dict[str, Any]
    last_look_lost: bool = False
    is_withdrawn: bool = False

    @property
    def hand_size(self) -> int:
        """Return the number of cards that each seat's pocket must have."""
        return len(self.sequence) // len(SEATS)

    @property
    def all_cards_landed(self) -> bool:
        """Return whether the record shows that the hopper ran out and all fed cards landed."""
        landed = all(card.landed is not None for card in self.course.cards.values())
        return self.course.hopper_ran_out and landed

    @property
    def no_card_fed(self) -> bool:
        """Return whether the record has no card that arrived at the window."""
        return not self.course.cards

    @property
    def no_card_moves(self) -> bool:
        """Return whether no card was on its way at the end: none was fed, or all cards landed."""
        return self.no_card_fed or self.all_cards_landed

    def count_faces(self) -> Counter[int]:
        """Return for each face how many cards with an acceptable look landed in pockets."""
        looks = (self.accepted_look(card) for card in self.course.cards_by_place().values())
        return Counter(look.face for look in looks if look is not None)

    def accepted_look(self, card: CourseCard) -> CardLook | None:
        """Return the first acceptable look of the first `_MAX_LOOKS` looks at a card, or None."""
        return self._first_good_look(card.looks)

    def _first_good_look(self, looks: Sequence[CardLook]) -> CardLook | None:
        return next((look for look in looks[:_MAX_LOOKS] if self.flaw_of_look(look) is None), None)

    def flaw_of_look(self, look: CardLook) -> str | None:
        """Return why a look is not acceptable, such as "FACE_UP", or None if it is acceptable.

        An acceptable look shows a known face with enough confidence, face down, and the set's back.
        """
        if look.face_up:
            return "FACE_UP"
        if not 0 <= look.face < FACE_COUNT:
            return "UNREADABLE"
        if look.back != self.back:
            return "FOREIGN_BACK"
        return None if look.confidence >= _MIN_CONFIDENCE else "UNREADABLE"

    def flaw_of_card(self, card: CourseCard) -> str | None:
        """Return the flaw of a card's last look, or None if one of its looks was acceptable.

        Only looks before the gate event count. Without such a look the flaw is "UNREADABLE".
        """
        looks = card.usable_looks[:_MAX_LOOKS]
        if self._first_good_look(looks) is not None:
            return None
        return self.flaw_of_look(looks[-1]) if looks else "UNREADABLE"

    def count_turned_away(self) -> int:
        """Return the least number of cards that the gate sent to the tray after an acceptable look.

        Cards of a double feed are not counted. One card is subtracted for each jam.
        """
        cards = self.course.cards.values()
        good = sum(c.gate == TRAY and not c.doubled and self.flaw_of_card(c) is None for c in cards)
        return max(0, good - self.course.jams)

    def had_all_chances(self, card: CourseCard) -> bool:
        """Return whether the card had every possible try to reach its pocket.

        The card had all tray rounds, or the hopper ran out and no later card landed in a pocket.
        """
        course = self.course
        if course.tray_rounds(card) >= _MAX_TRAY_ROUNDS:
            return True
        placed = course.cards_by_place()
        last = max((one.index for one in placed.values()), default=0)
        return course.hopper_ran_out and card.index > last and len(placed) < len(self.sequence)

    def last_sensor_is(self, name: str, value: object) -> bool:
        """Return whether the sensor `name` has the value `value` in the last sensor status."""
        return name in self.last_sensors and bool(self.last_sensors[name] == value)


def back_number(text: object) -> int:
    """Return the reader board's number for the back "A" or "B" of a set, or -1 for another text."""
    return _BACK_NUMBERS.get(str(text), -1)


def is_misdeal(reasons: Sequence[str]) -> bool:
    """Return whether an attempt with these reasons is a misdeal. Otherwise it is void.

    A misdeal has at least one reason that cards prove (`misdeal` in faults.toml).
    """
    rows = (fault_catalogue().get(reason) for reason in reasons)
    return any(row is not None and row.misdeal for row in rows)


def check_reasons(reasons: Sequence[str], evidence: RecordEvidence | None) -> list[ReasonCheck]:
    """Return the result for each reason: the record shows it, disproves it, or does neither.

    `evidence` is None if no record is published. Then no reason is shown.
    """
    return [ReasonCheck(reason, _check_reason(reason, evidence)) for reason in reasons]


def _check_reason(reason: str, evidence: RecordEvidence | None) -> ReasonResult:
    shown_by = _REASON_TESTS.get(reason)
    if evidence is None or shown_by is None:
        return "not shown"
    if shown_by(evidence):
        return "follows"
    asked = _SENSOR_OF_REASON.get(reason)
    if asked is not None and evidence.is_withdrawn:
        return "not shown"
    if asked is not None:
        return "disproved" if asked in evidence.last_sensors else "not shown"
    lost = evidence.last_look_lost and not evidence.last_sensors
    may_show = _LAST_STATUS_CONDITIONS.get(reason) if lost else None
    return "not shown" if may_show is not None and may_show(evidence) else "disproved"


def misplaced_cards(course: CardCourse, sequence: str) -> list[CourseCard]:
    """Return each card that the gate sent to a wrong pocket, or that landed in a wrong outlet.

    A right pocket is that of the card's place in the sequence. The tray is always right. A card
    must land in the outlet to which the gate sent it.
    """
    return [
        card
        for card in course.cards.values()
        if card.landed not in (None, card.gate)
        or card.gate not in (None, TRAY, *sequence[(card.place or 1) - 1 : card.place or 0])
    ]


def _double_feed(evidence: RecordEvidence) -> bool:
    cards = evidence.course.cards.values()
    often = (c for c in cards if c.doubled and evidence.course.tray_rounds(c) >= _MAX_TRAY_ROUNDS)
    return evidence.course.double_strays > 0 or any(often)


def _has_card_with_flaw(name: str) -> Callable[[RecordEvidence], bool]:
    """Return a test of whether a card in a record finally failed for the flaw `name`."""

    def shown(evidence: RecordEvidence) -> bool:
        cards = evidence.course.cards.values()
        return any(evidence.flaw_of_card(c) == name and evidence.had_all_chances(c) for c in cards)

    return shown


def _missing_card(evidence: RecordEvidence) -> bool:
    have = evidence.count_faces()
    lacking = any(have[face] < due for face, due in enumerate(evidence.composition))
    return evidence.all_cards_landed and evidence.course.counts[-1] == 0 and lacking


def _third_copy(evidence: RecordEvidence) -> bool:
    have = evidence.count_faces()
    return any(have[face] > due for face, due in enumerate(evidence.composition))


def _event_lost(evidence: RecordEvidence) -> bool:
    course, settled = evidence.course, evidence.last_sensors
    unasked = any(card.gate is not None and not card.usable_looks for card in course.cards.values())
    fed, landed = settled.get("board_fed"), settled.get("board_landed")
    other = fed is not None and (fed, landed) != (len(course.cards), list(course.counts[2:6]))
    return bool(course.order_errors) or unasked or other


_REASON_TESTS: dict[str, Callable[[RecordEvidence], bool]] = {
    "COUNT_SHORT": lambda evidence: (
        evidence.all_cards_landed
        and any(evidence.course.landings_in(seat) < evidence.hand_size for seat in SEATS)
    ),
    "COUNT_OVER": lambda evidence: (
        any(evidence.course.landings_in(seat) > evidence.hand_size for seat in SEATS)
        or any(card.place is None for card in evidence.course.cards.values())
        or any(index != n for n, index in enumerate(evidence.course.cards, start=1))
        or (evidence.all_cards_landed and evidence.last_sensor_is("tray_empty", False))
    ),
    "WRONG_POCKET": lambda evidence: (
        evidence.course.strays > evidence.course.double_strays
        or bool(misplaced_cards(evidence.course, evidence.sequence))
    ),
    "NOT_LANDED": lambda evidence: evidence.course.not_landed > 0,
    "TRAY_FULL": lambda evidence: (
        max(counts[-1] for counts in evidence.course.counts_after) - evidence.count_turned_away()
        > _MAX_TRAY_CARDS
    ),
    "DOUBLE_FEED": _double_feed,
    "UNREADABLE": _has_card_with_flaw("UNREADABLE"),
    "FACE_UP": _has_card_with_flaw("FACE_UP"),
    "FOREIGN_BACK": _has_card_with_flaw("FOREIGN_BACK"),
    "MISSING_CARD": _missing_card,
    "THIRD_COPY": _third_copy,
    "PULSE_COUNT": lambda evidence: (
        evidence.last_sensors.get("reader_pulses") not in (None, len(evidence.course.cards))
        or evidence.course.impossible_looks > 0
    ),
    "EVENT_LOST": _event_lost,
    "SENSOR_STUCK": lambda evidence: (
        not all(evidence.last_sensors.get("pockets_seen", ()))
        or evidence.last_sensor_is("lift_down", False)
    ),
    "BOARD_REFUSED": lambda evidence: evidence.last_sensor_is("board_locked", False),
    "HOPPER_NOT_EMPTY": lambda evidence: (
        evidence.all_cards_landed and evidence.last_sensor_is("hopper_empty", False)
    ),
    "PATH_NOT_CLEAR": lambda evidence: (
        evidence.no_card_moves and evidence.last_sensor_is("path_empty", False)
    ),
    "POCKET_NOT_EMPTY": lambda evidence: (
        evidence.no_card_fed and evidence.last_sensor_is("pockets_empty", False)
    ),
}
# Reasons that only the last status can disprove, each with the field that such a status has.
_SENSOR_OF_REASON = {
    "EVENT_LOST": "board_fed",
    "SENSOR_STUCK": "pockets_seen",
    "BOARD_REFUSED": "board_locked",
}
# Reasons that the last status may show without an event. The condition is that of such a status.
_LAST_STATUS_CONDITIONS: dict[str, Callable[[RecordEvidence], bool]] = {
    "COUNT_OVER": lambda evidence: evidence.all_cards_landed,
    "PULSE_COUNT": lambda evidence: True,
    "HOPPER_NOT_EMPTY": lambda evidence: evidence.all_cards_landed,
    "PATH_NOT_CLEAR": lambda evidence: evidence.no_card_moves,
    "POCKET_NOT_EMPTY": lambda evidence: evidence.no_card_fed,
}
