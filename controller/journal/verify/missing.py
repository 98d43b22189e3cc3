"""What is not in a file, as those of its rows show that are: steps of attempts, whole attempts.

A feed's log may have holes, and no hole is a finding. But of an attempt with a hole nothing holds
as a whole, and nobody is to believe that it does.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from controller.journal.entries import JournalEntry
from controller.journal.fold import AttemptHistory
from controller.journal.verify.findings import VerifyFinding
from controller.journal.verify.steps import ATTEMPT_STEPS

_STEPS_TO_HANDS = ("committed", "cut", "begun", "shuffled", "dealt", "held", "verdict")
"""The steps to right hands; whoever took one of them took those before it."""
_KINDS_OF_RIGHT_HANDS = frozenset({"held", "released", "withdrawn", "recalled"})
# These stand behind the verdict of their attempt.
_KINDS_AFTER_VERDICT = frozenset({"revealed", "record", "sealed_to_chief"})


def missing_steps(progress: AttemptHistory, progresses: Sequence[AttemptHistory]) -> list[str]:
    """Return the steps of an attempt that there must have been, and that are not here."""
    steps = set(progress.steps)
    if "committed" not in steps:
        return []  # it promised nothing, and owes nothing
    due = {
        *_STEPS_TO_HANDS[: _count_steps_taken(progress)],
        *_steps_of_end(progress, _is_over(progress, progresses)),
    }
    return [kind for kind in ATTEMPT_STEPS if kind in due - steps]


def check_uncounted_hands(
    entries: Sequence[JournalEntry], progresses: Sequence[AttemptHistory]
) -> Iterator[VerifyFinding]:
    """Yield right hands without a step where the rows that are here leave no room for it.

    That the cards are out, the sealed hands, what binds them and the verdict are one run of rows.
    """
    by_number = {entry.n: entry for entry in entries}
    for progress in progresses:
        steps = progress.steps
        if "verdict" not in steps or steps["verdict"].data.get("outcome") != "ok":
            continue
        for kind, behind, rows in (("held", "verdict", 1), ("dealt", "held", 2)):
            step = None if kind in steps else steps.get(behind)
            other = None if step is None else by_number.get(step.n - rows)
            if step is not None and other is not None and other.boot == step.boot:
                what = f"attempt {progress.attempt} is right without {kind}"
                yield VerifyFinding(step.n, what, "these hands were not counted, or not bound")


def missing_attempts(entries: Sequence[JournalEntry]) -> list[int]:
    """Return the numbers of attempts that lie between others, or whose beginning is not here."""
    steps = [
        entry for entry in entries if entry.attempt is not None and entry.kind in ATTEMPT_STEPS
    ]
    known = sorted({entry.attempt for entry in steps if entry.attempt is not None})
    begun = {entry.attempt for entry in steps if entry.kind == "committed"}
    between = (
        number
        for low, high in pairwise(known)
        for number in range(low + 1, min(high, low + _MAX_MISSING_IN_A_ROW))
    )
    return sorted({*between, *(number for number in known if number not in begun)})


_MAX_MISSING_IN_A_ROW = 1000
"""No more attempts than these are named behind one another: numbers are whatever a row says."""


def _count_steps_taken(progress: AttemptHistory) -> int:
    """Return how many steps of the ladder an attempt took, as far as one can tell."""
    steps, verdict = set(progress.steps), progress.data("verdict") or {}
    if verdict.get("outcome") == "ok" or steps & _KINDS_OF_RIGHT_HANDS:
        return len(_STEPS_TO_HANDS)
    fed = verdict.get("fed")
    taken = {
        "dealt": False,
        "shuffled": type(fed) is int and fed > 0,
        "begun": False,
        "cut": type((progress.data("revealed") or {}).get("cut")) is int,
    }
    highest = next((kind for kind, so in taken.items() if so or kind in steps), "committed")
    return _STEPS_TO_HANDS.index(highest) + 1


def _steps_of_end(progress: AttemptHistory, over: bool) -> set[str]:
    """Return the steps that an end of this kind has; `over`: it must have ended by now."""
    steps, verdict = set(progress.steps), progress.data("verdict") or {}
    right, sealed = verdict.get("outcome") == "ok", "sealed_to_chief" in steps
    given_up = bool(verdict) and (not right or bool(steps & {"withdrawn", "recalled"}))
    out = right and "withdrawn" not in steps and steps & {"revealed", "record", "recalled"}
    due = {
        "verdict": over or bool(steps & _KINDS_AFTER_VERDICT),
        "released": bool(out) and not sealed,
        "revealed": not sealed and (over or "record" in steps),
        "record": not sealed and given_up and (over or "revealed" in steps),
    }
    return {kind for kind, is_due in due.items() if is_due}


def _is_over(progress: AttemptHistory, progresses: Sequence[AttemptHistory]) -> bool:
    """Tell whether two attempts began behind it: one may be dealt ahead while it is played."""
    last = max(entry.n for kind, entry in progress.steps.items() if kind in ATTEMPT_STEPS)
    began = [one.steps["committed"].n for one in progresses if "committed" in one.steps]
    return sum(n > last for n in began) >= 2
