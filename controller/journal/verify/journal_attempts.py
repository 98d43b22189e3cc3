"""The checks that compare a journal's attempts, to find missing, hidden or repeated attempts."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from controller.journal.attempt_history import AttemptHistory
from controller.journal.entries import JournalEntry
from controller.journal.packed_board_events import (
    AT_READER,
    GATE,
    SHUFFLED,
    LoggedBoardEvent,
    unpack_events,
    unpack_opened,
)
from controller.journal.verify.card_course import MOTION_CODES
from controller.journal.verify.verify_report import Findings, VerifyFinding

# Values that two attempts must not share: step, field, and the meaning of an error.
_UNIQUE_FIELDS = (
    ("revealed", "seed", "a person who remembered it knew this deal before the cut"),
    ("committed", "commitment", "one commitment was made for two deals"),
    ("record", "nonce", "hands with the same nonce can be compared with each other"),
)


def check_between_attempts(progresses: Sequence[AttemptHistory], *, whole: bool) -> Findings:
    """Yield the findings about attempts that are missing, out of order or not complete.

    Two attempts that share a seed, commitment or nonce, or release hands for one deal, are a
    finding.
    """
    highest = None
    for number, progress in enumerate(progresses):
        if highest is not None and progress.attempt <= highest:
            what = f"attempt {progress.attempt} begins after attempt {highest}"
            means = "numbers of attempts only rise: an attempt was hidden or done twice"
            yield VerifyFinding(_first_number(progress), what, means)
        elif whole and highest is not None and progress.attempt > highest + 1:
            what = f"attempt {highest} is followed by attempt {progress.attempt}"
            missing = f"attempt {highest + 1} was left out"
            yield VerifyFinding(_first_number(progress), what, missing)
        highest = max(highest or 0, progress.attempt)
        if whole:
            yield from _check_motion_before_cut(progress)
            yield from _check_left_open(progress, progresses[number + 1 :])
    yield from _check_shared_values(progresses)
    yield from _check_two_hands(progresses)


def check_records_open(
    entries: Sequence[JournalEntry], progresses: Sequence[AttemptHistory]
) -> Findings:
    """Yield a finding for each attempt that has no verdict, or that failed and has no record.

    The record is written together with the end. So the check also works on the events of a feed, if
    their numbers leave no room for the missing row.
    """
    by_number = {entry.n: entry for entry in entries}
    yield from _check_missing_verdicts(by_number, progresses)
    for progress in progresses:
        for last, due in _closing_steps(progress):
            behind = by_number.get(last.n + 1)
            other = behind is not None and (behind.kind, behind.attempt) not in {
                (kind, progress.attempt) for kind in due
            }
            if behind is not None and other and behind.boot == last.boot:
                what = f"{due[0]} does not follow {last.kind} of attempt {progress.attempt}"
                means = "its record is not open: the reason cannot be checked"
                yield VerifyFinding(last.n, what, means)


def check_board_event_numbers(entries: Sequence[JournalEntry]) -> Findings:
    """Yield a finding for each gap in a board's event numbers, because events are missing there."""
    taken: dict[int, int] = {}
    for entry in entries:
        boots = entry.data.get("boots") if entry.kind == "wire" else None
        for board, span in boots.items() if isinstance(boots, dict) else ():
            if not (isinstance(span, list | tuple) and len(span) == 3):
                continue
            boot, first, last = span
            if boot in taken and first != taken[boot] + 1:
                what = f"event {first} of the {board} board follows event {taken[boot]}"
                yield VerifyFinding(entry.n, what, "the events between them are not here")
            taken[boot] = last


def _check_missing_verdicts(
    by_number: Mapping[int, JournalEntry], progresses: Sequence[AttemptHistory]
) -> Findings:
    """Yield a finding for each attempt without a verdict, if no missing entry can be its verdict.

    The verdict would be before the next attempt. One missing entry there is the next attempt's
    seed. If the file has that seed, this function checks nothing.
    """
    begun = [progress for progress in progresses if "committed" in progress.steps]
    for progress, following in pairwise(begun):
        first, last = progress.steps["committed"].n, following.steps["committed"].n
        unseen = last - first - 1 - sum(first < n < last for n in by_number)
        # One of the missing rows has the seed of the next attempt.
        if "seed" not in following.steps and "verdict" not in progress.steps and unseen < 2:
            what = f"attempt {progress.attempt} has no end"
            means = "a deal was dropped without a report"
            yield VerifyFinding(progress.steps["committed"].n, what, means)


def _closing_steps(progress: AttemptHistory) -> Iterator[tuple[JournalEntry, tuple[str, ...]]]:
    """Yield the last entries of a failed attempt, each with the kinds that may directly follow it.

    These are its end (a verdict, `withdrawn` or `recalled`), and `revealed` after the end.
    """
    steps = progress.steps
    end = steps.get("recalled") or steps.get("withdrawn") or steps.get("verdict")
    if end is None or (end.kind == "verdict" and end.data.get("outcome") == "ok"):
        return
    yield end, ("revealed", "sealed_to_chief")
    revealed = steps.get("revealed")
    if revealed is not None and revealed.n > end.n:
        yield revealed, ("record",)


def _check_motion_before_cut(progress: AttemptHistory) -> Findings:
    cut = progress.steps.get("cut")
    for entry in progress.wire_entries:
        if cut is not None and entry.n > cut.n:
            return
        try:
            events = unpack_events(entry.data, entry.attempt)
        except ValueError as error:
            yield VerifyFinding(entry.n, str(error), "these board events cannot be read")
            continue
        if any(event.code in MOTION_CODES for event in events):
            what = f"cards of attempt {progress.attempt} moved before its cut"
            yield VerifyFinding(entry.n, what, "the players had no share in this deal")
            return


def _check_left_open(progress: AttemptHistory, later: Sequence[AttemptHistory]) -> Findings:
    """Yield a finding if the attempt is not complete, although attempts (`later`) began after it.

    An attempt needs a verdict. Failed ones also need a record, and played ones a revealed seed.
    """
    steps = progress.steps
    n, attempt = _first_number(progress), f"attempt {progress.attempt}"
    if later and "committed" in steps and "verdict" not in steps:
        yield VerifyFinding(n, f"{attempt} has no end", "a deal was dropped without a report")
    taken_back = "withdrawn" in steps or "recalled" in steps
    given_up = "verdict" in steps and (taken_back or steps["verdict"].data.get("outcome") != "ok")
    sealed = "sealed_to_chief" in steps
    is_open = sealed or {"record", "revealed"} <= set(steps)
    if later and given_up and "cut" in steps and not is_open:
        what = f"{attempt} was given up and its record is not open"
        yield VerifyFinding(steps["verdict"].n, what, "the reason cannot be checked")
    followed = any("released" in progress.steps for progress in later)
    if followed and "released" in steps and not (sealed or "revealed" in steps):
        what = f"{attempt} was played and its seed is not revealed"
        yield VerifyFinding(steps["released"].n, what, "the sequence cannot be checked")


def _check_shared_values(progresses: Sequence[AttemptHistory]) -> Findings:
    """Yield a finding for each seed, commitment or nonce that two attempts share."""
    seen: dict[tuple[str, str], int] = {}
    for progress in progresses:
        for kind, field, means in _UNIQUE_FIELDS:
            value = (progress.data(kind) or {}).get(field)
            if not isinstance(value, str):
                continue
            first = seen.setdefault((field, value), progress.attempt)
            if first != progress.attempt:
                what = f"the {field} of attempt {progress.attempt} is that of attempt {first}"
                yield VerifyFinding(progress.steps[kind].n, what, means)


def _check_two_hands(progresses: Sequence[AttemptHistory]) -> Findings:
    """Yield a finding if hands of two attempts were released for one deal and never recalled."""
    given: dict[tuple[str, int | None], int] = {}
    for progress in progresses:
        steps = progress.steps
        if "released" not in steps or "recalled" in steps or "committed" not in steps:
            continue
        deal = (str(steps["committed"].data.get("match")), progress.deal)
        first = given.setdefault(deal, progress.attempt)
        if first != progress.attempt:
            what = f"deal {progress.deal} has the hands of attempts {first} and {progress.attempt}"
            means = "a deal was dealt again without a report"
            yield VerifyFinding(steps["released"].n, what, means)


def _first_number(progress: AttemptHistory) -> int:
    return min(entry.n for entry in progress.steps.values())


_PASSES_MEANS = "the set was not shuffled as promised"


def check_shuffle_passes(progresses: Sequence[AttemptHistory]) -> Findings:
    """Yield a finding for each attempt whose board events contradict its number of passes."""
    for progress in progresses:
        for entry, events in _board_event_copies(progress):
            found = list(_check_board_passes(progress, entry, events))
            yield from found
            if found:
                break  # The other copies cause the same finding again.


def _check_board_passes(
    progress: AttemptHistory, entry: JournalEntry, events: Sequence[LoggedBoardEvent]
) -> Findings:
    """Yield a finding if `events` contradict the number of passes in `committed` or `shuffled`.

    In an attempt with the verdict "ok", no card may move before the shuffler is done.
    """
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
        what = f"shuffled has {shuffled.data.get('passes')} passes, the board did {done}"
        yield VerifyFinding(shuffled.n, what, "one of the two was changed")


def _board_event_copies(
    progress: AttemptHistory,
) -> Iterator[tuple[JournalEntry, list[LoggedBoardEvent]]]:
    """Yield each copy of the attempt's board events: the copy's first entry, and all its events.

    The copies are `revealed`, `record` and all `wire` entries together. A copy that cannot be
    read is left out, because another check reports it.
    """
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


_CARD_CODES = frozenset({AT_READER, GATE})
"""Codes that only a moving card causes.

A look may come late, and a person's hand may cause the other codes.
"""
_UNDECLARED_MEANS = "a deal was dealt without being announced"


class _AttemptSoFar:
    """The state of one attempt at one row of the journal: what happened before this row.

    `indices` has the numbers of the cards that arrived at the window.
    """

    def __init__(self) -> None:
        self.is_committed = self.has_held_hands = self.is_over = False
        self.indices: set[int] = set()


def check_undeclared_motion(entries: Sequence[JournalEntry]) -> Findings:
    """Yield a finding for each entry whose card movements cannot belong to the entry's attempt.

    After the end of an attempt, boards still report its moving cards and the events that a dead
    daemon missed. But no card arrives at the window a second time. Before the first attempt of a
    journal, boards may still report an attempt of another journal.
    """
    known: dict[int, _AttemptSoFar] = {}
    for entry in entries:
        if entry.kind == "wire":
            try:
                events = unpack_events(entry.data, entry.attempt)
            except ValueError:
                continue  # Another check reports unreadable events.
            if cards := [event for event in events if event.code in _CARD_CODES]:
                yield from _check_moved_cards(entry, cards, known)
        elif entry.attempt is not None:
            attempt = known.setdefault(entry.attempt, _AttemptSoFar())
            attempt.is_committed |= entry.kind == "committed"
            attempt.has_held_hands |= entry.kind == "held"
            attempt.is_over |= entry.kind in ("verdict", "withdrawn", "recalled")


def _check_moved_cards(
    entry: JournalEntry, cards: Sequence[LoggedBoardEvent], known: dict[int, _AttemptSoFar]
) -> Findings:
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
            card = min(indices & attempt.indices)
            what = f"card {card} of attempt {entry.attempt}, which was over, came again"
            yield VerifyFinding(entry.n, what, _UNDECLARED_MEANS)
        attempt.indices |= indices
