"""The record of a table: the journal, the states folded over it, and the table's clock.

The clock has whole milliseconds that only go forward, also after a restart. Clocks of matches use
it. While the daemon runs it follows the loop. Between two runs it follows the wall stamps, as far
as they are credible.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import Any

import msgspec

from controller.faults import fault
from controller.journal.entries import ChainedEntry, JournalEntry, public_event
from controller.journal.journal import Journal
from controller.machine.state import table_match as at_play
from controller.machine.state.state_fold import fold_state
from controller.machine.state.table_match import TableMatch, apply_event
from controller.machine.state.table_state import FaultKey, TableState
from controller.match.match_events import MatchEvent, encode_match_event
from controller.match.tribute_exchange import is_event_withheld, is_withholding
from controller.messages import PublicEvent
from controller.rules.profile import Profile

MAX_AWAY_MS = 24 * 3600 * 1000
"""The longest credible gap between two runs. A longer gap means a wrong wall clock."""


class TableClock:
    """The clock of a table: milliseconds since its journal began, counted by the running loop."""

    def __init__(self, begins_ms: int = 0) -> None:
        self._loop = asyncio.get_running_loop()
        self._started_s = self._loop.time()
        self._offset_ms = begins_ms

    def __call__(self) -> int:
        """Return the present time in milliseconds."""
        return self._offset_ms + round((self._loop.time() - self._started_s) * 1000)

    def advance(self, by_ms: int) -> None:
        """Set the clock forward by `by_ms`. A match may arrive from a table with an older clock."""
        self._offset_ms += by_ms

    def loop_time(self, at_ms: int) -> float:
        """Return the time of the event loop at which this clock shows `at_ms`."""
        return self._started_s + (at_ms - self._offset_ms) / 1000


def resumed_ms(entries: Iterable[JournalEntry], now: str) -> int:
    """Return the time that the clock of an earlier run would show at the wall-clock time `now`.

    It continues from the last moment in the journal by the time since then, if the stamps are
    credible. Events from another table have earlier moments and do not count.
    """
    last: JournalEntry | None = None
    for entry in entries:
        at_ms = entry.data.get("at_ms")
        if isinstance(at_ms, int) and (last is None or at_ms >= last.data["at_ms"]):
            last = entry
    if last is None:
        return 0
    return int(last.data["at_ms"]) + elapsed_ms(last.time, now)


def elapsed_ms(earlier: str, later: str) -> int:
    """Return the milliseconds from one wall-clock time to a later one, or 0 if they cannot be
    right.
    """
    try:
        gap = datetime.fromisoformat(later) - datetime.fromisoformat(earlier)
    except (ValueError, TypeError):  # TypeError: one of them has no time zone.
        return 0
    return max(0, min(MAX_AWAY_MS, round(gap.total_seconds() * 1000)))


MAX_EVENTS_IN_ANSWER = 200
"""Events in one answer to `events`. The client continues after the last of them."""


class TableRecord:
    """The journal of a table, with the states that follow from its entries.

    `on_public` receives every public entry once, in order, after its commit. `on_state` is called
    when the state has changed. `on_entry` receives every committed entry, those of earlier runs
    first.

    `state` and `match_committed` contain only committed entries. `synced_head` is number and head
    of the newest entry of this run that survives a power cut. `head` is its head, or the last head
    of earlier runs. Only synced data is shown to people, because it must not be undone.

    `match_written` is ahead of that: the match with everything that was written, so that two people
    who act at once do not both succeed. `on_match` is called when it changed.
    """

    def __init__(
        self,
        journal: Journal,
        profile: Profile,
        *,
        table: str,
        simulated: bool,
        now: str,
        on_public: Callable[[PublicEvent], None],
        on_state: Callable[[], None],
        on_entry: Callable[[JournalEntry], None] = lambda entry: None,
    ) -> None:
        """Compute the states from the entries that the journal already has.

        `now` is a wall stamp.
        """
        self.journal = journal
        self.state = TableState()
        self.match_written = self.match_committed = TableMatch()
        self.head = bytes(32)
        self.synced_head: tuple[int, bytes] | None = None
        self.on_match: Callable[[], None] = lambda: None
        self._profile = profile
        self._table, self._simulated = table, simulated
        self._on_public, self._on_state, self._on_entry = on_public, on_state, on_entry
        self._raised_faults: dict[FaultKey, Mapping[str, Any]] = {}
        self._uncommitted_matches: deque[tuple[int, TableMatch]] = deque()
        for chained in journal.entries():
            self._fold(chained)
            self.head = chained.head
            self._restore_fault(chained.entry)
            self.match_written = at_play.fold_match(self.match_written, chained.entry, profile)
        self.match_committed = self.match_written
        self.clock = TableClock(resumed_ms((each.entry for each in journal.entries()), now))
        journal.on_committed = self._on_committed

    def write(
        self,
        kind: str,
        data: Mapping[str, Any],
        *,
        deal: int | None = None,
        attempt: int | None = None,
        public: bool = True,
    ) -> None:
        """Append an entry to the journal, and apply it to both states.

        `sync` or `flush` makes it durable.
        """
        if kind in at_play.CLOCKED_KINDS:
            data = {**data, "at_ms": self.clock()}
        chained = self.journal.append(kind, data, deal=deal, attempt=attempt, public=public)
        play = at_play.fold_match(self.match_written, chained.entry, self._profile)
        if play is not self.match_written:
            self.match_written = play
            self._uncommitted_matches.append((chained.entry.n, play))
            self.on_match()

    def write_match(self, event: MatchEvent) -> None:
        """Append an event of the match. `sync` or `flush` makes it durable.

        An event that may only be seen with others is withheld until `publish_withheld`.
        """
        after = apply_event(self.match_written, event).match
        public = after is None or not is_event_withheld(after, event)
        kind = "match" if public else "match_kept"
        self._write_match_entry(kind, encode_match_event(event), public=public)

    def publish_withheld(self) -> None:
        """Append the withheld events of the match, if they may be published now."""
        play = self.match_written
        if play.withheld and play.match is not None and not is_withholding(play.match):
            told = [{"n": one.n, "event": dict(one.event)} for one in play.withheld]
            self._write_match_entry("match_told", {"told": told}, public=True)
            self.journal.flush()

    def _write_match_entry(self, kind: str, data: Mapping[str, Any], *, public: bool) -> None:
        match = self.match_written.match
        deal = None if match is None else match.deal or None
        self.write(kind, data, deal=deal, attempt=self.match_written.attempt, public=public)

    async def sync(self) -> None:
        """Wait until every entry so far is on the disk, applied to the states and sent to the feed.

        Raises StorageFailed.
        """
        await self.journal.sync()

    def raise_fault(self, name: str, evidence: Mapping[str, str] | None = None) -> None:
        """Raise a fault of the catalogue, unless it is raised already.

        It stays until `clear_fault`.
        """
        self.raise_faults({name: evidence or {}})

    def raise_faults(self, faults: Mapping[str, Mapping[str, str]]) -> None:
        """Raise faults with their evidence, in one commit with all earlier entries."""
        for name, evidence in faults.items():
            known = dict(evidence)
            key = (name, known.get("board", ""))
            if self._raised_faults.get(key) == known:
                continue
            self._raised_faults[key] = known
            self.write("fault", {"code": fault(name).code, "name": name, "evidence": known})
        self.journal.flush()

    def set_fault(
        self, name: str, is_raised: bool, evidence: Mapping[str, str] | None = None
    ) -> None:
        """Raise a fault, or clear it."""
        if is_raised:
            self.raise_fault(name, evidence)
        else:
            self.clear_fault(name)

    def clear_fault(self, name: str, board: str = "") -> None:
        """Clear a fault. A fault that is not raised is ignored."""
        known = self._raised_faults.pop((name, board), None)
        if known is None:
            return
        self.write("fault_cleared", {"code": fault(name).code, "name": name, "evidence": known})
        self.journal.flush()

    def public_events(self, since: int) -> list[dict[str, Any]]:
        """Return the public entries after entry `since`, oldest first.

        There are at most MAX_EVENTS_IN_ANSWER.
        """
        events = (
            public_event(chained, self._table, self._simulated)
            for chained in self.journal.entries(since)
            if chained.entry.public
        )
        return [msgspec.to_builtins(event) for event in islice(events, MAX_EVENTS_IN_ANSWER)]

    @property
    def raised_faults(self) -> tuple[FaultKey, ...]:
        """Return the raised faults, by name and board."""
        return tuple(self._raised_faults)

    def _fold(self, chained: ChainedEntry) -> None:
        self._on_entry(chained.entry)
        self.state = fold_state(self.state, chained.entry)

    def _restore_fault(self, entry: JournalEntry) -> None:
        """Restore a fault that an earlier run of the daemon left raised."""
        evidence = entry.data.get("evidence", {})
        key = (entry.data.get("name", ""), evidence.get("board", ""))
        if entry.kind == "fault":
            self._raised_faults[key] = evidence
        elif entry.kind == "fault_cleared":
            self._raised_faults.pop(key, None)

    def _on_committed(self, entries: Sequence[ChainedEntry]) -> None:
        for chained in entries:
            self._fold(chained)
            if chained.entry.n <= self.journal.last_synced:
                self.synced_head = chained.entry.n, chained.head
                self.head = chained.head
            while self._uncommitted_matches and self._uncommitted_matches[0][0] <= chained.entry.n:
                _, self.match_committed = self._uncommitted_matches.popleft()
            if chained.entry.public:
                self._on_public(public_event(chained, self._table, self._simulated))
        self._on_state()
