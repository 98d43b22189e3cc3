"""Notes for the chief referee, from the tables' events, the archive and referees' assignments.

No table's state contains these facts. `ChiefNotes.view` returns the chief's part of the hall's
stream. Notes on open matters and on referees exist only while the console runs. Opened hands and
heads that contradict each other are stored in the archive.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, TypeVar

import msgspec

from controller.console.feed.journal_positions import JournalPosition, position_of
from controller.console.freshness import stamp_to_epoch_ms
from controller.console.store.archive import Archive
from controller.console.store.database import StoreError
from controller.console.table_snapshots import (
    RunBlocking,
    StartTask,
    Tables,
    TableSnapshot,
    Unsubscribe,
    natural_sort_key,
)
from controller.console.view.chief_page import ChiefView, build_chief_view, open_matter_names
from controller.console.view.integrity import HallNotes, OpenedHandNote, Workload
from controller.host.loggers import structlog
from controller.messages import PublicEvent
from controller.signing.releases import Manifest
from controller.signing.signed_heads import HeadConflict

POLL_INTERVAL_S: Final = 5.0
"""Seconds between two searches of the archive for journal heads that contradict each other."""
MAX_OPENED_HANDS: Final = 100
"""The most opened hands in a table's match that the chief sees.

The newest are shown. A person who controls a table's gateway could send such events without end.
"""
MAX_PEOPLE: Final = 500
"""The maximum number of people with a count of their commands."""
_MAX_NAME_LENGTH: Final = 40
_MATCH_START_KINDS: Final = frozenset({"meeting", "taken_over"})
_OPENED_HAND_KIND: Final = "opened_hand"
_log = structlog.get_logger("console")
T = TypeVar("T")


class OpenedHandEntry(msgspec.Struct, frozen=True, gc=False):
    """A hand that was opened for a person, and the position of the event that reports it."""

    at: JournalPosition
    hand: OpenedHandNote


class ChiefNotes:
    """Notes for the chief referee on facts that the tables' states do not contain.

    `assigned_to` returns the person who goes to a table now. `unsigned_heads` returns how many
    signed heads of a table did not match its key. `read` runs blocking calls. `start_task` starts
    tasks that run as long as the console. `manifest` is the manifest of the release that tables
    should run.
    """

    def __init__(
        self,
        tables: Tables,
        archive: Archive,
        assigned_to: Callable[[str], str | None],
        read: RunBlocking,
        manifest: Manifest | None = None,
        unsigned_heads: Callable[[str], int] = lambda table: 0,
        start_task: StartTask = asyncio.create_task,
    ) -> None:
        self._start_task = start_task
        self._tables, self._archive = tables, archive
        self._assigned_to, self._read = assigned_to, read
        self._manifest, self._unsigned_heads = manifest, unsigned_heads
        self._first_seen_ms: dict[str, int] = {}
        self._match_started_at: dict[str, JournalPosition] = {}
        self._opened_hands: dict[str, tuple[OpenedHandEntry, ...]] = {}
        self._disagreements: tuple[HeadConflict, ...] = ()
        # The person who goes to a table, and the time when the person was assigned.
        self._assignments: dict[str, tuple[str, int]] = {}
        self._finished_count: Counter[str] = Counter()
        self._finished_ms: Counter[str] = Counter()
        self._command_count: Counter[str] = Counter()
        self._unsubscribe: Unsubscribe = lambda: None
        self._poll_task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to receive the tables' events, and to read the archive."""
        self._unsubscribe = self._tables.on_event(self.note_event)
        self._poll_task = self._start_task(self._poll_archive())

    async def close(self) -> None:
        """Stop receiving events and reading the archive."""
        self._unsubscribe()
        if self._poll_task is not None:
            self._poll_task.cancel()
            await asyncio.gather(self._poll_task, return_exceptions=True)

    def shift_times(self, by_ms: int) -> None:
        """Add `by_ms` to the notes' times, after the console's clock was set by that amount."""
        self._first_seen_ms = {
            name: since_ms + by_ms for name, since_ms in self._first_seen_ms.items()
        }
        self._assignments = {
            table: (person, since_ms + by_ms)
            for table, (person, since_ms) in self._assignments.items()
        }

    def view(self, snapshots: Sequence[TableSnapshot], now_ms: int) -> ChiefView:
        """Update the notes from `snapshots`, and return the chief's part of the hall's pages."""
        found = [(one.table, one.state) for one in snapshots if one.state is not None]
        names = {name for table, state in found for name in open_matter_names(table, state)}
        self._first_seen_ms = {name: self._first_seen_ms.get(name, now_ms) for name in names}
        self._note_assignments(snapshots, now_ms)
        people = {person for person, _ in self._assignments.values()}
        people |= self._finished_count.keys() | self._command_count.keys()
        noted = HallNotes(
            first_seen_ms=self._first_seen_ms,
            opened_hands=[each.hand for hands in self._opened_hands.values() for each in hands],
            disagreements=self._disagreements,
            unsigned_heads={one.table: self._unsigned_heads(one.table) for one in snapshots},
            workloads=[self._workload_of(person) for person in sorted(people)],
            manifest=self._manifest,
        )
        return build_chief_view(snapshots, now_ms, noted)

    def note_event(self, event: PublicEvent) -> None:
        """Note an event if it is the start of a match, an opened hand or an executed command."""
        if event.kind in _MATCH_START_KINDS:
            self._note_match_start(event.table, position_of(event))
        elif event.kind == _OPENED_HAND_KIND:
            self._note_opened_hand(event.table, _opened_hand_entry(event))
        elif event.kind == "command" and "refused" not in event.data:
            counted = self._command_count
            person: Any = event.data.get("person")
            is_name = isinstance(person, str) and len(person) <= _MAX_NAME_LENGTH
            if is_name and (person in counted or len(counted) < MAX_PEOPLE):
                counted[person] += 1

    def _note_match_start(self, table: str, at: JournalPosition) -> None:
        """Note at which event a table's match began, and forget hands that were opened earlier."""
        begun = self._match_started_at.get(table)
        if begun is not None and at.is_before(begun):
            return
        self._match_started_at[table] = at
        known = self._opened_hands.pop(table, ())
        if hands := tuple(one for one in known if at.is_before(one.at)):
            self._opened_hands[table] = hands

    def _note_opened_hand(self, table: str, opened: OpenedHandEntry) -> None:
        """Note an opened hand, unless it is already noted or is of an earlier match."""
        begun, known = self._match_started_at.get(table), self._opened_hands.get(table, ())
        if begun is not None and opened.at.is_before(begun):
            return
        if any(one.at == opened.at for one in known):
            return
        older = tuple(one for one in known if not opened.at.is_before(one.at))
        newer = tuple(one for one in known if opened.at.is_before(one.at))
        self._opened_hands[table] = (*older, opened, *newer)[-MAX_OPENED_HANDS:]

    def _note_assignments(self, snapshots: Sequence[TableSnapshot], now_ms: int) -> None:
        going = {
            one.table: who for one in snapshots if (who := self._assigned_to(one.table)) is not None
        }
        for table, (person, since_ms) in list(self._assignments.items()):
            if going.get(table) != person:
                del self._assignments[table]
                self._finished_count[person] += 1
                self._finished_ms[person] += now_ms - since_ms
        for table, person in going.items():
            self._assignments.setdefault(table, (person, now_ms))

    def _workload_of(self, person: str) -> Workload:
        ways = {table: since for table, (who, since) in self._assignments.items() if who == person}
        done = self._finished_count[person]
        return Workload(
            person=person,
            tables=tuple(sorted(ways, key=natural_sort_key)),
            since_ms=min(ways.values(), default=None),
            done=done,
            average_ms=self._finished_ms[person] // done if done else None,
            orders=self._command_count[person],
        )

    async def _poll_archive(self) -> None:
        """Load each table's stored notes once, then repeatedly load the contradictory signed heads.

        Two such heads of one table cannot belong to the same growing journal.
        """
        for table in self._tables.ids:
            read = partial(_read_match_notes, self._archive, table)
            for kept in await self._query_archive(read) or ():
                if isinstance(kept, OpenedHandEntry):
                    self._note_opened_hand(table, kept)
                else:
                    self._note_match_start(table, kept)
        while True:
            found = await self._query_archive(lambda: tuple(self._archive.disagreements()))
            if found is not None:  # If the archive cannot be read, the known notes stay.
                self._disagreements = found
            await asyncio.sleep(POLL_INTERVAL_S)

    async def _query_archive(self, call: Callable[[], tuple[T, ...]]) -> tuple[T, ...] | None:
        """Return the result of `call`, which reads the archive, or None if the call fails."""
        try:
            return await self._read(call)
        except StoreError as error:
            _log.warning("the archive cannot be read", why=str(error))
        except Exception:  # An error in one table's rows must not stop the reading of the others.
            _log.exception("the archive has invalid data")
        return None


def _read_match_notes(
    archive: Archive, table: str
) -> tuple[JournalPosition | OpenedHandEntry, ...]:
    """Return the start of a table's last match, if one is stored, and the newest opened hands."""
    began = [
        position_of(one) for kind in _MATCH_START_KINDS for one in archive.newest(table, 1, kind)
    ]
    begun = sorted(began, key=lambda at: at.n)[-1:]
    hands = archive.newest(table, MAX_OPENED_HANDS, _OPENED_HAND_KIND)
    # `ChiefNotes` ignores the hands of earlier matches.
    return (*begun, *map(_opened_hand_entry, hands))


def _opened_hand_entry(event: PublicEvent) -> OpenedHandEntry:
    hand = OpenedHandNote(
        table=event.table,
        seat=str(event.data.get("seat"))[:_MAX_NAME_LENGTH],
        by=str(event.data.get("by"))[:_MAX_NAME_LENGTH],
        deal=event.deal,
        at_ms=stamp_to_epoch_ms(event.time),
    )
    return OpenedHandEntry(position_of(event), hand)
