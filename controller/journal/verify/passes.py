"""Whether a set was shuffled as often as it was promised before the cut, by the boards' word."""

from collections.abc import Iterator, Sequence

from controller.journal.entries import JournalEntry
from controller.journal.fold import AttemptHistory
from controller.journal.verify.course import MOTION_CODES
from controller.journal.verify.findings import VerifyFinding
from controller.journal.wire_group import SHUFFLED, LoggedBoardEvent, unpack_events, unpack_opened

_PASSES_MEANS = "the set was not shuffled as it was said"


def check_shuffle_passes(progresses: Sequence[AttemptHistory]) -> Iterator[VerifyFinding]:
    """Yield what boards and rows say otherwise of an attempt's shuffling than was promised."""
    for progress in progresses:
        for entry, events in _board_event_sources(progress):
            found = list(_check_board_passes(progress, entry, events))
            yield from found
            if found:
                break  # the other tellings say the same again


def _check_board_passes(
    progress: AttemptHistory, entry: JournalEntry, events: Sequence[LoggedBoardEvent]
) -> Iterator[VerifyFinding]:
    """Yield what one telling has against the shuffling; of a right deal, also cards before it."""
    promised = (progress.data("committed") or {}).get("passes")
    right = (progress.data("verdict") or {}).get("outcome") == "ok"
    first = next((event for event in events if event.code in (SHUFFLED, *MOTION_CODES)), None)
    if right and first is not None and first.code != SHUFFLED:
        what = f"cards of attempt {progress.attempt} moved before its shuffler was done"
        yield VerifyFinding(entry.n, what, _PASSES_MEANS)
    done = next((event.index for event in events if event.code == SHUFFLED), None)
    if done is None:
        return
    if type(promised) is int and done < promised:
        what = f"{promised} passes were promised, the board did {done}"
        yield VerifyFinding(entry.n, what, _PASSES_MEANS)
    shuffled = progress.steps.get("shuffled")
    if shuffled is not None and shuffled.data.get("passes") != done:
        what = f"shuffled says {shuffled.data.get('passes')} passes, the board did {done}"
        yield VerifyFinding(shuffled.n, what, "one of the two was changed")


def _board_event_sources(
    progress: AttemptHistory,
) -> Iterator[tuple[JournalEntry, list[LoggedBoardEvent]]]:
    """Yield who tells the boards' events; what cannot be read is another check's finding."""
    for kind, field in (("revealed", "course"), ("record", "events")):
        step = progress.steps.get(kind)
        if step is not None and field in step.data:
            try:
                yield step, unpack_opened(step.data[field], progress.attempt)
            except ValueError:
                continue
    try:
        rows = [e for row in progress.wire_entries for e in unpack_events(row.data, row.attempt)]
    except ValueError:
        return
    if rows:
        yield progress.wire_entries[0], rows
