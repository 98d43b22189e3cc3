"""The page of a run: what a reader has to find there, and nothing that is not text."""

import xml.etree.ElementTree as ET
from dataclasses import dataclass

import pytest

from hil_tests.harness.measurements import MeasurementLimits, make_measurement
from hil_tests.harness.run_report import ScenarioResult, ScenarioRun, ScenarioVerdict, render_page

SLOW = make_measurement("cards_per_s", 3.0, MeasurementLimits(), "bench")
KEPT = make_measurement("lid_to_fault_s", 0.2, MeasurementLimits(), "sim")


def scenario(name: str, verdict: ScenarioVerdict, **fields: object) -> ScenarioResult:
    whole = {"name": f"hil_tests/test_x.py::test_{name}", "verdict": verdict} | fields
    return ScenarioResult(**whole)  # type: ignore[arg-type]  # fields as given


def run(*scenarios: ScenarioResult, broken: str | None = None) -> ScenarioRun:
    return ScenarioRun(
        began="2027-01-01T10:00:00",
        ended="2027-01-01T11:00:00",
        about={"operator": "Chen <b>", "dealer id": "00000000000000d1"},
        scenarios=scenarios,
        broken=broken,
    )


WHOLE = run(
    scenario(
        "a_card_is_missed",
        "failed",
        why="it said <JAM>\nand more",
        steps=("do take_one_card",),
        measurements=(SLOW,),
        numbers={"misreads": 2.0},
        took_s=12.5,
    ),
    scenario("a_lid_is_opened", "passed", measurements=(KEPT,), numbers={"misreads": 1.0}),
    scenario("a_button_is_pressed", "skipped", why="this target lacks buttons"),
)


@dataclass(frozen=True)
class Page:
    text: str

    @property
    def tree(self) -> ET.Element:
        body = self.text.partition("<body>")[2].partition("</body>")[0]
        return ET.fromstring(f"<body>{body}</body>")


@pytest.fixture(scope="module")
def whole() -> Page:
    return Page(render_page(WHOLE))


def rows_of(page: Page) -> list[list[str]]:
    return [["".join(cell.itertext()) for cell in row] for row in page.tree.iter("tr")]


def test_a_page_names_every_scenario_with_verdict_reason_steps_and_measurements(
    whole: Page,
) -> None:
    words = " ".join(whole.tree.itertext())
    told = (
        *("A card is missed", "不合格 FAILED", "it said <JAM>", "do take_one_card", "12.5"),
        *("cards_per_s 3 cards/s (≥ 7: WRONG)", "this target lacks buttons"),
        *("Chen <b>", "00000000000000d1"),
    )
    assert [word for word in told if word not in words] == []
    details = {each.attrib["id"]: " ".join(each.itertext()) for each in whole.tree.iter("section")}
    assert "Counters: misreads 2" in details["s1"]
    assert "Counters: misreads 1" in details["s2"]
    assert ["misreads", "3"] in rows_of(whole)
    assert {each.attrib["href"].removeprefix("#") for each in whole.tree.iter("a")} == set(details)


def test_a_page_needs_nothing_beside_itself_and_repeats_its_heads_on_every_sheet(
    whole: Page,
) -> None:
    foreign = ("http", "src=", "<script", "<link", "@import", "url(")
    assert [word for word in foreign if word in whole.text] == []
    assert "@page" in whole.text
    assert [row for table in whole.tree.iter("table") for row in table.iterfind("thead/tr")]


def test_who_reads_no_further_than_the_summary_knows_what_failed_and_what_was_not_shown(
    whole: Page,
) -> None:
    top = Page(f"<body>{whole.text.partition('<body>')[2].partition('Equipment')[0]}</h2></body>")
    words = " ".join(top.tree.itertext())
    assert words.index("不合格 FAILED") < words.index("摘要 Summary")
    wanted = [
        ["不合格 FAILED", "1"],
        ["未测 skipped", "1"],
        ["项目总数 scenarios in all", "3"],
        ["超限的测量值 measurements out of limits", "1"],
        ["仅记录的测量值 measurements kept, not judged", "1"],
        ["it said <JAM>", "1. A card is missed"],
        ["this target lacks buttons", "3. A button is pressed"],
    ]
    assert [row for row in wanted if row not in rows_of(top)] == []


def test_every_measurement_stands_with_its_limit_unit_and_verdict(whole: Page) -> None:
    at_least, at_most = "≥\N{NO-BREAK SPACE}7", "≤\N{NO-BREAK SPACE}3"
    dealt, lid = (
        "每秒发牌张数 cards dealt a second",
        "开盖至报警 from the opened lid to the fault shown",
    )
    rows = rows_of(whole)
    assert [dealt, "A card is missed", "3", at_least, "cards/s", "不合格 FAILED"] in rows
    assert [lid, "A lid is opened", "0.2", at_most, "s", "仅记录 kept, not judged"] in rows
    assert (SLOW.is_within_limit, KEPT.is_within_limit) == (False, None)


def test_what_a_scenario_was_run_with_is_told_as_it_is() -> None:
    one = scenario("a_fault[jam:at=9,place=window]", "passed")
    assert (one.title, one.group) == ("A fault [jam:at=9,place=window]", "X")


def test_a_run_fails_where_anything_failed_or_nothing_was_shown() -> None:
    passed, skipped = scenario("a", "passed"), scenario("b", "skipped")
    assert run(passed, skipped).verdict == "passed"
    assert WHOLE.verdict == "failed"
    assert run(skipped).verdict == "failed"
    assert run().verdict == "failed"
    assert run(passed, scenario("c", "not run")).verdict == "failed"
    assert run(passed, broken="no board answers").verdict == "failed"
    assert "no board answers" in render_page(run(passed, broken="no board answers"))
