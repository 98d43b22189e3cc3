"""One attempt, from its secret seed to its end, in the steps of controller/deal/PROOF.md.

Each step is in the journal, and so on the feed, before the next step begins: seed and commitment,
cut, shuffle, first card, verdict, release. The method `run` is a procedure that can be read from
top to bottom. Its first steps are in attempt_start.py. The card loop (card_loop.py) handles the
cards. The attempt writer (attempt_writer.py) writes the entries.
"""

import asyncio
from collections.abc import Coroutine, Iterable, Sequence
from typing import Any

from controller.deal.attempt import AttemptState, Stage
from controller.deal.hands_lock import known_set_faults
from controller.deal.ledger import Ledger
from controller.deal.observations import AttemptStopped, BothBegan, ShufflerDone
from controller.faults import driver_error_fault, fault
from controller.machine.attempts.attempt_start import AttemptDeps, AttemptEnded, AttemptStart
from controller.machine.attempts.attempt_writer import AttemptWriter, opens_at_deal_end
from controller.machine.attempts.card_loop import CardLoop
from controller.machine.boards.board_observations import (
    BoardObservations,
    fault_place,
    final_count,
    retry_once,
)
from controller.machine.commands.command_request import AcceptedCommand
from controller.machine.state.due_deals import MISDEALS_BEFORE_CALL
from controller.messages import AttemptOutcome
from drivers.board_events import BoardEvent, BoardEventCode, CardReadEvent
from drivers.errors import BoardRefused, DriverError, LineLost, SessionRenewed
from drivers.link.frames import BoardResult, LookCommand, RereadCommand

# Fields of the final count that a record keeps, because no event of a board shows them.
_FINAL_COUNT_FIELDS = (
    *("hopper_empty", "path_empty", "tray_empty", "lift_down", "pockets_seen"),
    *("board_fed", "board_landed", "board_locked", "reader_pulses"),
)


class AttemptRun(AttemptStart):
    """One attempt in progress: it handles board events and takes all steps until the attempt ends.

    `run` ends at held hands; hand_release.py continues from there. `cards_at_rest` is set as soon
    as no card of the attempt moves any more. `lift_raised` is done when the dealer board reports
    that the lift is up. `hands_out` is True once the hands may have left the machine.
    """

    def __init__(self, deps: AttemptDeps, book: AttemptWriter) -> None:
        super().__init__(deps, book)
        self.cards_at_rest = asyncio.Event()
        self.card_loop: CardLoop | None = None
        self.lift_raised: asyncio.Future[None] = self._loop.create_future()
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_writing_shuffled = False
        self.hands_out = False
        self._events_without_reads: list[BoardEvent] = []  # In order of receipt.
        self._observations = BoardObservations(self.number)
        self.collects_events = False
        self._events_before_verdict: int | None = None
        self._ended_in_earlier_run = False
        self.is_complete = True  # False if a look of an earlier run cannot be reported again.

    @property
    def needs_boards(self) -> bool:
        """Return whether boards are still needed, to finish the attempt or to release its hands."""
        book = self.writer
        if book.outcome is None:
            return not book.is_key_lost
        return book.is_held and not book.has("released")

    @property
    def all_events(self) -> Sequence[BoardEvent]:
        """Return all board events of this attempt so far, or () after the vault deleted them."""
        return self.writer.vault.events

    def replay(self, events: Iterable[BoardEvent]) -> None:
        """Rebuild the state of the attempt from its past events. The caller has sorted `events`."""
        self.collects_events = False
        book = self.writer
        if book.has("begun") and book.outcome is None and not book.is_key_lost:
            self.card_loop = self._new_card_loop()
            self.card_loop.is_replaying = True
            self.card_loop.observe(BothBegan())
            if self.writer.has("shuffled"):
                self.card_loop.observe(ShufflerDone())
        for event in events:
            self._handle_event(event)
        # Only the earlier run knew which of them ended the attempt.
        self._ended_in_earlier_run = (
            self.card_loop is not None and self.card_loop.attempt.stage is Stage.ENDED
        )

    # Events during the attempt.

    def on_event(self, event: BoardEvent) -> None:
        """Handle an event from a board, inside the serial port's read callback."""
        if event.attempt != self.number:
            return
        self.writer.vault.keep_event(event)
        if not isinstance(event, CardReadEvent):
            self._events_without_reads.append(event)
        if event.code is BoardEventCode.RELEASED and not self.lift_raised.done():
            self.lift_raised.set_result(None)
        if not self.collects_events:
            self._handle_event(event)

    def _handle_event(self, event: BoardEvent) -> None:
        """Pass an event to the card loop: a READ as the vault's verdict, others as observations.

        SHUFFLED first causes the entry `shuffled`. Events that no longer matter are ignored.
        """
        if isinstance(event, CardReadEvent):
            if self.card_loop is not None:
                self.card_loop.observe(self.writer.vault.take_read(event))
            return
        if event.code is BoardEventCode.SHUFFLED:
            # A board that receives the command twice reports it twice.
            told = self.writer.has("shuffled") or self._is_writing_shuffled
            if not told and self.card_loop is not None and not self._has_ended:
                self._is_writing_shuffled = True
                self._spawn(self._write_shuffled(event.index))
            return
        if self.card_loop is not None and self.hands_out:
            return
        if event.code is BoardEventCode.ENGINE and self.writer.is_held:
            return  # Cards of held hands have been read already.
        seen = self._observations.observation_of(event)
        if self.card_loop is not None and seen is not None:
            if event.code is BoardEventCode.AT_READER and not self.card_loop.is_replaying:
                self._deps.reader.announce_card(self.number, event.index)
            self.card_loop.observe_board(seen)
        elif isinstance(seen, AttemptStopped):
            self.stop(seen.reason)

    def on_refused(self, refused: BoardRefused) -> None:
        """Stop the attempt because a board refused a command. A refused late look stops nothing.

        A reader that has counted a later card refuses to look at an earlier one (WRONG_INDEX). The
        missing look then starts the comparison of the counts, so nothing must be stopped.
        """
        looks = isinstance(refused.command, LookCommand | RereadCommand)
        if looks and refused.result is BoardResult.WRONG_INDEX:
            return

        async def stop() -> None:
            self.stop(await self._refusal_fault(refused, are_cards_fed=self.fed > 0))

        self._spawn(stop())

    def on_line_lost(self, reason: str) -> None:
        """Stop the attempt because a board's line is lost, unless the attempt's hands are held.

        `reason` is the fault. Held hands wait until the board is back.
        """
        if not self.writer.is_held:
            self.stop(reason)

    @property
    def stop_reason(self) -> str | None:
        """Return the fault that stopped the attempt or withdrew its held hands, otherwise None."""
        return self._stop_reason.result() if self._stop_reason.done() else None

    @property
    def _has_ended(self) -> bool:
        return self._stop_reason.done() or self._final_state.done()

    def stop(self, reason: str) -> None:
        """End the attempt for the fault `reason`, unless its hands may have left the machine."""
        if self.hands_out:
            return
        if not self._stop_reason.done():
            self._stop_reason.set_result(reason)
        if self.card_loop is not None:
            self.card_loop.stop(reason)

    @property
    def is_released(self) -> bool:
        """Return whether the hands are released, or may have left the machine (see `hands_out`)."""
        return self.hands_out or self.writer.has("released")

    def pause(self) -> None:
        """Stop all movement of cards, until `resume` is called."""
        if self.card_loop is not None and not self.cards_at_rest.is_set():
            self.card_loop.pause()

    def resume(self) -> None:
        """Continue with the cards that `pause` stopped."""
        if self.card_loop is not None:
            self.card_loop.resume()

    def resend_targets(self) -> None:
        """After a new session, send the commands of the present step to both boards again."""
        if self.card_loop is not None:
            self.card_loop.resend_targets()

    @property
    def fed(self) -> int:
        """Return the number of cards fed from the hopper so far."""
        return 0 if self._ledger is None else self._ledger.fed

    @property
    def _ledger(self) -> Ledger | None:
        return None if self.card_loop is None else self.card_loop.attempt.ledger

    # The steps.

    async def run(
        self, uncut: str | None = None, start_command: AcceptedCommand | None = None
    ) -> AttemptOutcome:
        """Run the attempt until its hands are held or it ends without hands. Return the outcome.

        `uncut` is the referee's reason to deal without a cut. `start_command` is the command that
        began the deal. Its answer is sent when the commitment is published. Steps that an earlier
        run of the daemon took are not taken again. Raises StorageFailed.
        """
        if self.writer.is_held:
            return AttemptOutcome.OK
        if self.writer.outcome is not None:
            return await self.end(*self.writer.reasons)
        try:
            self._require_running()
            if not self.writer.has("committed"):
                await self.commit(start_command, uncut)
            if self.writer.is_key_lost:
                raise AttemptEnded("POWER")
            if not self.writer.has("cut"):
                await self.take_cut(uncut)
            self.card_loop = self.card_loop or self._new_card_loop()
            if not self.writer.has("begun"):
                await self.begin()
            reasons = await self._deal()
        except AttemptEnded as ended:
            reasons = ended.reasons
        finally:
            if self.card_loop is not None:
                self.card_loop.close()
            for aside in self._tasks:
                aside.cancel()
        if reasons:
            return await self.end(*reasons)
        await self._hold_hands()
        return AttemptOutcome.OK

    def _new_card_loop(self) -> CardLoop:
        at = self._deps
        return CardLoop(
            self.number,
            self.writer.sequence,
            self.writer.plan.passes,
            dealer=at.dealer.link.send,
            reader=at.reader.send,
            stop_motion=at.dealer.stop,
            on_count_due=lambda: self._spawn(self._take_final_count()),
            on_look_overdue=lambda index: self._spawn(self._compare_counts(index)),
            on_end=self._on_end,
            on_change=at.on_change,
            look_timeout_s=at.look_timeout_s,
        )

    async def _deal(self) -> tuple[str, ...]:
        """Deal all cards. Return the reasons why the hands are wrong, or () if they are right."""
        assert self.card_loop is not None
        self._require_running()
        if self._record.state.pauses:
            self.card_loop.pause()
        if self.card_loop.is_replaying:
            self.card_loop.end_replay()
        else:
            self.card_loop.observe(BothBegan())
        attempt = await self._final_state
        return attempt.reasons if attempt.stage is Stage.ENDED else ()

    async def _write_shuffled(self, passes: int) -> None:
        """Write the entry `shuffled` with the number of passes, and then feed the first card."""
        if self._has_ended:  # A command or a lost line was faster. No step may follow the verdict.
            return
        self.writer.write_shuffled(passes)
        await self._record.sync()
        assert self.card_loop is not None
        self.card_loop.observe(ShufflerDone())

    async def _compare_counts(self, index: int) -> None:
        """Compare both boards' counts of cards after only one board has reported card `index`.

        If the counts are equal, the card goes to the tray. Otherwise the attempt ends, because the
        look at a card that one board did not detect would count for the next card.
        """
        assert self.card_loop is not None
        try:
            status = await retry_once(self._deps.dealer.get_status)
            read = await retry_once(self._deps.reader.get_status)
        except (SessionRenewed, LineLost):
            # After a new session the loop waits for the look again. A lost line ends the attempt.
            return
        except DriverError as error:
            self.card_loop.stop(driver_error_fault(error))
            return
        if not self.card_loop.is_look_overdue(index):
            return  # The report came meanwhile, so the comparison is out of date.
        if status.fed == read.pulses:
            self.card_loop.give_up_look(index)
            return
        self._final_count = {"reader_pulses": read.pulses}
        self.card_loop.stop("PULSE_COUNT")

    async def _take_final_count(self) -> None:
        """Request the final count from both boards and the vault, and pass it to the card loop."""
        assert self.card_loop is not None
        try:
            status = await retry_once(self._deps.dealer.get_status)
            read = await retry_once(self._deps.reader.get_status)
        except DriverError as error:
            self.card_loop.stop(driver_error_fault(error))
            return
        count = final_count(status, read.pulses, self._set_faults())
        self._final_count = {name: getattr(count, name) for name in _FINAL_COUNT_FIELDS}
        self.card_loop.observe(count)

    def _set_faults(self) -> tuple[str, ...]:
        assert self._ledger is not None
        places = self._ledger.places()
        return self.writer.vault.find_set_faults(places, self._profile.deck.cards)

    def _on_end(self, attempt: AttemptState) -> None:
        if attempt.stage is Stage.ENDED and not self._ended_in_earlier_run:
            self._events_before_verdict = len(self.all_events)
        if not self._final_state.done():
            self._final_state.set_result(attempt)
        elif attempt.stage is Stage.ENDED and not self._stop_reason.done():
            self._stop_reason.set_result(attempt.reasons[0])

    async def _hold_hands(self) -> None:
        """Write the hash and the verdict of hands that are right. A release needs both."""
        assert self._ledger is not None
        self._deps.board_log.write()
        self.writer.write_held(self._ledger)
        await self._record.sync()
        self.cards_at_rest.set()
        await self._deps.board_log.sync()

    async def reveal(self, *, practice: bool) -> None:
        """Publish the attempt's seed and cut. The deal with its hands must be over.

        If the profile opens the hands now, publish the record too. Raises StorageFailed.
        """
        record = self.writer.build_record(self.all_events, {})
        self._deps.board_log.write()
        self.writer.write_revealed(self.all_events)
        if opens_at_deal_end(self._profile.hands_opened, practice=practice):
            self.writer.write_record(record)
        await self._record.sync()
        self.writer.close()

    async def recall(self, *reasons: str) -> None:
        """Write the recall of the released hands with its reasons, and publish the record.

        Raises StorageFailed.
        """
        record = self.writer.build_record(self.all_events, self._final_count)
        self._deps.board_log.write()
        self.writer.write_recalled(reasons)
        self.writer.write_revealed()
        self.writer.write_record(record)
        await self._record.sync()
        self.writer.close()

    async def end(self, *reasons: str) -> AttemptOutcome:
        """Write why the attempt gave no hands, publish its record, and return its outcome.

        Raises StorageFailed.
        """
        if "COUNT_SHORT" in reasons and self._ledger is not None:
            seen = known_set_faults(self._set_faults(), all_there=not self._ledger.in_tray)
            reasons = tuple(dict.fromkeys([*reasons, *seen]))
        proven = any(fault(reason).misdeal for reason in reasons)
        outcome = AttemptOutcome.MISDEAL if proven else AttemptOutcome.VOID
        in_a_row = self._record.state.misdeals_in_a_row + (not self.writer.reasons)
        record = self.writer.build_record(
            self.all_events, self._final_count, self._events_before_verdict
        )
        self._deps.board_log.write()
        self.writer.write_failure(outcome, reasons, self._ledger)
        self.writer.write_revealed()
        self.writer.write_record(record)
        self._raise_faults(reasons, in_a_row)
        await self._record.sync()
        self.cards_at_rest.set()
        await self._deps.board_log.sync()
        self.writer.close()
        return AttemptOutcome.VOID if self.writer.outcome is AttemptOutcome.OK else outcome

    def _raise_faults(self, reasons: Sequence[str], in_a_row: int) -> None:
        """Raise each fault in `reasons`, and TWO_MISDEALS if too many attempts failed (`in_a_row`).

        The faults stay until the cards are back. They are in one commit with the verdict. If the
        daemon dies afterwards, people still see the reason, and the next run finds the attempt
        ended.
        """
        why = {reason: fault_place(reason, self._events_without_reads) for reason in reasons}
        if "BOARD_REFUSED" in why:
            why["BOARD_REFUSED"] = {"found": self._refusal_text}
        self._record.raise_faults(
            why | ({"TWO_MISDEALS": {}} if in_a_row >= MISDEALS_BEFORE_CALL else {})
        )

    # Tasks.

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Run `work` as a task that begins after the read callback has returned."""
        aside = self._loop.create_task(work)
        self._tasks.add(aside)
        aside.add_done_callback(self._on_task_done)

    def _on_task_done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None and not self._final_state.done():
            self._final_state.set_exception(task.exception() or RuntimeError)
