"""Cards that moved for no deal that anybody was told of."""

from collections.abc import Iterator, Sequence

from controller.journal.entries import JournalEntry
from controller.journal.verify.findings import VerifyFinding
from controller.journal.wire_group import AT_READER, GATE, LoggedBoardEvent, unpack_events

_CARD_CODES = frozenset({AT_READER, GATE})
"""Codes that only a card on its way brings; a look may come late, and a hand be felt anywhere."""
_UNDECLARED_MEANS = "a deal was dealt that nobody was told of"


class _AttemptSoFar:
    """How far an attempt came so far: its committed row, its end, the indices at the window."""

    def __init__(self) -> None:
        self.is_committed = self.has_held_hands = self.is_over = False
        self.indices: set[int] = set()
        self.late: set[int] = set()


def check_undeclared_motion(entries: Sequence[JournalEntry]) -> Iterator[VerifyFinding]:
    """Yield cards that the boards' rows move for no attempt that is under way.

    Cards that were on their way when an attempt ended are still told of, and so is what a daemon
    missed that died; but none comes to the window again. Before a journal's first attempt boards
    may still bring what they have of one that stands in another journal.
    """
    known: dict[int, _AttemptSoFar] = {}
    for entry in entries:
        if entry.kind == "wire":
            cards = [event for event in _readable_events(entry) if event.code in _CARD_CODES]
            if cards:
                yield from _check_moved_cards(entry, cards, known)
        elif entry.attempt is not None:
            attempt = known.setdefault(entry.attempt, _AttemptSoFar())
            attempt.is_committed |= entry.kind == "committed"
            attempt.has_held_hands |= entry.kind == "held"
            attempt.is_over |= entry.kind in ("verdict", "withdrawn", "recalled")


def _check_moved_cards(
    entry: JournalEntry, cards: Sequence[LoggedBoardEvent], known: dict[int, _AttemptSoFar]
) -> Iterator[VerifyFinding]:
    attempt = known.get(entry.attempt) if entry.attempt is not None else None
    if attempt is None or not attempt.is_committed:
        if entry.attempt is not None and not any(each.is_committed for each in known.values()):
            return
        whose = "no attempt" if entry.attempt is None else f"attempt {entry.attempt}, never begun"
        yield VerifyFinding(entry.n, f"cards of {whose} moved", _UNDECLARED_MEANS)
    elif attempt.has_held_hands:
        what = f"cards of attempt {entry.attempt} moved after its hands were held"
        yield VerifyFinding(entry.n, what, _UNDECLARED_MEANS)
    else:
        indices = {event.index for event in cards if event.code == AT_READER}
        if attempt.is_over and indices & attempt.indices:
            what = (
                f"card {min(indices & attempt.indices)} of attempt {entry.attempt}, which was over"
            )
            yield VerifyFinding(entry.n, f"{what}, came again", _UNDECLARED_MEANS)
        attempt.indices |= indices


def _readable_events(entry: JournalEntry) -> list[LoggedBoardEvent]:
    """Return a row's events; [] where it is none, which another check finds."""
    try:
        return unpack_events(entry.data, entry.attempt)
    except ValueError:
        return []
