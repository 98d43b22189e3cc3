"""The HTML page of a lab report: requirements of test houses, statistical tests, results.

The clauses are from the law and the standards of several countries, in our own words.
"""

import base64
import io
from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from controller.cards import FACE_COUNT, face_text
from controller.seats import SEATS
from sim.lab import deal_statistics
from sim.lab.chances import PAIR, four_cards_at_seat, longest_run_chances, pairs_variance
from sim.lab.collected_deals import CARDS, CollectedDeals
from sim.lab.deal_chain import READ_AGAIN_RATE, TRAY_RATE
from sim.lab.deal_measures import JOKERS, DealMeasures, Ints
from sim.lab.family import FAMILY, FamilyJudgement
from sim.lab.lab_report import (
    CollectionJudgement,
    LabReport,
    conclusion_text,
    result_cells,
    source_text,
)
from sim.lab.statistical_tests import SAME_SEAT_VARIANCE, pair_degrees

_MIN_CHANCE = 1e-12


class ReportPicture(NamedTuple):
    """One picture of a report: its name, its caption and its PNG data."""

    name: str
    caption: str
    png: bytes


def draw_pictures(deals: CollectedDeals, judgement: FamilyJudgement) -> tuple[ReportPicture, ...]:
    """Return all pictures of a report on `deals`."""
    seen = DealMeasures(deals)
    drawn: list[tuple[str, str, Callable[[], Figure]]] = [
        ("chances", "The chance of each test's value in fair deals, beside its bound.",
         lambda: _draw_chances(judgement)),
        ("type-seat", "Each face at each seat: how many deviations from n/2.",
         lambda: _draw_by_label(deals, FACE_COUNT)),
        ("index-seat", "Each feed index at each seat: how many deviations from n/4.",
         lambda: _draw_by_label(deals, CARDS)),
        ("pairs", "Figures of each deal (bars) and their chances (line).",
         lambda: _draw_pairs(seen)),
        ("runs-jokers", "The longest run of a pocket, and a seat's jokers, beside exact chances.",
         lambda: _draw_runs_and_jokers(seen)),
    ]  # fmt: skip
    pictures = []
    for name, caption, draw in drawn:
        figure, out = draw(), io.BytesIO()
        FigureCanvasAgg(figure)
        figure.savefig(out, format="png", dpi=110)
        pictures.append(ReportPicture(name, caption, out.getvalue()))
    return tuple(pictures)


def _draw_chances(judgement: FamilyJudgement) -> Figure:
    figure = Figure(figsize=(8, 6), layout="constrained")
    axes = figure.subplots()
    asked = [result for result in judgement.results if result.p is not None]
    names = [result.name for result in reversed(asked)]
    chances = [max(result.p or 0.0, _MIN_CHANCE) for result in reversed(asked)]
    bounds = [result.bound for result in reversed(asked)]
    lines = np.arange(len(names))
    axes.scatter(bounds, lines, marker="|", s=120, color="firebrick", label="Holm's bound")
    axes.scatter(chances, lines, color="navy", s=18, label="p")
    axes.set_xscale("log")
    axes.set_yticks(lines, names)
    axes.set_xlabel("chance in fair deals")
    axes.grid(axis="x", alpha=0.3)
    figure.legend(loc="outside upper right", ncols=2)
    return figure


def _draw_by_label(deals: CollectedDeals, labels: int) -> Figure:
    label_of = deals.cards % FACE_COUNT if labels == FACE_COUNT else np.arange(CARDS)
    found = deal_statistics.SeatCounts(labels, label_of, deals.seats)
    expected = np.maximum(found.expected, 1)[:, None]
    off = (found.counts - expected) / np.sqrt(expected * 3 / 4)
    figure = Figure(figsize=(11, 2.6), layout="constrained")
    axes = figure.subplots()
    image = axes.imshow(off.T, cmap="RdBu", vmin=-4, vmax=4, aspect="auto")
    axes.set_yticks(range(len(SEATS)), SEATS)
    if labels == FACE_COUNT:
        axes.set_xticks(range(FACE_COUNT), [*map(face_text, range(FACE_COUNT))], rotation=90)
    else:
        axes.set_xticks(range(8, CARDS, 9), [str(place) for place in range(9, CARDS + 1, 9)])
    figure.colorbar(image, ax=axes, label="deviations")
    return figure


def _draw_pairs(seen: DealMeasures) -> Figure:
    half = float(PAIR)
    shown: list[tuple[str, Ints | None, float, float]] = [
        ("neighbours in the feed order, one pocket", seen.adjacent, 107 * half,
         pairs_variance(pair_degrees(1))),
        ("twins in one hand", seen.twins, 54 * half, pairs_variance([1] * CARDS)),
        ("neighbours in the stack, one hand", seen.neighbours_together, 107 * half,
         pairs_variance(pair_degrees(1))),
        ("cards at the seat of the deal before", seen.carried_over, 27.0, SAME_SEAT_VARIANCE),
    ]  # fmt: skip
    figure = Figure(figsize=(9, 6), layout="constrained")
    for axes, (title, figures, mean, variance) in zip(
        figure.subplots(2, 2).ravel(), shown, strict=True
    ):
        axes.set_title(title, fontsize=10)
        if figures is None or not len(figures):
            axes.text(0.5, 0.5, "not in these deals", ha="center", va="center")
            axes.set_axis_off()
            continue
        counts = np.bincount(figures)
        axes.bar(np.arange(len(counts)), counts / len(figures), color="lightsteelblue")
        over = np.arange(mean - 5 * variance**0.5, mean + 5 * variance**0.5, 0.25)
        normal = np.exp(-((over - mean) ** 2) / (2 * variance)) / (2 * np.pi * variance) ** 0.5
        axes.plot(over, normal, color="firebrick")
    return figure


def _draw_runs_and_jokers(seen: DealMeasures) -> Figure:
    figure = Figure(figsize=(9, 3.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    exact = [float(chance) for chance in longest_run_chances()[:13]]
    runs = np.bincount(seen.longest, minlength=13)[:13]
    _draw_side_by_side(left, "longest run of one pocket", runs, exact)
    held = seen.seat_of[:, list(JOKERS)]
    counts = sum(np.bincount((held == seat).sum(1), minlength=5) for seat in range(len(SEATS)))
    chances = [float(chance) for chance in four_cards_at_seat()]
    _draw_side_by_side(right, "jokers of a seat", np.asarray(counts), chances)
    return figure


def _draw_side_by_side(axes: Axes, title: str, counts: Ints, chances: list[float]) -> None:
    places = np.arange(len(chances))
    axes.set_title(title, fontsize=10)
    axes.bar(places - 0.2, counts / max(1, counts.sum()), 0.4, color="steelblue", label="found")
    axes.bar(places + 0.2, chances, 0.4, color="lightgray", label="exact chance")
    axes.set_xticks(places)
    axes.legend()


class Clause(NamedTuple):
    """One requirement of a law or a standard, and a text about the evidence for it.

    `source`: the law or the standard. `asks`: the requirement. `shown`: the evidence.
    """

    name: str
    source: str
    asks: str
    shown: str


CLAUSES = (
    Clause(
        "R1", "GLI-29 2.1.1; AGCO 21.1.1",
        "Results are statistically independent.",
        "The tests of successive deals and of distant places.",
    ),
    Clause(
        "R2", "25 CFR 547.14(b)(1)",
        "Results have the right distribution: each combination is equally likely.",
        "The counts below. For small sets all draws are counted: every order comes from the same "
        "number of draws (tests/deal/test_sequence.py).",
    ),
    Clause(
        "R3", "N.J.A.C. 13:69E-1.28G(b)3",
        "Recognised tests are passed: chi-square, mono-bit, runs.",
        "Chi-square, runs and pairs below. A mono-bit count has no meaning here: each hand has 27 "
        "cards in every deal.",
    ),
    Clause(
        "R4", "25 CFR 547.14(c)(1)",
        "A person who knows the method and all earlier results cannot predict a result.",
        "By construction, not by statistics: 32 fresh bytes of the operating system for every "
        "attempt, through SHAKE-256 (controller/deal/PROOF.md 1, 2). No test can show it.",
    ),
    Clause(
        "R5", "Greek technical rules 23.1.1",
        "The generator and the mechanical means are random together.",
        "`--path full` reads deals from a machine's journal. The tests of the input order show "
        "that the shuffler has no influence. A real machine needs its own collection.",
    ),
    Clause(
        "R6", "25 CFR 547.14; Greek technical rules 23.1.2; 58 Pa. Code 810a.5(c)",
        "99 %, with the named tests: overlaps, poker, coupon collector, runs, correlations …",
        "The whole family is judged at 99 %. Each value is shown at 95 % and 99 %.",
    ),
    Clause(
        "R7", "COMAR 36.05.02.17 F",
        "A shuffling device passes the usual chi-square test of fit at 95 %.",
        "The chi-square of faces and seats, with the correction for drawing without replacement.",
    ),
    Clause(
        "R8", "AGCO 21.1.3",
        "All outcomes are possible.",
        "There are 108!/(27!)⁴ = 2^205.9 deals and 2^256 seeds, and the stream depends on the "
        "whole seed. That each deal is possible is an assumption about SHAKE-256. It cannot be "
        "tested.",
    ),
    Clause(
        "R9", "25 CFR 547.14(d); N.J.A.C. 13:69E-1.28G(b)5",
        "A stream is not repeated.",
        "A seed is drawn for one attempt and used once. No commitment is repeated.",
    ),
    Clause(
        "R10", "N.J.A.C. 13:69E-1.28G(b)6; 58 Pa. Code 810a.5(d)",
        "Scaling to a range favours no number.",
        "Bytes after the last complete range are discarded (PROOF.md 3). So each number comes from "
        "the same number of byte values (tests/deal/test_sequence.py).",
    ),
    Clause(
        "R11", "AGCO 21.1.6, 21.1.7",
        "The seed cannot be found out. After damage the generator starts with a new seed.",
        "Seeds are encrypted with an attempt key, which exists only in memory. Without the key the "
        "attempt is void and a new seed is drawn (deploy/THREATS.md).",
    ),
    Clause(
        "R12", "N.J.A.C. 13:69E-1.28G(c)",
        "The selected result is used. There is no second selection.",
        "Attempts are numbered without a gap, and the whole record of an attempt that ends void "
        "after the cut is published (`dealtable verify`). This report has the number of attempts "
        "that were given up.",
    ),
    Clause(
        "R13", "15.1.7.13 NMAC B(5)",
        "Results do not depend on anything outside.",
        "Neither the order of the cards nor the reader's verdicts change the pocket of a card.",
    ),
    Clause(
        "R14", "GLI, RNG testing",
        "Tools that collect raw output and final outcomes with the code of the product.",
        "`dealtable lab collect` runs controller.deal.sequence and the ledger as a table does. The "
        "raw data is one file. LAB.md describes its contents.",
    ),
)  # fmt: skip


_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem;
  color: #1a1a1a; background: #fff }
table { border-collapse: collapse; width: 100%; margin: .6rem 0 1.4rem }
th, td { border: 1px solid #ccc; padding: .25rem .5rem; text-align: left; vertical-align: top }
th { background: #f0f2f5 } .out { background: #fbe3e3 } figure { margin: 1.2rem 0 }
img { max-width: 100% } .verdict { font-size: 1.15rem; padding: .6rem 1rem; border: 2px solid }
.right { border-color: #2e7d32 } .wrong { border-color: #c62828 } code { font-size: .9em }
"""
_LIMITS = (
    "<h2>7. What this cannot show</h2><p>Statistics show that something is there, never that "
    "nothing is: that nobody can foretell a deal follows from the proof "
    "(<code>dealtable verify</code>), not from any count. Simulated deals say nothing of a "
    "real machine's sensors and motors.</p>"
)
_HEADS = ("test", "p", "bound", "at 95 %", "at 99 %", "found", "expected")


def render_lab_page(report: LabReport, pictures: Sequence[ReportPicture], issued: str) -> str:
    """Return the HTML page of a report. `issued`: the program that made the page, and the time."""
    tone = "right" if report.is_inside else "wrong"
    rows = [(one.name, one.counted, one.expected, ", ".join(one.shows)) for one in FAMILY]
    sections = [
        f"<h1>Statistics of dealt cards</h1><p>{escape(issued)}</p>"
        f'<p class="verdict {tone}">{escape(conclusion_text(report))}</p>',
        _subject_section(report),
        (
            "<h2>2. Tests</h2><p>Stated beforehand: n, these tests, and one bound over all of them "
            "(Holm, 99 %). A fair collection has a test outside the bound with a chance of at most "
            "1 %. If a test is outside, one retest is made with as many new deals, and the retest "
            f"counts. The SHA-256 of the list is <code>{report.family}</code>.</p>"
            + _table(("test", "counted", "in fair deals, with the reason", "for"), rows)
        ),
        _results_section("3. Results", report.first),
        _results_section("3a. The retest", report.retest) if report.retest else "",
        "<h2>4. Pictures</h2>"
        + "".join(
            f'<figure><img alt="{escape(one.name)}" src="data:image/png;base64,'
            f'{base64.b64encode(one.png).decode()}"><figcaption>{escape(one.caption)}</figcaption>'
            "</figure>"
            for one in pictures
        ),
        _unfair_section(report),
        _clauses_section(report),
        _LIMITS,
    ]
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>Statistics of dealt cards</title><style>{_STYLE}</style></head>\n<body>\n"
        + "\n".join(sections)
        + "\n</body></html>\n"
    )


def _subject_section(report: LabReport) -> str:
    paths = {
        "sequence": "The production code of commitment, sequence and tray places deals over a "
        "simulated order of cards: the hands as they were played, then riffles. A simulated reader "
        f"reads {READ_AGAIN_RATE:.1%} of the cards again, and sends {TRAY_RATE:.1%} to the tray.",
        "full": "Whole simulated deals: firmware, mechanics, machine, journal. The counts are from "
        "the opened records.",
    }
    path = paths.get(report.first.source.path, "The deals were supplied as data.")
    files = {**report.first.files, **(report.retest.files if report.retest else {})}
    listed = "".join(
        f"<li><code>{escape(name)}</code>, SHA-256 <code>{digest}</code></li>"
        for name, digest in files.items()
    )
    return f"<h2>1. Deals</h2><p>{escape(source_text(report.first))}. {escape(path)}</p>" + (
        f"<p>Raw data:</p><ul>{listed}</ul>" if files else ""
    )


def _results_section(title: str, one: CollectionJudgement) -> str:
    rows = [result_cells(result) for result in one.results]
    out = [result.outside for result in one.results]
    outside = escape(", ".join(one.outside) or "none")
    return (
        f"<h2>{title}</h2><p>{one.deals} deals. Outside the family's bound: {outside}.</p>"
        + _table(_HEADS, rows, out)
    )


def _unfair_section(report: LabReport) -> str:
    rows = [
        (one.method, str(one.deals), ", ".join(one.outside) or "not caught with so few deals")
        for one in report.naive
    ]
    if not rows:
        return ""
    return (
        "<h2>5. The same tests on methods that are not fair</h2><p>The methods are: a random "
        "pocket among those that are not full; the shuffler alone; a rejected card shifts the "
        "places of the cards after it.</p>" + _table(("method", "deals", "outside"), rows)
    )


def _clauses_section(report: LabReport) -> str:
    answered = {result.name for result in report.last.results if result.p is not None}
    rows = []
    for clause in CLAUSES:
        tests = [one.name for one in FAMILY if clause.name in one.shows]
        named = (name if name in answered else f"{name} (not in this data)" for name in tests)
        names = ", ".join(named) or "–"
        rows.append((clause.name, clause.asks, clause.source, clause.shown, names))
    return "<h2>6. Clauses</h2>" + _table(
        ("clause", "requirement", "source", "evidence", "tests of this report"), rows
    )


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]], marked: Sequence[bool] = ()) -> str:
    head = "".join(f"<th>{escape(each)}</th>" for each in heads)
    lines = []
    for place, row in enumerate(rows):
        tone = ' class="out"' if place < len(marked) and marked[place] else ""
        cells = "".join(f"<td>{escape(each)}</td>" for each in row)
        lines.append(f"<tr{tone}>{cells}</tr>")
    return f"<table><tr>{head}</tr>\n" + "\n".join(lines) + "</table>"
