"""The histories of attempts, computed from entries. The machine needs them when it starts.

Each function is a pure fold over the entries in order, so it works on any journal.
"""

from collections.abc import Iterable
from typing import Any

import msgspec

from controller.journal.entries import JournalEntry
from controller.messages import AttemptOutcome

# The attempts of a journal begin with the seed. On a feed, the commitment comes first.
_FIRST_KINDS = ("seed", "committed")


class AttemptHistory(msgspec.Struct, kw_only=True):
    """The entries of one attempt: the first entry of each kind, and all groups of board events.

    `steps` has the first entries by kind. `wire_entries` has the groups of board events in order.
    """

    deal: int | None
    attempt: int
    boot: str
    steps: dict[str, JournalEntry]
    wire_entries: list[JournalEntry]

    @property
    def outcome(self) -> AttemptOutcome | None:
        """Return the outcome in the attempt's verdict, or None while the attempt has no verdict."""
        verdict = self.steps.get("verdict")
        return None if verdict is None else AttemptOutcome(verdict.data["outcome"])

    @property
    def reasons(self) -> list[str]:
        """Return the reasons (names of faults) in the verdict, or [] while there is no verdict."""
        verdict = self.steps.get("verdict")
        return [] if verdict is None else list(verdict.data["reasons"])

    def data(self, kind: str) -> dict[str, Any] | None:
        """Return the data of the attempt's first entry of this kind, or None if there is none."""
        entry = self.steps.get(kind)
        return None if entry is None else entry.data


def last_board_events(entries: Iterable[JournalEntry]) -> dict[int, int]:
    """Return {boot id: number of the last board event} for each boot of a board in `entries`."""
    taken: dict[int, int] = {}
    for entry in entries:
        if entry.kind == "wire":
            for boot, _, last in entry.data["boots"].values():
                taken[boot] = max(last, taken.get(boot, 0))
    return taken


def attempt_histories(entries: Iterable[JournalEntry]) -> dict[int, AttemptHistory]:
    """Return {attempt id: history} of the attempts that begin in `entries`, the oldest first."""
    found: dict[int, AttemptHistory] = {}
    for entry in entries:
        if entry.attempt is None:
            continue
        if entry.kind in _FIRST_KINDS and entry.attempt not in found:
            found[entry.attempt] = AttemptHistory(
                deal=entry.deal, attempt=entry.attempt, boot=entry.boot, steps={}, wire_entries=[]
            )
        progress = found.get(entry.attempt)
        if progress is not None and entry.kind == "wire":
            progress.wire_entries.append(entry)
        elif progress is not None:
            progress.steps.setdefault(entry.kind, entry)
    return found
