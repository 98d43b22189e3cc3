"""Fault-finding has every fault of the catalogue, in both languages."""

import re

import pytest

from controller.faults import Language, fault_catalogue
from tests.deploy.faultpage import PAGES, REFUSALS_FROM, more, parts, symptom


@pytest.mark.parametrize("language", PAGES)
def test_every_fault_has_one_row_with_every_cell_filled(language: Language) -> None:
    text = PAGES[language].read_text("utf-8")
    rows = re.findall(r"^\| (\d+) ([A-Z_]+) \|(.*)\|$", text, re.MULTILINE)
    assert sorted(name for _, name, _ in rows) == sorted(fault_catalogue())
    for code, name, rest in rows:
        assert int(code) == fault_catalogue()[name].code
        cells = [cell.strip() for cell in rest.split(" | ")]
        assert len(cells) == 6
        assert all(cells)


def test_every_fault_of_the_machine_says_its_part_and_what_comes_then() -> None:
    told = more()["fault"]
    assert set(told) == {
        fault.name for fault in fault_catalogue().values() if fault.code < REFUSALS_FROM
    }
    for name, row in told.items():
        assert row["symptom"] in more()["symptom"], name
        assert set(row["parts"]) <= set(parts()), name
        assert len(row["then"]) == 2


def test_no_symptom_is_without_a_fault() -> None:
    assert {symptom(fault) for fault in fault_catalogue().values()} == set(more()["symptom"])


def test_all_that_a_cause_is_told_with_has_words() -> None:
    for fault in fault_catalogue().values():
        names = set(re.findall(r"\{(\w+)\}", fault.cause_en + fault.cause_zh))
        assert names <= set(more()["evidence"]), fault.name


def test_every_link_within_a_page_leads_to_a_heading() -> None:
    for path in PAGES.values():
        text = path.read_text("utf-8")
        heads = {
            re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-")
            for head in re.findall(r"^#+ (.+)$", text, re.MULTILINE)
        }
        assert set(re.findall(r"\]\(#([^)]+)\)", text)) <= heads
