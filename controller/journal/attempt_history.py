"""State out of entries: the questions the machine asks its journal when it starts.

Each is a pure fold over the entries in order, so it can be asked of any journal.
"""

from collections.abc import Iterable
from typing import Any

import msgspec

from controller.journal.entries import JournalEntry
from controller.messages import AttemptOutcome

# A journal's attempts begin with the seed; on a feed the commitment is the first of them.
_FIRST_KINDS = ("seed", "committed")


class AttemptHistory(msgspec.Struct, kw_only=True):
    """How far one attempt came. `steps` are its entries by kind; `wire` their groups in order."""

    deal: int | None
    attempt: int
    boot: str
    steps: dict[str, JournalEntry]
    wire_entries: list[JournalEntry]

    @property
    def outcome(self) -> AttemptOutcome | None:
        """How it ended; None while it goes on."""
        verdict = self.steps.get("verdict")
        return None if verdict is None else AttemptOutcome(verdict.data["outcome"])

    @property
    def reasons(self) -> list[str]:
        """Why it ended otherwise than right, as names of the fault catalogue."""
        verdict = self.steps.get("verdict")
        return [] if verdict is None else list(verdict.data["reasons"])

    def data(self, kind: str) -> dict[str, Any] | None:
        """Return the data of its entry of this kind, None where there is none."""
        entry = self.steps.get(kind)
        return None if entry is None else entry.data


def last_board_events(entries: Iterable[JournalEntry]) -> dict[int, int]:
    """Return the number of the last event taken of each board's boot id."""
    taken: dict[int, int] = {}
    for entry in entries:
        if entry.kind == "wire":
            for boot, _, last in entry.data["boots"].values():
                taken[boot] = max(last, taken.get(boot, 0))
    return taken


def attempt_histories(entries: Iterable[JournalEntry]) -> dict[int, AttemptHistory]:
    """Return every attempt's progress by its number, in the order in which they began."""
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
