"""When hands are shown, and what an attempt was dealt for."""

from collections.abc import Iterator, Sequence

from controller.journal.entries import JournalEntry
from controller.journal.fold import AttemptHistory
from controller.journal.verify.findings import VerifyFinding
from controller.journal.verify.looked import check_redeals_after_look
from controller.journal.verify.rulebooks import ProfilesByHash
from controller.rules.profile import Profile

# After these a match may go on that had ended: its hands were shown by then.
_REOPENING_EVENTS = frozenset(
    {"ExtraDealOrdered", "Corrected", "TimeAdded", "RulingApproved", "RulingRejected"}
)


def check_shown_hands(
    entries: Sequence[JournalEntry],
    progresses: Sequence[AttemptHistory],
    rulebooks: ProfilesByHash,
    *,
    whole: bool,
) -> Iterator[VerifyFinding]:
    """Yield hands that were shown too early or are kept from view, other rules than the match's,
    and who ordered a deal again after a look at a hand of it.
    """
    meetings = [entry for entry in entries if entry.kind == "meeting"]
    reopened = [entry.n for entry in entries if entry.data.get("event") in _REOPENING_EVENTS]
    for number, progress in enumerate(progresses):
        later = progresses[number + 1 :]
        profile = _profile_of_attempt(progress, rulebooks)
        if profile is not None and "released" in progress.steps and not _is_recalled(progress):
            yield from _check_hands_shown(progress, later, meetings, reopened, profile, whole=whole)
        yield from _check_match_rules(progress, meetings)
    yield from check_redeals_after_look(entries, progresses, whole=whole)


def _check_hands_shown(
    progress: AttemptHistory,
    later: Sequence[AttemptHistory],
    meetings: Sequence[JournalEntry],
    reopened: Sequence[int],
    profile: Profile,
    *,
    whole: bool,
) -> Iterator[VerifyFinding]:
    record, when = progress.steps.get("record"), profile.hands_opened
    match = progress.steps["committed"].data.get("match")
    laid_out = any(entry.data.get("match") == match for entry in meetings)
    if record is not None and when == "never":
        yield VerifyFinding(
            record.n, "its rulebook shows hands never", "hands were shown all the same"
        )
    if record is not None and when == "match_end" and laid_out:
        for other in later:
            began = other.steps.get("committed")
            if began is None or began.n < record.n or began.data.get("match") != match:
                continue
            if not any(record.n < n < began.n for n in reopened):
                what = f"its match went on with attempt {other.attempt}"
                yield VerifyFinding(record.n, what, "hands were shown too early")
            break
    if record is None and when != "never" and whole and "sealed_to_chief" not in progress.steps:
        others = [one for one in later if "committed" in one.steps]
        if any(one.steps["committed"].data.get("match") != match for one in others):
            what = f"attempt {progress.attempt} was played, and its match is over"
            yield VerifyFinding(progress.steps["released"].n, what, "its record is not open")


def _check_match_rules(
    progress: AttemptHistory, meetings: Sequence[JournalEntry]
) -> Iterator[VerifyFinding]:
    """A match is dealt under the rules that it was laid out for."""
    committed = progress.steps.get("committed")
    if committed is None:
        return
    before = [
        entry.data.get("profile_hash")
        for entry in meetings
        if entry.n < committed.n and entry.data.get("match") == committed.data.get("match")
    ]
    if before and committed.data.get("profile_hash") not in before:
        what = f"attempt {progress.attempt} has other rules than its match was laid out for"
        yield VerifyFinding(committed.n, what, "it was dealt under other rules")


def _is_recalled(progress: AttemptHistory) -> bool:
    return "recalled" in progress.steps


def _profile_of_attempt(progress: AttemptHistory, rulebooks: ProfilesByHash) -> Profile | None:
    data = progress.data("committed") or {}
    try:
        return rulebooks.find(bytes.fromhex(str(data["profile_hash"])))
    except (KeyError, ValueError):
        return None
