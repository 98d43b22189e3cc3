"""Machines that cheat with what was: other times, other deals, another past."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import msgspec

from controller.journal.entries import ChainedEntry, encode, next_head, public_event
from controller.machine.attempts.attempt_writer import AttemptWriter, LeadRule
from controller.machine.table_record import TableRecord
from controller.messages import PublicEvent
from controller.signing import signed_heads
from sim.tables.table_in_process import TABLE_KEY, TABLE_SIGN
from tests.cheats.changed import BOOK, RECORD, VICTIM, Cheat
from tests.cheats.evenings import CUT, THREE_DEALS

EARLIER_MS = 5_000


class Backdates(TableRecord):
    """Writes a release as if it had been earlier."""

    def write(self, kind: str, data: Mapping[str, Any], **more: Any) -> None:
        """Lie about the time."""
        if kind != "released" or more.get("attempt") != VICTIM:
            super().write(kind, data, **more)
            return
        clock: Any = self.clock
        self.clock = _Slow(clock)  # type: ignore[assignment]  # a clock by its one use: a call
        super().write(kind, data, **more)
        self.clock = clock


class _Slow:
    """A clock that is behind."""

    def __init__(self, clock: Callable[[], int]) -> None:
        self._clock = clock

    def __call__(self) -> int:
        return self._clock() - EARLIER_MS


class ReleasesForAnotherDeal(AttemptWriter):
    """Lets hands that it holds out as those of the next deal."""

    def write_released(self, lead: LeadRule, waited: Mapping[str, int]) -> None:
        """Give them another deal's number."""
        self.deal += self.number == VICTIM
        super().write_released(lead, waited)


class TwoPasts(TableRecord):
    """Shows one console another verdict than all others, chains both pasts, and signs both."""

    console: ClassVar[list[PublicEvent]] = []
    """What that console was shown."""
    signed: ClassVar[list[signed_heads.KeptHead]] = []
    """The heads that it kept."""
    _other = bytes(32)

    def _on_committed(self, entries: Sequence[ChainedEntry]) -> None:
        super()._on_committed(entries)
        for chained in entries:
            self._show(chained)

    def _show(self, chained: ChainedEntry) -> None:
        entry = chained.entry
        if entry.n == 1:
            TwoPasts.console, TwoPasts.signed, TwoPasts._other = [], [], bytes(32)
        if entry.kind == "released" and entry.attempt == VICTIM:
            earlier = entry.data | {"at_ms": entry.data["at_ms"] - 1}
            entry = msgspec.structs.replace(entry, data=earlier)
        prev, body = self._other, encode(entry)
        TwoPasts._other = next_head(prev, body)
        if entry.public:
            other = ChainedEntry(entry=entry, body=body, prev=prev, head=self._other)
            self.console.append(public_event(other, self._table, self._simulated))
            self.signed.append(kept(entry.n, self._other))


class FeedLies(TableRecord):
    """Tells people another cut than the one that it journals."""

    def _on_committed(self, entries: Sequence[ChainedEntry]) -> None:
        tell = self._on_public

        def lie(event: PublicEvent) -> None:
            if event.kind == "cut" and event.attempt == VICTIM:
                event = msgspec.structs.replace(event, data=event.data | {"cut": CUT + 1})
            tell(event)

        self._on_public = lie
        super()._on_committed(entries)
        self._on_public = tell


class HidesCommands(TableRecord):
    """Journals orders where no feed has them."""

    def write(self, kind: str, data: Mapping[str, Any], **more: Any) -> None:
        """Make public entries private."""
        super().write(kind, data, **more | ({"public": False} if kind == "command" else {}))


def kept(n: int, head: bytes) -> signed_heads.KeptHead:
    """Return a head as this table signs it and a console keeps it."""
    signed = signed_heads.sign_head(TABLE_KEY, n, head, TABLE_SIGN)
    return signed_heads.KeptHead(
        table="T01", table_key=TABLE_KEY, n=n, head=signed.head, sig=signed.sig, time=""
    )


CHEATS = (
    Cheat(
        name="a release that is backdated",
        gains="the players are said to have had the hands earlier than they had them",
        parts={RECORD: Backdates},
        evening=THREE_DEALS,
        found="is earlier than the step before it",
        on_feed="is earlier than the step before it",
    ),
    Cheat(
        name="hands let out as another deal's",
        gains="of two deals that it has, it gives the one it likes to the deal that counts",
        parts={BOOK: ReleasesForAnotherDeal},
        evening=THREE_DEALS,
        found="hands of one deal were given for another",
        on_feed="hands of one deal were given for another",
    ),
    Cheat(
        name="another cut on the feed than in the journal",
        gains="people hear what they like to hear",
        parts={RECORD: FeedLies},
        evening=THREE_DEALS,
        found=None,
        on_feed="its head does not follow from its text",
        unseen="the journal has the truth",
    ),
    Cheat(
        name="orders that nobody hears of",
        gains="who ordered what is known to the table alone",
        parts={RECORD: HidesCommands},
        evening=THREE_DEALS,
        found="command is marked private",
        on_feed=None,
        unseen="a feed has gaps where private entries stand",
    ),
    Cheat(
        name="two pasts",
        gains="each of two people is shown the past that he likes",
        parts={RECORD: TwoPasts},
        evening=THREE_DEALS,
        found=None,
        on_feed=None,
        unseen="either past is whole: two heads that were kept of one entry differ (test_past.py)",
    ),
)
