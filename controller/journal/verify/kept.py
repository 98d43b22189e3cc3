"""What was kept back of a match and told later: it must be what really was kept."""

from collections.abc import Iterator, Sequence

from controller.journal.entries import Entry
from controller.journal.verify.findings import Finding


def check_told(entries: Sequence[Entry]) -> Iterator[Finding]:
    """Yield what was told otherwise than it was kept, as far as the kept entries are there."""
    kept = {entry.n: entry.data for entry in entries if entry.kind == "match_kept"}
    for entry in entries:
        if entry.kind != "match_told" or not kept:
            continue
        told = entry.data.get("told", ())
        if not isinstance(told, list | tuple) or not all(isinstance(one, dict) for one in told):
            yield Finding(entry.n, "what is told is no list of events", "it cannot be compared")
            continue
        for one in told:
            if not isinstance(one.get("n"), int) or kept.get(one.get("n")) != one.get("event"):
                what = f"what is told of entry {one.get('n')} is not what was kept there"
                yield Finding(entry.n, what, "an answer or a card was changed afterwards")
