"""The record of a table: the journal, the states computed from its entries, and the clock.

The table's clock counts whole milliseconds and never goes back, also after a restart. The clocks of
matches use it. While the daemon runs, it follows the clock of the event loop. Between two runs it
follows the wall clock, as far as the times of the entries are credible.
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
    """The clock of a table, which begins at `begins_ms` and follows the running event loop."""

    def __init__(self, begins_ms: int = 0) -> None:
        self._loop = asyncio.get_running_loop()
        self._started_s = self._loop.time()
        self._offset_ms = begins_ms

    def __call__(self) -> int:
        """Return the present time of this clock in milliseconds."""
        return self._offset_ms + round((self._loop.time() - self._started_s) * 1000)

    def advance(self, by_ms: int) -> None:
        """Set the clock forward by `by_ms`, because an arriving match had a higher clock."""
        self._offset_ms += by_ms

    def loop_time(self, at_ms: int) -> float:
        """Return the time of the event loop at which this clock shows `at_ms`."""
        return self._started_s + (at_ms - self._offset_ms) / 1000


def resumed_ms(entries: Iterable[JournalEntry], now: str) -> int:
    """Return the first time of the table's clock in a run that starts at the wall time `now`.

    This is the highest `at_ms` in `entries`, plus the wall time since its entry, or 0 without such
    an entry. Events from another table have lower times and do not count.
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
    """Return the ms from `earlier` to `later`, limited to 0…MAX_AWAY_MS. Invalid times give 0."""
    try:
        gap = datetime.fromisoformat(later) - datetime.fromisoformat(earlier)
    except (ValueError, TypeError):  # TypeError: one of them has no time zone.
        return 0
    return max(0, min(MAX_AWAY_MS, round(gap.total_seconds() * 1000)))


MAX_EVENTS_IN_ANSWER = 200
"""The most events in one answer to `events`. The client then requests the following events."""


class TableRecord:
    """The journal of a table, with the states that follow from its entries.

    `on_public` receives every public entry once, in order, after its commit. `on_state` is called
    when the state has changed. `on_entry` receives every committed entry, those of earlier runs
    first.

    `state` and `match_committed` contain only committed entries. `synced_head` is the number of the
    newest entry of this run that survives a power cut, and the head after it. `head` is this head,
    or the last head of earlier runs. People see only synced data, because it must not be undone.

    `match_written` also contains entries that are not committed yet, so that of two people who act
    at once only one succeeds. `on_match` is called after each change of `match_written`.
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

        `now` is the wall-clock time as ISO text.
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
        """Append an entry to the journal, and apply the entry to `match_written` at once.

        `sync` or `journal.flush` makes it durable. Then `state` and `match_committed` contain it.
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
        """Append an event of the match to the journal, and apply it to `match_written` at once.

        An event that may be public only with later events is withheld until `publish_withheld`.
        """
        after = apply_event(self.match_written, event).match
        public = after is None or not is_event_withheld(after, event)
        kind = "match" if public else "match_kept"
        self._write_match_entry(kind, encode_match_event(event), public=public)

    def publish_withheld(self) -> None:
        """Publish all withheld events of the match in one entry, if they may be public now."""
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
        """Wait until all earlier entries are on the disk, in `state` and on the feed.

        Raises StorageFailed if they cannot be stored.
        """
        await self.journal.sync()

    def raise_fault(self, name: str, evidence: Mapping[str, str] | None = None) -> None:
        """Raise a fault of the catalogue, unless it is raised already with the same evidence.

        The fault stays raised until `clear_fault`.
        """
        self.raise_faults({name: evidence or {}})

    def raise_faults(self, faults: Mapping[str, Mapping[str, str]]) -> None:
        """Raise all `faults` (evidence by fault name); commit them with all uncommitted entries."""
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
        """Raise the fault `name` if `is_raised` is True, otherwise clear this fault."""
        if is_raised:
            self.raise_fault(name, evidence)
        else:
            self.clear_fault(name)

    def clear_fault(self, name: str, board: str = "") -> None:
        """Clear the fault `name` of `board` if it is raised. `board` is empty without a board."""
        known = self._raised_faults.pop((name, board), None)
        if known is None:
            return
        self.write("fault_cleared", {"code": fault(name).code, "name": name, "evidence": known})
        self.journal.flush()

    def public_events(self, since: int) -> list[dict[str, Any]]:
        """Return the public entries after the entry with number `since`, oldest first.

        The list has at most MAX_EVENTS_IN_ANSWER entries.
        """
        events = (
            public_event(chained, self._table, self._simulated)
            for chained in self.journal.entries(since)
            if chained.entry.public
        )
        return [msgspec.to_builtins(event) for event in islice(events, MAX_EVENTS_IN_ANSWER)]

    @property
    def raised_faults(self) -> tuple[FaultKey, ...]:
        """Return (name, board) of each raised fault. A fault without a board has board ""."""
        return tuple(self._raised_faults)

    def _fold(self, chained: ChainedEntry) -> None:
        self._on_entry(chained.entry)
        self.state = fold_state(self.state, chained.entry)

    def _restore_fault(self, entry: JournalEntry) -> None:
        """Apply an entry `fault` or `fault_cleared` of an earlier run to the raised faults."""
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
