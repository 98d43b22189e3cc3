"""A journal's entry in plain words: every kind, every event of a match, both languages."""

import re
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.commands.registry import COMMANDS
from controller.console.feed.journal_positions import insert_in_order
from controller.console.view.event_lines import (
    LINE_BY_KIND,
    NO_CONTEXT,
    describe_event,
    describe_events,
)
from controller.console.view.match_event_lines import LINE_BY_MATCH_EVENT, describe_match_event
from controller.journal.entry_kinds import ENTRY_KINDS as JOURNAL
from controller.match.match_events import MatchEvent
from controller.messages import PublicEvent
from controller.words import CALL_WORDS, COMMAND_WORDS
from tests.console.match_entries import entries
from tests.match.table import Table

ROOT = Path(__file__).parents[2]
_BLOCK = re.compile(r"```json\n(.*?)```", re.DOTALL)
_PAGE = (ROOT / "controller" / "messages.md").read_text(encoding="utf-8")


def examples(section: str) -> list[Any]:
    """Return the examples of a section of messages.md."""
    begin = _PAGE.index(f"<!-- example: {section} -->")
    text = _PAGE[begin : _PAGE.index("<!-- end -->", begin)]
    return [msgspec.json.decode(block[1]) for block in _BLOCK.finditer(text)]


EVENTS = [msgspec.convert(raw, PublicEvent) for raw in examples("events")]
MATCHES = examples("match events")


def match_event(**data: Any) -> PublicEvent:
    """Return an entry of a match."""
    return msgspec.structs.replace(EVENTS[0], kind="match", deal=2, data={"at_ms": 1} | data)


def test_every_public_kind_and_every_event_of_a_match_has_its_words() -> None:
    assert set(LINE_BY_KIND) == {kind for kind, row in JOURNAL.items() if row.public}
    assert set(LINE_BY_MATCH_EVENT) == {
        event.__struct_config__.tag for event in get_args(MatchEvent)
    }
    assert {event.kind for event in EVENTS} == set(LINE_BY_KIND)
    assert {data["event"] for data in MATCHES} == set(LINE_BY_MATCH_EVENT)


def test_an_entry_is_one_line_of_each_language(subtests: pytest.Subtests) -> None:
    for event in EVENTS:
        with subtests.test(kind=event.kind):
            line = describe_event(event)
            assert line.en != event.kind
            assert line.zh != event.kind
            _reads_well(line.en, line.zh)


def test_an_event_of_a_match_is_one_line_of_each_language(subtests: pytest.Subtests) -> None:
    for data in MATCHES:
        with subtests.test(event=data["event"]):
            words = describe_match_event(data, NO_CONTEXT)
            assert words.en != data["event"]
            _reads_well(words.en, words.zh)


def test_what_a_referee_was_called_for_and_saw_to_is_told_in_both_languages(
    subtests: pytest.Subtests,
) -> None:
    for need, words in CALL_WORDS.items():
        data = {"name": need, "by": "Lin (referee)", "board": ""}
        with subtests.test(need=need):
            line = describe_event(
                msgspec.structs.replace(EVENTS[0], kind="acknowledged", data=data)
            )
            assert line.en == f"seen to by Lin (referee): {words.en}"
            assert line.zh == f"Lin（裁判员）已知悉：{words.zh}"


@pytest.mark.parametrize("kind", ["transferred", "taken_over"])
def test_a_transfer_by_word_names_the_chief_and_who_carried_it_out(kind: str) -> None:
    (example,) = (event for event in EVENTS if event.kind == kind)
    by_word = example.data | {"by": "Chen", "entered_by": "Li Na (referee)"}
    line = describe_event(msgspec.structs.replace(example, data=by_word))
    assert line.en.endswith("(Chen (chief, by word), entered by Li Na (referee))")
    assert line.zh.endswith("（裁判长Chen（口头），Li Na（裁判员）录入）")


def _reads_well(en: str, zh: str) -> None:
    for text in (en, zh):
        assert text.strip() == text
        assert text
        assert not re.search(r"[{}\n]|None|\['", text), text
    assert re.search(r"[\u4e00-\u9fff]", zh), zh
    assert not re.search(r"[\u4e00-\u9fff]", en), en


def test_who_goes_out_is_told_with_his_place() -> None:
    outs = ("N", "W", "S")
    events = [match_event(event="Released"), *(match_event(event="Out", seat=s) for s in outs)]
    lines = describe_events(events)[1:]
    assert [line.en for line in lines] == [
        "North is out, UP",
        "West is out, 2ND",
        "South is out, 3RD",
    ]
    assert lines[0].zh == "北家出完，第1名"
    assert lines[2].zh == "南家出完，第3名"


def test_hands_that_a_machine_let_out_begin_a_deal() -> None:
    released = next(event for event in EVENTS if event.kind == "released")
    lines = describe_events([released, match_event(event="Out", seat="E")])
    assert not lines[0].quiet
    assert lines[1].zh == "东家出完，第1名"


def test_a_place_that_was_taken_back_is_free_again() -> None:
    happened: list[tuple[str, dict[str, Any]]] = [
        ("Released", {}),
        ("Out", {"seat": "N"}),
        ("OutWithdrawn", {"seat": "N"}),
    ]
    happened.append(("Out", {"seat": "E"}))
    lines = describe_events(match_event(event=name, **data) for name, data in happened)
    assert lines[-1].en == "East is out, UP"


def test_without_the_beginning_of_a_deal_no_place_is_told() -> None:
    assert describe_events([match_event(event="Out", seat="N")])[0].en == "North is out"


def test_a_new_deal_counts_places_anew() -> None:
    names = ["Released", "Out", "Released", "Out"]
    lines = describe_events(match_event(event=name, seat="E") for name in names)
    assert lines[-1].zh == "东家出完，第1名"


def test_a_result_says_the_class_of_the_win() -> None:
    double = describe_match_event({"event": "ResultEntered", "order": ["N", "S"]}, NO_CONTEXT)
    assert double.zh == "录入名次：上游北家、二游南家（双下）"
    three = describe_match_event({"event": "ResultEntered", "order": ["N", "W", "S"]}, NO_CONTEXT)
    assert three.en.endswith("(R13)")


def test_what_the_machine_tells_beside_it_is_quiet_but_not_by_hand() -> None:
    cut: dict[str, Any] = {"event": "Cut", "seat": "N", "n": 40}
    assert describe_events([match_event(**cut)])[0].quiet
    by_hand = [match_event(event="DealtByHand", reason="no power"), match_event(**cut)]
    assert not describe_events(by_hand)[1].quiet


def test_a_kind_of_a_later_version_is_told_by_its_name() -> None:
    event = msgspec.structs.replace(EVENTS[0], kind="weather", data={"rain": True})
    assert describe_event(event).en == "weather"
    assert describe_match_event({"event": "Weather"}, NO_CONTEXT).zh == "Weather"


_JSON = st.recursive(
    st.none() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)
_FIELDS = sorted({name for event in EVENTS for name in event.data} | {"event", "told", "charge"})


@given(
    st.sampled_from(sorted(LINE_BY_KIND)),
    st.dictionaries(st.sampled_from(_FIELDS) | st.text(), _JSON),
)
def test_nothing_that_an_entry_may_hold_stops_the_telling(kind: str, data: dict[str, Any]) -> None:
    event = msgspec.structs.replace(EVENTS[0], kind=kind, data=data)
    assert all(line.en is not None for line in describe_events([event, event]))


def test_who_gave_an_order_is_told_with_his_role() -> None:
    event = msgspec.structs.replace(
        EVENTS[0], kind="pause", data={"reason": "referee", "by": "Li Na (referee)", "why": "call"}
    )
    assert describe_event(event).zh == "Li Na（裁判员）暂停：call"


def test_a_reason_that_has_a_key_is_told_in_each_readers_language() -> None:
    data = {"reason": "referee", "by": "referee", "why": "at_table"}
    line = describe_event(msgspec.structs.replace(EVENTS[0], kind="pause", data=data))
    assert (line.en, line.zh) == (
        "stopped by referee: the referee is at the table",
        "裁判员暂停：裁判到台处理",
    )
    line = describe_event(match_event(event="Suspended", reason="chief, referee"))
    assert line.zh == "暂停待裁：裁判长暂停、裁判员暂停"


def test_a_stop_of_the_area_is_told_with_why_and_by_whom_where_that_is_known() -> None:
    line = describe_event(
        match_event(event="AreaPaused", reason="fire alarm", by="Zhang Hui (chief)")
    )
    assert line.en == "the area's clocks are stopped: fire alarm (Zhang Hui (chief))"
    assert line.zh == "全区停表：fire alarm（Zhang Hui（裁判长））"
    assert describe_event(match_event(event="AreaPaused")).zh == "全区停表"


def test_a_card_is_told_as_people_write_it() -> None:
    assert describe_match_event({"event": "TurnedUp", "card": "SK"}, NO_CONTEXT).zh == "翻牌：♠K"
    assert describe_match_event({"event": "TurnedUp", "card": "BJ"}, NO_CONTEXT).zh == "翻牌：大王"


def test_every_command_has_words_for_its_button() -> None:
    assert set(COMMANDS) <= set(COMMAND_WORDS)


def entry(n: int, *, boot: str = "one", at_s: int = 0) -> PublicEvent:
    """Return an entry of a journal, told so many seconds after another's beginning."""
    time = f"2027-01-01T00:{at_s // 60:02}:{at_s % 60:02}.000+00:00"
    head = f"{boot}{n}"
    return msgspec.structs.replace(EVENTS[0], n=n, boot=boot, time=time, head=head)


def inserted(*events: PublicEvent, most: int = 4) -> list[int]:
    """Return the numbers of entries that came in this order, as they are told."""
    known: list[PublicEvent] = []
    for event in events:
        insert_in_order(known, event, most)
    return [event.n for event in known]


def test_an_entry_that_comes_late_is_told_at_its_place_and_pushes_no_newer_one_out() -> None:
    assert inserted(*(entry(n) for n in (11, 13, 14, 12))) == [11, 12, 13, 14]
    assert inserted(*(entry(n) for n in (11, 12, 13, 14, 2, 3))) == [11, 12, 13, 14]
    assert inserted(*(entry(n) for n in (11, 13, 14, 15, 12))) == [12, 13, 14, 15]


def test_an_entry_that_comes_twice_is_told_once() -> None:
    assert inserted(entry(1), entry(3), entry(2), entry(2), entry(3)) == [1, 2, 3]


def test_what_an_earlier_run_of_the_table_said_stands_before_what_the_next_one_says() -> None:
    later = [entry(n, boot="two", at_s=60 + n) for n in (7, 8)]
    assert inserted(*later, entry(5, at_s=5), entry(6, at_s=6)) == [5, 6, 7, 8]


def test_a_journal_that_begins_anew_goes_on_behind_the_one_before() -> None:
    anew = [entry(n, boot="two", at_s=600 + n) for n in (1, 2)]
    assert inserted(entry(901, at_s=1), entry(902, at_s=2), *anew) == [901, 902, 1, 2]


WORD = {"by": "陈明", "role": "referee", "verbal": True, "entered_by": "李娜 (referee)"}


@pytest.mark.parametrize(
    "data",
    [
        {"event": "Corrected", "deal": 1, "order": ["N", "S"], "choice": "stand", "reason": "x"},
        {"event": "RulingApproved", "id": "R1"},
        {"event": "RulingRejected", "id": "R1"},
        {"event": "DealVoided", "reason": "cards were seen"},
        {"event": "ExtraDealOrdered", "reason": "equal"},
        {"event": "Recounted", "counts": {"N": 27, "W": 27, "S": 27, "E": 27}},
    ],
)
def test_the_chiefs_word_is_told_with_who_entered_it(data: dict[str, Any]) -> None:
    line = describe_event(match_event(**data, **WORD))
    assert "陈明 (chief, by word), entered by 李娜 (referee)" in line.en
    assert "裁判长陈明（口头），李娜（裁判员）录入" in line.zh
    himself = describe_event(match_event(**data, by="陈明 (chief)", role="chief"))
    assert "陈明（裁判长）" in himself.zh
    assert "口头" not in himself.zh


def test_the_confirmation_of_a_spoken_correction_is_told() -> None:
    line = describe_event(
        match_event(event="CorrectionConfirmed", row=4, deal=1, by="陈明 (chief)")
    )
    assert line.zh == "陈明（裁判长）确认第1副成绩的口头更正"
    assert line.en == "the oral correction of deal 1 is confirmed by 陈明 (chief)"


def test_a_ruling_that_is_approved_a_deal_later_is_told_with_the_deal_of_the_offence() -> None:
    table = Table().started().in_play().charged("W", "foul").played("ENS").in_play().approved()
    lines = describe_events(entries(table))
    proposed, approved = (line for line in lines if "R1" in line.en)
    assert "判罚R1（第1副）" in proposed.zh
    assert "判罚R1（第1副）" in approved.zh
    assert "ruling R1 (deal 1) approved" in approved.en
