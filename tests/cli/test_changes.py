"""What `dealtable watch` says of a table, for a referee at a terminal."""

import re
from typing import Any

import msgspec

from controller.cli.state_lines import LINE_STATES_ZH, LINE_TEXTS, OUTCOMES_ZH, StateLines
from controller.client.connection import TableConnectionState
from controller.commands.registry import COMMANDS
from controller.faults import Language
from controller.messages import (
    Alert,
    AttemptOutcome,
    Fairness,
    MachinePhase,
    PublicMachine,
    PublicMatch,
    PublicState,
    RefereeCall,
    Role,
)
from controller.words import COMMAND_WORDS as CALLED
from controller.words import MACHINE_PHASE_WORDS, ROLE_WORDS
from tests.cli.table_states import MATCH, STATE

LINE = "table 7  play  NS 5 : EW 2  deal 2 level 5  "


def told(before: PublicState | None, language: Language = "en", **now: Any) -> list[str]:
    after = msgspec.structs.replace(STATE, **now)
    return [line.text for line in StateLines(language).compare(before, after, WHYS)]


WHYS = {"referee": "the lid is open"}


def match(**now: Any) -> PublicMatch:
    return msgspec.structs.replace(MATCH, **now)


def test_a_match_is_one_line_with_who_is_waited_for() -> None:
    assert told(None)[0] == f"{LINE}North leads"


def test_who_is_waited_for_now_is_a_new_line_and_nothing_else_is() -> None:
    assert told(STATE, match=match(next_en="West confirms")) == [f"{LINE}West confirms"]
    assert told(STATE, match=match(at_ms=5)) == []


def test_without_a_match_there_is_no_line_of_one() -> None:
    assert told(None, match=PublicMatch(profile="international-000")) == [
        "released    deal 2 attempt 1"
    ]


def test_a_call_for_the_referee_is_told_once_with_its_words() -> None:
    call = RefereeCall(seat="W", reason="button", since="", words_en="called", words_zh="召请裁判")
    assert told(STATE, calls=[call]) == ["REFEREE  W: called"]
    assert told(STATE, "zh", calls=[call]) == ["裁判  西家：召请裁判"]
    assert told(msgspec.structs.replace(STATE, calls=[call]), calls=[call]) == []


def test_what_a_player_said_himself_is_told_once() -> None:
    call = RefereeCall(
        seat="E", reason="a card fell", since="", words_en="it fell", words_zh="it fell"
    )
    assert told(STATE, calls=[call]) == ["REFEREE  E: it fell"]
    unsaid = msgspec.structs.replace(call, words_zh="")
    assert told(STATE, "zh", calls=[unsaid]) == ["裁判  东家：it fell"]


def test_a_match_without_levels_says_none() -> None:
    big_two = match(game="bigtwo", level=None, levels={"NS": None, "EW": None}, next_en="E leads")
    assert told(STATE, match=big_two) == ["table 7  play  deal 2  E leads"]


def test_in_chinese_a_match_is_one_line_of_chinese() -> None:
    assert told(None, "zh") == [
        "台号7  打牌中  南北 5 : 东西 2  第2副 打5  请北家出牌",
        "已放行  第2副 本台第1次发牌",
    ]


def test_a_hold_is_told_with_who_and_why_and_so_is_its_end() -> None:
    stopped = msgspec.structs.replace(STATE.machine, pauses={"referee": "Anna"})
    held = msgspec.structs.replace(STATE, machine=stopped)
    assert told(STATE, machine=stopped) == ["STOPPED by Anna (referee): the lid is open"]
    assert told(STATE, "zh", machine=stopped) == ["暂停  Anna（裁判员）：the lid is open"]
    assert told(held, machine=stopped) == []
    assert told(held) == ["the stop by Anna (referee) is over"]
    assert told(held, "zh") == ["Anna（裁判员）的暂停已解除"]


def test_a_reason_that_has_a_key_is_told_in_the_language_that_was_asked_for() -> None:
    stopped = msgspec.structs.replace(STATE.machine, pauses={"referee": "Anna"})
    now, whys = msgspec.structs.replace(STATE, machine=stopped), {"referee": "at_table"}
    (zh, *_), (en, *_) = (StateLines(one).compare(STATE, now, whys) for one in ("zh", "en"))
    assert zh.text == "暂停  Anna（裁判员）：裁判到台处理"
    assert en.text == "STOPPED by Anna (referee): the referee is at the table"


def test_a_hold_whose_reason_was_not_heard_is_told_without_it() -> None:
    stopped = msgspec.structs.replace(STATE.machine, pauses={"chief": "Chen"})
    assert told(None, machine=stopped)[0] == "STOPPED by Chen (chief)"


def test_an_alert_and_an_outcome_are_told_in_the_language_that_was_asked_for() -> None:
    jam = Alert(
        code=301,
        name="JAM",
        since="",
        cause="a card is stuck",
        action="take it out",
        cause_zh="卡牌",
        action_zh="取出",
    )
    assert told(STATE, alerts=[jam]) == ["JAM (301): a card is stuck. Next: take it out"]
    assert told(STATE, "zh", alerts=[jam]) == ["JAM (301)：卡牌。处理：取出"]
    before = msgspec.structs.replace(STATE, alerts=[jam])
    assert told(before, "zh") == ["JAM 已解除"]
    void = Fairness(
        deal=2, attempt=3, of_deal=1, commitment="", outcome=AttemptOutcome.VOID, reasons=["JAM"]
    )
    assert told(STATE, fairness=[void]) == ["deal 2 attempt 1: void (JAM)"]
    assert told(STATE, "zh", fairness=[void]) == ["第2副 本台第1次发牌：作废（JAM）"]


def test_an_attempt_of_an_older_table_is_told_by_its_deal_alone() -> None:
    older = PublicMachine(phase=MachinePhase.RELEASED, deal=2, attempt=3)
    assert told(None, machine=older)[-1] == "released    deal 2"


def test_every_phase_outcome_role_and_way_has_its_chinese() -> None:
    assert set(MACHINE_PHASE_WORDS) == set(MachinePhase)
    assert set(CALLED) == set(COMMANDS)
    assert set(OUTCOMES_ZH) == set(AttemptOutcome)
    assert set(ROLE_WORDS) == set(Role)
    assert set(LINE_STATES_ZH) == set(TableConnectionState)


def test_both_languages_of_a_line_tell_the_same() -> None:
    for words in LINE_TEXTS.values():
        assert _told(words.en) == _told(words.zh)


def _told(text: str) -> set[str]:
    return set(re.findall(r"{(\w+)", text))
