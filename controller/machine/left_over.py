"""What an earlier run of the daemon left open, as its journal tells it.

A daemon that was killed leaves its attempts' keys in memory (runtime_dir). Then the same
attempt goes on, with the same commitment, wherever it stood: its events are taken through
the same pure functions again, the boards repeat what the journal has not, and the next
step follows. It is void where the boards cannot go on: BOARD_RESET for one that was reset
meanwhile and knows nothing of it, RESTARTED for one that says other things than the
journal. Its record is opened then, as any void's.

With the power the keys are gone, too. An attempt that was not held is void: POWER. Hands
that were held are still right where the dealer board kept its lock, and may go out, as long
as nothing has to be said of their faces: where a release names a card (the turned-up one, or
who holds the card that leads) they are void: POWER. Hands that are out stay out. But a
machine that never saw them again answers no question about them: tributes and returns of
such a deal are looked up by the referee. None of these can be opened by the machine any
more; `sealed_to_chief` says so on the feed, for the chief alone has what opens the key that
lies with the seed (entry `seed`, box `for_chief`).
"""

import base64
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, takewhile
from typing import Self

from controller.journal.entries import JournalEntry
from controller.journal.fold import AttemptHistory, attempt_histories
from controller.journal.wire_group import LoggedBoardEvent, unpack_events
from controller.machine.attempt_book import AttemptBinding, AttemptWriter
from controller.machine.record import TableRecord
from controller.vault.sealing import AttemptKey, UnsealError
from drivers.events import Back, BoardEvent, BoardEventCode, CardReadEvent


def unfinished_attempts(record: TableRecord) -> tuple[int, ...]:
    """Return the numbers of attempts that were committed to and have no end, in order."""
    found = attempt_histories(chained.entry for chained in record.journal.entries())
    return tuple(number for number, progress in found.items() if _is_unfinished(progress))


@dataclass(frozen=True)
class UnfinishedAttempt:
    """An attempt as its journal tells it. `key`: None where it went with the power.

    `release_ordered`: an order to let its hands out was taken and not refused.
    """

    binding: AttemptBinding
    progress: AttemptHistory
    key: AttemptKey | None
    is_release_ordered: bool

    @classmethod
    def read(cls, binding: AttemptBinding, number: int) -> Self:
        """Read attempt `number` out of the journal, and its key out of its file."""
        entries = [chained.entry for chained in binding.record.journal.entries()]
        ordered = _is_release_ordered(entries, number)
        return cls.from_progress(
            binding, attempt_histories(entries)[number], release_ordered=ordered
        )

    @classmethod
    def from_progress(
        cls, binding: AttemptBinding, progress: AttemptHistory, *, release_ordered: bool = False
    ) -> Self:
        """Take what the journal has of an attempt, and read its key out of its file."""
        raw = binding.key_files.read(progress.attempt)
        key = None if raw is None else AttemptKey(raw, binding.entropy)
        fits = key is not None and _is_key_of(key, progress)
        return cls(binding, progress, key if fits else None, release_ordered)

    @property
    def entry_kinds(self) -> frozenset[str]:
        """The kinds of entries that the attempt has."""
        return frozenset(self.progress.steps)

    def restore_writer(self) -> AttemptWriter:
        """Return its book, to go on with."""
        return AttemptWriter.restore(self.binding, self.progress, self.key)

    def readable_events(self) -> list[BoardEvent]:
        """Return its board events as the boards told them.

        They end before the first that stayed shut: what follows from it is not known.
        """
        return [_board_event(event) for event in takewhile(_is_readable, self._wire_events())]

    def record_events(self) -> list[LoggedBoardEvent]:
        """Return its board events for a record; none where one of its looks stayed shut."""
        return list(self._wire_events()) if self.is_complete else []

    @property
    def is_complete(self) -> bool:
        """Whether every event of it can be told again."""
        return all(map(_is_readable, self._wire_events()))

    def _wire_events(self) -> Iterator[LoggedBoardEvent]:
        unseal = None if self.key is None else self.key.unseal
        groups = (
            unpack_events(entry.data, entry.attempt, unseal) for entry in self.progress.wire_entries
        )
        return chain.from_iterable(groups)


def _is_unfinished(progress: AttemptHistory) -> bool:
    """Tell whether an attempt still owes a step; one that promised nothing owes nothing."""
    steps = set(progress.steps)
    if "committed" not in steps or "sealed_to_chief" in steps:
        return False
    if "revealed" not in steps:
        return True
    gave_hands = "released" in steps and "recalled" not in steps
    return not gave_hands and "record" not in steps


def _is_key_of(key: AttemptKey, progress: AttemptHistory) -> bool:
    """Tell whether a key file is this attempt's, and not one that was tampered with."""
    try:
        key.unseal(base64.b64decode(progress.steps["seed"].data["box"]))
    except (UnsealError, KeyError, ValueError):
        return False
    return True


def _is_release_ordered(entries: list[JournalEntry], number: int) -> bool:
    orders = [
        entry.data
        for entry in entries
        if entry.kind == "command" and entry.attempt == number and entry.data["cmd"] == "release"
    ]
    return bool(orders) and "refused" not in orders[-1]


def _is_readable(event: LoggedBoardEvent) -> bool:
    return event.is_open


def _board_event(event: LoggedBoardEvent) -> BoardEvent:
    """Return an event out of the journal as the driver handed it on."""
    told = (
        event.board,
        event.boot,
        event.number,
        event.attempt,
        BoardEventCode(event.code),
        event.seen,
        event.landed,
        event.index,
        event.place,
    )
    look = event.look
    if look is None:
        return BoardEvent(*told)
    return CardReadEvent(*told, look.face, Back(look.back), bool(look.face_up), look.confidence)
