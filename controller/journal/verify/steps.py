"""The order of steps: what must stand before what, and that nothing was dropped in silence."""

from collections.abc import Iterator, Sequence

from controller.journal.entries import Entry
from controller.journal.fold import Progress
from controller.journal.kinds import KINDS
from controller.journal.verify.findings import Finding
from controller.journal.wire_group import AT_READER, GATE, LANDED, unpack

_ORDER = "a step is missing, or the steps were not taken in this order"
_MOTION = frozenset({AT_READER, GATE, LANDED})


def check_entries(entries: Sequence[Entry], *, whole: bool) -> Iterator[Finding]:
    """Yield what is wrong with single entries, and with their order within an attempt.

    Where not `whole`, steps may be missing, but not stand in another order.
    """
    seen: dict[int, dict[str, int]] = {}
    for entry in entries:
        yield from _shape(entry)
        if entry.attempt is None:
            continue
        steps = seen.setdefault(entry.attempt, {})
        yield from _place(entry, steps, whole)
        steps.setdefault(entry.kind, entry.n)


def check_attempts(progresses: Sequence[Progress], *, whole: bool) -> Iterator[Finding]:
    """Yield what is wrong with the course of attempts, given in the order of their beginning."""
    highest = 0
    for number, progress in enumerate(progresses):
        if progress.attempt <= highest:
            yield Finding(
                _first(progress),
                f"attempt {progress.attempt} begins after attempt {highest}",
                "numbers of attempts only rise: an attempt was hidden or done twice",
            )
        highest = max(highest, progress.attempt)
        later = progresses[number + 1 :]
        yield from _end(progress)
        yield from _sealed(progress)
        if whole:
            yield from _motion(progress)
            yield from _left_open(progress, later)


def _shape(entry: Entry) -> Iterator[Finding]:
    kind = KINDS.get(entry.kind)
    if kind is None:
        return
    if entry.public is not kind.public:
        said, due = ("public", "private") if entry.public else ("private", "public")
        yield Finding(entry.n, f"{entry.kind} is marked {said}", f"such an entry is {due}")
    lacking = [field for field in kind.always if field not in entry.data]
    if lacking:
        means = "this program did not write it"
        yield Finding(entry.n, f"{entry.kind} lacks {', '.join(lacking)}", means)


def _place(entry: Entry, steps: dict[str, int], whole: bool) -> Iterator[Finding]:
    kind = KINDS.get(entry.kind)
    if kind is None:
        return
    if kind.once and entry.kind in steps:
        what = f"attempt {entry.attempt} has a second {entry.kind}"
        yield Finding(entry.n, what, f"the first stands at entry {steps[entry.kind]}")
    missing = [step for step in kind.after if step not in steps] if whole else []
    if missing:
        what = f"{entry.kind} of attempt {entry.attempt} without {' and '.join(missing)} before it"
        yield Finding(entry.n, what, _ORDER)
    overtaken = [later for later in steps if later in KINDS and entry.kind in KINDS[later].after]
    if overtaken and not whole:
        what = f"{entry.kind} of attempt {entry.attempt} stands behind {' and '.join(overtaken)}"
        yield Finding(entry.n, what, _ORDER)


def _end(progress: Progress) -> Iterator[Finding]:
    """A right attempt was held and has no reason; any other has one."""
    verdict = progress.steps.get("verdict")
    if verdict is None or "outcome" not in verdict.data:
        return
    outcome, reasons = verdict.data["outcome"], verdict.data.get("reasons")
    if outcome == "ok" and reasons:
        yield Finding(verdict.n, f"a right deal has reasons: {reasons}", "the verdict was changed")
    if outcome != "ok" and not reasons:
        what = f"attempt {progress.attempt} was given up without a reason"
        yield Finding(verdict.n, what, "nobody may deal again because he likes to")
    if outcome != "ok" and "released" in progress.steps:
        what = f"attempt {progress.attempt} was released with the verdict {outcome}"
        yield Finding(progress.steps["released"].n, what, "these hands were not right")


def _sealed(progress: Progress) -> Iterator[Finding]:
    """Keys go with the power, and the power takes the daemon along: another one runs since."""
    sealed = progress.steps.get("sealed_to_chief")
    if sealed is not None and sealed.boot == progress.boot:
        what = f"the key of attempt {progress.attempt} is said to be gone, and its daemon ran on"
        yield Finding(sealed.n, what, "this attempt was hidden: only the chief can open it now")


def _motion(progress: Progress) -> Iterator[Finding]:
    cut = progress.steps.get("cut")
    for entry in progress.wire:
        if cut is not None and entry.n > cut.n:
            return
        try:
            moved = any(event.code in _MOTION for event in unpack(entry.data, entry.attempt))
        except ValueError as error:
            yield Finding(entry.n, str(error), "these board events cannot be read")
            continue
        if moved:
            what = f"cards of attempt {progress.attempt} moved before its cut"
            yield Finding(entry.n, what, "the players had no share in this deal")
            return


def _left_open(progress: Progress, later: Sequence[Progress]) -> Iterator[Finding]:
    """What must have happened to an attempt by the time that others followed it."""
    steps = progress.steps
    n, attempt = _first(progress), f"attempt {progress.attempt}"
    if later and "committed" in steps and "verdict" not in steps:
        yield Finding(n, f"{attempt} has no end", "a deal was dropped in silence")
    taken_back = "withdrawn" in steps or "recalled" in steps
    given_up = "verdict" in steps and (taken_back or steps["verdict"].data.get("outcome") != "ok")
    sealed = "sealed_to_chief" in steps
    is_open = sealed or {"record", "revealed"} <= set(steps)
    if later and given_up and "cut" in steps and not is_open:
        what = f"{attempt} was given up and its record is not open"
        yield Finding(steps["verdict"].n, what, "nobody can check the reason")
    followed = any("released" in progress.steps for progress in later)
    if followed and "released" in steps and not (sealed or "revealed" in steps):
        what = f"{attempt} was played and its seed is not revealed"
        yield Finding(steps["released"].n, what, "nobody can check the sequence")


def _first(progress: Progress) -> int:
    return min(entry.n for entry in progress.steps.values())
