"""Hands that were played, kept shut until the profile opens them (`hands_opened`).

What they are lies in the journal under the attempt's key; until their record is published that
key stays in its file, in memory, so that it survives a killed daemon and not the power. A key
that went with the power leaves them to the chief (`sealed_to_chief`).
"""

import asyncio
from collections.abc import Sequence

from controller.journal.errors import StorageFailed
from controller.journal.fold import AttemptHistory, attempt_histories
from controller.machine.attempt_book import AttemptBinding
from controller.machine.left_over import UnfinishedAttempt
from controller.machine.play.questions import is_match_over
from controller.machine.play.values import TableMatch
from controller.machine.state import PlayedAttempt

ENTRIES_PER_TURN = 200
"""Entries that are read before the loop has its turn again."""


def opens_at_deal_end(when: str, *, practice: bool) -> bool:
    """Tell whether hands are shown with their seed: a practice deal is a match of its own."""
    return when == "deal_end" or (practice and when != "never")


def openable_attempts(
    played: Sequence[PlayedAttempt], play: TableMatch, when: str, practice: str
) -> tuple[PlayedAttempt, ...]:
    """Return the attempts whose hands may be shown now, as the match stands.

    `when` is the profile's `hands_opened`; `practice` names what is dealt without a match. A match
    ends with its verdict, and for its table when another one begins there; one that is played on
    at another table has not ended.
    """
    if when == "never":
        return ()
    return tuple(
        one
        for one in played
        if one.is_over
        and (
            opens_at_deal_end(when, practice=one.match == practice)
            or is_match_over(play, one.match)
        )
    )


class UnopenedHands:
    """Publishes the record of each attempt that was played, once it may be seen."""

    def __init__(self, binding: AttemptBinding, practice: str) -> None:
        self._binding, self._practice = binding, practice
        self._record = binding.record
        self._are_lost_keys_checked = False
        self._open_task: asyncio.Task[None] | None = None

    def on_match_changed(self) -> None:
        """Show what may be seen by now."""
        if self._open_task is None and self._next_attempt() is not None:
            self._open_task = asyncio.get_running_loop().create_task(self._open_all())
            self._open_task.add_done_callback(_check_open_task)

    def cancel(self) -> None:
        """Leave no task behind."""
        if self._open_task is not None:
            self._open_task.cancel()

    def remove_stale_keys(self, open_attempts: Sequence[int]) -> None:
        """Remove every key that nothing waits for: left by a daemon that died at an attempt's end.

        `open_attempts` are those that go on.
        """
        kept = () if self._opening_rule == "never" else self._record.state.played_attempts
        self._binding.key_files.keep_only({*open_attempts, *(one.attempt for one in kept)})

    @property
    def _opening_rule(self) -> str:
        return self._binding.profile.hands_opened

    def _next_attempt(self) -> PlayedAttempt | None:
        """Return the next attempt to be shown, or to be left to the chief: its key is gone."""
        played = self._record.state.played_attempts
        if not self._are_lost_keys_checked:  # a key goes while no daemon runs
            lost = next((one for one in played if one.is_over and self._is_key_lost(one)), None)
            if lost is not None:
                return lost
            self._are_lost_keys_checked = True
        ready = openable_attempts(
            played, self._record.match_written, self._opening_rule, self._practice
        )
        return next(
            (one for one in ready if self._has_same_rules(one) or self._read_key(one)), None
        )

    def _is_key_lost(self, one: PlayedAttempt) -> bool:
        return (
            self._opening_rule != "never"
            and self._has_same_rules(one)
            and self._read_key(one) is None
        )

    def _has_same_rules(self, one: PlayedAttempt) -> bool:
        """Tell whether it was dealt under the rules in force: others may have opened nothing."""
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
        """Publish a record; where its key is gone say that the chief alone has it."""
        left = UnfinishedAttempt.from_progress(self._binding, await self._read_progress(one))
        book = left.restore_writer()
        if book.is_key_lost:
            book.write_revealed()
        else:
            book.write_record(book.build_record(left.record_events(), {}))
        await self._record.sync()
        book.close()

    async def _read_progress(self, one: PlayedAttempt) -> AttemptHistory:
        """Return all that the journal has of an attempt up to now."""
        journal, after, found = self._record.journal, one.first_entry - 1, []
        while after < journal.last_number:
            await self._record.sync()  # what is written and not committed yet is not there to read
            for chained in journal.entries(after, ENTRIES_PER_TURN):
                after = chained.entry.n
                if chained.entry.attempt == one.attempt:
                    found.append(chained.entry)
            await asyncio.sleep(0)
        return attempt_histories(found)[one.attempt]


def _check_open_task(opening: asyncio.Task[None]) -> None:
    """Take a failure of the journal as seen: its owner is told by the journal itself."""
    if not opening.cancelled() and not isinstance(opening.exception(), StorageFailed | None):
        raise opening.exception() or RuntimeError
