"""What the pages make of values: how many there are, brackets, the stop of an area's clocks."""

import json
import re
from typing import Any

import pytest

from controller.faults import fault
from controller.words import REASON_WORDS
from tests.console.modules import Page
from tests.console.word_files import STATIC, WORDS, taught

STOP = {
    "since_ms": 1_000_000,
    "why_en": "fire alarm",
    "why_zh": "火警",
    "by_en": "Zhang Hui (chief)",
    "by_zh": "Zhang Hui（裁判长）",
}


def page(module: str, language: str, *words: str) -> Page:
    """Return a module whose page has taught these words."""
    found = Page(module, language)
    for name in words:
        texts = taught(STATIC / "words" / f"{name}.mjs")
        told = json.dumps(texts, ensure_ascii=False)
        found.runs(
            f"M[Object.keys(M).find((one) => one.endsWith('js/words.mjs'))].addTexts({told})"
        )
    return found


@pytest.mark.parametrize(
    ("n", "said"), [(0, "0 deals behind"), (1, "1 deal behind"), (2, "2 deals behind")]
)
def test_english_counts_one_thing_as_one(n: int, said: str) -> None:
    words = page("words.mjs", "en", "chief")
    assert words.says(f"page.say('chief.behind', {{ n: {n} }})") == said
    assert words.says(f"page.say('chief.behind', {{ n: '{n}' }})") == said


def test_no_english_words_count_one_as_many() -> None:
    wrong = [
        (path.stem, key, pair)
        for path in WORDS
        for key, pair in taught(path).items()
        if _MANY.search(pair[1]) and key != "proof.sequence"  # of 52 and of 108
    ]
    assert wrong == []


def test_a_refusal_at_a_stopped_area_has_the_words_of_the_banner() -> None:
    zh, en = taught(STATIC / "words" / "common.mjs")["stop.area"]
    stopped = fault("AREA_STOPPED")
    assert (stopped.cause(language="zh"), stopped.cause()) == (zh, en)


@pytest.mark.parametrize("key", ["rulings.outcome.wrong", "rulings.redeal-text"])
def test_a_wrong_count_names_the_set_that_is_dealt_next_by_its_back(key: str) -> None:
    assert "换用另一套牌（另一种牌背）" in taught(STATIC / "words" / "rulings.mjs")[key][0]


_MANY = re.compile(r"\{(?:n|m|s|all|rows|deals|attempts)\} (?:new )?[a-z]+s\b")


def area(**view: Any) -> str:
    """Return an area as the stream tells it."""
    known = {"held": [], "playing": 3, "stop": None}
    return json.dumps(known | view, ensure_ascii=False)


@pytest.mark.parametrize(
    ("language", "held", "said"),
    [
        ("zh", 3, ["全区停表", "Zhang Hui（裁判长）", "火警"]),
        ("en", 3, ["Clocks stopped", "by Zhang Hui (chief)", "fire alarm"]),
        ("zh", 1, ["停表 1/3 台", "Zhang Hui（裁判长）", "火警"]),
        ("en", 1, ["Clocks stopped at 1 of 3 tables", "by Zhang Hui (chief)", "fire alarm"]),
    ],
)
def test_a_stop_in_force_is_told_with_since_when_by_whom_and_why(
    language: str, held: int, said: list[str]
) -> None:
    words = page("areas.mjs", language, "areas")
    view = area(held=["T01", "T02", "T03"][:held], stop=STOP)
    first, since, *rest = words.says(f"page.areaStopText({view})").split(" · ")
    assert [first, *rest] == said
    assert since.startswith("自" if language == "zh" else "since ")


def test_nothing_is_told_of_a_stop_where_the_clocks_run() -> None:
    assert page("areas.mjs", "zh", "areas").says(f"page.areaStopText({area()})") == ""


@pytest.mark.parametrize(
    ("language", "said"),
    [("zh", "全区停表：火警"), ("en", "The clocks of the area are stopped: fire alarm")],
)
def test_a_row_tells_the_stop_that_holds_at_its_table(language: str, said: str) -> None:
    words = page("rows.mjs", language, "hall")
    row = json.dumps({"stop": STOP, "pairs": {}, "levels": {}})
    assert said in words.says(f"page.rowFacts({row})")
    stop = page("area-stop.mjs", language, "common")
    assert stop.says("page.clockStopText({ stop: null })") == ""


def test_a_pairs_number_stands_in_brackets_of_the_readers_language() -> None:
    pairs = {"NS": {"id": "7", "name": "海河"}, "EW": {"id": "8", "name": "8"}}
    row = json.dumps({"pairs": pairs, "levels": {}}, ensure_ascii=False)
    assert page("rows.mjs", "zh", "hall").says(f"page.rowFacts({row})") == ["海河（7） 对 8"]
    assert page("rows.mjs", "en", "hall").says(f"page.rowFacts({row})") == ["海河 (7) v 8"]


def test_a_reason_that_the_page_proposes_is_the_one_that_its_key_stands_for() -> None:
    zh, en = taught(STATIC / "words" / "table.mjs")["table.reason.at_table"]
    assert (REASON_WORDS["at_table"].zh, REASON_WORDS["at_table"].en) == (zh, en)


@pytest.mark.parametrize(
    ("language", "typed", "sent"),
    [
        ("zh", "裁判到台处理", "at_table"),
        ("en", "the referee is at the table", "at_table"),
        ("en", "a glass fell over", "a glass fell over"),
    ],
)
def test_the_reason_that_the_page_proposes_goes_out_by_its_key(
    language: str, typed: str, sent: str
) -> None:
    forms = page("table/forms.mjs", language, "table")
    forms.runs(
        "var ctx = { state: { match: {}, machine: {} }, me: { role: 'referee' },"
        " fresh: () => false, commands: { hold: { args: [{ name: 'reason', kind: 'text' }] } } }"
    )
    asked = "page.commandQuestion(ctx, 'hold')"
    proposed = REASON_WORDS["at_table"].zh if language == "zh" else REASON_WORDS["at_table"].en
    assert forms.says(f"{asked}.form.fields[0].value") == proposed
    assert forms.says(f"{asked}.pack({{ reason: {json.dumps(typed)} }})") == {"reason": sent}


@pytest.mark.parametrize(
    ("language", "by", "said"),
    [
        ("zh", "Wu Jun (referee)", "Wu Jun（裁判员）"),
        ("en", "Wu Jun (referee)", "Wu Jun (referee)"),
        ("zh", "Wu Jun (Hall-1-referee)", "Wu Jun（Hall-1 裁判员）"),
        ("en", "Wu Jun (Hall-1-referee)", "Wu Jun (Hall-1 referee)"),
        ("zh", "Hall-1-chief", "Hall-1 裁判长"),
        ("zh", "anna-2", "anna-2"),
        ("zh", "chief", "裁判长"),
        ("zh", "李娜", "李娜"),
    ],
)
def test_who_gave_an_order_is_named_with_his_role_in_the_readers_language(
    language: str, by: str, said: str
) -> None:
    assert page("sender.mjs", language).says(f"page.senderText({json.dumps(by)})") == said


@pytest.mark.parametrize(
    ("loaded", "out", "said"), [("S1", None, "S1"), ("S2", "S1", "S2"), ("S1", "S1", None)]
)
def test_a_set_is_with_the_players_or_in_the_machine_and_never_both(
    loaded: str, out: str | None, said: str | None
) -> None:
    machine = json.dumps({"card_set": loaded, "set_out": out})
    assert page("table/machine.mjs", "en").says(f"page.findNextSet({machine})") == said
