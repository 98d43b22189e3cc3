"""What the boards said, on its way into the journal: a group of events an entry.

Written 2 ms after a group is full, so that nothing stands between an event and its
ROUTE; a slow disk costs memory, never a card. A board keeps an event until it is
told that it is synced, so that a group which is lost with the process comes again.
"""

import asyncio
from collections.abc import Callable, Sequence

from controller.journal.journal import Journal
from controller.journal.packed_board_events import MAX_GROUP_EVENTS, pack_events, split_into_groups
from drivers.board_events import BoardEvent, BoardEventCode
from drivers.firmware.protocol import EVENT_MEMORY

WRITE_DELAY_S = 0.002
# What each card brings; these wait until a group is full, anything else does not.
_CODES_OF_EACH_CARD = frozenset(
    {BoardEventCode.AT_READER, BoardEventCode.READ, BoardEventCode.GATE, BoardEventCode.LANDED}
)
# A board keeps EVENT_MEMORY events: before half of them wait for a sync, one is made.
_MAX_UNSYNCED = EVENT_MEMORY // 2


class BoardLog:
    """Collects events of both boards and journals them.

    `seal(attempt)` returns what closes the faces of an attempt, or None where its
    key is gone. `kept(board, boot, number)` tells a board what it may forget.
    `on_written`, which may be set at any time, gets each run of events that was appended.
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
        self._newest: dict[str, tuple[int, int]] = {}  # boot and number, never a look
        self._unsynced = 0
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._syncing: asyncio.Task[None] | None = None

    @property
    def pending_count(self) -> int:
        """How many events are not appended yet."""
        return len(self._pending)

    def add(self, event: BoardEvent) -> None:
        """Take an event; cheap, called inside the read callback."""
        self._pending.append(event)
        urgent = event.code not in _CODES_OF_EACH_CARD or len(self._pending) >= MAX_GROUP_EVENTS
        if urgent and self._timer is None:
            self._timer = self._loop.call_later(WRITE_DELAY_S, self._on_timer)

    def write(self) -> None:
        """Append what waits to the journal, now."""
        self._cancel_timer()
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
        """Make all of it durable and let the boards forget it. Raises StorageFailed."""
        self.write()
        newest = dict(self._newest)
        self._unsynced = 0
        await self._journal.sync()
        for board, (boot, number) in newest.items():
            self._on_synced(board, boot, number)

    async def close(self) -> None:
        """Leave no timer and no task behind; what waits is appended."""
        self.write()
        if self._syncing is not None:
            await asyncio.wait({self._syncing})

    def _on_timer(self) -> None:
        self.write()
        if self._unsynced < _MAX_UNSYNCED:
            self._journal.flush()
        elif self._syncing is None or self._syncing.done():
            self._syncing = self._loop.create_task(self.sync())

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
