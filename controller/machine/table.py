"""The table: two boards, one attempt after the other, and people's orders between them.

Everything here runs on the machine process's one loop. What it decides stands in
the parts it holds together; what it adds is their order in time.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress

from controller.journal.errors import StorageFailed
from controller.machine.attempt_book import AttemptBook
from controller.machine.attempt_run import AttemptRun, Fixtures
from controller.machine.boards import Evidence
from controller.machine.left_over import LeftOver
from controller.machine.orders import Order, uncut_reason
from controller.machine.public import shown_phase
from controller.messages import Outcome, Phase
from drivers.dealer import Status
from drivers.errors import DriverError, Refused
from drivers.events import Board, Code, Doing, Event, StoppedBy
from drivers.identity import Welcome

POLL_S = 0.5
"""How often the sensors are asked between attempts: is the set back in the hopper?"""
TAKE_S = 60.0
"""How long players may take to lift their hands out before somebody is called."""
_AT_REST = (Doing.IDLE, Doing.STOPPED)
TWICE = 2
"""Misdeals in a row after which the referee decides, not the machine."""


class Table:
    """Runs deals until cancelled. The boards tell it (boards.Watcher) who is there."""

    def __init__(self, fixtures: Fixtures) -> None:
        self._at = fixtures
        self._record = fixtures.bindings.record
        self._up: dict[Board, Welcome] = {}
        self._dealer_boot: int | None = None
        self._asides: set[asyncio.Task[None]] = set()
        self._faults: dict[Board, str] = {}
        self._ready = asyncio.Event()
        self.run: AttemptRun | None = None

    # What the boards say.

    def board_up(self, board: Board, welcome: Welcome) -> None:
        """Take a board that is the right one: its fault, if it had one, is mended.

        Whatever it was told by another session is stopped.
        """
        if board == "dealer":
            self._at.dealer.stop()
            if welcome.boot != self._dealer_boot:
                self.broken("BOARD_RESET")  # its lock and its counts are gone with the boot
            self._dealer_boot = welcome.boot
        self._up[board] = welcome
        name = self._faults.pop(board, None)
        if name is not None:
            self._record.clear(name, board)
        for left_over, of in self._record.latched:
            if of == board:
                self._record.clear(left_over, of)
        if len(self._up) == 2:
            self._ready.set()
            self._at.on_change()

    def board_down(self, board: Board, name: str, evidence: Evidence) -> None:
        """Take a board that cannot be used: the attempt under way is over."""
        self._up.pop(board, None)
        self._ready.clear()
        known = self._faults.get(board)
        if known is not None and known != name:
            self._record.clear(known, board)
        self._faults[board] = name
        self._record.latch(name, dict(evidence))
        if self.run is not None:
            self.run.line_lost(name)

    def renewed(self) -> None:
        """A board is in a new session: it forgot no event, but what it was told last."""
        if self.run is not None:
            self.run.resume()

    def refused(self, refused: Refused) -> None:
        """A command that nobody waits for was refused."""
        self.broken("BOARD_REFUSED")

    def broken(self, reason: str) -> None:
        """End the attempt under way, if there is one, for a reason outside the cards."""
        if self.run is not None:
            self.run.broken(reason)

    def on_dealer_event(self, event: Event) -> None:
        """Take an event of the dealer board, inside the read callback."""
        if self.run is not None:
            self.run.on_dealer_event(event)
        self._log(event)

    def on_reader_event(self, event: Event) -> None:
        """Take an event of the reader board, inside the read callback."""
        if self.run is not None:
            self.run.on_reader_event(event)
        self._log(event)

    def _log(self, event: Event) -> None:
        """Put an event on its way into the journal; let a board go on that stopped for ours."""
        self._at.wire_log.add(event)
        if event.code is not Code.STOPPED:
            return
        if event.place == StoppedBy.HOST_SILENT:
            self.renewed()
        elif event.place == StoppedBy.MEMORY_FULL:
            room = asyncio.get_running_loop().create_task(self._make_room())
            self._asides.add(room)
            room.add_done_callback(self._asides.discard)

    async def _make_room(self) -> None:
        """Sync what the boards keep, so that they may forget it, and let them go on."""
        with suppress(StorageFailed):  # the journal tells its owner by itself
            await self._at.wire_log.sync()
            self.renewed()

    def seal_of(self, attempt: int) -> Callable[[bytes], bytes] | None:
        """Return what closes faces of an attempt, None where its key is gone."""
        if self.run is not None and self.run.number == attempt:
            return self.run.book.seal
        return None

    async def may_reopen(self) -> None:
        """Return once opening a port can do no harm: the attempt under way is written off."""
        if self.run is not None:
            await self.run.over.wait()

    async def leave(self, limit_s: float) -> None:
        """End the attempt under way, if its hands are not safe yet: the daemon is stopping.

        Waits `limit_s` seconds at most for its last entry.
        """
        if self.run is not None and not self.run.over.is_set():
            self.run.broken("STOPPED")
            with suppress(TimeoutError):
                async with asyncio.timeout(limit_s):
                    await self.run.over.wait()

    @property
    def phase(self) -> Phase:
        """The phase that people see."""
        return shown_phase(self._record.state, boards_up=self._ready.is_set())

    # One deal after the other.

    async def deal_on(self) -> None:
        """Deal, from order to order, until cancelled. Raises StorageFailed."""
        await self._take_over()
        while True:
            await self._ready.wait()
            start, uncut = None, None
            if self._again:
                await self._cleared_up()
            if not self._again or self._record.state.misdeals_in_a_row >= TWICE:
                start = await self._start_ordered()
                uncut = uncut_reason(start)
            await self._one_attempt(start, uncut)

    async def _start_ordered(self) -> Order:
        """Wait for the order to deal; meanwhile an open lid or a pressed e-stop is shown."""
        ordered = asyncio.ensure_future(self._at.desk.take("start_deal"))
        try:
            while True:
                await asyncio.wait({ordered}, timeout=POLL_S)
                if ordered.done():
                    return ordered.result()
                with suppress(DriverError):
                    self._show_openings(await self._at.dealer.status())
        finally:
            ordered.cancel()

    def _show_openings(self, status: Status) -> None:
        seen = {"LID_OPENED": status.lid_open, "ESTOP_PRESSED": status.estop}
        for name, now in seen.items():
            (self._record.latch if now else self._record.clear)(name)

    @property
    def _again(self) -> bool:
        """Whether the next attempt is another one of the same deal."""
        return self._record.state.outcome in (Outcome.MISDEAL, Outcome.VOID)

    async def _one_attempt(self, start: Order | None, uncut: str | None) -> None:
        state = self._record.state
        deal = (state.deal or 0) + (0 if self._again else 1)
        known = [welcome.attempt for welcome in self._up.values()]
        number = max(state.attempts, *known, 0) + 1
        run = self.run = AttemptRun(self._at, AttemptBook.new(self._at.bindings, deal, number))
        try:
            self._record.clear("TWO_MISDEALS")
            if await run.run(uncut, start) is Outcome.OK:
                await self._hand_out(run)
            else:
                self._call_for_clearing(self._record.state.proofs[-1].reasons)
        finally:
            self.run = None

    async def _hand_out(self, run: AttemptRun) -> None:
        """Let held hands out by order, and see the set back into the hopper."""
        try:
            if await run.release():
                await self._set_back()
                await run.reveal()
            else:
                self._call_for_clearing(self._record.state.proofs[-1].reasons)
        finally:
            self.run = None

    def _call_for_clearing(self, reasons: list[str]) -> None:
        """Tell people why there are no hands, until the cards are back."""
        for reason in reasons:
            self._record.latch(reason)
        if self._record.state.misdeals_in_a_row >= TWICE:
            self._record.latch("TWO_MISDEALS")

    async def _set_back(self) -> None:
        """Wait until the hands were taken and the set lies in the hopper again.

        What keeps the lift up for longer than TAKE_S is shown.
        """
        loop = asyncio.get_running_loop()
        waits_for, since_s = None, loop.time()
        async for status in self._looks():
            if _keeps_lift_up(status) != waits_for:
                self._record.clear(waits_for or "")
                waits_for, since_s = _keeps_lift_up(status), loop.time()
            if waits_for is not None and loop.time() - since_s > TAKE_S:
                self._record.latch(waits_for)
            if waits_for is None and status.sees_hopper and status.clear and not status.lid_open:
                return
            await self._lower(status)

    async def _cleared_up(self) -> None:
        """Wait until nothing lies where no card may be, and the set is in the hopper."""
        async for status in self._looks():
            closed = not (status.lid_open or status.estop)
            at_rest = status.doing in _AT_REST and status.lift_down
            if status.clear and status.sees_hopper and closed and at_rest:
                break
            await self._lower(status)
        for name, board in self._record.latched:
            if not board and name != "TWO_MISDEALS":
                self._record.clear(name)

    async def _lower(self, status: Status) -> None:
        """Lower the lift where it is not down and nothing lies on it."""
        away = status.lift_up or not status.lift_down
        if away and not any(status.sees_pockets):
            # A hand in the way, or a line that went: the next look tells.
            with suppress(DriverError):
                await self._at.dealer.retract()

    async def _looks(self) -> AsyncIterator[Status]:
        """Yield the dealer board's status, again and again, whenever there is one."""
        while True:
            await self._ready.wait()
            try:
                yield await self._at.dealer.status()
            except DriverError:
                await self._ready.wait()
            await asyncio.sleep(POLL_S)

    async def _take_over(self) -> None:
        """Bring what an earlier run of the daemon left open to its end."""
        state = self._record.state
        if not (state.unfinished or state.phase in (Phase.HELD, Phase.RELEASED)):
            return
        assert state.attempt is not None
        left = LeftOver.read(self._at.bindings, state.attempt)
        if state.phase is Phase.HELD and left.key is not None and await self._still_held(left):
            self.run = AttemptRun.of_held(
                self._at, left.book(), left.events(), let_out=left.release_ordered
            )
            await self._hand_out(self.run)
            return
        if state.phase is Phase.RELEASED:
            await self._set_back()
        for kind, data in left.closing():
            self._record.write(kind, data, deal=state.deal, attempt=state.attempt)
        await self._record.sync()
        self._at.bindings.key_file.remove(state.attempt)
        if self._again:
            self._call_for_clearing(self._record.state.proofs[-1].reasons)

    async def _still_held(self, left: LeftOver) -> bool:
        """Whether the dealer board still keeps the hands, or was letting them out."""
        async for status in self._looks():
            same = status.attempt == left.number
            return same and (status.locked or (left.release_ordered and not status.lift_down))
        return False


def _keeps_lift_up(status: Status) -> str | None:
    """Return why the lift is not down, as the catalogue names it; None where it is."""
    if any(status.sees_pockets):
        return "POCKET_NOT_EMPTY"
    if status.lift_down:
        return "SENSOR_STUCK" if status.lift_up else None
    return "STALL"
