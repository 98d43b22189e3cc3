"""What was kept back of a match and told later: all of it, and as it really was kept."""

from collections.abc import Iterator, Sequence

from controller.journal.entries import JournalEntry
from controller.journal.verify.findings import VerifyFinding

# Behind these the match at the table is another one, or none.
_KINDS_ENDING_MATCH = frozenset({"meeting", "transferred", "taken_over"})


def check_late_rows(entries: Sequence[JournalEntry]) -> Iterator[VerifyFinding]:
    """Yield what was told otherwise than it was kept, as far as the kept entries are there."""
    kept = {entry.n: entry.data for entry in entries if entry.kind == "match_kept"}
    if not kept:
        return
    for entry in entries:
        if entry.kind == "match_told":
            yield from _check_published_as_kept(entry, kept)
    yield from _check_never_published(entries)


def _check_published_as_kept(
    entry: JournalEntry, kept: dict[int, dict[str, object]]
) -> Iterator[VerifyFinding]:
    told = entry.data.get("told", ())
    if not isinstance(told, list | tuple) or not all(isinstance(one, dict) for one in told):
        yield VerifyFinding(entry.n, "what is told is no list of events", "it cannot be compared")
        return
    for one in told:
        if not isinstance(one.get("n"), int) or kept.get(one.get("n")) != one.get("event"):
            what = f"what is told of entry {one.get('n')} is not what was kept there"
            yield VerifyFinding(entry.n, what, "an answer or a card was changed afterwards")


def _check_never_published(entries: Sequence[JournalEntry]) -> Iterator[VerifyFinding]:
    """Yield what is still kept when the next hands of its match go out: it was due long before."""
    waiting: list[int] = []
    for entry in entries:
        if entry.kind == "match_kept":
            waiting.append(entry.n)
        elif entry.kind == "match_told":
            told = {one.get("n") for one in entry.data["told"]}
            waiting = [n for n in waiting if n not in told]
        elif entry.kind in _KINDS_ENDING_MATCH:
            waiting.clear()
        elif entry.kind == "released":
            for n in waiting:
                what = f"what was kept back at entry {n} was not told before hands went out again"
                yield VerifyFinding(entry.n, what, "an answer or a card stays hidden")
            waiting.clear()
