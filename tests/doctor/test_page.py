"""The page: a line for each finding with what to do under it, and the same as JSON."""

import json

import msgspec
from msgspec.structs import replace

from controller.doctor.doctor_checks import run_checks, worst_light
from controller.doctor.examination import Examination, page_lines
from controller.doctor.table_facts import DoctorFacts
from tests.doctor.healthy import CONFIG, FACTS


def examination(facts: DoctorFacts) -> Examination:
    findings = run_checks(CONFIG, facts)
    return Examination(
        table="T01", simulated=False, time="now", verdict=worst_light(findings), findings=findings
    )


def page(facts: DoctorFacts) -> list[str]:
    return [text for text, _ in page_lines(examination(facts))]


def test_a_page_is_one_page_wide_and_long_and_needs_no_colour() -> None:
    said = page(FACTS)
    assert said[0] == "table T01, now"
    assert len(said) <= 40
    assert all(len(line) <= 100 for line in said)
    assert "  ok swap          off: memory stays in memory" in said
    assert said[-1] == "all well (0 to see to, 1 not known here)"


def test_the_next_action_stands_under_what_is_wrong() -> None:
    facts = replace(FACTS, memory=replace(FACTS.memory, swaps=("/var/swap",)))
    said = page(facts)
    at = next(number for number, line in enumerate(said) if "/var/swap" in line)
    assert said[at].startswith("  !! swap")
    assert said[at + 1].strip() == "-> swapoff -a, and keep it off: deploy/INSTALL.md"
    assert said[-1].startswith("1 thing to mend before it deals")


def test_the_json_has_every_finding() -> None:
    told = json.loads(msgspec.json.encode(examination(FACTS)))
    assert told["verdict"] == "green"
    assert list(told["findings"]) == ["program", "boards", "computer", "table"]
    swap = next(one for one in told["findings"]["computer"] if one["check"] == "swap")
    assert swap == {
        "check": "swap",
        "light": "green",
        "text": "off: memory stays in memory",
        "do": "",
    }
