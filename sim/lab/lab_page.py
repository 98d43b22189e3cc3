"""The report as an HTML page, and the clauses of a test house with the tests that answer them.

The clauses come from laws and standards of several countries. The wording here is the project's.
"""

import base64
from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple

from sim.lab.deal_chain import READ_AGAIN_RATE, TRAY_RATE
from sim.lab.family import FAMILY
from sim.lab.lab_plots import ReportPicture
from sim.lab.lab_report import (
    CollectionJudgement,
    LabReport,
    conclusion_text,
    result_cells,
    source_text,
)


class Clause(NamedTuple):
    """One clause: its name, its source, its requirement, and the evidence in addition to tests."""

    name: str
    source: str
    asks: str
    shown: str


CLAUSES = (
    Clause(
        "R1", "GLI-29 2.1.1; AGCO 21.1.1",
        "Results are statistically independent.",
        "The tests of successive deals and of places apart.",
    ),
    Clause(
        "R2", "25 CFR 547.14(b)(1)",
        "Results have the distribution that they should: each combination is equally likely.",
        "The counts below; that every order comes from equally many draws is proved by counting "
        "all of them for small sets (tests/deal/test_sequence.py).",
    ),
    Clause(
        "R3", "N.J.A.C. 13:69E-1.28G(b)3",
        "Recognised tests are passed: chi-square, mono-bit, runs.",
        "Chi-square, runs and pairs below. A mono-bit count has nothing to say: each hand has 27 "
        "cards in every deal.",
    ),
    Clause(
        "R4", "25 CFR 547.14(c)(1)",
        "Nobody can foretell a result, though he knows the method and all results before.",
        "By construction, not by statistics: 32 fresh bytes of the operating system for every "
        "attempt, through SHAKE-256 (controller/deal/PROOF.md 1, 2). No test can show it.",
    ),
    Clause(
        "R5", "Greek technical rules 23.1.1",
        "The generator and the mechanical means are random together.",
        "`--path full` reads deals out of a machine's journal. The tests of the input order show "
        "that the shuffler's part does not matter. A real machine: its own collection.",
    ),
    Clause(
        "R6", "25 CFR 547.14; Greek technical rules 23.1.2; 58 Pa. Code 810a.5(c)",
        "99 %, with the named tests: overlaps, poker, coupon collector, runs, correlations …",
        "The whole family is judged at 99 %, each value is shown at 95 and 99 %.",
    ),
    Clause(
        "R7", "COMAR 36.05.02.17 F",
        "A shuffling device: 95 %, the usual chi-square of fit.",
        "The chi-square of faces and seats, with the correction for drawing without putting back.",
    ),
    Clause(
        "R8", "AGCO 21.1.3",
        "All outcomes can come.",
        "There are 108!/(27!)⁴ = 2^205.9 deals and 2^256 seeds, and the stream carries all of "
        "a seed. That each deal is reached is what SHAKE-256 is trusted for; nobody can try it.",
    ),
    Clause(
        "R9", "25 CFR 547.14(d); N.J.A.C. 13:69E-1.28G(b)5",
        "A stream is not made to come again.",
        "A seed is drawn for one attempt and used once; commitments never come twice.",
    ),
    Clause(
        "R10", "N.J.A.C. 13:69E-1.28G(b)6; 58 Pa. Code 810a.5(d)",
        "Scaling to a range favours no number.",
        "Bytes past the last full run are thrown away (PROOF.md 3): each number comes from equally "
        "many bytes (tests/deal/test_sequence.py).",
    ),
    Clause(
        "R11", "AGCO 21.1.6, 21.1.7",
        "Nobody can find out the seed; what is corrupted begins anew.",
        "Seeds rest under an attempt key in memory alone; without it the attempt is void and a "
        "new seed is drawn (deploy/THREATS.md).",
    ),
    Clause(
        "R12", "N.J.A.C. 13:69E-1.28G(c)",
        "What was selected is used: no second selection.",
        "Attempts are numbered without a gap, and a void after the cut opens its whole record "
        "(`dealtable verify`). This report says how many attempts were given up.",
    ),
    Clause(
        "R13", "15.1.7.13 NMAC B(5)",
        "Nothing from outside has an influence.",
        "Neither the order of the cards nor the reader's verdicts change where a card goes.",
    ),
    Clause(
        "R14", "GLI, RNG testing",
        "Tools that collect raw output and final outcomes with the code of the product.",
        "`dealtable lab collect`: controller.deal.sequence and the ledger deal here as at a table; "
        "the raw data is one file, and LAB.md says what is in it.",
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
_HEADS = ("test", "p", "bound", "at 95 %", "at 99 %", "found", "expected")


def render_lab_page(report: LabReport, pictures: Sequence[ReportPicture], issued: str) -> str:
    """Return the page. `issued`: the program that made the page, and the date."""
    tone = "right" if report.is_inside else "wrong"
    sections = [
        f"<h1>Statistics of dealt cards</h1><p>{escape(issued)}</p>"
        f'<p class="verdict {tone}">{escape(conclusion_text(report))}</p>',
        _subject_section(report),
        _family_section(report),
        _results_section("3. What was found", report.first),
        _results_section("3a. The retest", report.retest) if report.retest else "",
        _pictures_section(pictures),
        _unfair_section(report),
        _clauses_section(report),
        _limits_section(),
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
        f"wants {READ_AGAIN_RATE:.1%} of the cards again, and sends {TRAY_RATE:.1%} to the tray.",
        "full": "Whole simulated deals: firmware, mechanics, machine, journal; what is counted was "
        "read from the opened records.",
    }
    told = paths.get(report.first.source.path, "Deals that were given as data.")
    files = {**report.first.files, **(report.retest.files if report.retest else {})}
    listed = "".join(
        f"<li><code>{escape(name)}</code>, SHA-256 <code>{digest}</code></li>"
        for name, digest in files.items()
    )
    return (
        f"<h2>1. What was tested</h2><p>{escape(source_text(report.first))}. {escape(told)}</p>"
        + (f"<p>Raw data:</p><ul>{listed}</ul>" if files else "")
    )


def _family_section(report: LabReport) -> str:
    rows = [(one.name, one.counted, one.expected, ", ".join(one.shows)) for one in FAMILY]
    return (
        "<h2>2. What was stated beforehand</h2><p>n, these tests, and one bound over all of them "
        "(Holm, 99 %): a fair collection has one test outside with a chance of 1 % at most. "
        "Outside: one retest with as many fresh deals, and it counts. The list has the SHA-256 "
        f"<code>{report.family}</code>.</p>"
        + _table(("test", "what is counted", "in fair deals, and why", "for"), rows)
    )


def _results_section(title: str, one: CollectionJudgement) -> str:
    rows = [result_cells(result) for result in one.results]
    out = [result.outside for result in one.results]
    outside = escape(", ".join(one.outside) or "none")
    return (
        f"<h2>{title}</h2><p>{one.deals} deals. Outside the family's bound: {outside}.</p>"
        + _table(_HEADS, rows, out)
    )


def _pictures_section(pictures: Sequence[ReportPicture]) -> str:
    shown = [
        f'<figure><img alt="{escape(one.name)}" src="data:image/png;base64,'
        f'{base64.b64encode(one.png).decode()}"><figcaption>{escape(one.caption)}</figcaption>'
        "</figure>"
        for one in pictures
    ]
    return "<h2>4. Pictures</h2>" + "".join(shown)


def _unfair_section(report: LabReport) -> str:
    rows = [
        (one.method, str(one.deals), ", ".join(one.outside) or "not caught with so few deals")
        for one in report.naive
    ]
    if not rows:
        return ""
    return (
        "<h2>5. Methods that are not fair, by the same tests</h2><p>A random pocket among those "
        "that are not full; the shuffler alone; rejected cards that shift those behind them."
        "</p>" + _table(("method", "deals", "outside"), rows)
    )


def _clauses_section(report: LabReport) -> str:
    answered = {result.name for result in report.last.results if result.p is not None}
    rows = []
    for clause in CLAUSES:
        tests = [one.name for one in FAMILY if clause.name in one.shows]
        told = ", ".join(
            name if name in answered else f"{name} (not in this data)" for name in tests
        )
        rows.append((clause.name, clause.asks, clause.source, clause.shown, told or "–"))
    return "<h2>6. Clause by clause</h2>" + _table(
        ("clause", "asks", "in", "what shows it", "tests of this report"), rows
    )


def _limits_section() -> str:
    return (
        "<h2>7. What this cannot show</h2><p>Statistics show that something is there, never that "
        "nothing is: that nobody can foretell a deal follows from the proof "
        "(<code>dealtable verify</code>), not from any count. Simulated deals say nothing of a "
        "real machine's sensors and motors.</p>"
    )


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]], marked: Sequence[bool] = ()) -> str:
    head = "".join(f"<th>{escape(each)}</th>" for each in heads)
    lines = []
    for place, row in enumerate(rows):
        tone = ' class="out"' if place < len(marked) and marked[place] else ""
        told = "".join(f"<td>{escape(each)}</td>" for each in row)
        lines.append(f"<tr{tone}>{told}</tr>")
    return f"<table><tr>{head}</tr>\n" + "\n".join(lines) + "</table>"
