"""One attempt from its seed to its end, in the steps of controller/deal/PROOF.md.

Each step is in the journal, and so on the feed, before the next one begins: seed
and commitment, cut, shuffle, first card, verdict, release. A procedure one can
read from top to bottom; what the cards do in between is the dealing loop's, what
is written the book's.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Self, TypeVar

from controller.deal.attempt import Attempt, Stage
from controller.deal.ledger import Ledger
from controller.deal.lock import of_the_set
from controller.deal.sightings import Begun, Broken, Shuffled
from controller.faults import fault, fault_name
from controller.machine.asking import (
    BEGIN_AGAIN,
    BEGIN_AGAIN_S,
    absolute,
    has_passed,
    why_refused,
)
from controller.machine.attempt_book import AttemptBook, Bindings
from controller.machine.dealing import Dealing
from controller.machine.due import TWICE
from controller.machine.hands_kept import at_deals_end
from controller.machine.left_over import LeftOver
from controller.machine.order.desk import Order, OrderDesk, uncut_reason
from controller.machine.sightings import Sightings, place_told, settled
from controller.machine.wire_log import WireLog
from controller.messages import Outcome, Seat
from controller.words import Words
from drivers.dealer import Dealer
from drivers.errors import DriverError, LineLost, Refused, Result, SessionRenewed
from drivers.events import Code, Event, Read
from drivers.link.frames import Look, Reread
from drivers.reader import Reader

_T = TypeVar("_T")
# What a record keeps of the count at the end: what no event of a board shows.
_LAST_LOOK = (
    *("hopper_empty", "path_empty", "tray_empty", "lift_down", "pockets_seen"),
    *("board_fed", "board_landed", "board_locked", "reader_pulses"),
)


@dataclass(frozen=True)
class Fixtures:
    """What every attempt at this table works with.

    `cutter` says who cuts, where that is somebody's; `cut_s` how long a cut may take; `look_s`
    how long a card that only one board has seen waits for the other's word.
    """

    bindings: Bindings
    wire_log: WireLog
    dealer: Dealer
    reader: Reader
    desk: OrderDesk
    cutter: Callable[[], Seat | None]
    cut_s: float
    look_s: float
    on_change: Callable[[], None]


_NO_REASON: Final = {
    "found": Words("no reason", "未写理由"),
    "expected": Words("uncut=true and a reason", "不切牌（uncut=true）并写明理由"),
}
"""What the order that starts a deal lacks while the cut is waited for."""


class Ended(Exception):
    """The attempt ends here, for these reasons."""

    def __init__(self, *reasons: str) -> None:
        super().__init__(*reasons)
        self.reasons = reasons


class AttemptRun:
    """One attempt with its book: `run` goes as far as held hands, release.py from there.

    `over` is set once no card of it is on its way any more, whatever became of it; `lifted`
    is done once the dealer board says that the lift is up. `let_out`: the hands are out, or
    may be.
    """

    def __init__(self, fixtures: Fixtures, book: AttemptBook) -> None:
        self.book = book
        self.number = book.number
        self.over = asyncio.Event()
        self.dealing: Dealing | None = None
        self.boards = self._at = fixtures
        self._record = fixtures.bindings.record
        self._profile = fixtures.bindings.profile
        self._loop = asyncio.get_running_loop()
        self._broken: asyncio.Future[str] = self._loop.create_future()
        self._dealt: asyncio.Future[Attempt] = self._loop.create_future()
        self.lifted: asyncio.Future[None] = self._loop.create_future()
        self._asides: set[asyncio.Task[None]] = set()
        self._takes_shuffled = False
        self.let_out = False
        self._blind: list[Event] = []
        self._sightings = Sightings(self.number)
        self._collects = False
        self._last_look: dict[str, Any] = {}
        self._refusal = f"{Result.NOT_LOCKED.name} (dealer)"  # of the count: nothing was ordered
        self._counted: int | None = None
        self._told_late = False
        self.whole = True  # False: a look of an earlier run cannot be told again

    @classmethod
    def of_left(cls, fixtures: Fixtures, left: LeftOver) -> Self:
        """Take up an attempt of an earlier run of the daemon where it stands.

        It collects its boards' events from now on, and follows none before `take_up`.
        """
        run = cls(fixtures, left.book())
        run._collects = True
        # It had the order to let them out, so that the board may have begun to.
        run.let_out = left.release_ordered and run.book.held
        if run.book.outcome is not None:
            run.over.set()
        for event in left.events():
            run.on_event(event)
        run.whole = left.whole
        if run.in_boards and not (run.book.held or left.whole):
            run.broken("RESTARTED")
        return run

    @property
    def in_boards(self) -> bool:
        """Whether its next step is the boards', so that they must know of it."""
        book = self.book
        if book.outcome is None:
            return not book.sealed
        return book.held and not book.has("released")

    @property
    def events(self) -> Sequence[Event]:
        """Its board events so far but for the reader's looks, in the order in which they came."""
        return self._blind

    @property
    def told(self) -> Sequence[Event]:
        """All its board events so far, as long as its vault has them."""
        return self.book.vault.told

    def take_up(self, events: Iterable[Event]) -> None:
        """Follow what happened so far: `events`, in an order in which it can have happened."""
        self._collects = False
        dealt = self.book.has("begun") and self.book.outcome is None and not self.book.sealed
        if dealt:
            self.dealing = self._new_dealing()
            self.dealing.quiet = True
            self.dealing.see(Begun())
            if self.book.has("shuffled"):
                self.dealing.see(Shuffled())
        for event in events:
            self._follow(event)
        # Which of them it was that ended it, only an earlier run knew.
        self._told_late = self.dealing is not None and self.dealing.attempt.stage is Stage.OVER

    # What happens meanwhile.

    def on_event(self, event: Event) -> None:
        """Take an event of either board, inside the read callback."""
        if event.attempt != self.number:
            return
        self.book.vault.hear(event)
        if not isinstance(event, Read):
            self._blind.append(event)
        if event.code is Code.RELEASED and not self.lifted.done():
            self.lifted.set_result(None)
        if not self._collects:
            self._follow(event)

    def _follow(self, event: Event) -> None:
        """Let the dealing loop learn of an event; of a READ, the verdict alone."""
        if isinstance(event, Read):
            if self.dealing is not None:
                self.dealing.see(self.book.vault.read(event))
            return
        if event.code is Code.SHUFFLED:
            self._take_shuffled(event.index)
            return
        if self.dealing is not None and self.let_out:
            return
        if event.code is Code.ENGINE and self.book.held:
            return  # hands that are held were read
        seen = self._sightings.of(event)
        if self.dealing is not None and seen is not None:
            if event.code is Code.AT_READER and not self.dealing.quiet:
                self._at.reader.at_window(self.number, event.index)
            self.dealing.told(seen)
        elif isinstance(seen, Broken):
            self.broken(seen.reason)

    def refused(self, refused: Refused) -> None:
        """Take that a board refuses a command that nobody waits for: the attempt is over.

        A reader that has counted another card does not look at this one: that look fails to come,
        which has the boards' counts compared.
        """
        looks = isinstance(refused.command, Look | Reread)
        counted_on = looks and refused.result is Result.WRONG_INDEX
        if not counted_on:
            self._do_aside(self._give_up(refused))

    def line_lost(self, reason: str) -> None:
        """Take that a board is gone. Hands that are held wait for it to come back."""
        if not self.book.held:
            self.broken(reason)

    @property
    def why_broken(self) -> str | None:
        """What ended the attempt from outside the cards; None where nothing did."""
        return self._broken.result() if self._broken.done() else None

    @property
    def _is_over(self) -> bool:
        return self._broken.done() or self._dealt.done()

    def broken(self, reason: str) -> None:
        """End the attempt for a reason outside the cards; hands that are out stay out."""
        if self.let_out:
            return
        if not self._broken.done():
            self._broken.set_result(reason)
        if self.dealing is not None:
            self.dealing.broken(reason)

    @property
    def released(self) -> bool:
        """Whether its hands are out, or may be."""
        return self.let_out or self.book.has("released")

    def hold(self) -> None:
        """Stop the cards where they are, until `end_hold`."""
        if self.dealing is not None and not self.over.is_set():
            self.dealing.hold()

    def end_hold(self) -> None:
        """Let the cards go on that `hold` stopped."""
        if self.dealing is not None:
            self.dealing.end_hold()

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
        began the deal, answered once the commitment is out. Steps that an earlier run of
        the daemon took are not taken again. Raises StorageFailed.
        """
        if self.book.held:
            return Outcome.OK
        if self.book.outcome is not None:
            return await self.end(*self.book.reasons)
        try:
            self._still_whole()
            if not self.book.has("committed"):
                await self._commit(start, uncut)
            if self.book.sealed:
                raise Ended("POWER")
            if not self.book.has("cut"):
                await self._take_cut(uncut)
            self.dealing = self.dealing or self._new_dealing()
            if not self.book.has("begun"):
                await self._begin()
            reasons = await self._deal()
        except Ended as ended:
            reasons = ended.reasons
        finally:
            self._leave_nothing()
        if reasons:
            return await self.end(*reasons)
        await self._hold()
        return Outcome.OK

    async def _commit(self, start: Order | None, uncut: str | None) -> None:
        self.book.commit()
        if start is not None:
            said = {} if uncut is None else {"uncut": uncut}
            start.write({"deal": self.book.deal, "attempt": self.number} | said)
        await self._record.sync()
        if start is not None:
            start.done()

    async def _take_cut(self, uncut: str | None) -> None:
        if uncut is not None:
            self.book.take_cut(None, uncut)
            await self._record.sync()
            return
        cutter = self._at.cutter()
        asked = {} if cutter is None else {"pocket": cutter}
        late = self._loop.call_later(self._at.cut_s, self._record.latch, "CUT_LATE", asked)
        try:
            while not await self._one_cut():
                pass
        finally:
            late.cancel()
            self._record.clear("CUT_LATE")

    async def _one_cut(self) -> bool:
        """Take one order that may be the cut; return whether it was one."""
        order = await self.unless_broken(self._at.desk.take("cut", "start_deal"))
        vetoed = self._at.desk.acts.veto(order.command.cmd, order.args)
        if vetoed is not None:  # the match moved between the order and this moment
            order.refuse_for(vetoed)
            return False
        if order.command.cmd == "start_deal":
            cut, seat, reason = None, None, uncut_reason(order)
            if reason is None:
                order.refuse("BAD_COMMAND", **_NO_REASON)
                return False
        else:
            cut, seat, reason = order.args.n, order.args.seat or self._at.cutter(), None
            legal = self._profile.cuts()
            if cut not in legal:
                order.refuse("BAD_COMMAND", found=f"n={cut}", expected=f"{legal[0]}…{legal[-1]}")
                return False
        self.book.take_cut(cut, reason, seat)
        order.write({"cut": cut})
        await self._record.sync()
        order.done()
        return True

    async def _begin(self) -> None:
        cards, hand = self._profile.deck.cards, self._profile.hand
        try:
            for board in (self._at.reader, self._at.dealer):
                await self._begun(partial(board.begin, self.number, cards, hand))
        except DriverError as error:
            raise Ended(fault_name(error)) from error
        self._still_whole()
        self.book.begin()
        await self._record.sync()

    def _new_dealing(self) -> Dealing:
        at = self._at
        return Dealing(
            self.number,
            self.book.sequence,
            self.book.plan.passes,
            dealer=at.dealer.link.post,
            reader=at.reader.post,
            stop=at.dealer.stop,
            on_check=lambda: self._do_aside(self._settle()),
            on_alone=lambda index: self._do_aside(self._compare(index)),
            on_end=self._on_end,
            on_change=at.on_change,
            pair_s=at.look_s,
        )

    async def _deal(self) -> tuple[str, ...]:
        """Deal the cards; return why there are no right hands, nothing where there are."""
        assert self.dealing is not None
        self._still_whole()
        if self._record.state.pauses:
            self.dealing.hold()
        if self.dealing.quiet:
            self.dealing.go_on()
        else:
            self.dealing.see(Begun())
        attempt = await self._dealt
        return attempt.reasons if attempt.stage is Stage.OVER else ()

    def _still_whole(self) -> None:
        """Raise Ended where something ended the attempt while its steps were written."""
        if self._broken.done():
            raise Ended(self._broken.result())
        if self._dealt.done():
            raise Ended(*self._dealt.result().reasons)

    def _take_shuffled(self, passes: int) -> None:
        """Go on behind the shuffle once; a board that is told twice says it twice."""
        told = self.book.has("shuffled") or self._takes_shuffled
        if not told and self.dealing is not None and not self._is_over:
            self._takes_shuffled = True
            self._do_aside(self._shuffled(passes))

    async def _shuffled(self, passes: int) -> None:
        """Write that the shuffler is done; the first card moves behind that."""
        if self._is_over:  # an order or a line was quicker: no step stands behind the verdict
            return
        self.book.shuffled(passes)
        await self._record.sync()
        assert self.dealing is not None
        self.dealing.see(Shuffled())

    async def _begun(self, begin: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Have a board begin; it is asked again where what it refused for is gone.

        Raises Ended, DriverError.
        """
        for left in reversed(range(BEGIN_AGAIN + 1)):
            try:
                await self.unless_broken(absolute(begin))
                return
            except Refused as refused:
                why = await self._why(refused, dealt=False)
                if not left or not has_passed(refused, why):
                    raise Ended(why) from refused
            await self.unless_broken(asyncio.sleep(BEGIN_AGAIN_S))

    async def _give_up(self, refused: Refused) -> None:
        self.broken(await self._why(refused, dealt=self.fed > 0))

    async def _why(self, refused: Refused, *, dealt: bool) -> str:
        """Return the fault behind a refusal, and keep what people are told of it."""
        self._refusal = f"{refused.result.name} ({refused.board})"
        why, self._last_look = await why_refused(refused, self._at.dealer, dealt=dealt)
        return why

    async def _compare(self, index: int) -> None:
        """Ask both boards how many cards they counted: only one of them saw card `index`.

        A card that one board never noticed would give its look to the next one.
        """
        assert self.dealing is not None
        try:
            status = await absolute(self._at.dealer.status)
            read = await absolute(self._at.reader.status)
        except (SessionRenewed, LineLost):
            return  # a new session waits for the look again; a lost line ends the attempt
        except DriverError as error:
            self.dealing.broken(fault_name(error))
            return
        if not self.dealing.is_alone(index):
            return  # the word came meanwhile, and what was asked first is no longer so
        if status.fed == read.pulses:
            self.dealing.alone(index)
            return
        self._last_look = {"reader_pulses": read.pulses}
        self.dealing.broken("PULSE_COUNT")

    async def _settle(self) -> None:
        """Ask both boards and the vault for the final count."""
        assert self.dealing is not None
        try:
            status = await absolute(self._at.dealer.status)
            read = await absolute(self._at.reader.status)
        except DriverError as error:
            self.dealing.broken(fault_name(error))
            return
        count = settled(status, read.pulses, self._set_faults())
        self._last_look = {name: getattr(count, name) for name in _LAST_LOOK}
        self.dealing.see(count)

    def _set_faults(self) -> tuple[str, ...]:
        assert self._ledger is not None
        places = self._ledger.places()
        return self.book.vault.set_verdict(places, self._profile.deck.cards)

    def _on_end(self, attempt: Attempt) -> None:
        if attempt.stage is Stage.OVER and not self._told_late:
            self._counted = len(self.told)
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

    async def reveal(self, *, practice: bool) -> None:
        """Show seed and cut: the deal is over; and its hands, where the profile says so.

        Raises StorageFailed.
        """
        record = self.book.record(self.told, {})
        self._at.wire_log.write()
        self.book.reveal(self.told)
        if at_deals_end(self._profile.hands_opened, practice=practice):
            self.book.open(record)
        await self._record.sync()
        self.book.close()

    async def recall(self, *reasons: str) -> None:
        """Write that hands which were out are dealt again, and open the whole record.

        Raises StorageFailed.
        """
        record = self.book.record(self.told, self._last_look)
        self._at.wire_log.write()
        self.book.recall(reasons)
        self.book.reveal()
        self.book.open(record)
        await self._record.sync()
        self.book.close()

    async def end(self, *reasons: str) -> Outcome:
        """Write why there are no hands, and open the whole record; return how it ended.

        Raises StorageFailed.
        """
        if "COUNT_SHORT" in reasons and self._ledger is not None:
            seen = of_the_set(self._set_faults(), all_there=not self._ledger.in_tray)
            reasons = tuple(dict.fromkeys([*reasons, *seen]))
        proven = any(fault(reason).misdeal for reason in reasons)
        outcome = Outcome.MISDEAL if proven else Outcome.VOID
        in_a_row = self._record.state.misdeals_in_a_row + (not self.book.reasons)
        record = self.book.record(self.told, self._last_look, self._counted)
        self._at.wire_log.write()
        self.book.refuse(outcome, reasons, self._ledger)
        self.book.reveal()
        self.book.open(record)
        self._call_for_clearing(reasons, in_a_row)
        await self._record.sync()
        self.over.set()
        await self._at.wire_log.sync()
        self.book.close()
        return Outcome.VOID if self.book.outcome is Outcome.OK else outcome

    def _call_for_clearing(self, reasons: Sequence[str], in_a_row: int) -> None:
        """Tell people why there are no hands, until the cards are back.

        In one commit with the verdict: a daemon that dies behind it must not leave people without
        a word, and the next one finds the attempt over.
        """
        why = {reason: place_told(reason, self.events) for reason in reasons}
        if "BOARD_REFUSED" in why:
            why["BOARD_REFUSED"] = {"found": self._refusal}
        self._record.latch_all(why | ({"TWO_MISDEALS": {}} if in_a_row >= TWICE else {}))

    # What holds the steps together.

    async def unless_broken(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Return what `work` gives, or end the attempt when it is broken first.

        Nothing of `work` is done where it is broken already.
        """
        if self._broken.done():
            work.close()
            raise Ended(self._broken.result())
        waiting = self._loop.create_task(work)
        both: set[asyncio.Future[Any]] = {waiting, self._broken}
        try:
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            if waiting.done():
                return waiting.result()
        finally:
            waiting.cancel()
        raise Ended(self._broken.result())

    def _do_aside(self, work: Coroutine[Any, Any, None]) -> None:
        """Do what an event asks for once the read callback has returned."""
        aside = self._loop.create_task(work)
        self._asides.add(aside)
        aside.add_done_callback(self._aside_done)

    def _aside_done(self, task: asyncio.Task[None]) -> None:
        self._asides.discard(task)
        if not task.cancelled() and task.exception() is not None and not self._dealt.done():
            self._dealt.set_exception(task.exception() or RuntimeError)

    def _leave_nothing(self) -> None:
        if self.dealing is not None:
            self.dealing.close()
        for aside in self._asides:
            aside.cancel()
