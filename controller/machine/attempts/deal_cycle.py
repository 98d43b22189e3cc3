"""The sequence of deals: when an attempt may begin, and what follows its end.

due_deals.py decides which deal is next, attempt_run.py runs an attempt, and released_hands.py
handles hands that are out. This module puts them in order.
"""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import msgspec

from controller.machine.attempts.attempt_run import AttemptRun
from controller.machine.attempts.attempt_start import AttemptDeps
from controller.machine.attempts.attempt_writer import AttemptPlan, AttemptWriter, LeadRule
from controller.machine.attempts.hand_release import HandRelease
from controller.machine.attempts.recovery import compare_with_boards, read_unfinished
from controller.machine.attempts.released_hands import UnopenedHands
from controller.machine.attempts.table_clearing import POLL_INTERVAL_S, TableClearing
from controller.machine.boards.table_boards import TableBoards
from controller.machine.commands.command_request import AcceptedCommand, uncut_reason
from controller.machine.state.card_sets import next_set
from controller.machine.state.due_deals import NextDeal, is_cut_awaited, is_needed, next_deal
from controller.machine.state.table_match import DealId
from controller.machine.state.table_state import FAULTS_TO_ACKNOWLEDGE
from controller.match.match_events import ReleaseOrdered
from controller.match.phase import DEAL_UNDER_WAY
from controller.messages import AttemptOutcome, CardSetState, Seat
from controller.rules.profile import BigTwoProfile
from controller.seats import next_seat
from drivers.errors import DriverError


@dataclass(frozen=True)
class DealSettings:
    """The settings for deals, from the table's configuration.

    `practice_match` is the match id of deals without a match. `sets` has the table's sets by id,
    with their backs; the first one is in the machine when its journal begins. A table with
    `is_test` opens no match.
    """

    practice_match: str
    sets: Mapping[str, str]
    deal_ahead: bool
    is_test: bool = False


class DealCycle:
    """The loop that deals one deal after another at one table.

    `startable_deal` is the deal that a command may begin now, or None. `set_size` is the number of
    cards in a set of this table.
    """

    def __init__(
        self, deps: AttemptDeps, table_boards: TableBoards, settings: DealSettings
    ) -> None:
        self._deps, self._table_boards, self._settings = deps, table_boards, settings
        self._record = deps.binding.record
        self._profile = deps.binding.profile
        self.set_size = self._profile.deck.cards
        self._match_news = asyncio.Event()
        self._is_lift_lowered = False
        self._clearing = TableClearing(
            self._record, deps.dealer, table_boards.ready, self._is_set_barred
        )
        self._unopened_hands = UnopenedHands(deps.binding, settings.practice_match)
        self._present_deal: NextDeal | None = None
        self.startable_deal: NextDeal | None = None
        self._last_end_s = 0.0

    @property
    def loaded_set(self) -> CardSetState:
        """Return the set for the next deal, which is in the machine or must be put into it."""
        state, custom = self._record.state, self._settings
        return next_set(
            state.sets, state.loaded_set, state.used_set, custom.sets, ahead=custom.deal_ahead
        )

    @property
    def chief_key(self) -> bytes | None:
        """Return the chief's public key, or None if no chief is admitted.

        This key encrypts the keys of attempts.
        """
        return self._deps.binding.chief_key()

    def on_match_changed(self) -> None:
        """End the running attempt if the match no longer needs it.

        Begin to publish the seeds and records of ended deals.
        """
        self._match_news.set()
        self._table_boards.hands_with_players.on_match_changed()
        self._unopened_hands.on_match_changed()
        self._void_if_not_needed()

    def _void_if_not_needed(self) -> None:
        run, due = self._table_boards.run, self._present_deal
        if run is None or due is None or due.is_practice:
            return
        play, deal = self._record.match_written, DealId(due.match_id, due.deal)
        in_vain = run.writer.has("cut") and is_cut_awaited(play, deal)
        if in_vain or not is_needed(play, deal):
            run.stop("NOT_NEEDED")

    @property
    def is_practice(self) -> bool:
        """Return whether the running attempt belongs to no match; True if no attempt is running."""
        return self._present_deal is None or self._present_deal.is_practice

    @property
    def is_ahead(self) -> bool:
        """Return whether the running attempt is for a later deal than the match's present deal."""
        match, due = self._record.match_written.match, self._present_deal
        if match is None or due is None or due.is_practice:
            return False
        return match.deal < due.deal

    def cutters(self) -> tuple[Seat, ...]:
        """Return the seats that may cut for the running attempt, in order of precedence.

        () means any seat.
        """
        match, due = self._record.match_written.match, self._present_deal
        if match is None or due is None or due.is_practice:
            return ()
        # The cutter by the rulebook is not known yet, so this one is provisional.
        if self.is_ahead:
            return (next_seat(match.cutter or match.profile.cutter_first),)
        return match.duties.cutters if match.duties is not None else ()

    def on_switch(self, reason: str) -> None:
        """End the running attempt for `reason`: an open lid or a pressed emergency stop."""
        self._table_boards.stop_attempt(reason)
        if reason in FAULTS_TO_ACKNOWLEDGE:
            self._record.raise_fault(reason)

    def close(self) -> None:
        """Cancel the tasks that publish the seeds and the records of released hands."""
        self._table_boards.hands_with_players.cancel()
        self._unopened_hands.cancel()

    async def run(self) -> None:
        """Resume unfinished attempts, then run deals until cancelled. Raises StorageFailed."""
        self._table_boards.unfinished_runs = list(read_unfinished(self._deps))
        unfinished = self._table_boards.unfinished_runs
        self._unopened_hands.remove_stale_keys([left.number for left in unfinished])
        while unfinished:
            left = unfinished.pop(0)
            match_id, deal = left.writer.plan.match_id, left.writer.deal
            is_practice = match_id == self._settings.practice_match
            self._present_deal = NextDeal(match_id=match_id, deal=deal, is_practice=is_practice)
            self._table_boards.run = left
            await compare_with_boards(left, self._clearing.poll_statuses)
            self._void_if_not_needed()  # The reason to void it may have come while no daemon ran.
            await self._complete_attempt(left, None)
        while True:
            await self._table_boards.ready.wait()
            start = await self._next_start()
            if start is not None:
                await self._run_attempt(*start)

    # Before an attempt.

    async def _next_start(self) -> tuple[NextDeal, AcceptedCommand | None] | None:
        """Wait until a deal may begin, and return this deal with its start command.

        The command is None if the deal begins automatically. Return None instead of a pair if no
        deal may begin or the situation has changed. The caller then calls again.
        """
        await self._table_boards.hands_with_players.wait_closed()
        barred = self._is_set_barred()
        due = self._next_deal()
        out = self._table_boards.hands_with_players.run is not None
        if due is None or (out and not due.is_ahead):
            await self._show_sensor_faults()
            return None
        if due.clear_first:
            await self._clearing.wait_cleared(self._last_end_s)
        elif not self._is_lift_lowered:
            await self._clearing.lower_empty_lift()
            self._is_lift_lowered = True
        if barred or self._is_set_barred() or self._has_no_chief() or self._record.state.pauses:
            await self._show_sensor_faults()
            return None
        self._record.clear_fault("SET_TOO_EARLY")  # From now on a set in the hopper is right.
        order = None if due.is_automatic else await self._await_start(due)
        away = not self._table_boards.ready.is_set()
        # The situation may have changed during the clearing or the wait.
        if away or due != self._next_deal():
            if order is not None:
                order.refuse("BOARD_AWAY" if away else "NO_DEAL_DUE")
            return None
        return (due, order) if due.is_automatic or order is not None else None

    def _next_deal(self) -> NextDeal | None:
        """Return the next deal, for the match or for practice, or None while no deal is needed."""
        state, play, custom = self._record.state, self._record.match_written, self._settings
        return next_deal(state, play, custom.practice_match, ahead=custom.deal_ahead)

    def _is_set_barred(self) -> bool:
        """Return whether the loaded set is barred, and raise or clear the fault SET_BARRED."""
        loaded = self.loaded_set
        evidence = {"found": loaded.id}
        if loaded.last_deal is not None:
            evidence["index"] = str(loaded.last_deal)
        self._record.set_fault("SET_BARRED", bool(loaded.barred), evidence)
        return bool(loaded.barred)

    def _has_no_chief(self) -> bool:
        """Return whether no chief is admitted, and raise or clear the fault NO_CHIEF.

        The secrets of an attempt are sealed to the key of an admitted chief.
        """
        without = self.chief_key is None
        self._record.set_fault("NO_CHIEF", without)
        return without

    async def _await_start(self, due: NextDeal) -> AcceptedCommand | None:
        """Wait for the command that starts the deal `due`, and return this command.

        Return None if the match changes first, or if no chief is admitted any more.
        """
        self.startable_deal = due
        self._match_news.clear()
        self._deps.on_change()
        ordered = asyncio.ensure_future(self._deps.processor.wait_for("start_deal"))
        try:
            while not (ordered.done() or self._match_news.is_set() or self._has_no_chief()):
                await self._wait_for_news({ordered})
                with suppress(DriverError):
                    self._clearing.show_openings(await self._deps.dealer.get_status())
            return ordered.result() if ordered.done() else None
        finally:
            ordered.cancel()
            self.startable_deal = None

    async def _show_sensor_faults(self) -> None:
        """Show the faults that the sensors detect, then wait for the next poll or a changed match.

        Cards that are put into the hopper too early, an open lid and a pressed emergency stop are
        shown as faults.
        """
        self._match_news.clear()
        with suppress(DriverError):
            status = await self._deps.dealer.get_status()
            self._clearing.show_openings(status)
            # The cards of a deal by the machine are evidence until the deal is over.
            match = self._record.match_written.match
            dealt = match is not None and not match.by_hand and match.phase in DEAL_UNDER_WAY
            early = status.sees_hopper and dealt and not self._settings.deal_ahead
            self._record.set_fault("SET_TOO_EARLY", early)
            played = self._table_boards.hands_with_players
            if played.are_played_elsewhere and status.sees_hopper and status.lift_down:
                await played.close()  # Its match is at another table, and its cards are back.
        await self._wait_for_news(set())

    async def _wait_for_news(self, others: set[asyncio.Future[AcceptedCommand]]) -> None:
        """Wait until the match changes, a future in `others` is done, or the next poll is due."""
        news = asyncio.ensure_future(self._match_news.wait())
        both: set[asyncio.Future[Any]] = {news, *others}
        try:
            await asyncio.wait(both, timeout=POLL_INTERVAL_S, return_when=asyncio.FIRST_COMPLETED)
        finally:
            news.cancel()

    # During an attempt.

    async def _run_attempt(self, due: NextDeal, command: AcceptedCommand | None) -> None:
        chief = self.chief_key  # The roster at the moment of the commitment counts.
        if chief is None:
            if command is not None:
                command.refuse("NO_CHIEF")
            return
        self._present_deal = due
        number = max(self._record.state.attempts, *self._table_boards.known_attempts, 0) + 1
        loaded = self.loaded_set
        plan = AttemptPlan(
            match_id=due.match_id,
            deal=due.deal,
            number=number,
            card_set=loaded.id,
            back="A" if loaded.back == "A" else "B",
            passes=self._profile.shuffles(due.deal),
        )
        self._record.clear_fault("TWO_MISDEALS")
        uncut = None if command is None else uncut_reason(command)
        run = AttemptRun(self._deps, AttemptWriter.new(self._deps.binding, plan, chief))
        await self._complete_attempt(run, uncut, command)

    async def _complete_attempt(
        self,
        run: AttemptRun,
        uncut: str | None = None,
        start_command: AcceptedCommand | None = None,
    ) -> None:
        """Run an attempt from its present step until it ends or its hands are released.

        `uncut` is the reason for a deal without a cut.
        """
        self._table_boards.run = run
        watching = asyncio.ensure_future(self._show_openings_until_cut(run))
        try:
            if await run.run(uncut, start_command) is AttemptOutcome.OK:
                await self._release_hands(run)
        finally:
            watching.cancel()
            self._table_boards.run = self._present_deal = None
            self._last_end_s = asyncio.get_running_loop().time()

    async def _show_openings_until_cut(self, run: AttemptRun) -> None:
        """Until the cut is made, show an open lid or a pressed emergency stop as a fault.

        So people can correct this before the cards move.
        """
        async for status in self._clearing.poll_statuses():
            if run.writer.has("cut") or run.writer.outcome is not None:
                return
            self._clearing.show_openings(status)

    async def _release_hands(self, run: AttemptRun) -> None:
        """Release the held hands after the command `release`, and wait until the lift is down."""
        due, out = self._present_deal, self._table_boards.hands_with_players
        assert due is not None  # Every attempt is dealt for a deal.

        def write_ordered() -> None:
            if not due.is_practice:
                self._record.write_match(ReleaseOrdered(at_ms=self._record.clock()))

        def waiting_times() -> dict[str, int]:
            waited = self._record.match_written.waiting_times
            return {} if waited is None or due.is_practice else msgspec.to_builtins(waited)

        watching = asyncio.ensure_future(self._watch_hopper_while_held(run))
        try:
            gone = await HandRelease(self._deps, run).run(
                lambda: self._lead_rule(run.writer.deal), write_ordered, waiting_times
            )
        finally:
            watching.cancel()
        if not gone:
            return
        out.on_match_changed()
        await out.wait_closed()  # The hands of the deal before must be published first.
        self._table_boards.run = None
        out.hand_over(run, None if due.is_practice else DealId(due.match_id, due.deal))
        if self._table_boards.unfinished_runs:
            return  # Another attempt was begun after it, so the lift was down.
        await self._clearing.wait_lift_down(set_back=due.is_practice)
        if due.is_practice:
            await out.close()

    async def _watch_hopper_while_held(self, run: AttemptRun) -> None:
        """Raise a fault while a set of cards in the hopper blocks the release of held hands."""
        try:
            async for status in self._clearing.poll_statuses():
                if run.is_released:
                    return
                self._record.set_fault("SET_TOO_EARLY", status.sees_hopper)
        finally:
            self._record.clear_fault("SET_TOO_EARLY")

    def _lead_rule(self, deal: int) -> LeadRule:
        """Return how the entry `released` of deal `deal` names the leader (see LeadRule).

        For a deal dealt ahead the leader is not known.
        """
        if isinstance(self._profile, BigTwoProfile):
            return "holder"
        match = self._record.match_written.match
        if self.is_ahead:
            return "none"
        first = deal == 1 if match is None else match.duties is not None and match.duties.turnup
        return "turn_up" if first and self._profile.turnup.deal1 else "none"
