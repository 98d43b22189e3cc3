"""The report for a terminal."""

from collections.abc import Iterator, Sequence

from controller.trials.lab.family import JudgedTest
from controller.trials.lab.report import CollectionJudgement, LabReport, conclusion_text

_HEADS = ("test", "p", "bound", "95 %", "99 %", "found", "expected")
_MARKS = {True: "in", False: "out", None: "–"}


def render_lab_report(report: LabReport) -> str:
    """Return the report as lines for people."""
    lines = [*_collection_lines(report.first)]
    if report.retest is not None:
        lines += ["", "retest:", *_collection_lines(report.retest)]
    if report.naive:
        lines += ["", "naive methods, judged by the same tests:"]
        lines += [
            f"  {one.method:14} {one.deals} deals: "
            + (f"outside by {', '.join(one.outside)}" if one.outside else "NOT caught")
            for one in report.naive
        ]
    return "\n".join([*lines, "", conclusion_text(report)]) + "\n"


def source_text(source_round: CollectionJudgement) -> str:
    """Return in a line where the deals of a round come from."""
    source = source_round.source
    seed = "the system's entropy" if source.seed is None else f"seed {source.seed}"
    given_up = f", {source.given_up} attempts given up" if source.given_up else ""
    return (
        f"{source_round.deals} deals ({source.path}, {source.method}, {seed}{given_up}), "
        f"{len(source_round.results)} tests, together at 99 %"
    )


def result_cells(result: JudgedTest) -> tuple[str, ...]:
    """Return a test's row of the table, below its headings."""
    p = "–" if result.p is None else f"{result.p:.3g}"
    found = result.why or result.seen
    return (
        result.name, p, f"{result.bound:.2g}", _MARKS[result.at_95], _MARKS[result.at_99],
        found, result.expected,
    )  # fmt: skip


def _collection_lines(one: CollectionJudgement) -> Iterator[str]:
    yield source_text(one)
    for name, digest in one.files.items():
        yield f"  {name}  SHA-256 {digest}"
    rows: Sequence[Sequence[str]] = [_HEADS, *(result_cells(result) for result in one.results)]
    widths = [max(len(row[place]) for row in rows) for place in range(5)]
    out = {result.name for result in one.results if result.outside}
    for row in rows:
        marked = "*" if row[0] in out else " "
        start = "  ".join(f"{each:{width}}" for each, width in zip(row, widths, strict=False))
        yield f"{marked} {start}  {row[5][:60]}  [{row[6]}]"
    yield f"outside the family's bound: {', '.join(one.outside) or 'none'}"
