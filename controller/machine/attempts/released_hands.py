"""Released hands, from their release until their deal is over.

Then their seed is published; hands that are dealt again are recalled first. A deal of a match is
over when its result is written, or when it is dealt again. A practice deal is over when its set is
in the hopper again.
"""

import asyncio
from collections.abc import Sequence

from controller.journal.attempt_history import AttemptHistory, attempt_histories
from controller.journal.entries import StorageFailed
from controller.machine.attempts.attempt_run import AttemptRun
from controller.machine.attempts.attempt_writer import AttemptBinding, opens_at_deal_end
from controller.machine.attempts.recovery import UnfinishedAttempt
from controller.machine.state.due_deals import is_deal_over, is_dealt_again, is_match_over
from controller.machine.state.table_match import DealId, TableMatch
from controller.machine.state.table_state import PlayedAttempt
from controller.machine.table_record import TableRecord
from controller.vault.dealt_hands import DealtHands


class HandsWithPlayers:
    """The store of the attempt whose hands the players have (`run`; None if no hands are out)."""

    def __init__(self, record: TableRecord) -> None:
        self._record = record
        self.run: AttemptRun | None = None
        self._deal: DealId | None = None
        self._close_task: asyncio.Task[None] | None = None

    @property
    def are_played_elsewhere(self) -> bool:
        """Return whether these hands are played at another table, because their match moved."""
        return self._deal is not None and self._deal == self._record.match_written.played_elsewhere

    def dealt_hands(self) -> DealtHands | None:
        """Return the released hands of the match's present deal, or None if no vault has them."""
        run = self.run
        if run is None or run.writer.vault.hands is None:
            return None
        if run.number != self._record.match_written.attempt:
            return None  # The match is at another deal now.
        return DealtHands(run.writer.vault, run.writer.sequence)

    def hand_over(self, run: AttemptRun, deal: DealId | None) -> None:
        """Store `run` as the attempt whose hands the players now have.

        `deal` is the deal of the match, or None in practice.
        """
        self.run, self._deal = run, deal
        self._record.set_fault("HANDS_UNKNOWN", deal is not None and run.writer.is_key_lost)
        self._record.on_match()  # From now on, questions about these hands can be answered.
        self.on_match_changed()

    def on_match_changed(self) -> None:
        """If the deal of the players' hands is over, start `close` as a background task."""
        if self.run is None or self._deal is None or self._close_task is not None:
            return
        if is_deal_over(self._record.match_written, self._deal):
            self._close_task = asyncio.get_running_loop().create_task(self.close())
            self._close_task.add_done_callback(_check_task)

    async def close(self) -> None:
        """Publish the seed of the stored attempt; first recall its hands if a redeal is due.

        Raises StorageFailed.
        """
        run, play = self.run, self._record.match_written
        if run is None:
            return
        if self._deal is not None and is_dealt_again(play, self._deal):
            await run.recall(play.redeal_reason or "ORDERED")
        else:
            await run.reveal(practice=self._deal is None)
        self.run = self._deal = self._close_task = None
        self._record.clear_fault("HANDS_UNKNOWN")
        self._record.on_match()

    async def wait_closed(self) -> None:
        """Wait until the background task has closed the attempt, if this task is running."""
        if self._close_task is not None:
            await asyncio.wait({self._close_task})

    def cancel(self) -> None:
        """Cancel the background task that closes the attempt."""
        if self._close_task is not None:
            self._close_task.cancel()


def _check_task(task: asyncio.Task[None]) -> None:
    """Raise the error that ended a task. StorageFailed is not raised: the journal reports it."""
    if not task.cancelled() and not isinstance(task.exception(), StorageFailed | None):
        raise task.exception() or RuntimeError


ENTRIES_PER_TURN = 200
"""Entries that are read before the loop can do other work."""


def openable_attempts(
    played: Sequence[PlayedAttempt], play: TableMatch, when: str, practice: str
) -> tuple[PlayedAttempt, ...]:
    """Return the attempts in `played` whose hands may be public now according to the rulebook.

    `when` is the profile's `hands_opened`. `practice` is the match id of deals without a match. A
    match ends with its verdict, and for its table also when another match begins there. A match
    that is played at another table has not ended.
    """
    if when == "never":
        return ()
    return tuple(
        one
        for one in played
        for at_end in [opens_at_deal_end(when, practice=one.match == practice)]
        if one.is_over and (at_end or is_match_over(play, one.match))
    )


class UnopenedHands:
    """The withheld records of played attempts, each published when the rulebook allows it."""

    def __init__(self, binding: AttemptBinding, practice: str) -> None:
        self._binding, self._practice = binding, practice
        self._record = binding.record
        self._are_lost_keys_checked = False
        self._open_task: asyncio.Task[None] | None = None

    def on_match_changed(self) -> None:
        """Begin to publish the records that may be published now."""
        if self._open_task is None and self._next_attempt() is not None:
            self._open_task = asyncio.get_running_loop().create_task(self._open_all())
            self._open_task.add_done_callback(_check_task)

    def cancel(self) -> None:
        """Cancel the task that publishes records."""
        if self._open_task is not None:
            self._open_task.cancel()

    def remove_stale_keys(self, open_attempts: Sequence[int]) -> None:
        """Remove the key files that neither `open_attempts` nor unpublished attempts need.

        A daemon that died at the end of an attempt leaves old files. `open_attempts` are the
        attempts that continue.
        """
        kept = () if self._opening_rule == "never" else self._record.state.played_attempts
        self._binding.key_files.keep_only({*open_attempts, *(one.attempt for one in kept)})

    @property
    def _opening_rule(self) -> str:
        return self._binding.profile.hands_opened

    def _next_attempt(self) -> PlayedAttempt | None:
        """Return the next attempt with a record that may be published now, or None if none exists.

        Attempts with a lost key come first, at any time: only the chief can open their record.
        """
        played = self._record.state.played_attempts
        if not self._are_lost_keys_checked:  # A key is lost only while no daemon runs.
            over = (one for one in played if one.is_over and self._has_same_rules(one))
            lost = next((one for one in over if self._read_key(one) is None), None)
            if lost is not None and self._opening_rule != "never":
                return lost
            self._are_lost_keys_checked = True
        play, when = self._record.match_written, self._opening_rule
        for one in openable_attempts(played, play, when, self._practice):
            if self._has_same_rules(one) or self._read_key(one):
                return one
        return None

    def _has_same_rules(self, one: PlayedAttempt) -> bool:
        """Return whether the attempt `one` was dealt under the table's present profile.

        An attempt of another profile stays closed if its key is lost.
        """
        return one.rules_hash == self._binding.profile_hash.hex()

    def _read_key(self, one: PlayedAttempt) -> bytes | None:
        return self._binding.key_files.read(one.attempt)

    async def _open_all(self) -> None:
        try:
            while (one := self._next_attempt()) is not None:
                await self._open(one)
        finally:
            self._open_task = None

    async def _open(self, one: PlayedAttempt) -> None:
        """Publish the record of an attempt.

        If its key is lost, write that only the chief can open it.
        """
        left = UnfinishedAttempt.from_progress(self._binding, await self._read_progress(one))
        book = left.restore_writer()
        if book.is_key_lost:
            book.write_revealed()
        else:
            book.write_record(book.build_record(left.record_events(), {}))
        await self._record.sync()
        book.close()

    async def _read_progress(self, one: PlayedAttempt) -> AttemptHistory:
        journal, after, found = self._record.journal, one.first_entry - 1, []
        while after < journal.last_number:
            await self._record.sync()  # Only committed entries can be read.
            for chained in journal.entries(after, ENTRIES_PER_TURN):
                after = chained.entry.n
                if chained.entry.attempt == one.attempt:
                    found.append(chained.entry)
            await asyncio.sleep(0)
        return attempt_histories(found)[one.attempt]
