"""Hands that were played, kept shut until the profile opens them (`hands_opened`).

What they are lies in the journal under the attempt's key; until their record is published that
key stays in its file, in memory, so that it survives a killed daemon and not the power. A key
that went with the power leaves them to the chief (`sealed_to_chief`).
"""

import asyncio
from collections.abc import Sequence

from controller.journal.errors import StorageFailed
from controller.journal.fold import Progress, attempts
from controller.machine.attempt_book import AttemptBinding
from controller.machine.left_over import UnfinishedAttempt
from controller.machine.play import Play, is_match_over
from controller.machine.state import Played

AT_ONCE = 200
"""Entries that are read before the loop has its turn again."""


def opens_at_deal_end(when: str, *, practice: bool) -> bool:
    """Tell whether hands are shown with their seed: a practice deal is a match of its own."""
    return when == "deal_end" or (practice and when != "never")


def due(played: Sequence[Played], play: Play, when: str, practice: str) -> tuple[Played, ...]:
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
        if one.over
        and (
            opens_at_deal_end(when, practice=one.match == practice)
            or is_match_over(play, one.match)
        )
    )


class UnopenedHands:
    """Publishes the record of each attempt that was played, once it may be seen."""

    def __init__(self, bindings: AttemptBinding, practice: str) -> None:
        self._to, self._practice = bindings, practice
        self._record = bindings.record
        self._are_lost_keys_checked = False
        self._open_task: asyncio.Task[None] | None = None

    def changed(self) -> None:
        """Show what may be seen by now."""
        if self._open_task is None and self._next_attempt() is not None:
            self._open_task = asyncio.get_running_loop().create_task(self._open_all())
            self._open_task.add_done_callback(_check_open_task)

    def leave(self) -> None:
        """Leave no task behind."""
        if self._open_task is not None:
            self._open_task.cancel()

    def sweep(self, open_attempts: Sequence[int]) -> None:
        """Remove every key that nothing waits for: left by a daemon that died at an attempt's end.

        `open_attempts` are those that go on.
        """
        kept = () if self._opening_rule == "never" else self._record.state.played
        self._to.key_file.keep_only({*open_attempts, *(one.attempt for one in kept)})

    @property
    def _opening_rule(self) -> str:
        return self._to.profile.hands_opened

    def _next_attempt(self) -> Played | None:
        """Return the next attempt to be shown, or to be left to the chief: its key is gone."""
        played = self._record.state.played
        if not self._are_lost_keys_checked:  # a key goes while no daemon runs
            lost = next((one for one in played if one.over and self._is_key_lost(one)), None)
            if lost is not None:
                return lost
            self._are_lost_keys_checked = True
        ready = due(played, self._record.play, self._opening_rule, self._practice)
        return next((one for one in ready if self._has_same_rules(one) or self._key(one)), None)

    def _is_key_lost(self, one: Played) -> bool:
        return (
            self._opening_rule != "never" and self._has_same_rules(one) and self._key(one) is None
        )

    def _has_same_rules(self, one: Played) -> bool:
        """Tell whether it was dealt under the rules in force: others may have opened nothing."""
        return one.rules == self._to.profile_hash.hex()

    def _key(self, one: Played) -> bytes | None:
        return self._to.key_file.read(one.attempt)

    async def _open_all(self) -> None:
        try:
            while (one := self._next_attempt()) is not None:
                await self._open(one)
        finally:
            self._open_task = None

    async def _open(self, one: Played) -> None:
        """Publish a record; where its key is gone say that the chief alone has it."""
        left = UnfinishedAttempt.of(self._to, await self._told(one))
        book = left.book()
        if book.sealed:
            book.reveal()
        else:
            book.open(book.record(left.told(), {}))
        await self._record.sync()
        book.close()

    async def _told(self, one: Played) -> Progress:
        """Return all that the journal has of an attempt up to now."""
        journal, after, found = self._record.journal, one.since - 1, []
        while after < journal.last:
            await self._record.sync()  # what is written and not committed yet is not there to read
            for chained in journal.entries(after, AT_ONCE):
                after = chained.entry.n
                if chained.entry.attempt == one.attempt:
                    found.append(chained.entry)
            await asyncio.sleep(0)
        return attempts(found)[one.attempt]


def _check_open_task(opening: asyncio.Task[None]) -> None:
    """Take a failure of the journal as seen: its owner is told by the journal itself."""
    if not opening.cancelled() and not isinstance(opening.exception(), StorageFailed | None):
        raise opening.exception() or RuntimeError
