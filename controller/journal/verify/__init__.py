"""The complete check of a journal: hash chain, order of steps, proofs, counts and reasons.

`verify` reads a state directory, or events that a person saved from the feed. A value that follows
from other entries is computed again, with the functions of controller/deal/sequence.py, and
compared. controller/deal/verify.mjs does the same for the events of a feed, and shares no code with
this package.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

import controller.journal.verify.attempt_steps as step_checks
import controller.journal.verify.head_checks as saved_heads
import controller.journal.verify.journal_attempts as all_attempts
from controller.journal.attempt_history import AttemptHistory, attempt_histories
from controller.journal.entries import ZERO_HEAD, JournalEntry, JournalError
from controller.journal.verify.attempt_check import check_attempt
from controller.journal.verify.command_signatures import check_commands
from controller.journal.verify.disclosure import check_late_rows, check_shown_hands
from controller.journal.verify.match_replay import check_matches
from controller.journal.verify.reason_checks import ReasonCheck
from controller.journal.verify.sources import JournalSource, read_source
from controller.journal.verify.verify_report import (
    AttemptReport,
    Findings,
    VerifyFinding,
    VerifyReport,
    catch_malformed,
)
from controller.rules.profile_files import ProfilesByHash

__all__ = [
    "AttemptReport",
    "JournalError",
    "ReasonCheck",
    "VerifyFinding",
    "VerifyReport",
    "check_unsealed_attempt",
    "verify",
]


def verify(
    path: Path,
    head_file: Path | None = None,
    events: Sequence[Path] = (),
    table: Path | None = None,
) -> VerifyReport:
    """Return a report on a whole journal, or on a file of events that were saved from a feed.

    `path` is a state directory, a journal file or a file of events. `head_file` has heads that were
    saved elsewhere. `events` are a tournament's own regulations (event.toml) under which deals may
    have been dealt. `table` is the table's public certificate, against which signed heads are
    checked. Without `table`, the key that the journal itself names is used. Raises JournalError for
    files that are not a journal, events or heads, ProfileError for wrong regulations, and
    RosterError for a wrong certificate.
    """
    rulebooks = ProfilesByHash(events)
    source = read_source(path)
    entries = [chained.entry for chained in source.entries]
    progresses = list(attempt_histories(entries).values())
    findings = list(source.findings)
    signed, unbound = None, 0
    if head_file is not None or table is not None:
        whose = saved_heads.identify_table(entries, table)
        findings.extend(whose.findings)
        kept = [] if head_file is None else saved_heads.read_kept_heads(head_file)
        findings.extend(saved_heads.check_kept_heads(kept, source, whose))
        signed, unbound, wrong = saved_heads.check_signed_heads(kept, whose, source)
        findings.extend(wrong)
    findings.extend(_check_journal(source, entries, progresses, rulebooks))
    standings = [
        check_attempt(progress, rulebooks, step_checks.missing_steps(progress, progresses))
        for progress in progresses
    ]
    findings.extend(finding for standing in standings for finding in standing.findings)
    opened = next((entry for entry in entries if entry.kind == "opened"), None)
    return VerifyReport(
        table=None if opened is None else str(opened.data.get("table")),
        whole=source.whole,
        entries=len(entries),
        head=(source.entries[-1].head if source.entries else ZERO_HEAD).hex(),
        signed_heads=signed,
        heads_apart=unbound,
        attempts=standings,
        missing=[] if source.whole else step_checks.missing_attempts(entries),
        findings=sorted(findings, key=lambda finding: finding.n or 0),
    )


def check_unsealed_attempt(
    progress: AttemptHistory, revealed: Mapping[str, Any], record: Mapping[str, Any]
) -> tuple[AttemptReport, list[VerifyFinding]]:
    """Check an attempt with data that the chief decrypted. Return its report and the findings.

    `revealed` and `record` are the data of the two entries that the machine could not write,
    because it had lost the attempt's key.
    """
    steps = dict(progress.steps)
    sealed = steps.pop("sealed_to_chief")
    for kind, data in (("revealed", revealed), ("record", record)):
        steps[kind] = msgspec.structs.replace(sealed, kind=kind, data=dict(data))
    standing = check_attempt(msgspec.structs.replace(progress, steps=steps), ProfilesByHash())
    return standing, standing.findings


def _check_journal(
    source: JournalSource,
    entries: Sequence[JournalEntry],
    progresses: Sequence[AttemptHistory],
    rulebooks: ProfilesByHash,
) -> Findings:
    """Run all checks of a journal except `check_attempt`, and yield their findings."""
    checks = [
        _check_table_key(entries),
        step_checks.check_entries(entries, whole=source.whole),
        step_checks.check_daemon_runs(entries, whole=source.whole),
        check_late_rows(entries),
        step_checks.check_uncounted_hands(entries, progresses),
        all_attempts.check_between_attempts(progresses, whole=source.whole),
        all_attempts.check_records_open(entries, progresses),
        check_commands(entries, progresses, whole=source.whole),
        check_shown_hands(entries, progresses, rulebooks, whole=source.whole),
        all_attempts.check_shuffle_passes(progresses),
        all_attempts.check_board_event_numbers(entries) if source.whole else iter(()),
        all_attempts.check_undeclared_motion(entries) if source.whole else iter(()),
        check_matches(entries, progresses, rulebooks) if source.whole else iter(()),
    ]
    for check in checks:
        yield from catch_malformed(check, None, "an entry")


def _check_table_key(entries: Sequence[JournalEntry]) -> Findings:
    """Yield a finding for each entry whose `table_key` differs from the first one in the journal.

    A journal belongs to one table, and its proofs are bound to the key of that table.
    """
    whose = None
    for entry in entries:
        key = entry.data.get("table_key") if entry.kind in ("opened", "committed") else None
        if key is not None and whose is not None and key != whose:
            what = f"{entry.kind} names another table's key"
            yield VerifyFinding(entry.n, what, "rows of another table were inserted here")
        whose = whose or key
