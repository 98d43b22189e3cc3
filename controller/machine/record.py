"""The machine's writing end: every entry goes through here, and becomes state and feed.

Nothing is public before it is in the journal: state and events follow the commit,
not the writing.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any

import msgspec

from controller.faults import fault
from controller.journal.entries import Chained, Entry, public_event
from controller.journal.journal import Journal
from controller.machine.state import FaultKey, TableState, fold
from controller.messages import Event

EVENTS_AT_ONCE = 200
"""Events in one answer to `events`; the asker goes on behind the last of them."""


class Record:
    """A journal, the state folded over it, and who hears of both.

    `on_public` gets every public entry once, in order, after its commit; `on_state`
    is called whenever the state has changed.
    """

    def __init__(
        self,
        journal: Journal,
        *,
        table: str,
        simulated: bool,
        on_public: Callable[[Event], None],
        on_state: Callable[[], None],
    ) -> None:
        self.journal = journal
        self.state = TableState()
        self.head = bytes(32)
        self._table, self._simulated = table, simulated
        self._on_public, self._on_state = on_public, on_state
        self._latched: dict[FaultKey, Mapping[str, Any]] = {}
        for chained in journal.entries():
            self._fold(chained)
            self._remember_fault(chained.entry)
        journal.on_committed = self._committed

    def write(
        self,
        kind: str,
        data: Mapping[str, Any],
        *,
        deal: int | None = None,
        attempt: int | None = None,
        public: bool = True,
    ) -> None:
        """Append an entry; `sync` or `flush` makes it last."""
        self.journal.append(kind, data, deal=deal, attempt=attempt, public=public)

    async def sync(self) -> None:
        """Return when all that was written is durable, folded and on its way to the feed.

        Raises StorageFailed.
        """
        await self.journal.sync()

    def latch(self, name: str, evidence: Mapping[str, str] | None = None) -> None:
        """Put a fault of the catalogue up, once; it stays until `clear`."""
        known = dict(evidence or {})
        key = (name, known.get("board", ""))
        if self._latched.get(key) == known:
            return
        self._latched[key] = known
        self.write("fault", {"code": fault(name).code, "name": name, "evidence": known})
        self.journal.flush()

    def clear(self, name: str, board: str = "") -> None:
        """Take a fault down again; one that is not up is no matter."""
        known = self._latched.pop((name, board), None)
        if known is None:
            return
        self.write("fault_cleared", {"code": fault(name).code, "name": name, "evidence": known})
        self.journal.flush()

    def public_events(self, since: int) -> list[dict[str, Any]]:
        """Return the public entries behind number `since`, at most EVENTS_AT_ONCE, oldest first."""
        events = (
            public_event(chained, self._table, self._simulated)
            for chained in self.journal.entries(since)
            if chained.entry.public
        )
        return [msgspec.to_builtins(event) for event in islice(events, EVENTS_AT_ONCE)]

    @property
    def latched(self) -> frozenset[FaultKey]:
        """The faults that are up, by name and board."""
        return frozenset(self._latched)

    def _fold(self, chained: Chained) -> None:
        self.state = fold(self.state, chained.entry)
        self.head = chained.head

    def _remember_fault(self, entry: Entry) -> None:
        """Take over what an earlier run of the daemon left up."""
        evidence = entry.data.get("evidence", {})
        key = (entry.data.get("name", ""), evidence.get("board", ""))
        if entry.kind == "fault":
            self._latched[key] = evidence
        elif entry.kind == "fault_cleared":
            self._latched.pop(key, None)

    def _committed(self, entries: Sequence[Chained]) -> None:
        for chained in entries:
            self._fold(chained)
            if chained.entry.public:
                self._on_public(public_event(chained, self._table, self._simulated))
        self._on_state()
