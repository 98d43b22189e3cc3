"""The checks of an attempt's steps (its entries): their order, form and completeness."""

from collections.abc import Sequence
from itertools import pairwise

import msgspec

from controller.faults import fault_catalogue
from controller.journal.attempt_entries import required_fields
from controller.journal.attempt_history import AttemptHistory
from controller.journal.entries import JournalEntry
from controller.journal.entry_kinds import ENTRY_KINDS
from controller.journal.verify.reason_checks import is_misdeal
from controller.journal.verify.verify_report import Findings, VerifyFinding

_ORDER_MEANS = "a step is missing, or the steps were not taken in this order"
ATTEMPT_STEPS = (
    "seed",
    "committed",
    "cut",
    "begun",
    "shuffled",
    "dealt",
    "held",
    "verdict",
    "released",
    "withdrawn",
    "recalled",
    "revealed",
    "sealed_to_chief",
    "record",
)
"""The steps of an attempt in the only valid order. No attempt has all of them (PROOF.md)."""
_STEP_NUMBERS = {kind: number for number, kind in enumerate(ATTEMPT_STEPS)}
_CHIEF_BOX_CHARS = 108
"""The length in base64 of a sealed box of 80 bytes: an attempt's key of 32 bytes, sealed (X25519).
"""
_KINDS_WITHOUT_DEAL = frozenset({"opened", "meeting", "answer"})
_KINDS_WITH_TIME = frozenset({"cut", "verdict", "released", "withdrawn"})
# Codes of the catalogue from this number upwards are faults of the machine, and refusals. They are
# not reasons of an attempt.
_FIRST_OTHER_CODE = 400


def check_entries(entries: Sequence[JournalEntry], *, whole: bool) -> Findings:
    """Yield the findings about the form of each entry, and about the order of each attempt's steps.

    If `whole` is False, steps may be missing. Their order must be right all the same.
    """
    seen: dict[int, dict[str, JournalEntry]] = {}
    backs: dict[str, set[str]] = {}
    for entry in entries:
        yield from _check_shape(entry)
        if whole:
            yield from _check_back(entry, backs)
        if entry.attempt is None:
            continue
        steps = seen.setdefault(entry.attempt, {})
        yield from _check_order(entry, steps, whole)
        if entry.kind in _STEP_NUMBERS or entry.kind == "hands_box":
            yield from _check_deal_number(entry, steps)
        steps.setdefault(entry.kind, entry)


def check_attempt_end(progress: AttemptHistory) -> Findings:
    """Yield findings about an attempt's outcome, reasons, entry times, passes and sealed boxes."""
    yield from _check_outcome(progress)
    yield from _check_reasons(progress)
    cut = progress.steps.get("cut")
    if cut is not None and cut.data.get("cut") is None:  # A person must give a reason.
        reason = cut.data.get("reason")
        if not isinstance(reason, str) or not reason.strip():
            what = f"attempt {progress.attempt} is uncut without a reason"
            means = "the players had no share in this deal, and no reason is given"
            yield VerifyFinding(cut.n, what, means)
    yield from _check_sealed_to_chief(progress)
    before = 0  # A table's clock only goes forward, also over restarts.
    for step in sorted(progress.steps.values(), key=lambda entry: entry.n):
        at_ms = step.data.get("at_ms") if step.kind in _KINDS_WITH_TIME else None
        if type(at_ms) is not int:
            continue
        if at_ms < before:
            what = f"{step.kind} at {at_ms} ms is earlier than the step before it ({before} ms)"
            yield VerifyFinding(step.n, what, "its time was changed")
        before = at_ms
    yield from _check_passes(progress)
    yield from _check_boxes(progress)


def _check_outcome(progress: AttemptHistory) -> Findings:
    """Yield a finding if the verdict's outcome does not follow from the verdict's reasons.

    Also yield one for each sign that the hands of an attempt with another outcome than "ok" were
    used.
    """
    verdict = progress.steps.get("verdict")
    if verdict is None or "outcome" not in verdict.data:
        return
    outcome, reasons = verdict.data["outcome"], verdict.data.get("reasons")
    if outcome == "ok" and reasons:
        what = f"a right deal has reasons: {reasons}"
        yield VerifyFinding(verdict.n, what, "the verdict was changed")
    if outcome != "ok" and reasons and isinstance(reasons, list):
        due = "misdeal" if is_misdeal(reasons) else "void"
        if outcome != due:
            what = f"{', '.join(map(str, reasons))} makes a {due}, but the outcome is {outcome}"
            yield VerifyFinding(verdict.n, what, "the verdict was changed")
    for kind in ("held", "released", "withdrawn", "recalled"):
        if outcome != "ok" and kind in progress.steps:
            what = f"attempt {progress.attempt} was {kind} with the verdict {outcome}"
            yield VerifyFinding(progress.steps[kind].n, what, "these hands were not right")


def _check_reasons(progress: AttemptHistory) -> Findings:
    """Yield a finding for each failed verdict, withdrawal or recall without a valid reason."""
    ends = {"verdict": "given up", "withdrawn": "withdrawn", "recalled": "recalled"}
    for kind, word in ends.items():
        step = progress.steps.get(kind)
        if step is None or step.data.get("outcome") == "ok":
            continue
        reasons = step.data.get("reasons")
        if not reasons or not isinstance(reasons, list):
            what = f"attempt {progress.attempt} was {word} without a reason"
            yield VerifyFinding(step.n, what, "a deal must not be repeated without a reason")
            continue
        rows = ((str(name), fault_catalogue().get(str(name))) for name in reasons)
        strange = [name for name, row in rows if row is None or row.code >= _FIRST_OTHER_CODE]
        if strange:
            what = f"attempt {progress.attempt} was {word} for {', '.join(strange)}"
            yield VerifyFinding(step.n, what, "an attempt has no such reason")


def _check_shape(entry: JournalEntry) -> Findings:
    kind = ENTRY_KINDS.get(entry.kind)
    if kind is None:
        return
    if entry.public is not kind.public:
        marked, due = ("public", "private") if entry.public else ("private", "public")
        what = f"{entry.kind} is marked {marked}"
        yield VerifyFinding(entry.n, what, f"such an entry must be {due}")
    means = "this program did not write it"
    if entry.kind in _KINDS_WITHOUT_DEAL and (entry.deal, entry.attempt) != (None, None):
        yield VerifyFinding(entry.n, f"{entry.kind} names a deal", means)
    lacking = [field for field in required_fields(kind.data) if field not in entry.data]
    if lacking:
        yield VerifyFinding(entry.n, f"{entry.kind} lacks {', '.join(lacking)}", means)
        return
    try:
        msgspec.convert(entry.data, kind.data)
    except (msgspec.ValidationError, RecursionError) as error:
        yield VerifyFinding(entry.n, f"{entry.kind} has a wrong form: {error}", means)


def _check_back(entry: JournalEntry, backs: dict[str, set[str]]) -> Findings:
    """Yield a finding if earlier entries state backs of the set, but not the back in `committed`.

    `backs` has the stated backs (A or B) of each set. The backs that `entry` states are added.
    """
    data = entry.data
    loaded = {str(data.get("set")): data.get("back")}
    said = {"opened": data.get("sets"), "set_loaded": loaded}.get(entry.kind)
    for name, back in said.items() if isinstance(said, dict) else ():
        backs.setdefault(str(name), set()).add(str(back))
    if entry.kind != "committed":
        return
    known = backs.get(str(data.get("set")))
    if known is not None and data.get("back") not in known:
        what = f"set {data.get('set')} is dealt with back {data.get('back')}"
        means = f"its back was stated to be {' or '.join(sorted(known))}"
        yield VerifyFinding(entry.n, what, means)


def _check_order(entry: JournalEntry, steps: dict[str, JournalEntry], whole: bool) -> Findings:
    kind = ENTRY_KINDS.get(entry.kind)
    if kind is None:
        return
    if kind.once and entry.kind in steps:
        what = f"attempt {entry.attempt} has a second {entry.kind}"
        yield VerifyFinding(entry.n, what, f"the first is entry {steps[entry.kind].n}")
    missing = [step for step in kind.after if step not in steps] if whole else []
    if missing:
        what = f"{entry.kind} of attempt {entry.attempt} without {' and '.join(missing)} before it"
        yield VerifyFinding(entry.n, what, _ORDER_MEANS)
    nth = _STEP_NUMBERS.get(entry.kind)
    overtaken = [] if nth is None else [step for step in steps if _STEP_NUMBERS.get(step, -1) > nth]
    if overtaken:
        what = f"{entry.kind} of attempt {entry.attempt} comes after {' and '.join(overtaken)}"
        yield VerifyFinding(entry.n, what, _ORDER_MEANS)


def _check_deal_number(entry: JournalEntry, steps: dict[str, JournalEntry]) -> Findings:
    """Yield a finding if an entry has another deal number than the first step of its attempt.

    Held hands never get another deal number.
    """
    first = next((step for kind, step in steps.items() if kind in _STEP_NUMBERS), entry)
    if entry.deal != first.deal:
        what = f"{entry.kind} of attempt {entry.attempt} is of deal {entry.deal}, not {first.deal}"
        yield VerifyFinding(entry.n, what, "hands of one deal were given for another")


def _check_sealed_to_chief(progress: AttemptHistory) -> Findings:
    """Yield a finding if `sealed_to_chief` reports the key as lost, but other entries disprove it.

    A key is lost only with the power. Then a new run begins, and the machine opens no record.
    """
    sealed = progress.steps.get("sealed_to_chief")
    if sealed is None:
        return
    if sealed.boot == progress.boot:
        what = f"the key of attempt {progress.attempt} is reported lost, but its daemon continued"
        means = "this attempt was hidden: only the chief can open it now"
        yield VerifyFinding(sealed.n, what, means)
    if "record" in progress.steps:
        what = f"attempt {progress.attempt} is sealed to the chief, and its record is open"
        yield VerifyFinding(sealed.n, what, "one of the two is false")


def _check_boxes(progress: AttemptHistory) -> Findings:
    """Yield a finding if held hands have no `hands_box`, or were neither released nor withdrawn.

    The second check is made after `revealed`. Also yield one if the box for the chief has a
    wrong size.
    """
    seed, held = progress.steps.get("seed"), progress.steps.get("held")
    if seed is None:
        return
    if held is not None and "hands_box" not in progress.steps:
        yield VerifyFinding(held.n, "these hands have no box", "they could never be opened")
    revealed, verdict = progress.steps.get("revealed"), progress.data("verdict") or {}
    out = {"released", "withdrawn"} & set(progress.steps)
    if revealed is not None and verdict.get("outcome") == "ok" and not out:
        what = f"the hands of attempt {progress.attempt} were neither released nor withdrawn"
        yield VerifyFinding(revealed.n, what, _ORDER_MEANS)
    if len(seed.data["for_chief"]) != _CHIEF_BOX_CHARS:
        what = "the box for the chief has a wrong size"
        yield VerifyFinding(seed.n, what, "the chief cannot open it")


def _check_passes(progress: AttemptHistory) -> Findings:
    promised, done = progress.data("committed"), progress.steps.get("shuffled")
    if promised is None or done is None:
        return
    if promised["passes"] < 1:
        what = "no shuffling was promised"
        yield VerifyFinding(done.n, what, "the set was dealt without a shuffle")
    # More passes are right: a shuffler that has drawn in cards finishes this pass and reports it.
    if done.data["passes"] < promised["passes"]:
        what = f"{promised['passes']} passes were promised, {done.data['passes']} were done"
        yield VerifyFinding(done.n, what, "the set was not shuffled as promised")


# Lost pins of the panel may be reported before the first entry of the run.
_KINDS_BEFORE_OPENED = frozenset({"fault", "fault_cleared"})
_RUN_MEANS = "a run of the daemon was made up, or rows of another run were inserted"


def check_daemon_runs(entries: Sequence[JournalEntry], *, whole: bool) -> Findings:
    """Yield a finding for each entry before the start of its daemon run, or after that run's end.

    A run ends when another run begins. A second `opened` of a run is a finding too. If `whole` is
    False, the first entry of a run may be missing, except between entries with consecutive numbers.
    """
    over: set[str] = set()
    run, last = None, 0
    # None: the first entry of the run may be in the gap before this entry.
    begun: bool | None = True
    for entry in entries:
        if entry.boot in over:
            what = f"{entry.kind} is of run {entry.boot}, and another run began since"
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


_STEPS_TO_HANDS = ("committed", "cut", "begun", "shuffled", "dealt", "held", "verdict")
"""The steps to right hands. An attempt that took one of them took all steps before it."""
_KINDS_OF_RIGHT_HANDS = frozenset({"held", "released", "withdrawn", "recalled"})
# These steps come after the verdict of their attempt.
_KINDS_AFTER_VERDICT = frozenset({"revealed", "record", "sealed_to_chief"})


def missing_steps(progress: AttemptHistory, progresses: Sequence[AttemptHistory]) -> list[str]:
    """Return the kinds of the entries that the attempt must have, but the checked file lacks."""
    steps = set(progress.steps)
    if "committed" not in steps:
        return []  # It committed to nothing, so no step is missing.
    last = max(entry.n for kind, entry in progress.steps.items() if kind in ATTEMPT_STEPS)
    began = [one.steps["committed"].n for one in progresses if "committed" in one.steps]
    # One attempt may be dealt ahead while the hands of another are played.
    is_over = sum(n > last for n in began) >= 2
    due = {*_STEPS_TO_HANDS[: _count_steps_taken(progress)], *_steps_of_end(progress, is_over)}
    return [kind for kind in ATTEMPT_STEPS if kind in due - steps]


def check_uncounted_hands(
    entries: Sequence[JournalEntry], progresses: Sequence[AttemptHistory]
) -> Findings:
    """Yield a finding for each "ok" attempt that certainly had no entry `dealt` or no entry `held`.

    One of them is not in the file, and no missing entry has the number that it must have. The
    entries `dealt`, `hands_box`, `held` and `verdict` follow each other directly.
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
    """Return the ids of the attempts that have no entry, or no commitment, in the checked file.

    An id without any entry counts if the file has attempts with a lower and with a higher id.
    """
    steps = [entry for entry in entries if entry.kind in ATTEMPT_STEPS]
    known = sorted({entry.attempt for entry in steps if entry.attempt is not None})
    begun = {entry.attempt for entry in steps if entry.kind == "committed"}
    between = (
        number
        for low, high in pairwise(known)
        for number in range(low + 1, min(high, low + _MAX_MISSING_IN_A_ROW))
    )
    return sorted({*between, *(number for number in known if number not in begun)})


_MAX_MISSING_IN_A_ROW = 1000
"""The largest number of consecutive missing attempts that are listed. A changed row may have any
number.
"""


def _count_steps_taken(progress: AttemptHistory) -> int:
    """Return how many of the steps in `_STEPS_TO_HANDS` the attempt's entries prove."""
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
    """Return which of `verdict`, `released`, `revealed` and `record` the attempt must have.

    Its other entries show this. `over` means that two later attempts began, so this one ended.
    """
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


def check_record_fields(progress: AttemptHistory) -> Findings:
    """Yield a finding if the entry `record` of the attempt lacks a field that it must have.

    A record has events and a key. A record of right hands also has a nonce and faces.
    """
    record = progress.steps.get("record")
    if record is None:
        return
    verdict = progress.data("verdict") or {}
    held = "held" in progress.steps or verdict.get("outcome") == "ok"
    due = {"events": list, "key": str} | ({"nonce": str, "hands": str} if held else {})
    lacks = [name for name, form in due.items() if not isinstance(record.data.get(name), form)]
    # Right hands have faces, and the boards reported their cards, so neither list is empty.
    hollow = [name for name in ("events", "hands") if held and not record.data.get(name)]
    missing = list(dict.fromkeys([*lacks, *hollow]))
    if missing:
        what = f"the record of attempt {progress.attempt} lacks {', '.join(missing)}"
        yield VerifyFinding(record.n, what, "it opens nothing that can be checked")
