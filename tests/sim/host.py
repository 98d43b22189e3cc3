"""A host that follows a script: it deals by a fixed order, and decides nothing."""

import asyncio
import itertools
from collections import Counter
from collections.abc import Sequence

from drivers.board_events import BoardEvent, BoardEventCode, CardReadEvent, FeedSource, Outlet
from drivers.link.link import Link
from drivers.link.serial_port import LinkPort
from drivers.typed_boards import DealerBoard, ReaderBoard

# No two hosts of a test run open the same session.
SESSIONS = itertools.count(0x5E550001)


class Host:
    """Both boards behind their ports, and the events they sent."""

    def __init__(self, dealer: LinkPort, reader: LinkPort) -> None:
        self.dealer = DealerBoard(Link(dealer, "dealer", session_ids=lambda: next(SESSIONS)))
        self.reader = ReaderBoard(Link(reader, "reader", session_ids=lambda: next(SESSIONS)))
        self.dealer.on_event = self.reader.on_event = self._take
        self.events: list[BoardEvent] = []
        self._counts: Counter[BoardEventCode] = Counter()
        self._order: Sequence[int] = ()
        self._attempt = 0
        self._news = asyncio.Event()

    async def open(self) -> None:
        await self.dealer.link.open({}, {})
        await self.reader.link.open({}, {})

    def close(self) -> None:
        self.dealer.link.close()
        self.reader.link.close()

    async def deal(self, attempt: int, order: Sequence[int], passes: int = 1) -> None:
        """Shuffle, then feed a card for each place of `order`, and wait until all landed."""
        self._attempt, self._order = attempt, order
        self.events.clear()
        self._counts.clear()
        await self.dealer.begin(attempt, len(order), len(order) // 4)
        await self.reader.begin(attempt, len(order), len(order) // 4)
        await self.dealer.shuffle(attempt, passes)
        await self.until(BoardEventCode.SHUFFLED)
        await self.dealer.feed(attempt, FeedSource.HOPPER, len(order))
        await self.until(BoardEventCode.LANDED, len(order))

    async def release(self) -> None:
        await self.dealer.release(self._attempt)
        await self.until(BoardEventCode.RELEASED)

    async def until(self, code: BoardEventCode, times: int = 1) -> None:
        while self.count(code) < times:
            self._news.clear()
            await self._news.wait()

    def count(self, code: BoardEventCode) -> int:
        return self._counts[code]

    def _take(self, event: BoardEvent) -> None:
        self.events.append(event)
        self._counts[event.code] += 1
        self._news.set()
        link = self.dealer.link if event.board == "dealer" else self.reader.link
        link.mark_kept(event.number)
        if isinstance(event, CardReadEvent) and event.attempt == self._attempt:
            outlet = Outlet(self._order[event.index - 1])
            self.dealer.route(event.attempt, event.index, outlet)
