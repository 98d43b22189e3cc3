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
        for one in entry.data.get("told", ()):
            if kept.get(one.get("n")) != one.get("event"):
                what = f"what is told of entry {one.get('n')} is not what was kept there"
                yield Finding(entry.n, what, "an answer or a card was changed afterwards")
