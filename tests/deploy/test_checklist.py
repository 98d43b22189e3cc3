"""The checklist: every clause has one answer, and what is said to show it is there."""

import re
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "deploy" / "CHECKLIST.md"
# What was found in the field: randomness, cards, errors, software and records.
CLAUSES = {"R": 14, "C": 7, "E": 11, "S": 11}
STANDINGS = {"met", "part", "not met", "not ours"}


class Row(NamedTuple):
    """A clause as the page has it."""

    clause: str
    asked: str
    standing: str
    answer: str
    shown: str


def rows(page: str) -> list[Row]:
    lines = [line for line in page.splitlines() if re.match(r"\| [RCES]\d+ \|", line)]
    return [Row(*(cell.strip() for cell in line.strip("|").split("|"))) for line in lines]


ROWS = rows(PAGE.read_text(encoding="utf-8"))


def missing(reference: str) -> str | None:
    """Return what of `path` or `path::test` is not there."""
    path, _, test = reference.partition("::")
    if not (ROOT / path).exists():
        return path
    if test and not re.search(rf"^(async )?def {test}\(", (ROOT / path).read_text(), re.MULTILINE):
        return reference
    return None


def test_every_clause_has_one_row() -> None:
    wanted = [f"{letter}{n}" for letter, last in CLAUSES.items() for n in range(1, last + 1)]
    assert [row.clause for row in ROWS] == wanted


def test_no_clause_is_without_an_answer(subtests: pytest.Subtests) -> None:
    for row in ROWS:
        with subtests.test(row.clause):
            assert row.asked
            assert row.standing in STANDINGS
            assert len(row.answer.split()) > 4


def test_what_shows_a_clause_is_there(subtests: pytest.Subtests) -> None:
    for row in ROWS:
        with subtests.test(row.clause):
            references = re.findall(r"`([^`]+)`", row.shown)
            assert references
            assert [gone for gone in map(missing, references) if gone] == []


def test_a_reference_that_leads_nowhere_is_noticed() -> None:
    assert missing("tests/nowhere.py") == "tests/nowhere.py"
    here = "tests/deploy/test_checklist.py"
    assert missing(f"{here}::test_gone") == f"{here}::test_gone"
    assert missing(f"{here}::test_every_clause_has_one_row") is None
