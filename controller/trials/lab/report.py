"""A report on collected deals: the family's judgement, its retest, naive methods beside it."""

import hashlib
from collections.abc import Callable
from typing import Literal

import msgspec

from controller.trials.lab.data import CollectedDeals, DealsSource
from controller.trials.lab.family import (
    FAMILY,
    FAMILY_LEVEL,
    FamilyJudgement,
    JudgedTest,
    judge_deals,
)
from controller.trials.lab.methods import UNFAIR_METHODS

UNFAIR_DEALS = 1_000
"""Deals of each naive method in a report, or as many as the report itself has."""

ReportVerdict = Literal["inside", "inside at the retest", "outside", "outside, not retested"]

VERDICT_TEXTS: dict[ReportVerdict, str] = {
    "inside": "No test is outside the family's bound.",
    "inside at the retest": "Outside at first, inside with as many fresh deals.",
    "outside": "Outside, and outside again with as many fresh deals.",
    "outside, not retested": "Outside. The one retest is due: as many fresh deals, --retest FILE.",
}


class CollectionJudgement(msgspec.Struct, frozen=True, kw_only=True):
    """One collection and its judgement. `files`: SHA-256 of each, by its name; `deals`: n.

    `unjudged` are the tests that these deals cannot answer.
    """

    deals: int
    source: DealsSource
    files: dict[str, str]
    outside: tuple[str, ...]
    unjudged: tuple[str, ...]
    results: tuple[JudgedTest, ...]


class UnfairMethodResult(msgspec.Struct, frozen=True, kw_only=True):
    """A naive method, judged by the same family: `outside` are the tests that catch it."""

    method: str
    deals: int
    outside: tuple[str, ...]


class LabReport(msgspec.Struct, frozen=True, kw_only=True):
    """All that a report says. `family`: SHA-256 of the list of tests, as LAB.md states it."""

    verdict: ReportVerdict
    level: float
    family: str
    first: CollectionJudgement
    retest: CollectionJudgement | None
    naive: tuple[UnfairMethodResult, ...]

    @property
    def last(self) -> CollectionJudgement:
        """The round that counts."""
        return self.retest or self.first

    @property
    def is_inside(self) -> bool:
        """Whether the deals are inside the family's bound, at the first time or the second."""
        return not self.last.outside


def judge_collection(
    deals: CollectedDeals, files: dict[str, str] | None = None
) -> tuple[CollectionJudgement, FamilyJudgement]:
    """Judge one collection."""
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
    """Return the report: `fresh` collects the retest's deals, None where nobody can here.

    `naive(method, deals)` deals by a naive method; None leaves them out.
    """
    retest = fresh() if first.outside and fresh is not None else None
    return LabReport(
        verdict=_verdict(first, retest),
        level=FAMILY_LEVEL,
        family=family_hash(),
        first=first,
        retest=retest,
        naive=() if naive is None else _judge_unfair_methods(naive, min(first.deals, UNFAIR_DEALS)),
    )


def conclusion_text(report: LabReport) -> str:
    """Return what a report comes to, and how much of the family it leaves open, and why."""
    last = report.last
    if not last.unjudged:
        return VERDICT_TEXTS[report.verdict]
    why = dict.fromkeys(result.why for result in last.results if result.p is None)
    return (
        f"{VERDICT_TEXTS[report.verdict]} {len(last.unjudged)} of {len(last.results)} tests "
        f"not judged: {'; '.join(why)}."
    )


def family_hash() -> str:
    """Return the SHA-256 of the names, figures and expectations of all tests."""
    stated = "\n".join("\t".join((one.name, one.counted, one.expected)) for one in FAMILY)
    return hashlib.sha256(stated.encode()).hexdigest()


def _verdict(first: CollectionJudgement, retest: CollectionJudgement | None) -> ReportVerdict:
    if not first.outside:
        return "inside"
    if retest is None:
        return "outside, not retested"
    return "outside" if retest.outside else "inside at the retest"


def _judge_unfair_methods(
    deal: Callable[[str, int], CollectedDeals], many: int
) -> tuple[UnfairMethodResult, ...]:
    return tuple(
        UnfairMethodResult(
            method=method, deals=many, outside=judge_deals(deal(method, many)).outside
        )
        for method in UNFAIR_METHODS
    )
