"""Questions of the desk that need no table: plays, and how many cards a seat has to hold."""

import random
from typing import Any

import pytest

from controller.console.view.combination_questions import (
    CombinationQuestion,
    PlayedCards,
    cards_due,
    judge_question,
    list_combination_kinds,
)
from controller.machine.public.public_match import public_match
from controller.machine.state.table_match import TableMatch
from controller.match import match_events
from controller.match.deal_start import required_counts
from controller.match.match_state import GuandanMatch
from controller.match.reducer import new_match, step
from controller.messages import PublicMatch
from controller.rules.combos.card_tokens import QuestionError
from controller.rules.combos.play_ruling import ContainedKinds, PlayRuling
from controller.rules.profile_files import load_profile
from tests.guandan import load_guandan
from tests.match.people import People, meeting
from tests.match.table import BIG_TWO, GUANDAN, INTL, Table


def ask(cards: str, on: str | None = None, **more: Any) -> PlayRuling | ContainedKinds:
    said = {"profile": INTL, "level": "5"} | more
    question = CombinationQuestion(
        play=PlayedCards(cards=cards), on=PlayedCards(cards=on) if on else None, **said
    )
    return judge_question(load_profile(question.profile), question)


def test_a_play_is_judged_on_the_one_that_lies_there() -> None:
    found = ask("♠K ♥K", "♠9 ♣9")
    assert isinstance(found, PlayRuling)
    assert found.legal
    low = ask("♠9 ♣9", "♠K ♥K")
    assert isinstance(low, PlayRuling)
    assert not low.legal


def test_a_declared_wild_card_counts_as_declared() -> None:
    question = CombinationQuestion(
        profile=INTL,
        level="5",
        play=PlayedCards(cards="♦7 ♦8 ♦9 ♦J ♥5", declared="straight 7 8 9 10 J"),
    )
    found = judge_question(load_profile(INTL), question)
    assert isinstance(found, PlayRuling)
    assert found.play.counts_as is not None
    assert found.play.counts_as.kind == "straight"


def test_a_wrong_lead_contains_its_kinds() -> None:
    found = ask("♠9 ♥9 ♣9 ♦J", contained=True)
    assert isinstance(found, ContainedKinds)
    assert set(found.kinds) == {"single", "pair", "triple"}


def test_a_question_without_sense_is_told_so() -> None:
    with pytest.raises(QuestionError) as told:
        ask("♠9 ♠9 ♠9")
    assert told.value.words.zh == "“♠9 ♠9 ♠9”第7个字符“♠9”：只有2张♠9"
    with pytest.raises(QuestionError):
        ask("♠9", level=None)


def test_big_two_has_no_level_and_other_kinds() -> None:
    question = CombinationQuestion(
        profile=BIG_TWO, play=PlayedCards(cards="♠2"), on=PlayedCards(cards="♥2")
    )
    found = judge_question(load_profile(BIG_TWO), question)
    assert isinstance(found, PlayRuling)
    assert found.legal
    assert "flush" in {kind.kind for kind in list_combination_kinds(load_profile(BIG_TWO))}
    assert "bomb" in {kind.kind for kind in list_combination_kinds(load_profile(INTL))}


def shown(match: Any) -> PublicMatch:
    return public_match(
        TableMatch(match=match),
        profile=match.profile.name,
        now_ms=match.now_ms,
        deal=1,
        leader=None,
        turned_up=None,
    )


@pytest.mark.parametrize("profile", GUANDAN)
def test_the_counts_due_are_those_that_the_match_demands(profile: str) -> None:
    """Asked of the public state at every moment of matches that people play."""
    rules, seen = load_guandan(profile), 0
    for seed in range(4):
        people = People(random.Random(seed))
        match: Any = new_match(rules, meeting())
        for _ in range(200):
            match, _ = step(match, people.next_event(match))
            assert isinstance(match, GuandanMatch)
            if match.led or not match.is_deal_under_way:
                continue
            found = cards_due(shown(match), rules.hand)
            assert {one.seat: one.cards for one in found} == required_counts(match)
            seen += any(one.cards != rules.hand for one in found)
    assert seen  # tributes were on their way


def test_a_tribute_that_lies_there_may_be_counted_or_not() -> None:
    table = (
        Table()
        .started()
        .played("NWS")
        .counted()
        .does(match_events.AntiTributeAnswered, stands=False)
    )
    assert not any(one.or_one_less for one in cards_due(shown(table.state), 27))
    table.does(match_events.TributeLaid, seat="E")
    found = {one.seat: one.or_one_less for one in cards_due(shown(table.state), 27)}
    assert found == {"N": False, "W": False, "S": False, "E": True}
