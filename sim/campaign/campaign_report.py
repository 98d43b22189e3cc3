"""The report of a campaign: the counts of errors, which must be zero, and each fault's effects."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

import msgspec

from controller.faults import fault as row_of
from sim.campaign.campaign_lives import CampaignPlan, LifeAttempt, LifeFinding, LifeReport
from sim.mechanics.fault_menu import FaultMenuEntry, accepted_codes, fault_menu, parse_fault

MUST_BE_ZERO = {
    "wrong_released": "wrong hands released",
    "wrong_blame": "faults reported with a wrong code",
    "events_lost": "board events lost",
    "events_doubled": "events recorded twice",
    "unproved": "errors found by verify",
    "stuck": "tables that did not continue",
    "crashed": "crashes of the program",
}
"""The kinds of findings, in plain words. Each count must be zero."""


class FaultRow(msgspec.Struct):
    """The effects of one simulated fault on the attempts of a campaign.

    A fault whose correct codes depend on a field has one such row for each value of the field.
    `injected`: the number of strikes. `active`: the attempts in which the fault was active. Of
    these, `recovered` were ready without an action of people, `by_hand` were ready with one,
    `misdealt` were misdeals, and `voided` were void. In `referee` the referee was called.
    `detected`: for each correct code, as "CODE NAME", the number of times that it was a reason or
    an alert.
    """

    injected: int = 0
    active: int = 0
    recovered: int = 0
    by_hand: int = 0
    misdealt: int = 0
    voided: int = 0
    referee: int = 0
    detected: dict[str, int] = msgspec.field(default_factory=dict)


class CampaignReport(msgspec.Struct):
    """The counts of attempts, errors and faults of a campaign.

    If `interrupted`, the report covers only the lives (simulated tables) that ended.
    """

    attempts: int
    deals: int
    wrong_released: int
    wrong_blame: int
    events_lost: int
    events_doubled: int
    needless_misdeals: int
    left_behind: int
    ready_without_redeal: int
    ready_without_hand: int
    stuck: int
    crashed: int
    unproved: int
    seed: int
    level: str
    asked: int
    lives: int
    interrupted: bool
    virtual_s: float
    faults: dict[str, FaultRow]
    findings: tuple[LifeFinding, ...]


def merge_reports(
    plan: CampaignPlan, reports: Sequence[LifeReport], *, interrupted: bool = False
) -> CampaignReport:
    """Combine the reports of a campaign's simulated tables (lives) into one report."""
    attempts = [attempt for report in reports for attempt in report.attempts]
    findings = tuple(finding for report in reports for finding in report.findings)
    deals = [
        tuple(deal)
        for report in reports
        for _, deal in groupby(report.attempts, key=lambda attempt: attempt.deal)
    ]
    zeros: Counter[str] = Counter(finding.kind for finding in findings)
    return CampaignReport(
        attempts=len(attempts),
        deals=sum(report.deals for report in reports),
        needless_misdeals=sum(attempt.needless for attempt in attempts),
        left_behind=sum(report.left_behind for report in reports),
        ready_without_redeal=sum(len(deal) == 1 and (deal[-1].outcome == "ok") for deal in deals),
        ready_without_hand=sum(
            (deal[-1].outcome == "ok") and not any(attempt.hands for attempt in deal)
            for deal in deals
        ),
        seed=plan.seed,
        level=plan.faults,
        asked=plan.deals,
        lives=len(reports),
        interrupted=interrupted,
        virtual_s=round(sum(report.ended_s for report in reports), 3),
        faults=count_faults(reports),
        findings=findings,
        **{kind: zeros[kind] for kind in MUST_BE_ZERO},
    )


def count_faults(reports: Iterable[LifeReport]) -> dict[str, FaultRow]:
    """Return one row of effects for each simulated fault, by `row_key`, in the menu's order.

    Faults that never struck are included. The menu is sim/faults.toml.
    """
    rows: dict[str, FaultRow] = {}
    for name, entry in fault_menu().items():
        field, codes = blame_field(entry)
        rows |= {f"{name}:{field}={value}" if field else name: FaultRow() for value in codes}
    for report in reports:
        for words, times in report.strikes:
            rows.setdefault(row_key(words), FaultRow()).injected += times
        for attempt in report.attempts:
            for key, active in groupby(sorted(attempt.struck, key=row_key), key=row_key):
                _count_attempt(rows.setdefault(key, FaultRow()), attempt, active)
    return rows


def row_key(words: str) -> str:
    """Return the key of the row that counts `words`, a fault as text (`jam:place=gate`).

    The key is NAME:FIELD=VALUE if FIELD decides the correct codes of the fault, otherwise NAME.
    """
    fault = parse_fault(words)
    field, _ = blame_field(fault_menu()[fault.name])
    return f"{fault.name}:{field}={getattr(fault, field)}" if field else fault.name


def blame_field(entry: FaultMenuEntry) -> tuple[str, dict[str, tuple[str, ...]]]:
    """Return the field that decides which codes are correct for a fault, and the codes by value.

    If no field decides, the field's name is empty, and all codes are under the empty value.
    """
    right = entry.blame
    if not isinstance(right, dict):
        return "", {"": right}
    codes = {value: (one,) if isinstance(one, str) else one for value, one in right.items()}
    return codes.pop("by")[0], codes


def render_campaign_report(report: CampaignReport) -> str:
    """Return the report as text for people."""
    lines = list(_head(report))
    rows = [(key, row) for key, row in report.faults.items() if row.injected or row.active]
    if rows:
        lines += ["", *align_columns([COLUMNS, *(row_cells(key, row) for key, row in rows)])]
    if report.findings:
        lines.append("")
    for finding in report.findings:
        where = f"{finding.seed}.{finding.deal}" if finding.deal else finding.seed
        at = f" attempt {finding.attempt}" if finding.attempt else ""
        lines.append(f"{finding.kind} in {where}{at}: {finding.words}")
        lines.append(f"  dealtable campaign --faults {report.level} --replay {where}")
    return "\n".join(lines) + "\n"


COLUMNS = (
    "fault", "injected", "active in", "recovered", "by hand", "misdealt", "void", "referee",
    "detected as",
)  # fmt: skip
"""The headings of the table of faults."""


def row_cells(key: str, row: FaultRow) -> tuple[str, ...]:
    """Return the cells of the row `row` with the key `key`, in the order of COLUMNS."""
    detected = sorted(row.detected.items(), key=lambda each: (-each[1], each[0]))
    return (
        key, str(row.injected), str(row.active), str(row.recovered), str(row.by_hand),
        str(row.misdealt), str(row.voided), str(row.referee),
        ", ".join(f"{code}: {times}" for code, times in detected) or "–",
    )  # fmt: skip


def align_columns(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the rows of a table as lines of text with aligned columns.

    The first and the last column are left-aligned, the others right-aligned.
    """
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]) - 1)]
    for first, *numbers, last in rows:
        middle = "".join(f"  {n:>{width}}" for n, width in zip(numbers, widths[1:], strict=True))
        yield f"{first:{widths[0]}}{middle}  {last}"


def _head(report: CampaignReport) -> Iterator[str]:
    cut_short = " (interrupted)" if report.interrupted else ""
    yield (
        f"campaign {report.seed}, {report.level}: {report.deals} of {report.asked} deals in "
        f"{report.lives} lives, {report.attempts} attempts{cut_short}"
    )
    for kind, words in MUST_BE_ZERO.items():
        count = getattr(report, kind)
        yield f"  {words:34}{count:>8}{'  must be 0' if count else ''}"
    yield f"  {'misdeals without need':34}{report.needless_misdeals:>8}"
    yield f"  {'cards left behind unseen':34}{report.left_behind:>8}"
    for words, count in (
        ("deals ready without a redeal", report.ready_without_redeal),
        ("deals ready without a hand", report.ready_without_hand),
    ):
        share = f"  {100 * count / report.deals:.2f} %" if report.deals else ""
        yield f"  {words:34}{count:>8}{share}"


def _count_attempt(row: FaultRow, attempt: LifeAttempt, active: Iterable[str]) -> None:
    """Count `attempt` in `row`. `active`: the row's faults that were active in the attempt."""
    row.active += 1
    row.recovered += attempt.outcome == "ok" and not attempt.hands
    row.by_hand += attempt.outcome == "ok" and bool(attempt.hands)
    row.misdealt += attempt.outcome == "misdeal"
    row.voided += attempt.outcome == "void"
    row.referee += attempt.referee
    right = {code for words in active for code in accepted_codes(parse_fault(words))}
    for name in sorted({*attempt.reasons, *attempt.alerts} & right):
        code = f"{row_of(name).code} {name}"
        row.detected[code] = row.detected.get(code, 0) + 1
