"""Which rows of a match tell of another table: those that it brought along when it came."""

from collections.abc import Sequence

from controller.journal.entries import JournalEntry


def transferred_rows(entries: Sequence[JournalEntry]) -> frozenset[int]:
    """Return the numbers of the rows of what happened before a match came from another table."""
    numbers: set[int] = set()
    left = 0
    for entry in entries:
        if entry.kind == "taken_over":
            said = entry.data.get("events")
            left = said if type(said) is int else 0
        elif entry.kind == "match" and left > 0:
            numbers.add(entry.n)
            left -= 1
    return frozenset(numbers)
