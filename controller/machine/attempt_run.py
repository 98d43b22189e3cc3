"""One attempt from its seed to its end, as the steps stand in DESIGN §6.

Each step is in the journal, and so on the feed, before the next one begins: seed
and commitment, cut, shuffle, first card, verdict, release. A procedure one can
read from top to bottom; what the cards do in between is the dealing loop's, what
is written the book's.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Self, TypeVar

from controller.deal.attempt import Attempt, Stage
from controller.deal.ledger import Ledger
from controller.deal.sightings import Begun, Broken, Shuffled
from controller.faults import fault, fault_name
from controller.journal.wire_group import BoardEvent
from controller.machine.attempt_book import AttemptBook, Bindings
from controller.machine.dealing import Dealing
from controller.machine.orders import Order, OrderDesk, uncut_reason
from controller.machine.sightings import settled, sighting
from controller.machine.wire_log import WireLog
from controller.messages import Outcome
from drivers.dealer import Dealer
from drivers.errors import DriverError, LineLost, Refused, Result, SessionRenewed
from drivers.events import Code, Event, Read
from drivers.reader import Reader

_T = TypeVar("_T")
# Why a board does not begin, where its answer alone says it.
_REFUSALS = {Result.LID_OPEN: "LID_OPENED", Result.ESTOP: "ESTOP_PRESSED"}
# What a board answers to a release that it knows nothing of any more.
_FORGOTTEN = (Result.WRONG_ATTEMPT, Result.NOT_LOCKED)
# What a record keeps of the count at the end: what no event of a board shows.
_LAST_LOOK = ("hopper_empty", "path_empty", "tray_empty", "reader_pulses")
AGAIN_S = 1.0
"""How long a lift may stand still before it is asked again."""
LIFT_S = 6.0
"""How long the lift may take in all before somebody is called: a board gives up after 5 s."""


@dataclass(frozen=True)
class Fixtures:
    """What every attempt at this table works with. `cut_s`: how long a cut may take."""

    bindings: Bindings
    wire_log: WireLog
    dealer: Dealer
    reader: Reader
    desk: OrderDesk
    cut_s: float
    on_change: Callable[[], None]


class _Ended(Exception):
    """The attempt ends here, for these reasons."""

    def __init__(self, *reasons: str) -> None:
        super().__init__(*reasons)
        self.reasons = reasons


class AttemptRun:
    """One attempt with its book. `run` goes as far as held hands, `release` from there.

    `over` is set once no card of it is on its way any more, whatever became of it.
    """

    def __init__(self, fixtures: Fixtures, book: AttemptBook) -> None:
        self.book = book
        self.number = book.number
        self.over = asyncio.Event()
        self.dealing: Dealing | None = None
        self._at = fixtures
        self._record = fixtures.bindings.record
        self._profile = fixtures.bindings.profile
        self._loop = asyncio.get_running_loop()
        self._broken: asyncio.Future[str] = self._loop.create_future()
        self._dealt: asyncio.Future[Attempt] = self._loop.create_future()
        self._released: asyncio.Future[None] = self._loop.create_future()
        self._aside: asyncio.Task[None] | None = None
        self._let_out = False
        self._events: list[BoardEvent] = []
        self._last_look: dict[str, bool | int] = {}

    @classmethod
    def of_held(
        cls, fixtures: Fixtures, book: AttemptBook, events: Sequence[BoardEvent], *, let_out: bool
    ) -> Self:
        """Take up held hands of an earlier run of the daemon; `events` is what it journalled.

        `let_out`: it had the order to let them out, so that the board may have begun to.
        """
        run = cls(fixtures, book)
        run._let_out = let_out
        run.over.set()
        for event in events:
            run._keep(event)
        return run

    # What happens meanwhile.

    def on_dealer_event(self, event: Event) -> None:
        """Take an event of the dealer board, inside the read callback."""
        if event.attempt != self.number:
            return
        self._keep(event)
        if event.code is Code.SHUFFLED:
            self._take_shuffled(event.index)
        elif self.dealing is not None and not self._let_out:
            self.dealing.on_event(event)
        elif self.dealing is None:
            seen = sighting(event, doubled=False)
            if isinstance(seen, Broken):
                self.broken(seen.reason)

    def _keep(self, event: BoardEvent) -> None:
        self._events.append(event)
        if event.code == Code.RELEASED and not self._released.done():
            self._released.set_result(None)

    def on_reader_event(self, event: Event) -> None:
        """Take an event of the reader board; the dealing loop learns the verdict on a READ."""
        if event.attempt != self.number:
            return
        self._events.append(event)
        if isinstance(event, Read) and self.dealing is not None:
            self.dealing.see(self._at.bindings.vault.read(event))

    def line_lost(self, reason: str) -> None:
        """Take that a board is gone. Hands that are held wait for it to come back."""
        if not self.book.held:
            self.broken(reason)

    def broken(self, reason: str) -> None:
        """End the attempt for a reason outside the cards; hands that are out stay out."""
        if self._let_out:
            return
        if not self._broken.done():
            self._broken.set_result(reason)
        if self.dealing is not None:
            self.dealing.broken(reason)

    def resume(self) -> None:
        """Tell the boards again where to be, after a new session."""
        if self.dealing is not None:
            self.dealing.resume()

    @property
    def fed(self) -> int:
        """Cards fed from the hopper so far."""
        return 0 if self._ledger is None else self._ledger.fed

    @property
    def _ledger(self) -> Ledger | None:
        return None if self.dealing is None else self.dealing.attempt.ledger

    # The steps.

    async def run(self, uncut: str | None = None, start: Order | None = None) -> Outcome:
        """Deal until the hands are held, or the attempt has ended otherwise.

        `uncut` is the referee's reason to deal without a cut; `start` the order that
        began the deal, answered once the commitment is out. Raises StorageFailed.
        """
        try:
            await self._commit(start)
            await self._take_cut(uncut)
            self.dealing = self._new_dealing()
            await self._begin()
            reasons = await self._deal()
        except _Ended as ended:
            reasons = ended.reasons
        finally:
            self._leave_nothing()
        if reasons:
            return await self.end(*reasons)
        await self._hold()
        return Outcome.OK

    async def _commit(self, start: Order | None) -> None:
        self.book.commit()
        if start is not None:
            start.write({"deal": self.book.deal, "attempt": self.number})
        await self._record.sync()
        if start is not None:
            start.done()

    async def _take_cut(self, uncut: str | None) -> None:
        if uncut is not None:
            self.book.take_cut(None, uncut)
            await self._record.sync()
            return
        late = self._loop.call_later(self._at.cut_s, self._record.latch, "CUT_LATE")
        try:
            while not await self._one_cut():
                pass
        finally:
            late.cancel()
            self._record.clear("CUT_LATE")

    async def _one_cut(self) -> bool:
        """Take one order that may be the cut; return whether it was one."""
        order = await self._unless_broken(self._at.desk.take("cut", "start_deal"))
        cut, reason, legal = order.args.get("n"), None, self._profile.cuts()
        if order.command.cmd == "start_deal":
            cut, reason = None, uncut_reason(order)
            if reason is None:
                order.refuse("BAD_COMMAND", found="no reason", expected="uncut=true and a reason")
                return False
        elif type(cut) is not int or cut not in legal:
            order.refuse("BAD_COMMAND", found=f"n={cut!r}", expected=f"{legal[0]}…{legal[-1]}")
            return False
        order.write({"cut": cut})
        self.book.take_cut(cut, reason)
        await self._record.sync()
        order.done()
        return True

    async def _begin(self) -> None:
        cards, hand = self._profile.deck.cards, self._profile.hand
        try:
            for board in (self._at.reader, self._at.dealer):
                begin = partial(board.begin, self.number, cards, hand)
                await self._unless_broken(_absolute(begin))
        except Refused as refused:
            raise _Ended(await self._why_refused(refused)) from refused
        except DriverError as error:
            raise _Ended(fault_name(error)) from error
        self._still_whole()
        self.book.begin()
        await self._record.sync()

    async def _why_refused(self, refused: Refused) -> str:
        """Return the fault behind a board's refusal, from what its sensors see."""
        if refused.result is not Result.NOT_CLEAR:
            return _REFUSALS.get(refused.result, "BOARD_REFUSED")
        if self.book.held:
            return "SENSOR_STUCK"  # of a lift that has lowered nothing and is not seen down
        try:
            status = await _absolute(self._at.dealer.status)
        except DriverError as error:
            return fault_name(error)
        pockets_empty = not any(status.sees_pockets)
        self._last_look = {"pockets_empty": pockets_empty, "path_empty": status.clear}
        return "PATH_NOT_CLEAR" if pockets_empty else "POCKET_NOT_EMPTY"

    def _new_dealing(self) -> Dealing:
        at = self._at
        return Dealing(
            self.number,
            self.book.sequence,
            self._profile.shuffles(self.book.deal),
            dealer=at.dealer.link.post,
            reader=at.reader.link.post,
            stop=at.dealer.stop,
            on_check=lambda: self._do_aside(self._settle()),
            on_end=self._on_end,
            on_change=at.on_change,
        )

    async def _deal(self) -> tuple[str, ...]:
        """Deal the cards; return why there are no right hands, nothing where there are."""
        assert self.dealing is not None
        self._still_whole()
        self.dealing.see(Begun())
        attempt = await self._dealt
        return attempt.reasons if attempt.stage is Stage.OVER else ()

    def _still_whole(self) -> None:
        """Raise _Ended where something ended the attempt while its steps were written."""
        if self._broken.done():
            raise _Ended(self._broken.result())
        if self._dealt.done():
            raise _Ended(*self._dealt.result().reasons)

    def _take_shuffled(self, passes: int) -> None:
        """Go on behind the shuffle once; a board that is told twice says it twice."""
        if self._aside is None and self.dealing is not None:
            self._do_aside(self._shuffled(passes))

    async def _shuffled(self, passes: int) -> None:
        """Write that the shuffler is done; the first card moves behind that."""
        self.book.shuffled(passes)
        await self._record.sync()
        assert self.dealing is not None
        self.dealing.see(Shuffled())

    async def _settle(self) -> None:
        """Ask both boards and the vault for the final count."""
        assert self.dealing is not None
        try:
            status = await _absolute(self._at.dealer.status)
            read = await _absolute(self._at.reader.status)
        except DriverError as error:
            self.dealing.broken(fault_name(error))
            return
        count = settled(status, read.pulses, self._set_faults())
        self._last_look = {name: getattr(count, name) for name in _LAST_LOOK}
        self.dealing.see(count)

    def _set_faults(self) -> tuple[str, ...]:
        assert self._ledger is not None
        places = self._ledger.places()
        return self._at.bindings.vault.set_verdict(places, self._profile.deck.cards)

    def _on_end(self, attempt: Attempt) -> None:
        if not self._dealt.done():
            self._dealt.set_result(attempt)
        elif attempt.stage is Stage.OVER and not self._broken.done():
            self._broken.set_result(attempt.reasons[0])

    async def _hold(self) -> None:
        """Bind the hands, and write the verdict before anybody may lift them."""
        assert self._ledger is not None
        self._at.wire_log.write()
        self.book.hold(self._ledger)
        await self._record.sync()
        self.over.set()
        await self._at.wire_log.sync()

    async def release(self) -> bool:
        """Wait for the order, then let the hands out; False where they may not go any more.

        Raises StorageFailed.
        """
        order: Order | None = None
        try:
            if not self._let_out:
                order = await self._unless_broken(self._at.desk.take("release"))
                order.write()
                await self._record.sync()
                await self._begin_lift(order)
            await self._lift(order)
        except _Ended as ended:
            await self.end(*ended.reasons)
            return False
        self.book.release()
        await self._record.sync()
        if order is not None:
            order.done()
        return True

    async def _begin_lift(self, order: Order) -> None:
        """Have the lift start. Once the board may have heard it the hands count as out."""
        try:
            await self._unless_broken(_absolute(self._release))
        except LineLost:
            pass  # nobody knows whether the board heard it: asked again from here on
        except (_Ended, DriverError) as error:
            raise _Ended(await self._refused_release(order, error)) from error
        self._let_out = True

    async def _lift(self, order: Order | None) -> None:
        """See the lift up, asking again whatever stops it, until the board says that it is."""
        stuck: set[str] = set()
        begun_s = self._loop.time()
        while not self._released.done():
            await asyncio.wait({self._released}, timeout=AGAIN_S)
            if self._loop.time() - begun_s > LIFT_S:
                stuck.add("STALL")
            try:
                await _absolute(self._release)
            except Refused as refused:
                if refused.result in _FORGOTTEN:
                    raise _Ended(await self._refused_release(order, refused)) from refused
                stuck.add(await self._why_refused(refused))
            except DriverError as error:
                stuck.add(fault_name(error))
            for name in stuck:
                self._record.latch(name)
        for name in stuck:
            self._record.clear(name)

    async def _release(self) -> None:
        await self._at.dealer.release(self.number)

    async def _refused_release(self, order: Order | None, error: Exception) -> str:
        """Answer a release that cannot be; return why."""
        if isinstance(error, _Ended):
            reason = error.reasons[0]
        elif isinstance(error, Refused):
            reason = await self._why_refused(error)
        else:
            reason = fault_name(error)
        if order is not None:
            order.refuse(reason)
        return reason

    async def reveal(self) -> None:
        """Show seed and cut: the deal is over. Raises StorageFailed."""
        self.book.reveal()
        await self._record.sync()
        self.book.close()

    async def end(self, *reasons: str) -> Outcome:
        """Write why there are no hands, and open the whole record. Raises StorageFailed."""
        if "COUNT_SHORT" in reasons:
            reasons = tuple(dict.fromkeys([*reasons, *self._set_faults()]))
        proven = any(fault(reason).misdeal for reason in reasons)
        outcome = Outcome.MISDEAL if proven else Outcome.VOID
        record = self.book.record(self._events, self._last_look)
        self._at.wire_log.write()
        self.book.refuse(outcome, reasons, self._ledger)
        self.book.reveal()
        self.book.open(record)
        await self._record.sync()
        self.over.set()
        await self._at.wire_log.sync()
        self.book.close()
        return outcome

    # What holds the steps together.

    async def _unless_broken(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Return what `work` gives, or end the attempt when it is broken first.

        Nothing of `work` is done where it is broken already.
        """
        if self._broken.done():
            work.close()
            raise _Ended(self._broken.result())
        waiting = self._loop.create_task(work)
        both: set[asyncio.Future[Any]] = {waiting, self._broken}
        try:
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            if waiting.done():
                return waiting.result()
        finally:
            waiting.cancel()
        raise _Ended(self._broken.result())

    def _do_aside(self, work: Coroutine[Any, Any, None]) -> None:
        """Do what an event asks for once the read callback has returned."""
        self._aside = self._loop.create_task(work)
        self._aside.add_done_callback(self._aside_done)

    def _aside_done(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and task.exception() is not None and not self._dealt.done():
            self._dealt.set_exception(task.exception() or RuntimeError)

    def _leave_nothing(self) -> None:
        if self.dealing is not None:
            self.dealing.close()
        if self._aside is not None and not self._aside.done():
            self._aside.cancel()


async def _absolute(command: Callable[[], Coroutine[Any, Any, _T]]) -> _T:
    """Do a command again once where its session ended: it says where to be, not what to do."""
    try:
        return await command()
    except SessionRenewed:
        return await command()
