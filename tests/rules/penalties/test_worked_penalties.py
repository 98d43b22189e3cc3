import pytest

from controller.rules.deal_result import ForfeitedDeal, finish_with_dead_hands
from controller.rules.match_end import MatchVerdict, match_score
from controller.rules.match_standing import MatchStanding, PerSide, PlayedDeal, standing_after_deal
from controller.rules.penalties.proposals import (
    DeadHand,
    DealLost,
    LevelDown,
    LevelUp,
    MatchLost,
    TurnLost,
)
from controller.rules.profile import GuandanProfile

from .charged import HUAIAN, HUAINAN, INTERNATIONAL, answers, entry, ladder, moved


def test_20_a_foul_gives_the_deal_to_the_other_side_as_a_double_down() -> None:
    foul = answers(INTERNATIONAL, "hidden_cards", harmed=True)[0]
    (lost,) = foul.effects
    assert lost == DealLost("EW")
    assert isinstance(lost, DealLost)
    before = MatchStanding(levels=PerSide(NS=5, EW=9), owner="EW")
    after = standing_after_deal(
        INTERNATIONAL, before, PlayedDeal(9, "EW", ForfeitedDeal(lost.side)), row=1
    )
    assert after.levels == PerSide(NS=8, EW=9)
    assert not INTERNATIONAL.tribute.after_forfeit


def test_36_a_wrong_tribute_found_in_play_makes_the_payer_last() -> None:
    (answer,) = answers(INTERNATIONAL, "wrong_tribute_in_play", seat="W")
    assert (answer.penalty, answer.needs, answer.article) == ("none", "chief", "A18.4")
    assert answer.effects == (DeadHand("W"),)
    finish = finish_with_dead_hands(("W", "N", "S", "E"), "W")
    assert (finish.up, finish.second, finish.result_class) == ("N", "S", "R12")


@pytest.mark.parametrize("offence", ["delay_tribute", "delay_return"])
def test_37_a_slow_tribute_or_return_is_warned_then_a_violation(offence: str) -> None:
    assert ladder(INTERNATIONAL, offence, step=1) == "warning"
    assert (
        ladder(INTERNATIONAL, offence, step=2)
        == ladder(INTERNATIONAL, offence, step=3)
        == "violation"
    )
    assert not answers(INTERNATIONAL, offence, step=2)[0].loses_turn


def test_38_a_slow_play_is_warned_then_a_violation_that_costs_the_turn() -> None:
    assert ladder(INTERNATIONAL, "delay_play", step=1) == "warning"
    late = answers(INTERNATIONAL, "delay_play", step=2)[0]
    assert (late.penalty, late.article) == ("violation", "A21.1")
    assert late.effects == (TurnLost("E", whole_trick=False),)


def test_the_next_slow_play_is_warned_again() -> None:
    record = (entry("warning", "delay_play"), entry("violation", "delay_play"))
    assert ladder(INTERNATIONAL, "delay_play", record[:1], step=1) == "warning"
    assert ladder(INTERNATIONAL, "delay_play", record, step=1) == "warning"
    assert ladder(INTERNATIONAL, "delay_play", record[:1]) == "warning"


@pytest.mark.parametrize("profile", [INTERNATIONAL, HUAIAN])
def test_40_the_second_violation_of_a_pair_in_a_round_is_a_foul(profile: GuandanProfile) -> None:
    record = (entry("violation", "no_report", seat="W", deal=1),)
    foul, violation = answers(profile, "delay_tribute", record, step=2)
    assert (foul.penalty, foul.needs, foul.article) == ("foul", "chief", "A15.3.3①")
    assert foul.effects == (DealLost("EW"),)
    assert (violation.penalty, violation.needs) == ("violation", "chief")


def test_41_the_third_foul_of_a_side_loses_the_match() -> None:
    record = (entry("foul", "hidden_cards"), entry("foul", "illegal_signal", seat="W"))
    forfeit, foul, *_ = answers(INTERNATIONAL, "hidden_cards", record, harmed=True)
    assert (forfeit.penalty, forfeit.needs, forfeit.article) == (
        "match_forfeit",
        "chief",
        "A15.3.4",
    )
    assert forfeit.effects == (MatchLost("EW"),)
    assert foul.penalty == "foul"


@pytest.mark.parametrize(("level", "kept"), [(2, 18), (12, 23)])
def test_41_the_other_side_keeps_what_is_better_than_eighteen(level: int, kept: int) -> None:
    standing = MatchStanding(levels=PerSide(NS=level, EW=2))
    score = match_score(INTERNATIONAL, standing, MatchVerdict("NS", "forfeit"))
    assert score.match_points == PerSide(2, 0)
    assert score.level_points == PerSide(kept, 0)


def test_42_two_warnings_out_of_turn_to_a_side_in_a_deal_are_a_foul() -> None:
    assert ladder(HUAINAN, "declare_out_of_turn") == "warning"
    record = (entry("warning", "declare_out_of_turn", seat="W"),)
    foul, warning = answers(HUAINAN, "declare_out_of_turn", record)
    assert (foul.penalty, foul.needs, foul.article) == ("foul", "chief", "R6.2")
    assert foul.effects == (LevelUp("NS", 1),)
    assert not foul.provisional
    assert warning.penalty == "warning"


def test_43_hidden_cards_cost_a_level_and_give_one() -> None:
    foul = answers(HUAINAN, "hidden_cards")[0]
    assert (foul.article, foul.needs, foul.provisional) == ("R6.3", "chief", False)
    assert foul.effects == (LevelUp("NS", 1), LevelDown("EW", 1))
    assert moved(HUAINAN, PerSide(NS=4, EW=6), foul) == PerSide(5, 5)


def test_43_the_second_time_loses_the_match() -> None:
    lost, foul, *_ = answers(HUAINAN, "hidden_cards", (entry("foul", "hidden_cards", seat="W"),))
    assert (lost.penalty, lost.article, lost.provisional) == ("match_forfeit", "R6.3", False)
    assert lost.effects == (MatchLost("EW"),)
    assert foul.penalty == "foul"


def test_86_a_penalty_lifts_nobody_past_a() -> None:
    assert moved(HUAINAN, PerSide(NS=14, EW=2), answers(HUAINAN, "hidden_cards")[0]) == PerSide(
        14, 2
    )
