"""Hands that are out: kept from their release until their deal is over, then shown or recalled.

A deal of a match is over when its result is written, or when it is dealt again; a practice
deal when its set lies in the hopper again.
"""

import asyncio

from controller.journal.errors import StorageFailed
from controller.machine.attempt_run import AttemptRun
from controller.machine.play.questions import is_deal_over, is_dealt_again
from controller.machine.play.values import DealId
from controller.machine.record import TableRecord
from controller.vault.exchange import DealtHands


class HandsWithPlayers:
    """The attempt whose hands the players hold, if any."""

    def __init__(self, record: TableRecord) -> None:
        self._record = record
        self._run: AttemptRun | None = None
        self._deal: DealId | None = None
        self._close_task: asyncio.Task[None] | None = None

    @property
    def run(self) -> AttemptRun | None:
        """The attempt they are of; None while no hands are out."""
        return self._run

    @property
    def are_played_elsewhere(self) -> bool:
        """Whether they are played on at another table, to which their match went."""
        return self._deal is not None and self._deal == self._record.match_written.played_elsewhere

    def dealt_hands(self) -> DealtHands | None:
        """Return what the vault knows of them; None where there are none."""
        run = self._run
        if run is None or run.writer.vault.hands is None:
            return None
        if run.number != self._record.match_written.attempt:
            return None  # the match is with another deal by now
        return DealtHands(run.writer.vault, run.writer.sequence)

    def hand_over(self, run: AttemptRun, deal: DealId | None) -> None:
        """Take hands that were let out; `deal` is the match's, None in practice."""
        self._run, self._deal = run, deal
        self._record.set_fault("HANDS_UNKNOWN", deal is not None and run.writer.is_key_lost)
        self._record.on_match()  # who asks what these hands are gets an answer now
        self.on_match_changed()

    def on_match_changed(self) -> None:
        """Close the attempt if the match says that its deal is over."""
        if self._run is None or self._deal is None or self._close_task is not None:
            return
        if is_deal_over(self._record.match_written, self._deal):
            self._close_task = asyncio.get_running_loop().create_task(self.close())
            self._close_task.add_done_callback(_check_close_task)

    async def close(self) -> None:
        """Reveal the attempt, or recall it where its deal is dealt again. Raises StorageFailed."""
        run, play = self._run, self._record.match_written
        if run is None:
            return
        if self._deal is not None and is_dealt_again(play, self._deal):
            await run.recall(play.redeal_reason or "ORDERED")
        else:
            await run.reveal(practice=self._deal is None)
        self._run = self._deal = self._close_task = None
        self._record.clear_fault("HANDS_UNKNOWN")
        self._record.on_match()

    async def wait_closed(self) -> None:
        """Return once nothing of an attempt that is over is being written any more."""
        if self._close_task is not None:
            await asyncio.wait({self._close_task})

    def cancel(self) -> None:
        """Leave no task behind."""
        if self._close_task is not None:
            self._close_task.cancel()


def _check_close_task(closing: asyncio.Task[None]) -> None:
    """Take a failure of the journal as seen: its owner is told by the journal itself."""
    if not closing.cancelled() and not isinstance(closing.exception(), StorageFailed | None):
        raise closing.exception() or RuntimeError
