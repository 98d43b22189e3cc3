"""The log of board events: it collects events into groups and writes each group as one entry.

A group is written 2 ms after it is full, so that the journal never delays a ROUTE. A slow disk
costs memory, never a card. A board keeps an event until the machine reports that the event is
synced. So a group that is lost with the process is sent again.
"""

import asyncio
from collections.abc import Callable, Sequence

from controller.journal.journal import Journal
from controller.journal.packed_board_events import MAX_GROUP_EVENTS, pack_events, split_into_groups
from drivers.board_events import BoardEvent, BoardEventCode
from drivers.firmware.protocol import EVENT_MEMORY

WRITE_DELAY_S = 0.002
# Events of every card wait until a group is full. All others are written at once.
_CODES_OF_EACH_CARD = frozenset(
    {BoardEventCode.AT_READER, BoardEventCode.READ, BoardEventCode.GATE, BoardEventCode.LANDED}
)
# A board keeps EVENT_MEMORY events. A sync begins before half of them are unsynced.
_MAX_UNSYNCED = EVENT_MEMORY // 2


class BoardLog:
    """The collector of both boards' events, which writes them into the journal.

    `seal(attempt)` returns the function that seals the faces of an attempt, or None if its key is
    lost. `on_synced(board, boot, number)` informs a board which events it may delete. `on_written`
    receives each group of events that was appended. It may be set at any time.
    """

    def __init__(
        self,
        journal: Journal,
        *,
        seal: Callable[[int], Callable[[bytes], bytes] | None],
        on_synced: Callable[[str, int, int], None],
    ) -> None:
        self.on_written: Callable[[Sequence[BoardEvent]], None] = lambda events: None
        self._journal = journal
        self._seal = seal
        self._on_synced = on_synced
        self._pending: list[BoardEvent] = []
        # Boot and number of each board's newest event in the journal.
        self._newest: dict[str, tuple[int, int]] = {}
        self._unsynced = 0
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._syncing: asyncio.Task[None] | None = None

    @property
    def pending_count(self) -> int:
        """Return the number of events that are not in the journal yet."""
        return len(self._pending)

    def add(self, event: BoardEvent) -> None:
        """Add an event to the present group, inside the serial port's read callback."""
        self._pending.append(event)
        urgent = event.code not in _CODES_OF_EACH_CARD or len(self._pending) >= MAX_GROUP_EVENTS
        if urgent and self._timer is None:
            self._timer = self._loop.call_later(WRITE_DELAY_S, self._on_timer)

    def write(self) -> None:
        """Append the collected events to the journal now."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        events, self._pending = self._pending, []
        for group in split_into_groups(events):
            attempt = group[0].attempt
            self._journal.append(
                "wire",
                pack_events(group, self._seal(attempt)),
                attempt=attempt or None,
                public=False,
            )
        self._unsynced += len(events)
        self._newest |= {event.board: (event.boot, event.number) for event in events}
        self.on_written(events)

    async def sync(self) -> None:
        """Put all events on the disk, and allow the boards to delete them. Raises StorageFailed."""
        self.write()
        newest = dict(self._newest)
        self._unsynced = 0
        await self._journal.sync()
        for board, (boot, number) in newest.items():
            self._on_synced(board, boot, number)

    async def close(self) -> None:
        """Append the collected events to the journal, and wait until a running sync is complete."""
        self.write()
        if self._syncing is not None:
            await asyncio.wait({self._syncing})

    def _on_timer(self) -> None:
        self.write()
        if self._unsynced < _MAX_UNSYNCED:
            self._journal.flush()
        elif self._syncing is None or self._syncing.done():
            self._syncing = self._loop.create_task(self.sync())
