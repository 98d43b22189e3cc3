"""The report on collected deals: test results, a retest, and results for unfair dealing methods."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from typing import Literal

import msgspec

from controller.host.toml_files import read_resource
from sim.lab.collected_deals import CollectedDeals, DealsSource
from sim.lab.deal_chain import UNFAIR_METHODS
from sim.lab.family import FAMILY, FAMILY_LEVEL, FamilyJudgement, JudgedTest, judge_deals

UNFAIR_DEALS = 1_000
"""The number of deals of each unfair method in a report.

A smaller report uses its own number of deals.
"""

ReportVerdict = Literal["inside", "inside at the retest", "outside", "outside, not retested"]

VERDICT_TEXTS: dict[ReportVerdict, str] = {
    "inside": "No test is outside the family's bound.",
    "inside at the retest": "Outside at first, inside with as many fresh deals.",
    "outside": "Outside, and outside again with as many fresh deals.",
    "outside, not retested": "Outside. The one retest is due: as many fresh deals, --retest FILE.",
}


class CollectionJudgement(msgspec.Struct, frozen=True, kw_only=True):
    """One collection of deals, and the results of the tests on it.

    `deals`: the number of deals. `files`: the SHA-256 of each file, by name. `unjudged`: the tests
    that these deals cannot answer.
    """

    deals: int
    source: DealsSource
    files: dict[str, str]
    outside: tuple[str, ...]
    unjudged: tuple[str, ...]
    results: tuple[JudgedTest, ...]


class UnfairMethodResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of the tests on deals that were dealt by an intentionally unfair method.

    `outside`: the tests that detect the method.
    """

    method: str
    deals: int
    outside: tuple[str, ...]


class LabReport(msgspec.Struct, frozen=True, kw_only=True):
    """A report on one collection of deals, with a retest if one was necessary.

    `family`: the SHA-256 of the list of tests, as in LAB.md.
    """

    verdict: ReportVerdict
    level: float
    family: str
    first: CollectionJudgement
    retest: CollectionJudgement | None
    naive: tuple[UnfairMethodResult, ...]

    @property
    def last(self) -> CollectionJudgement:
        """The collection that decides the verdict: the retest, or `first` if there is no retest."""
        return self.retest or self.first

    @property
    def is_inside(self) -> bool:
        """True if the family rejects no test of the collection `last`."""
        return not self.last.outside


def judge_collection(
    deals: CollectedDeals, files: dict[str, str] | None = None
) -> tuple[CollectionJudgement, FamilyJudgement]:
    """Run all tests on `deals`. Return one result for the report and one for the pictures."""
    judgement = judge_deals(deals)
    return CollectionJudgement(
        deals=len(deals),
        source=deals.source,
        files=files or {},
        outside=judgement.outside,
        unjudged=tuple(result.name for result in judgement.results if result.p is None),
        results=judgement.results,
    ), judgement


def make_report(
    first: CollectionJudgement,
    fresh: Callable[[], CollectionJudgement] | None,
    naive: Callable[[str, int], CollectedDeals] | None = None,
) -> LabReport:
    """Return the report on `first`, with a retest if one of its tests is outside the bound.

    `fresh` returns the judged collection of the retest. None means that no retest is possible here.
    `naive(method, deals)` returns deals by an unfair method. None omits the unfair methods.
    """
    retest = fresh() if first.outside and fresh is not None else None
    verdict: ReportVerdict = "outside, not retested" if first.outside else "inside"
    if retest is not None:
        verdict = "outside" if retest.outside else "inside at the retest"
    many = min(first.deals, UNFAIR_DEALS)
    return LabReport(
        verdict=verdict,
        level=FAMILY_LEVEL,
        family=family_hash(),
        first=first,
        retest=retest,
        naive=tuple(
            UnfairMethodResult(
                method=method, deals=many, outside=judge_deals(naive(method, many)).outside
            )
            for method in UNFAIR_METHODS
            if naive is not None
        ),
    )


def conclusion_text(report: LabReport) -> str:
    """Return the conclusion of a report as text for people.

    The text contains the verdict, and the tests not judged with their reasons.
    """
    last = report.last
    if not last.unjudged:
        return VERDICT_TEXTS[report.verdict]
    why = dict.fromkeys(result.why for result in last.results if result.p is None)
    return (
        f"{VERDICT_TEXTS[report.verdict]} {len(last.unjudged)} of {len(last.results)} tests "
        f"not judged: {'; '.join(why)}."
    )


def family_hash() -> str:
    """Return the SHA-256 of the names, counts and expectations of all tests of the family."""
    stated = "\n".join("\t".join((one.name, one.counted, one.expected)) for one in FAMILY)
    return hashlib.sha256(stated.encode()).hexdigest()


_HEADS = ("test", "p", "bound", "95 %", "99 %", "found", "expected")
_MARKS = {True: "in", False: "out", None: "–"}


def render_lab_report(report: LabReport) -> str:
    """Return the report as lines of text for people."""
    lines = list(_collection_lines(report.first))
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
    """Return one line about a judged collection: its deals, their origin and its tests."""
    source = source_round.source
    seed = "the system's entropy" if source.seed is None else f"seed {source.seed}"
    given_up = f", {source.given_up} attempts given up" if source.given_up else ""
    return (
        f"{source_round.deals} deals ({source.path}, {source.method}, {seed}{given_up}), "
        f"{len(source_round.results)} tests, together at 99 %"
    )


def result_cells(result: JudgedTest) -> tuple[str, ...]:
    """Return the cells of one row in the table of test results."""
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


FAMILY_BEGIN, FAMILY_END = ("<!-- the family: made from sim/lab/family.py -->", "<!-- end -->")


def render_family() -> str:
    """Return the list of all tests as Markdown for LAB.md, with the texts of family_words.toml."""
    words = read_resource("sim.lab", "family_words.toml", dict[str, dict[str, str]])
    rows = (
        f"| `{one.name}` | {words[one.name]['counted']} | {words[one.name]['expected']} "
        f"| {', '.join(one.shows)} |\n"
        for one in FAMILY
    )
    return (
        f"{len(FAMILY)} tests; SHA-256 of the list `{family_hash()}`.\n\n"
        f"| test | what the test counts | in fair deals | for |\n|---|---|---|---|\n{''.join(rows)}"
    )


def update_page(page: str) -> str:
    """Return the text of LAB.md with the present list of tests.

    Raises ValueError if the page does not have FAMILY_BEGIN and FAMILY_END.
    """
    before, found, rest = page.partition(FAMILY_BEGIN)
    _, end, after = rest.partition(FAMILY_END)
    if not (found and end):
        raise ValueError(f"the page has no {FAMILY_BEGIN} or no {FAMILY_END}")
    return f"{before}{FAMILY_BEGIN}\n{render_family()}{FAMILY_END}{after}"
