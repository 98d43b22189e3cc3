"""Machines that send cards elsewhere than the sequence says, and hide it or not."""

from collections.abc import Collection, Sequence
from typing import Any, ClassVar

import msgspec

from controller.journal.packed_board_events import BoardEventFields
from controller.machine.attempts.attempt_writer import AttemptWriter
from controller.machine.attempts.card_loop import CardLoop
from controller.machine.boards.board_log import BoardLog
from drivers.board_events import BoardEventCode, Outlet
from tests.cheats.changed import BOOK, DEALING, VICTIM, WIRE_LOG, Cheat
from tests.cheats.evenings import THREE_DEALS

NOT_AS_COMMITTED = "this hand is not the one that was committed to"


class RoutesElsewhere(CardLoop):
    """Gives North a card that is another seat's, for one of North's own, and says so."""

    due: ClassVar[dict[int, str]] = {}
    """Where the two cards should have gone, by their place."""

    def __init__(self, number: int, sequence: str, passes: int, **rest: Any) -> None:
        if number == VICTIM:
            other = next(place for place, seat in enumerate(sequence) if seat != "N")
            own = sequence.index("N", other)
            RoutesElsewhere.due = {other + 1: sequence[other], own + 1: "N"}
            letters = list(sequence)
            letters[other], letters[own] = letters[own], letters[other]
            sequence = "".join(letters)
        super().__init__(number, sequence, passes, **rest)


def as_due(
    event: Any, codes: Collection[BoardEventCode] = (BoardEventCode.GATE, BoardEventCode.LANDED)
) -> Any:
    """Return a board's event as if the card had gone where it should have."""
    due = RoutesElsewhere.due.get(event.index)
    if event.attempt != VICTIM or event.code not in codes or due is None:
        return event
    return msgspec.structs.replace(event, place=int(Outlet[due]))


class HidesGates(BoardLog):
    """Journals two gates as they should have stood; the landings as they were."""

    codes: Collection[BoardEventCode] = (BoardEventCode.GATE,)

    def write(self) -> None:
        """Lie about what the board said."""
        self._pending = [as_due(event, self.codes) for event in self._pending]
        super().write()


class HidesAll(HidesGates):
    """Journals two cards as if they had gone where they should have."""

    codes = (BoardEventCode.GATE, BoardEventCode.LANDED)


class HidesInRecord(AttemptWriter):
    """Shows in its record, and there alone, that two cards went where they should have."""

    codes: Collection[BoardEventCode] = (BoardEventCode.GATE, BoardEventCode.LANDED)

    def build_record(
        self, events: Sequence[BoardEventFields], *rest: Any, **more: Any
    ) -> dict[str, Any]:
        """Lie about what the board said."""
        return super().build_record([as_due(event, self.codes) for event in events], *rest, **more)


class HidesInProof(HidesInRecord):
    """Shows in its course and its record that two cards went where they should have."""

    def write_revealed(self, events: Sequence[BoardEventFields] = ()) -> None:
        """Lie about what the board said."""
        super().write_revealed([as_due(event, self.codes) for event in events])


class HidesGatesInProof(HidesInProof):
    """Shows in its course and its record that two gates stood as they should have."""

    codes = (BoardEventCode.GATE,)


CHEATS = (
    Cheat(
        name="two cards of other seats, and said so",
        gains="North gets a card that it knows to be good for one that is not",
        parts={DEALING: RoutesElsewhere},
        evening=THREE_DEALS,
        found=NOT_AS_COMMITTED,
        on_feed=NOT_AS_COMMITTED,
    ),
    Cheat(
        name="two cards of other seats, and their gates hidden",
        gains="North gets a good card, and the gates are as they should be",
        parts={DEALING: RoutesElsewhere, WIRE_LOG: HidesGates, BOOK: HidesGatesInProof},
        evening=THREE_DEALS,
        found=NOT_AS_COMMITTED,
        on_feed=NOT_AS_COMMITTED,
    ),
    Cheat(
        name="two cards of other seats, and hidden in the record",
        gains="North gets a good card; the record that people read has nothing of it",
        parts={DEALING: RoutesElsewhere, BOOK: HidesInRecord},
        evening=THREE_DEALS,
        found="the record was not shown as it was",
        on_feed="the record was not shown as it was",
    ),
    Cheat(
        name="two cards of other seats, and hidden in the journal's rows",
        gains="North gets a good card; the boards' rows have nothing of it",
        parts={DEALING: RoutesElsewhere, WIRE_LOG: HidesAll},
        evening=THREE_DEALS,
        found=NOT_AS_COMMITTED,
        on_feed=NOT_AS_COMMITTED,
    ),
    Cheat(
        name="two cards of other seats, hidden in course and record",
        gains="North gets a good card; what the boards said lies in boxes of the journal",
        parts={DEALING: RoutesElsewhere, BOOK: HidesInProof},
        evening=THREE_DEALS,
        found="has other board events than the journal",
        on_feed=None,
        unseen="the feed has none of the boards' rows",
    ),
    Cheat(
        name="two cards of other seats, and hidden everywhere",
        gains="North gets a good card, and every board is said to have seen what it should",
        parts={DEALING: RoutesElsewhere, WIRE_LOG: HidesAll, BOOK: HidesInProof},
        evening=THREE_DEALS,
        found=None,
        on_feed=None,
        unseen="what a board says reaches the journal through the machine alone, unsigned: two "
        "players had a card in their hands that the opened hands give to the other",
    ),
)
