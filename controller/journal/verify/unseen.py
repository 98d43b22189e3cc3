"""Cards that moved for no deal that anybody was told of."""

from collections.abc import Iterator, Sequence

from controller.journal.entries import Entry
from controller.journal.verify.findings import Finding
from controller.journal.wire_group import AT_READER, GATE, LoggedBoardEvent, unpack

_CARD_CODES = frozenset({AT_READER, GATE})
"""Codes that only a card on its way brings; a look may come late, and a hand be felt anywhere."""
_UNDECLARED_MEANS = "a deal was dealt that nobody was told of"


class _AttemptSoFar:
    """How far an attempt came so far: its committed row, its end, the indices at the window."""

    def __init__(self) -> None:
        self.committed = self.bound = self.over = False
        self.indices: set[int] = set()
        self.late: set[int] = set()


def check_undeclared_motion(entries: Sequence[Entry]) -> Iterator[Finding]:
    """Yield cards that the boards' rows move for no attempt that is under way.

    Cards that were on their way when an attempt ended are still told of, and so is what a daemon
    missed that died; but none comes to the window again. Before a journal's first attempt boards
    may still bring what they have of one that stands in another journal.
    """
    known: dict[int, _AttemptSoFar] = {}
    for entry in entries:
        if entry.kind == "wire":
            cards = [event for event in _events(entry) if event.code in _CARD_CODES]
            if cards:
                yield from _check_moved_cards(entry, cards, known)
        elif entry.attempt is not None:
            attempt = known.setdefault(entry.attempt, _AttemptSoFar())
            attempt.committed |= entry.kind == "committed"
            attempt.bound |= entry.kind == "held"
            attempt.over |= entry.kind in ("verdict", "withdrawn", "recalled")


def _check_moved_cards(
    entry: Entry, cards: Sequence[LoggedBoardEvent], known: dict[int, _AttemptSoFar]
) -> Iterator[Finding]:
    attempt = known.get(entry.attempt) if entry.attempt is not None else None
    if attempt is None or not attempt.committed:
        if entry.attempt is not None and not any(each.committed for each in known.values()):
            return
        whose = "no attempt" if entry.attempt is None else f"attempt {entry.attempt}, never begun"
        yield Finding(entry.n, f"cards of {whose} moved", _UNDECLARED_MEANS)
    elif attempt.bound:
        what = f"cards of attempt {entry.attempt} moved after its hands were held"
        yield Finding(entry.n, what, _UNDECLARED_MEANS)
    else:
        indices = {event.index for event in cards if event.code == AT_READER}
        if attempt.over and indices & attempt.indices:
            what = (
                f"card {min(indices & attempt.indices)} of attempt {entry.attempt}, which was over"
            )
            yield Finding(entry.n, f"{what}, came again", _UNDECLARED_MEANS)
        attempt.indices |= indices


def _events(entry: Entry) -> list[LoggedBoardEvent]:
    """Return a row's events; [] where it is none, which another check finds."""
    try:
        return unpack(entry.data, entry.attempt)
    except ValueError:
        return []
