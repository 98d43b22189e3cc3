"""What must be shown of an attempt, and when; and what it was dealt for."""

from collections.abc import Iterator, Sequence

from controller.journal.entries import Entry
from controller.journal.fold import Progress
from controller.journal.verify.findings import Finding
from controller.journal.verify.rulebooks import Rulebooks
from controller.rules.profile import Profile

# What nobody may order any more who looked at a hand of that deal (DESIGN of the proof).
_AGAIN = frozenset({"redeal", "void", "recount"})


def missing_steps(progress: Progress, progresses: Sequence[Progress]) -> list[str]:
    """Return the steps of an attempt that is over, as later ones show, and that are not here."""
    steps = set(progress.steps)
    began = [one.steps["committed"].n for one in progresses if "committed" in one.steps]
    if not progress.steps or "sealed_to_chief" in steps:
        return []
    # A deal ahead begins while the one before it is played: two later ones say that it is over.
    last = max(entry.n for entry in progress.steps.values())
    if sum(n > last for n in began) < 2:
        return []
    due = ["verdict", "revealed"]
    given_up = progress.steps.get("verdict") is not None and (
        progress.steps["verdict"].data.get("outcome") != "ok"
        or bool(steps & {"withdrawn", "recalled"})
    )
    return [kind for kind in [*due, *(["record"] if given_up else [])] if kind not in steps]


def check_shown(
    entries: Sequence[Entry],
    progresses: Sequence[Progress],
    rulebooks: Rulebooks,
    *,
    whole: bool,
) -> Iterator[Finding]:
    """Yield hands that were shown too early or are kept from view, other rules than the match's,
    and who ordered a deal again after a look at a hand of it.
    """
    meetings = [entry for entry in entries if entry.kind == "meeting"]
    for number, progress in enumerate(progresses):
        later = progresses[number + 1 :]
        profile = _profile(progress, rulebooks)
        if profile is not None and "released" in progress.steps and not _recalled(progress):
            yield from _hands(progress, later, meetings, profile, whole=whole)
        yield from _rules(progress, meetings)
    yield from _looked(entries)


def _hands(
    progress: Progress,
    later: Sequence[Progress],
    meetings: Sequence[Entry],
    profile: Profile,
    *,
    whole: bool,
) -> Iterator[Finding]:
    record, when = progress.steps.get("record"), profile.hands_opened
    match = progress.steps["committed"].data.get("match")
    laid_out = any(entry.data.get("match") == match for entry in meetings)
    if record is not None and when == "never":
        yield Finding(record.n, "its rulebook shows hands never", "hands were shown all the same")
    if record is not None and when == "match_end" and laid_out:
        for other in later:
            began = other.steps.get("committed")
            if began is not None and began.n > record.n and began.data.get("match") == match:
                what = f"its match went on with attempt {other.attempt}"
                yield Finding(record.n, what, "hands were shown too early")
                break
    if record is None and when != "never" and whole and "sealed_to_chief" not in progress.steps:
        others = [one for one in later if "committed" in one.steps]
        if any(one.steps["committed"].data.get("match") != match for one in others):
            what = f"attempt {progress.attempt} was played, and its match is over"
            yield Finding(progress.steps["released"].n, what, "its record is not open")


def _rules(progress: Progress, meetings: Sequence[Entry]) -> Iterator[Finding]:
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
        yield Finding(committed.n, what, "it was dealt under other rules")


def _looked(entries: Sequence[Entry]) -> Iterator[Finding]:
    """Who opened a hand of a deal cannot order that it be dealt again."""
    looked: set[tuple[object, object]] = set()
    for entry in entries:
        if entry.kind == "opened_hand":
            looked.add((entry.data.get("key"), entry.deal))
        elif entry.kind == "command" and entry.data.get("cmd") in _AGAIN:
            acted = "refused" not in entry.data
            if acted and (entry.data.get("key"), entry.deal) in looked:
                what = f"{entry.data['cmd']} by a person who had looked at a hand of this deal"
                yield Finding(entry.n, what, "whoever opened a hand cannot have it dealt again")


def _recalled(progress: Progress) -> bool:
    return "recalled" in progress.steps


def _profile(progress: Progress, rulebooks: Rulebooks) -> Profile | None:
    data = progress.data("committed") or {}
    try:
        return rulebooks.find(str(data.get("profile")), bytes.fromhex(str(data["profile_hash"])))
    except (KeyError, ValueError):
        return None
