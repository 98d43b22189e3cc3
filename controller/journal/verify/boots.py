"""Runs of the daemon: where one ends and the next begins.

What a run may not have done, the next may: open nothing of an attempt whose key went with the
power. So a row's `boot` counts for something only where a run begins as each does.
"""

from collections.abc import Iterator, Sequence

from controller.journal.entries import JournalEntry
from controller.journal.verify.findings import VerifyFinding

# Lost pins of the panel may be told before the run's first row.
_KINDS_BEFORE_OPENED = frozenset({"fault", "fault_cleared"})
_RUN_MEANS = "a run of the daemon was made up, or rows of another one were put in"


def check_daemon_runs(entries: Sequence[JournalEntry], *, whole: bool) -> Iterator[VerifyFinding]:
    """Yield rows of a run that did not begin, or that was over.

    Where not `whole`, the row with which a run began may be missing, but for rows that meet.
    """
    over: set[str] = set()
    run, last = None, 0
    begun: bool | None = True  # None: its first row may stand in the gap before this one
    for entry in entries:
        if entry.boot in over:
            what = f"{entry.kind} is of run {entry.boot}, and another one was begun since"
            yield VerifyFinding(entry.n, what, _RUN_MEANS)
            last = entry.n
            continue
        if entry.boot != run:
            begun = None if not whole and entry.n != last + 1 else False
            over |= set() if run is None else {run}
            run = entry.boot
        elif entry.kind == "opened" and begun:
            yield VerifyFinding(entry.n, f"run {run} is opened a second time", _RUN_MEANS)
        if entry.kind == "opened":
            begun = True
        elif entry.kind not in _KINDS_BEFORE_OPENED:
            if begun is False:
                what = f"{entry.kind} is of run {run}, which was not opened before it"
                yield VerifyFinding(entry.n, what, _RUN_MEANS)
            begun = True
        last = entry.n
