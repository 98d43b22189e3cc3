"""Whatever happens, a match answers: it goes on, or says why not and stays as it was."""

import re
from functools import cache
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

import controller.match
from controller.faults import fault_catalogue
from controller.match import match_events
from controller.match.match_effects import EventRefused, MatchEffect
from controller.match.match_events import MatchEvent
from controller.match.match_state import AnyMatch
from controller.match.phase import MatchPhase
from controller.match.reducer import step
from controller.match.refusals import Refusal
from controller.match.timing import advance_time
from controller.seats import SEATS
from controller.words import Words
from tests.rows import each_row

from .event_samples import SAMPLES
from .refusal_scenes import REFUSED, in_play
from .table import INTL, N, Table, choosing, timed

# -- every code ---------------------------------------------------------------


def _codes() -> set[str]:
    """Every code that a module of the package names."""
    folder = Path(controller.match.__file__).parent
    text = "".join(path.read_text(encoding="utf-8") for path in folder.rglob("*.py"))
    return set(re.findall(r'\b(?:refuse|Refusal)\(\s*"([A-Z_]+)"', text))


def test_every_refusal_has_its_scene() -> None:
    assert _codes() == set(REFUSED)


@each_row("code", sorted(REFUSED))
def test_a_refusal_says_why_and_what_to_do_in_both_languages(code: str) -> None:
    assert fault_catalogue()[code].misdeal is False
    english, chinese = Refusal(code, "♠1").text(), Refusal(code, "♠1").text("zh")
    assert ". " in english
    assert "。" in chinese
    assert "{" not in english + chinese


@each_row("code", sorted(REFUSED))
def test_a_refused_event_changes_nothing(code: str) -> None:
    asked = REFUSED[code]
    table = asked.table()
    before = table.state
    table.happens(asked.kind, **asked.said)
    assert table.refused == code
    assert table.state == advance_time(before, table.at_ms)[0]
    assert [effect for effect in table.said if not isinstance(effect, EventRefused)] == []


EVIDENCE = {
    "WRONG_PHASE": "play",
    "SEAT_TAKEN": "E",
    "NOT_HIS_DUTY": "S",
    "ILLEGAL_CUT": "a cut of 5 cards: take off 6…102 of 108",
    "TWICE": "W",
    "VALUES_MISSING": "W / E",
    "NOT_LAID": "W / E",
    "NO_FINISH_ORDER": "enter the third place",
    "OTHER_SIDE": "N",
    "NO_SUCH_DEAL": "1",
    "NO_SUCH_RULING": "R1",
    "NO_SIGNER": "N",
    "WRONG_COUNTS": "North 28, West 28, South 28",
    "TURN_AGAIN": "BJ",
    "IT_ENDED_A_DEAL": "R1",
    "NO_SUCH_CARD": "♠1",
}


@each_row("code", sorted(EVIDENCE))
def test_a_refusal_names_what_it_is_about(code: str) -> None:
    asked = REFUSED[code]
    table = asked.table().happens(asked.kind, **asked.said)
    what = table.effect(EventRefused).refusal.subject
    assert EVIDENCE[code] in (what.en if isinstance(what, Words) else what)


PLAIN = [
    *("WRONG_PHASE", "SEAT_TAKEN", "NOT_HIS_DUTY", "TWICE", "NOT_LAID", "OTHER_RULES"),
    *("ILLEGAL_CUT", "WRONG_COUNTS", "NO_FINISH_ORDER"),
]


@pytest.mark.parametrize("code", PLAIN)
def test_a_refusal_has_the_chinese_words_of_phases_and_seats(code: str) -> None:
    asked = REFUSED[code]
    table = asked.table().happens(asked.kind, **asked.said)
    assert not re.search("[A-Za-z]", table.effect(EventRefused).refusal.text("zh"))


def test_a_table_whose_count_is_claimed_says_in_chinese_what_lets_it_go_on() -> None:
    table = Table().started().released().does(match_events.CountClaimed, seat="N")
    refusal = table.happens(match_events.TableResumed).effect(EventRefused).refusal
    assert "已申告张数不符" in refusal.text("zh")
    assert not re.search("[A-Za-z]", refusal.text("zh"))


@pytest.mark.parametrize("value", [1, 18])
def test_a_value_that_no_card_has_is_named_in_chinese(value: int) -> None:
    table = Table().started().played("NS").laid()
    table.happens(match_events.TributeValued, values={"W": value, "E": 9})
    refusal = table.effect(EventRefused).refusal
    assert (refusal.code, refusal.subject) == (
        "NO_SUCH_CARD",
        Words(f"a value of {value}", f"点数{value}"),
    )


def test_who_has_done_it_already_is_named() -> None:
    table = Table().started().played("NS").laid()
    (refused,) = table.happens(match_events.TributeLaid, seat="E").effects(EventRefused)
    assert refused.refusal == Refusal("TWICE", "E")
    table.valued().does(match_events.ReturnLaid, seat="S", value=5)
    (refused,) = table.happens(match_events.ReturnLaid, seat="S", value=5).effects(EventRefused)
    assert refused.refusal == Refusal("TWICE", "S")


# -- every event in every phase -----------------------------------------------


def test_every_event_is_among_the_samples() -> None:
    assert set(SAMPLES) == set(get_args(MatchEvent))


@cache
def _tables() -> dict[str, Table]:
    """A table in every phase; where a deal was played, four rulings wait on its desk."""

    def ruled(profile: str = INTL, stage: Any = "swiss") -> Table:
        table = Table(timed(profile, at_time="stop_now"), stage).started().played("NS")
        table.charged("N", "foul", name="R1").charged("E", "foul", name="R2", deal=1)
        return table.charged("E", "match_forfeit", name="R3").charged("N", "warning", name="R4")

    by_hand = ruled().does(match_events.HandDealOrdered, reason="jam")
    first_by_hand = Table().started().does(match_events.HandDealOrdered, reason="jam").cut()
    choice = choosing()
    big_two = choosing().tick(60_000)
    counted = ruled(N).counted()
    equal = ruled(stage="knockout").played("WE").at_minute(60)
    tables = {
        "setup": Table().seated("NWS"),
        "shuffle": by_hand,
        "turnup": first_by_hand,
        "cut": ruled(),
        "cut, 003": ruled(N),
        "dealing": ruled().cut(),
        "held": ruled().dealt(),
        "first held": Table(timed()).started().dealt(),
        "let go": ruled().dealt().does(match_events.ReleaseOrdered),
        "nobody knows who leads": Table().started().cut().does(match_events.HandsDealt),
        "count": ruled().released(),
        "claimed": ruled().released().does(match_events.CountClaimed, seat="N"),
        "anti": counted,
        "tribute": ruled(N).counted().does(match_events.AntiTributeAnswered, stands=False),
        "laid": ruled(N).laid(),
        "return": ruled(N).valued(14, 14),
        "claimed in return": ruled().valued().does(match_events.CountClaimed, seat="N"),
        "choices": choice,
        "big two": big_two,
        "play": ruled().in_play(),
        "out said": ruled().out("W").says_out("N"),
        "anti-tribute": ruled().counted().does(match_events.AntiTributeAnswered, stands=True),
        "result": ruled().out("WNE"),
        "forfeit": ruled().in_play().approved("R1"),
        "check": equal,
        "over": ruled().at_minute(60),
        "lost": ruled().approved("R3"),
        "signed": ruled().at_minute(60).signed(),
    }
    return tables


def test_there_is_a_table_in_every_phase() -> None:
    assert {table.phase for table in _tables().values()} == set(MatchPhase)


def _all_happen(match: AnyMatch, *, deeper: int) -> None:
    """Let everything happen to a match, and everything again after that."""
    for kind, samples in SAMPLES.items():
        for said in samples:
            event: Any = kind(at_ms=match.now_ms + 1, **said)
            after, effects = step(match, event)
            msgspec.json.encode(effects)
            if any(isinstance(effect, EventRefused) for effect in effects):
                assert after == advance_time(match, event.at_ms)[0], kind
            elif deeper:
                _all_happen(after, deeper=deeper - 1)


@pytest.mark.parametrize("name", list(_tables()))
def test_whatever_happens_in_whatever_phase_is_answered(name: str) -> None:
    _all_happen(_tables()[name].state, deeper=1)


@pytest.mark.parametrize("name", list(_tables()))
def test_whatever_happens_while_suspended_is_answered(name: str) -> None:
    state = _tables()[name].state
    suspended, _ = step(state, match_events.TableSuspended(at_ms=state.now_ms, reason="called"))
    _all_happen(suspended, deeper=1)


@each_row("name", list(_tables()))
def test_a_suspended_table_can_always_go_on(name: str) -> None:
    state = _tables()[name].state
    for _ in range(2):
        match, _ = step(state, match_events.TableSuspended(at_ms=state.now_ms, reason="called"))
        if match.claimed is None:
            match, _ = step(match, match_events.TableResumed(at_ms=match.now_ms))
        else:
            counts = dict.fromkeys(SEATS, 20)
            match, _ = step(match, match_events.HandsRecounted(at_ms=match.now_ms, counts=counts))
        assert match.suspended is None
        state, _ = step(state, match_events.AreaPaused(at_ms=state.now_ms))


# -- every effect -------------------------------------------------------------


def test_every_effect_is_told_by_some_table() -> None:
    by_hand = Table().started().does(match_events.HandDealOrdered, reason="jam").cut()
    tables = [
        *_tables().values(),
        Table(timed()).started().dealt().does(match_events.AttemptFailed, reasons=("JAM",)).dealt(),
        by_hand.does(match_events.CardTurnedUp, card="SJ"),
        Table().happens(match_events.TableResumed),
        Table(timed()).started().played("NS").dealt().at_minute(60),
    ]
    assert {type(effect) for table in tables for effect in table.told} == set(get_args(MatchEffect))


def test_a_wrong_order_is_refused_by_the_rules_of_the_game_that_is_played_alone() -> None:
    guandan = in_play().happens(match_events.ResultEntered, order=("N", "W"))
    (refused,) = guandan.effects(EventRefused)
    english, chinese = (refused.refusal.text(language) for language in ("en", "zh"))
    assert english == (
        "This cannot be the result of a deal: North and West are no partners: enter the third "
        "place. Enter the result again: "
        "who went out, first to last: two after a double-down, else three"
    )
    assert chinese == (
        "本副结果有误：北家与西家不是搭档：还须录入三游。"
        "请重新录入：按出完先后点座位，双下两家，否则三家"
    )
    big_two = choosing()
    for seat in (*SEATS, *SEATS[1:], *SEATS[:1]):  # on open hands, then doubling, from West on
        big_two.happens(match_events.ChoiceAnswered, seat=seat, yes=False)
    (refused,) = big_two.happens(match_events.CardsLeftEntered, left={}).effects(EventRefused)
    assert refused.refusal.text().endswith("Enter the result again: the cards that each has left")
    assert refused.refusal.text("zh").endswith("请重新录入：各家所剩张数")
