"""Whether a set was shuffled as often as it was promised before the cut, by the boards' word."""

from collections.abc import Iterator, Sequence

from controller.journal.entries import Entry
from controller.journal.fold import Progress
from controller.journal.verify.course import MOTION_CODES
from controller.journal.verify.findings import Finding
from controller.journal.wire_group import SHUFFLED, LoggedBoardEvent, unpack, unpack_opened

_PASSES_MEANS = "the set was not shuffled as it was said"


def check_shuffle_passes(progresses: Sequence[Progress]) -> Iterator[Finding]:
    """Yield what boards and rows say otherwise of an attempt's shuffling than was promised."""
    for progress in progresses:
        for entry, events in _told(progress):
            found = list(_check_board_passes(progress, entry, events))
            yield from found
            if found:
                break  # the other tellings say the same again


def _check_board_passes(
    progress: Progress, entry: Entry, events: Sequence[LoggedBoardEvent]
) -> Iterator[Finding]:
    """Yield what one telling has against the shuffling; of a right deal, also cards before it."""
    promised = (progress.data("committed") or {}).get("passes")
    right = (progress.data("verdict") or {}).get("outcome") == "ok"
    first = next((event for event in events if event.code in (SHUFFLED, *MOTION_CODES)), None)
    if right and first is not None and first.code != SHUFFLED:
        what = f"cards of attempt {progress.attempt} moved before its shuffler was done"
        yield Finding(entry.n, what, _PASSES_MEANS)
    done = next((event.index for event in events if event.code == SHUFFLED), None)
    if done is None:
        return
    if type(promised) is int and done < promised:
        what = f"{promised} passes were promised, the board did {done}"
        yield Finding(entry.n, what, _PASSES_MEANS)
    shuffled = progress.steps.get("shuffled")
    if shuffled is not None and shuffled.data.get("passes") != done:
        what = f"shuffled says {shuffled.data.get('passes')} passes, the board did {done}"
        yield Finding(shuffled.n, what, "one of the two was changed")


def _told(progress: Progress) -> Iterator[tuple[Entry, list[LoggedBoardEvent]]]:
    """Yield who tells the boards' events; what cannot be read is another check's finding."""
    for kind, field in (("revealed", "course"), ("record", "events")):
        step = progress.steps.get(kind)
        if step is not None and field in step.data:
            try:
                yield step, unpack_opened(step.data[field], progress.attempt)
            except ValueError:
                continue
    try:
        rows = [e for row in progress.wire for e in unpack(row.data, row.attempt)]
    except ValueError:
        return
    if rows:
        yield progress.wire[0], rows
