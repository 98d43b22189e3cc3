"""The page of a run: what a reader has to find there, and nothing that is not text."""

import xml.etree.ElementTree as ET
from dataclasses import dataclass

import msgspec
import pytest

from hil_tests.measuring import Limits, measured
from hil_tests.report import Run, Scenario, Verdict, page

SLOW = measured("cards_per_s", 3.0, Limits(), "bench")
KEPT = measured("lid_to_fault_s", 0.2, Limits(), "sim")


def scenario(name: str, verdict: Verdict, **fields: object) -> Scenario:
    whole = {"name": f"hil_tests/test_x.py::test_{name}", "verdict": verdict} | fields
    return Scenario(**whole)  # type: ignore[arg-type]  # fields as given


def run(*scenarios: Scenario, broken: str | None = None) -> Run:
    return Run(
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
    return Page(page(WHOLE))


def test_a_page_names_every_scenario_with_verdict_reason_steps_and_measurements(
    whole: Page,
) -> None:
    words = " ".join(whole.tree.itertext())
    for told in (
        "A card is missed",
        "不合格 FAILED",
        "it said <JAM>",
        "do take_one_card",
        "cards_per_s 3 cards/s (≥ 7: WRONG)",
        "每秒发牌张数 cards dealt a second",
        "仅记录 kept, not judged",
        "this target lacks buttons",
        "Chen <b>",
        "00000000000000d1",
        "12.5",
    ):
        assert told in words, told


def test_a_page_needs_nothing_beside_itself(whole: Page) -> None:
    for foreign in ("http", "src=", "<script", "<link", "@import", "url("):
        assert foreign not in whole.text


def test_every_scenario_of_the_overview_leads_to_its_details(whole: Page) -> None:
    tree = whole.tree
    there = {each.attrib["id"] for each in tree.iter("section")}
    led = {each.attrib["href"].removeprefix("#") for each in tree.iter("a")}
    assert led == there == {"s1", "s2", "s3"}


def rows_of(page: Page) -> list[list[str]]:
    return [["".join(cell.itertext()) for cell in row] for row in page.tree.iter("tr")]


def test_who_reads_no_further_than_the_summary_knows_what_failed_and_what_was_not_shown(
    whole: Page,
) -> None:
    top = Page(f"<body>{whole.text.partition('<body>')[2].partition('Equipment')[0]}</h2></body>")
    words = " ".join(top.tree.itertext())
    assert words.index("不合格 FAILED") < words.index("摘要 Summary")
    rows = rows_of(top)
    assert ["不合格 FAILED", "1"] in rows
    assert ["未测 skipped", "1"] in rows
    assert ["项目总数 scenarios in all", "3"] in rows
    assert ["超限的测量值 measurements out of limits", "1"] in rows
    assert ["仅记录的测量值 measurements kept, not judged", "1"] in rows
    assert ["it said <JAM>", "1. A card is missed"] in rows
    assert ["this target lacks buttons", "3. A button is pressed"] in rows


def test_every_measurement_stands_with_its_limit_unit_and_verdict(whole: Page) -> None:
    rows = rows_of(whole)
    assert [
        "每秒发牌张数 cards dealt a second",
        "A card is missed",
        "3",
        "≥\N{NO-BREAK SPACE}7",
        "cards/s",
        "不合格 FAILED",
    ] in rows
    assert [
        "开盖至报警 from the opened lid to the fault shown",
        "A lid is opened",
        "0.2",
        "≤\N{NO-BREAK SPACE}3",
        "s",
        "仅记录 kept, not judged",
    ] in rows


def test_the_counters_of_a_scenario_stand_in_its_details(whole: Page) -> None:
    details = {each.attrib["id"]: " ".join(each.itertext()) for each in whole.tree.iter("section")}
    assert "Counters: misreads 2" in details["s1"]
    assert "Counters: misreads 1" in details["s2"]


def test_a_page_can_be_printed(whole: Page) -> None:
    assert "@page" in whole.text
    heads = [row for table in whole.tree.iter("table") for row in table.iterfind("thead/tr")]
    assert heads, "heads are repeated on every sheet"


def test_what_a_scenario_was_run_with_is_told_as_it_is() -> None:
    one = scenario("a_fault[jam:at=9,place=window]", "passed")
    assert one.title == "A fault [jam:at=9,place=window]"
    assert one.group == "X"


def test_counters_are_summed_over_all_scenarios(whole: Page) -> None:
    rows = [[cell.text for cell in row] for row in whole.tree.iter("tr")]
    assert ["misreads", "3"] in rows


def test_a_run_fails_where_anything_failed_or_nothing_was_shown() -> None:
    passed, skipped = scenario("a", "passed"), scenario("b", "skipped")
    assert run(passed, skipped).verdict == "passed"
    assert WHOLE.verdict == "failed"
    assert run(skipped).verdict == "failed"
    assert run().verdict == "failed"
    assert run(passed, scenario("c", "not run")).verdict == "failed"
    assert run(passed, broken="no board answers").verdict == "failed"
    assert "no board answers" in page(run(passed, broken="no board answers"))


def test_a_measurement_is_right_on_its_side_of_the_limit() -> None:
    assert msgspec.structs.asdict(SLOW)["right"] is False
    assert KEPT.right is None
