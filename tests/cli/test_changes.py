"""What `dealtable watch` says of a match, for a referee at a terminal."""

from typing import Any

import msgspec

from controller.cli.changes import changes
from controller.messages import Call, Counters, Machine, Match, Phase, State

MATCH = Match(
    profile="international-000",
    match="M1",
    table_no="7",
    game="guandan",
    phase="play",
    phase_en="play",
    phase_zh="打牌中",
    next_en="North leads",
    deal=2,
    level="5",
    levels={"NS": "5", "EW": "2"},
)
STATE = State(
    table="T01",
    boot="00" * 8,
    seq=1,
    time="2026-03-01T12:00:00.000Z",
    simulated=False,
    mode="play",
    machine=Machine(phase=Phase.RELEASED, deal=2, attempt=3),
    match=MATCH,
    fairness=[],
    head="00" * 32,
    alerts=[],
    calls=[],
    counters=Counters(),
)
LINE = "台号7  打牌中  NS 5 : EW 2  deal 2 level 5  "


def told(before: State | None, **now: Any) -> list[str]:
    return [line.text for line in changes(before, msgspec.structs.replace(STATE, **now))]


def match(**now: Any) -> Match:
    return msgspec.structs.replace(MATCH, **now)


def test_a_match_is_one_line_with_who_is_waited_for() -> None:
    assert told(None)[0] == f"{LINE}North leads"


def test_who_is_waited_for_now_is_a_new_line_and_nothing_else_is() -> None:
    assert told(STATE, match=match(next_en="West confirms")) == [f"{LINE}West confirms"]
    assert told(STATE, match=match(at_ms=5)) == []


def test_without_a_match_there_is_no_line_of_one() -> None:
    assert told(None, match=Match(profile="international-000")) == ["released    deal 2 attempt 3"]


def test_a_call_for_the_referee_is_told_once_with_its_words() -> None:
    call = Call(seat="W", reason="button", since="", words_en="called", words_zh="召请裁判")
    assert told(STATE, calls=[call]) == ["REFEREE 裁判  W: called 召请裁判"]
    assert told(msgspec.structs.replace(STATE, calls=[call]), calls=[call]) == []


def test_what_a_player_said_himself_is_told_once() -> None:
    call = Call(seat="E", reason="a card fell", since="", words_en="it fell", words_zh="it fell")
    assert told(STATE, calls=[call]) == ["REFEREE 裁判  E: it fell"]


def test_a_match_without_levels_says_none() -> None:
    big_two = match(game="bigtwo", level=None, levels={"NS": None, "EW": None}, next_en="E leads")
    assert told(STATE, match=big_two) == ["台号7  打牌中  deal 2  E leads"]
