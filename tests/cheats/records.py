"""Machines whose records and reasons are hollow: they stand there, and nobody can check them."""

from collections.abc import Sequence
from typing import Any

import msgspec

from controller.journal.packed_board_events import STRAY, BoardEventFields
from controller.machine.attempts.attempt_writer import AttemptWriter
from drivers.board_events import BoardEvent, BoardEventCode
from tests.cheats.changed import BOOK, RUN, VAULT, VICTIM, Cheat
from tests.cheats.evenings import THREE_DEALS, TWO_MATCHES, UNCUT_FIRST, WITHDRAWN
from tests.cheats.openings import BindsExchangedFaces
from tests.cheats.told import promising
from tests.cheats.voids import refusing


def opening(**shown: Any) -> type[AttemptWriter]:
    """Return a machine whose records say this, and leave out what is said to be `...`."""

    class Opens(AttemptWriter):
        def build_record(self, *rest: Any, **more: Any) -> dict[str, Any]:
            record = super().build_record(*rest, **more)
            if self.number != VICTIM:
                return record
            return {name: value for name, value in (record | shown).items() if value is not ...}

    return Opens


def writing(of: str, **data: Any) -> type[AttemptWriter]:
    """Return a machine whose entry of that kind says this, and leaves out what is `...`."""

    class Writes(AttemptWriter):
        def _write(self, kind: str, said: dict[str, Any], *, public: bool = True) -> None:
            if kind == of and self.number in (VICTIM, 1):
                said = {name: value for name, value in (said | data).items() if value is not ...}
            super()._write(kind, said, public=public)

    return Writes


class OneEventMore(AttemptWriter):
    """Shows in the record what no board saw: a card that fell into the tray behind the last one."""

    def build_record(
        self, events: Sequence[BoardEventFields], *rest: Any, **more: Any
    ) -> dict[str, Any]:
        """Tell of one more event."""
        if self.number == VICTIM and events:
            last = [event for event in events if event.board == "dealer"][-1]
            assert isinstance(last, BoardEvent)
            stray = msgspec.structs.replace(
                last, number=last.number + 1, code=BoardEventCode(STRAY), index=0, place=4
            )
            events = [*events, stray]
        return super().build_record(events, *rest, **more)


_NOTHING: dict[str, Any] = {"nonce": None, "hands": None, "events": ..., "key": ...}

CHEATS = (
    Cheat(
        name="exchanged faces, and a record that has no look at them",
        gains="hands were exchanged before they were bound, and what the reader saw is not shown",
        parts={BOOK: opening(events=...), VAULT: BindsExchangedFaces},
        evening=THREE_DEALS,
        found="the record of attempt 2 lacks events",
        on_feed="the record of attempt 2 lacks events",
    ),
    Cheat(
        name="a record without its key",
        gains="nobody can hold it against the sealed rows",
        parts={BOOK: opening(key=...)},
        evening=THREE_DEALS,
        found="the record of attempt 2 lacks key",
        on_feed="the record of attempt 2 lacks key",
    ),
    Cheat(
        name="withdrawn hands that are kept from view by a record of nothing",
        gains="whoever saw them has hands dealt again that he does not like",
        parts={BOOK: opening(**_NOTHING)},
        evening=WITHDRAWN,
        found="the record of attempt 2 lacks events, key, nonce, hands",
        on_feed="the record of attempt 2 lacks events, key, nonce, hands",
    ),
    Cheat(
        name="played hands that are kept from view by a record of nothing",
        gains="what was held is never seen, though its rulebook opens it",
        parts={BOOK: opening(nonce=None, hands=None)},
        evening=TWO_MATCHES,
        found="the record of attempt 2 lacks nonce, hands",
        on_feed="the record of attempt 2 lacks nonce, hands",
    ),
    Cheat(
        name="a third copy that nobody can look for",
        gains="hands that it does not like are a misdeal, and no look can disprove it",
        parts={RUN: refusing("THIRD_COPY"), BOOK: opening(events=..., key=...)},
        evening=THREE_DEALS,
        found="the record of attempt 2 lacks events, key",
        on_feed="the record of attempt 2 lacks events, key",
    ),
    Cheat(
        name="a record of no events",
        gains="there are events in its record, as there must be: none",
        parts={RUN: refusing("MISSING_CARD"), BOOK: opening(events=[])},
        evening=THREE_DEALS,
        found="the record was not shown as it was",
        on_feed="MISSING_CARD does not follow from the opened record",
    ),
    Cheat(
        name="a reason that the record alone has",
        gains="a card is said to have fallen beside the others, which no board saw",
        parts={RUN: refusing("WRONG_POCKET"), BOOK: OneEventMore},
        evening=THREE_DEALS,
        found="record has other board events than the journal",
        on_feed=None,
        unseen="what the boards said stands in the journal's own rows, which are not on the feed",
    ),
    Cheat(
        name="hands withdrawn without a reason",
        gains="it deals again because it likes to, and is not even counted",
        parts={BOOK: writing("withdrawn", reasons=[])},
        evening=WITHDRAWN,
        found="attempt 2 was withdrawn without a reason",
        on_feed="attempt 2 was withdrawn without a reason",
    ),
    Cheat(
        name="an uncut deal without a reason",
        gains="nobody is told why the players had no share in it",
        parts={BOOK: writing("cut", reason=...)},
        evening=UNCUT_FIRST,
        found="attempt 1 is uncut without a reason",
        on_feed="attempt 1 is uncut without a reason",
    ),
    Cheat(
        name="its rules by another name",
        gains="nobody looks up the cuts and the hands' opening that its rules promise",
        parts={BOOK: promising(profile="house-rules")},
        evening=THREE_DEALS,
        found="those of this hash are international-000",
        on_feed="those of this hash are international-000",
    ),
)
