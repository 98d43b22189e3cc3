"""One deal after the other: when an attempt may begin, and what follows from its end.

What is to be dealt stands in due.py, how an attempt goes in attempt_run.py, and what
becomes of hands that are out in hands_out.py; this is their order in time.
"""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec

from controller.machine.attempt_book import AttemptPlan, AttemptWriter, Lead
from controller.machine.attempt_run import AttemptDeps, AttemptRun
from controller.machine.card_sets import next_set
from controller.machine.clearing import POLL_S, TableClearing
from controller.machine.due import Due, next_deal
from controller.machine.hands_kept import UnopenedHands
from controller.machine.order.desk import Order, uncut_reason
from controller.machine.play import DealId, is_cut_awaited, needed
from controller.machine.release import Release
from controller.machine.stops import FAULTS_TO_ACKNOWLEDGE
from controller.machine.table import Table
from controller.machine.take_over import agree, left_open
from controller.match.events import ReleaseOrdered
from controller.match.phase import AT_THE_TABLE
from controller.messages import CardSetState, Outcome, Seat
from controller.rules.profile import BigTwoProfile
from controller.rules.seats import after
from drivers.errors import DriverError


class Start(NamedTuple):
    """A deal to begin, and the order that begins it; None: by itself."""

    due: Due
    order: Order | None


@dataclass(frozen=True)
class DealSettings:
    """How deals are dealt at this table, by its configuration.

    `practice` names what is dealt without a match; `sets` are its sets by id, with their
    backs, the first one in the machine when its journal begins. A table that is `testing`
    opens no match.
    """

    practice: str
    sets: Mapping[str, str]
    ahead: bool
    testing: bool = False


class Deals:
    """Deals at one table, from order to order."""

    def __init__(self, fixtures: AttemptDeps, table: Table, custom: DealSettings) -> None:
        self._at, self._table, self._settings = fixtures, table, custom
        self._record = fixtures.bindings.record
        self._profile = fixtures.bindings.profile
        self._match_news = asyncio.Event()
        self._is_lift_lowered = False
        self._clearing = TableClearing(
            self._record, fixtures.dealer, table.ready, self._is_set_barred
        )
        self._unopened_hands = UnopenedHands(fixtures.bindings, custom.practice)
        self._present_deal: Due | None = None
        self._startable_deal: Due | None = None
        self._last_end_s = 0.0

    @property
    def startable_deal(self) -> Due | None:
        """The deal that an order may begin now; None: no order can begin one."""
        return self._startable_deal

    @property
    def loaded(self) -> CardSetState:
        """The set that lies in the machine, or is to be laid into it."""
        state, custom = self._record.state, self._settings
        return next_set(state.sets, state.loaded, state.used, custom.sets, ahead=custom.ahead)

    @property
    def chief(self) -> bytes | None:
        """The key that an attempt is sealed to which begins now; None: nobody's, so none begins."""
        return self._at.bindings.chief()

    def changed(self) -> None:
        """Take the match as it stands now: hands that it needs no more are void or shown."""
        self._match_news.set()
        self._table.out.changed()
        self._unopened_hands.changed()
        self._void_if_not_needed()

    def _void_if_not_needed(self) -> None:
        run, due = self._table.run, self._present_deal
        if run is None or due is None or due.practice:
            return
        play, deal = self._record.play, DealId(due.match_id, due.deal)
        in_vain = run.book.has("cut") and is_cut_awaited(play, deal)
        if in_vain or not needed(play, deal):
            run.broken("NOT_NEEDED")

    @property
    def is_practice(self) -> bool:
        """Whether the attempt under way belongs to no match."""
        return self._present_deal is None or self._present_deal.practice

    @property
    def is_ahead(self) -> bool:
        """Whether the attempt under way is of a deal that is not due yet."""
        match, due = self._record.play.match, self._present_deal
        return match is not None and due is not None and not due.practice and match.deal < due.deal

    @property
    def cards(self) -> int:
        """How many cards a set of this table has."""
        return self._profile.deck.cards

    def cutters(self) -> tuple[Seat, ...]:
        """Return who may cut the present attempt, whose word it is first; () for anybody."""
        match, due = self._record.play.match, self._present_deal
        if match is None or due is None or due.practice:
            return ()
        if self.is_ahead:  # its rulebook's cutter is not known yet (provisional)
            return (after(match.cutter or match.profile.cutter_first),)
        return match.duties.cutters if match.duties is not None else ()

    def stopped(self, reason: str) -> None:
        """Take an open lid or a pressed e-stop, as the panel tells."""
        self._table.broken(reason)
        if reason in FAULTS_TO_ACKNOWLEDGE:
            self._record.latch(reason)

    def close(self) -> None:
        """Leave no task behind."""
        self._table.out.leave()
        self._unopened_hands.leave()

    async def deal_on(self) -> None:
        """Deal until cancelled. Raises StorageFailed."""
        self._table.left = list(left_open(self._at))
        self._unopened_hands.sweep([left.number for left in self._table.left])
        while self._table.left:
            left = self._table.left.pop(0)
            self._present_deal = _deal_of_plan(left.book.plan, self._settings.practice)
            self._table.run = left
            await agree(left, self._clearing.looks)
            self._void_if_not_needed()  # what voids it may have come while no daemon ran
            await self._complete_attempt(left, None)
        while True:
            await self._table.ready.wait()
            start = await self._next_start()
            if start is not None:
                await self._run_attempt(start)

    # Before an attempt.

    async def _next_start(self) -> Start | None:
        """Return the next deal once it may begin; None: look again."""
        await self._table.out.settled()
        barred = self._is_set_barred()
        due = self._next_deal()
        if due is None or (self._table.out.run is not None and not due.ahead):
            await self._watch_hopper()
            return None
        if due.again:
            await self._clearing.wait_cleared(self._last_end_s)
        elif not self._is_lift_lowered:
            await self._clearing.lower_empty_lift()
            self._is_lift_lowered = True
        if barred or self._is_set_barred() or self._has_no_chief() or self._record.state.pauses:
            await self._watch_hopper()
            return None
        self._record.clear("SET_TOO_EARLY")  # from here on it is welcome
        order = None if due.by_itself else await self._await_start(due)
        away = not self._table.ready.is_set()
        if away or due != self._next_deal():  # while somebody cleared up, or gave the order
            if order is not None:
                order.refuse("BOARD_AWAY" if away else "NO_DEAL_DUE")
            return None
        return Start(due, order) if due.by_itself or order is not None else None

    def _next_deal(self) -> Due | None:
        """Return the deal that is to be dealt next, as the match stands now."""
        state, play, custom = self._record.state, self._record.play, self._settings
        return next_deal(state, play, custom.practice, ahead=custom.ahead)

    def _is_set_barred(self) -> bool:
        """Tell whether the set in the machine may not be dealt with, and show it."""
        loaded = self.loaded
        evidence = {"found": loaded.id}
        if loaded.last_deal is not None:
            evidence["index"] = str(loaded.last_deal)
        self._record.show("SET_BARRED", bool(loaded.barred), evidence)
        return bool(loaded.barred)

    def _has_no_chief(self) -> bool:
        """Tell whether no chief is admitted whom an attempt could be sealed to, and show it."""
        without = self.chief is None
        self._record.show("NO_CHIEF", without)
        return without

    async def _await_start(self, due: Due) -> Order | None:
        """Wait for the order to begin `due`; None where something else is due by then."""
        self._startable_deal = due
        self._match_news.clear()
        self._at.on_change()
        ordered = asyncio.ensure_future(self._at.desk.take("start_deal"))
        try:
            while not (ordered.done() or self._match_news.is_set() or self._has_no_chief()):
                await self._wait_for_news({ordered})
                with suppress(DriverError):
                    self._clearing.show_openings(await self._at.dealer.status())
            return ordered.result() if ordered.done() else None
        finally:
            ordered.cancel()
            self._startable_deal = None

    async def _watch_hopper(self) -> None:
        """Wait for news while people have the cards, and keep their evidence from the hopper."""
        self._match_news.clear()
        with suppress(DriverError):
            status = await self._at.dealer.status()
            self._clearing.show_openings(status)
            early = status.sees_hopper and self._is_evidence_needed()
            self._record.show("SET_TOO_EARLY", early)
            if self._table.out.left and status.sees_hopper and status.lift_down:
                await self._table.out.close()  # played at another table, and its cards are back
        await self._wait_for_news(set())

    def _is_evidence_needed(self) -> bool:
        """Tell whether the cards on the table may still be needed to judge by."""
        match = self._record.play.match
        if match is None or match.by_hand or self._settings.ahead:
            return False  # by hand the set on the table never came out of this machine's lift
        return match.phase in AT_THE_TABLE

    async def _wait_for_news(self, others: set[asyncio.Future[Order]]) -> None:
        """Wait for news, for one of `others`, or until the sensors are to be asked again."""
        news = asyncio.ensure_future(self._match_news.wait())
        waiting: set[asyncio.Future[Any]] = {news, *others}
        try:
            await asyncio.wait(waiting, timeout=POLL_S, return_when=asyncio.FIRST_COMPLETED)
        finally:
            news.cancel()

    # An attempt.

    async def _run_attempt(self, start: Start) -> None:
        chief = self.chief  # as the roster is in the moment of the commitment
        if chief is None:
            if start.order is not None:
                start.order.refuse("NO_CHIEF")
            return
        due = self._present_deal = start.due
        known = self._table.known_attempts
        number = max(self._record.state.attempts, *known, 0) + 1
        loaded = self.loaded
        plan = AttemptPlan(
            match_id=due.match_id,
            deal=due.deal,
            number=number,
            card_set=loaded.id,
            back="A" if loaded.back == "A" else "B",
            passes=self._profile.shuffles(due.deal),
        )
        self._record.clear("TWO_MISDEALS")
        uncut = None if start.order is None else uncut_reason(start.order)
        run = AttemptRun(self._at, AttemptWriter.new(self._at.bindings, plan, chief))
        await self._complete_attempt(run, uncut, start.order)

    async def _complete_attempt(
        self, run: AttemptRun, uncut: str | None = None, start: Order | None = None
    ) -> None:
        """Take an attempt from where it stands to its end."""
        self._table.run = run
        watching = asyncio.ensure_future(self._show_openings_until_cut(run))
        try:
            if await run.run(uncut, start) is Outcome.OK:
                await self._release_hands(run)
        finally:
            watching.cancel()
            self._table.run = self._present_deal = None
            self._last_end_s = asyncio.get_running_loop().time()

    async def _show_openings_until_cut(self, run: AttemptRun) -> None:
        """Show what is open while a cut is waited for: an alert that stays keeps people from it."""
        async for status in self._clearing.looks():
            if run.book.has("cut") or run.book.outcome is not None:
                return
            self._clearing.show_openings(status)

    async def _release_hands(self, run: AttemptRun) -> None:
        """Let held hands out by order, and see the lift down again."""
        due, out = self._present_deal, self._table.out
        assert due is not None  # it was dealt for something
        watching = asyncio.ensure_future(self._watch_hopper_while_held(run))
        try:
            gone = await Release(self._at, run).let_out(
                lambda: self._lead_rule(run.book.deal),
                self._write_release_ordered,
                self._waiting_times,
            )
        finally:
            watching.cancel()
        if not gone:
            return
        out.changed()
        await out.settled()  # the hands before are shown before these are anybody's
        self._table.run = None
        out.take(run, None if due.practice else DealId(due.match_id, due.deal))
        if self._table.left:
            return  # another attempt was begun behind it: the lift was down by then
        await self._clearing.lift_down(set_back=due.practice)
        if due.practice:
            await out.close()

    def _write_release_ordered(self) -> None:
        """Tell the match that its hands are on their way out; the desk has asked it."""
        due = self._present_deal
        if due is not None and not due.practice:
            self._record.happened(ReleaseOrdered(at_ms=self._record.clock()))

    def _waiting_times(self) -> dict[str, int]:
        """Return how long people waited for the hands that go out; nothing in practice."""
        waited = self._record.play.waited
        return {} if waited is None or self.is_practice else msgspec.to_builtins(waited)

    async def _watch_hopper_while_held(self, run: AttemptRun) -> None:
        """Say while hands are held that no set may lie in the hopper: they would not come out."""
        try:
            async for status in self._clearing.looks():
                if run.released:
                    return
                self._record.show("SET_TOO_EARLY", status.sees_hopper)
        finally:
            self._record.clear("SET_TOO_EARLY")

    def _lead_rule(self, deal: int) -> Lead:
        """Return how the release of a deal says who leads; of one dealt ahead it is not known."""
        if isinstance(self._profile, BigTwoProfile):
            return "holder"
        match = self._record.play.match
        if self.is_ahead:
            return "none"
        first = deal == 1 if match is None else match.duties is not None and match.duties.turnup
        return "turn_up" if first and self._profile.turnup.deal1 else "none"


def _deal_of_plan(plan: AttemptPlan, practice: str) -> Due:
    return Due(match_id=plan.match_id, deal=plan.deal, practice=plan.match_id == practice)
