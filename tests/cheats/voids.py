"""Machines that cheat with attempts that gave no hands."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

from controller.deal.observations import CardVerdict, LookOutcome
from controller.journal.journal import Journal
from controller.journal.packed_board_events import BoardEventFields
from controller.machine.attempts.attempt_run import AttemptRun
from controller.machine.attempts.attempt_writer import AttemptBinding, AttemptPlan, AttemptWriter
from controller.machine.boards.board_log import BoardLog
from controller.machine.table_record import TableRecord
from controller.vault.vault import ReadEvent, Vault
from tests.cheats.changed import BOOK, RECORD, RUN, VAULT, VICTIM, WIRE_LOG, Cheat, Evening, whisper
from tests.cheats.evenings import A_VOID_AT_THE_END, A_VOID_BETWEEN, THREE_DEALS

SHOWN_BY_A_RECORD = (
    "COUNT_SHORT",
    "COUNT_OVER",
    "WRONG_POCKET",
    "NOT_LANDED",
    "TRAY_FULL",
    "DOUBLE_FEED",
    "UNREADABLE",
    "FACE_UP",
    "FOREIGN_BACK",
    "MISSING_CARD",
    "THIRD_COPY",
    "PULSE_COUNT",
    "HOPPER_NOT_EMPTY",
    "PATH_NOT_CLEAR",
    "POCKET_NOT_EMPTY",
    "EVENT_LOST",
    "SENSOR_STUCK",
    "BOARD_REFUSED",
)
NOT_SHOWN = ("JAM", "STALL", "LID_OPENED", "ESTOP_PRESSED", "BOARD_RESET", "POWER")
"""Reasons that no record shows: a machine may give them for hands that it does not like."""


class SkipsRecord(AttemptWriter):
    """Gives an attempt up and keeps its record to itself."""

    def write_record(self, record: dict[str, Any]) -> None:
        if self.number != VICTIM:
            super().write_record(record)


class SkipsAll(SkipsRecord):
    """Gives an attempt up and shows neither seed nor record."""

    def write_revealed(self, *rest: Any, **more: Any) -> None:
        if self.number != VICTIM:
            super().write_revealed(*rest, **more)


class SaysPower(AttemptWriter):
    """Gives an attempt up and says that its key went with the power."""

    def write_revealed(self, *rest: Any, **more: Any) -> None:
        if self.number == VICTIM:
            self._key = None
        super().write_revealed(*rest, **more)


class GivesNoReason(AttemptWriter):
    """Gives an attempt up without a word why."""

    def _write(self, kind: str, data: dict[str, Any], *, public: bool = True) -> None:
        if kind == "verdict" and self.number == VICTIM:
            data = {**data, "reasons": []}
        super()._write(kind, data, public=public)


class SparseRecord(AttemptWriter):
    """Leaves out of the opened record what would speak against its reason."""

    def build_record(
        self, events: Sequence[BoardEventFields], *rest: Any, **more: Any
    ) -> dict[str, Any]:
        kept = events if self.number != VICTIM else events[: len(events) // 2]
        return super().build_record(kept, *rest, **more)


def refusing(reason: str) -> type[AttemptRun]:
    """Return a machine that does not like right hands, and refuses them for that reason."""

    class Refuses(AttemptRun):
        async def _deal(self) -> tuple[str, ...]:
            reasons = await super()._deal()
            return (reason,) if self.number == VICTIM and not reasons else reasons

    return Refuses


class HidesAnAttempt(TableRecord):
    """Shows an attempt on the screens, and writes nothing of it."""

    def write(self, kind: str, data: Mapping[str, Any], **more: Any) -> None:
        if more.get("attempt") != VICTIM:
            super().write(kind, data, **more)
            return
        whole = {**data, "at_ms": self.clock()}
        whisper(self, kind, whole, more["deal"], VICTIM)


class HidesItsEvents(BoardLog):
    """Writes no board event of the attempt that is hidden."""

    def write(self) -> None:
        hidden = [event for event in self._pending if event.attempt == VICTIM]
        self._pending = [event for event in self._pending if event.attempt != VICTIM]
        super().write()
        self._newest |= {event.board: (event.boot, event.number) for event in hidden}


class NumberedAnew(AttemptWriter):
    """Binds what it promises to the number that the journal will show."""

    @classmethod
    def new(cls, bound_to: AttemptBinding, plan: AttemptPlan, chief: bytes) -> Self:
        """Bind the attempts behind the hidden one to one number less."""
        if plan.number <= VICTIM:
            return super().new(bound_to, plan, chief)
        book = super().new(bound_to, replace(plan, number=plan.number - 1), chief)
        book.number = plan.number
        return book

    def write_committed(self) -> None:
        """Keep the key under either number."""
        super().write_committed()
        if self.number > VICTIM and self._key is not None:
            self._binding.key_files.write(self.number - 1, self._key.raw)


class HidesAndNumbersAnew(HidesAnAttempt):
    """Writes nothing of an attempt, and gives its number to the next one."""

    def write(self, kind: str, data: Mapping[str, Any], **more: Any) -> None:
        """Number an entry as if the hidden attempt had not been."""
        attempt = more.get("attempt") or 0
        if attempt > VICTIM and kind != "command":
            TableRecord.write(self, kind, data, **more | {"attempt": attempt - 1})
        else:
            super().write(kind, data, **more)


class EventsNumberedAnew(HidesItsEvents):
    """Journals no event of the hidden attempt, and those behind it under its number."""

    def __init__(self, journal: Journal, **rest: Any) -> None:
        renumbering: Any = _Renumbering(journal)
        super().__init__(renumbering, **rest)


class _Renumbering:
    """A journal to which attempts behind the hidden one have a number less."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    def append(self, kind: str, data: Mapping[str, Any], *, attempt: Any, public: bool) -> Any:
        shown = attempt - 1 if (attempt or 0) > VICTIM else attempt
        return self._journal.append(kind, data, attempt=shown, public=public)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._journal, name)


class RejectsGoodCards(Vault):
    """Calls card after card unreadable that was read well, until the tray is full."""

    def take_read(self, event: ReadEvent) -> CardVerdict:
        """Take in a READ and lie about it."""
        verdict = super().take_read(event)
        return (
            CardVerdict(event.index, LookOutcome.TRAY, "UNREADABLE")
            if self.attempt == VICTIM
            else verdict
        )


def _made_up(reason: str) -> Cheat:
    evening = Evening(name=f"refused for {reason}", people=THREE_DEALS.people)
    return Cheat(
        name=f"a made-up {reason}",
        gains="right hands that it does not like are dealt again",
        parts={RUN: refusing(reason)},
        evening=evening,
        found=f"{reason} does not follow from the opened record",
        on_feed=f"{reason} does not follow from the opened record",
    )


CHEATS = (
    Cheat(
        name="a record that is skipped",
        gains="nobody can see that the reason was made up",
        parts={BOOK: SkipsRecord},
        evening=A_VOID_BETWEEN,
        found="its record is not open",
        on_feed="its record is not open",
    ),
    Cheat(
        name="seed and record that are skipped",
        gains="nobody can see what was drawn, nor why it was given up",
        parts={BOOK: SkipsAll},
        evening=A_VOID_BETWEEN,
        found="its record is not open",
        on_feed="its record is not open",
    ),
    Cheat(
        name="a record that is skipped at the end",
        gains="the last attempt of an evening is never asked about",
        parts={BOOK: SkipsRecord},
        evening=A_VOID_AT_THE_END,
        found="its record is not open",
        on_feed="its record is not open",
    ),
    Cheat(
        name="a power cut that was none",
        gains="the chief alone could see that the reason was made up",
        parts={BOOK: SaysPower},
        evening=A_VOID_BETWEEN,
        found="the key of attempt 2 is reported lost, but its daemon continued",
        on_feed="the key of attempt 2 is reported lost, but its daemon continued",
    ),
    Cheat(
        name="no reason",
        gains="it deals again because it likes to",
        parts={BOOK: GivesNoReason},
        evening=A_VOID_BETWEEN,
        found="attempt 2 was given up without a reason",
        on_feed="attempt 2 was given up without a reason",
    ),
    Cheat(
        name="half a record",
        gains="what would speak against its reason is left out",
        parts={BOOK: SparseRecord},
        evening=A_VOID_BETWEEN,
        found="the record was not shown as it was",
        on_feed="the counts were not taken from the boards' events",
    ),
    Cheat(
        name="an attempt that is dropped",
        gains="hands that it does not like never were",
        parts={RECORD: HidesAnAttempt, WIRE_LOG: HidesItsEvents},
        evening=A_VOID_BETWEEN,
        found="attempt 2 was left out",
        on_feed=None,
        unseen="a console may have come late: the report says that attempt 2 is not in the file",
    ),
    Cheat(
        name="an attempt that is dropped, and its number used again",
        gains="hands that it does not like never were, and no number is missing",
        parts={RECORD: HidesAndNumbersAnew, WIRE_LOG: EventsNumberedAnew, BOOK: NumberedAnew},
        evening=A_VOID_BETWEEN,
        found="the events between them are not here",
        on_feed=None,
        unseen="the boards' own numbers are not on the feed",
    ),
    Cheat(
        name="good cards in the tray until it is full",
        gains="it saw the first cards, and has them dealt again with a reason that is seen to hold",
        parts={VAULT: RejectsGoodCards},
        evening=THREE_DEALS,
        found="TRAY_FULL does not follow from the opened record",
        on_feed="TRAY_FULL does not follow from the opened record",
    ),
    *map(_made_up, SHOWN_BY_A_RECORD),
)
