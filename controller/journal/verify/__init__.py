"""Check a journal again, from the outside: chain, steps, proofs, counts, voids.

Works on a state directory or on events that somebody kept from the feed. It
computes everything anew with the functions of controller/deal/sequence.py, and
believes no entry that can be derived from others.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from controller.cards import composition
from controller.journal.chain import ZERO
from controller.journal.entries import Entry
from controller.journal.errors import JournalError
from controller.journal.fold import Progress, attempts
from controller.journal.verify.course import Course, course
from controller.journal.verify.evidence import Evidence, back_number, disproved, unshown
from controller.journal.verify.findings import Finding, Grade, Report, Standing
from controller.journal.verify.heads import check_heads, read_heads
from controller.journal.verify.kept import check_told
from controller.journal.verify.proof import (
    Unproved,
    cards_of,
    check_commitment,
    check_counts,
    check_gates,
    check_hands,
    check_turned_up,
    drawn_sequence,
    unknown_rules,
)
from controller.journal.verify.rulebooks import Rulebooks
from controller.journal.verify.sources import read
from controller.journal.verify.steps import check_attempts, check_entries
from controller.journal.wire_group import WireEvent, unpack, unpack_opened

__all__ = ["Finding", "JournalError", "Report", "Standing", "check_opened", "verify"]


def verify(path: Path, head_file: Path | None = None, events: Sequence[Path] = ()) -> Report:
    """Check a state directory or a file of events; `head_file` holds heads kept elsewhere.

    `events` are events' own regulations (event.toml) that deals may have been dealt under.
    Raises JournalError for files that are no journal, no events or no heads, ProfileError
    for regulations that are none.
    """
    rulebooks = Rulebooks(events)
    source = read(path)
    findings = list(source.findings)
    if head_file is not None:
        findings.extend(check_heads(read_heads(head_file), source))
    entries = [chained.entry for chained in source.entries]
    findings.extend(_check_tables(entries))
    findings.extend(check_entries(entries, whole=source.whole))
    findings.extend(check_told(entries))
    progresses = list(attempts(entries).values())
    findings.extend(check_attempts(progresses, whole=source.whole))
    standings = []
    for progress in progresses:
        standing, wrong = _check_attempt(progress, rulebooks)
        standings.append(standing)
        findings.extend(wrong)
    opened = next((entry for entry in entries if entry.kind == "opened"), None)
    return Report(
        table=None if opened is None else str(opened.data.get("table")),
        whole=source.whole,
        entries=len(entries),
        head=(source.entries[-1].head if source.entries else ZERO).hex(),
        attempts=standings,
        findings=sorted(findings, key=lambda finding: finding.n or 0),
    )


def check_opened(
    progress: Progress, revealed: Mapping[str, Any], record: Mapping[str, Any]
) -> tuple[Standing, list[Finding]]:
    """Check an attempt with what the chief's key gave of it, as if it stood in the journal.

    `revealed` and `record` are the data of the entries that its machine could not write.
    """
    steps = dict(progress.steps)
    sealed = steps.pop("sealed_to_chief")
    for kind, data in (("revealed", revealed), ("record", record)):
        steps[kind] = msgspec.structs.replace(sealed, kind=kind, data=dict(data))
    whole = msgspec.structs.replace(progress, steps=steps)
    return _check_attempt(whole, Rulebooks())


def _check_tables(entries: Sequence[Entry]) -> Iterator[Finding]:
    """A journal belongs to one table, and its proofs are bound to that table's key."""
    whose = None
    for entry in entries:
        key = entry.data.get("table_key") if entry.kind in ("opened", "committed") else None
        if key is not None and whose is not None and key != whose:
            what = f"{entry.kind} names another table's key"
            yield Finding(entry.n, what, "rows of another table were put in here")
        whose = whose or key


def _check_attempt(progress: Progress, rulebooks: Rulebooks) -> tuple[Standing, list[Finding]]:
    """Compute one attempt again, as far as it was opened."""
    findings: list[Finding] = []
    grade: Grade | None = None
    seen: Course | None = None
    unproved: list[str] = []
    strange: str | None = None
    try:
        seen, wrong = _course(progress)
        findings.extend(wrong)
        drawn = None
        if {"committed", "revealed", "verdict"} <= set(progress.steps):
            findings.extend(check_commitment(progress, rulebooks))
            strange = unknown_rules(progress, rulebooks)
            drawn = drawn_sequence(progress)
            findings.extend(check_turned_up(progress, drawn))
            grade = "sequence"
            if seen is not None:
                findings.extend(check_gates(progress, seen, drawn))
        if "verdict" in progress.steps:
            findings.extend(check_counts(progress, seen, drawn))
            wrong, unproved = _check_reasons(progress, seen, drawn)
            findings.extend(wrong)
        if _hands_open(progress):
            findings.extend(check_hands(progress))
            grade = "hands" if grade else None
        findings.extend(_check_form(progress))
    except Unproved as error:
        findings.append(Finding(error.n, str(error), "this attempt cannot be proved"))
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        n = next(iter(progress.steps.values())).n
        what = f"attempt {progress.attempt} has an entry that lacks something: {error!r}"
        findings.append(Finding(n, what, "this attempt cannot be proved"))
    return _standing(progress, grade, seen, unproved, strange), findings


def _standing(
    progress: Progress,
    grade: Grade | None,
    seen: Course | None,
    unproved: list[str],
    strange: str | None,
) -> Standing:
    outcome = (progress.data("verdict") or {}).get("outcome")
    cut = progress.data("cut")
    withdrawn, recalled = progress.data("withdrawn"), progress.data("recalled")
    after = _reasons(withdrawn if withdrawn is not None else recalled) or []
    return Standing(
        attempt=progress.attempt,
        deal=progress.deal,
        outcome=outcome if isinstance(outcome, str) else None,
        withdrawn=withdrawn is not None,
        reasons=[*(_reasons(progress.data("verdict")) or []), *after],
        unshown=[*unproved, *after],
        uncut=cut is not None and cut.get("cut") is None,
        grade=grade,
        gates=seen is not None,
        unknown_rules=strange,
        recalled=recalled is not None,
        sealed="sealed_to_chief" in progress.steps,
    )


def _check_form(progress: Progress) -> Iterator[Finding]:
    """Yield the steps whose reasons are no list of words: nobody could read them."""
    for kind in ("verdict", "withdrawn", "recalled"):
        step = progress.steps.get(kind)
        if step is not None and _reasons(step.data) is None:
            yield Finding(step.n, f"{kind} has no list of reasons", "this program did not write it")


def _reasons(data: Mapping[str, Any] | None) -> list[str] | None:
    """Return the reasons in a step's data, [] where there is no step; None: they are no words."""
    said = [] if data is None else data.get("reasons")
    if isinstance(said, list) and all(isinstance(reason, str) for reason in said):
        return list(said)
    return None


def _course(progress: Progress) -> tuple[Course | None, list[Finding]]:
    """Return the cards' course, from the opened record or from the journal's board events.

    Where there are both they must say the same.
    """
    if "committed" not in progress.steps:
        return None, []
    opened, record = _opened(progress), progress.steps.get("record")
    if opened is not None and record is not None and progress.wire:
        told = [_blind(event) for event in opened]
        if told != [_blind(event) for event in _journalled(progress, record)]:
            what = "the opened record has other board events than the journal"
            return None, [Finding(record.n, what, "the record was not shown as it was")]
    events = opened or _journalled(progress, progress.steps.get("verdict"))
    return (course(events, cards_of(progress)) if events else None), []


def _journalled(progress: Progress, before: Entry | None) -> list[WireEvent]:
    """Return the board events the journal holds of an attempt before one of its entries."""
    groups = [entry for entry in progress.wire if before is None or entry.n < before.n]
    return [event for entry in groups for event in unpack(entry.data, entry.attempt)]


def _opened(progress: Progress) -> list[WireEvent] | None:
    record = progress.data("record")
    if record is None or "events" not in record:
        return None
    return unpack_opened(record["events"], progress.attempt)


def _blind(event: WireEvent) -> tuple[object, ...]:
    return (event.board, event.boot, event.number, event.code, event.index, event.place)


def _check_reasons(
    progress: Progress, seen: Course | None, drawn: str | None
) -> tuple[list[Finding], list[str]]:
    """Compare the reasons of a void with its record; also return those that none can show."""
    verdict = progress.steps["verdict"]
    reasons = list(verdict.data["reasons"])
    record = progress.data("record")
    if verdict.data["outcome"] == "ok" or not reasons:
        return [], []
    if record is None or "events" not in record or drawn is None:
        return [], unshown(reasons, None)
    if seen is None and record["events"]:
        return [], unshown(reasons, None)
    promised = progress.steps["committed"].data
    evidence = Evidence(
        course=seen or course([], cards_of(progress)),
        sequence=drawn,
        composition=composition(promised["deck"]["packs"], promised["deck"]["jokers"]),
        back=back_number(promised["back"]),
        settled=record.get("settled") or {},
    )
    means = "a reason was made up, or the record is not the one of this attempt"
    findings = [
        Finding(verdict.n, f"{reason} does not follow from the opened record", means)
        for reason in disproved(reasons, evidence)
    ]
    return findings, unshown(reasons, evidence)


def _hands_open(progress: Progress) -> bool:
    record = progress.data("record") or {}
    return "held" in progress.steps and bool(record.get("nonce") and record.get("hands"))
