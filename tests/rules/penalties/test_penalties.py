from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.cards import SEATS, side_of
from controller.match.rulings import Ruling, approve, propose
from controller.match.rulings import entry as entry_of
from controller.messages import Role, Seat
from controller.rules.ending import Verdict
from controller.rules.penalties.charges import (
    Charge,
    LapseReason,
    lapse_article,
    lapse_reasons,
    lapse_words,
)
from controller.rules.penalties.consequences import (
    DeadHand,
    DealLost,
    Disqualified,
    LevelDown,
    LevelUp,
    MatchLost,
    TurnLost,
)
from controller.rules.penalties.offences import catalogue
from controller.rules.penalties.proposals import CHIEFS, Proposal, by_discretion, proposals
from controller.rules.penalties.records import Entry, Incident, Penalty, Record, earlier
from controller.rules.profile import GuandanProfile
from controller.rules.result import Forfeited, with_dead_hands
from controller.rules.rulebooks import load_guandan
from controller.rules.score import match_score
from controller.rules.standing import Played, Sides, Standing, after_deal, shifted

INTERNATIONAL = load_guandan("international-000")
HUAIAN = load_guandan("huaian-2017-001")
HUAINAN = load_guandan("huainan-2013-003")
BCTA = load_guandan("bcta-004")


# -- worked examples of the rulebooks -----------------------------------------


def test_20_a_foul_gives_the_deal_to_the_other_side_as_a_double_down() -> None:
    foul = answers(INTERNATIONAL, "hidden_cards", harmed=True)[0]
    (lost,) = foul.effects
    assert lost == DealLost("EW")
    assert isinstance(lost, DealLost)
    before = Standing(levels=Sides(NS=5, EW=9), owner="EW")
    after = after_deal(INTERNATIONAL, before, Played(9, "EW", Forfeited(lost.side)), row=1)
    assert after.levels == Sides(NS=8, EW=9)
    assert not INTERNATIONAL.tribute.after_forfeit


def test_36_a_wrong_tribute_found_in_play_makes_the_payer_last() -> None:
    (answer,) = answers(INTERNATIONAL, "wrong_tribute_in_play", seat="W")
    assert (answer.penalty, answer.needs, answer.article) == ("none", "chief", "A18.4")
    assert answer.effects == (DeadHand("W"),)
    finish = with_dead_hands(("W", "N", "S", "E"), "W")
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
    standing = Standing(levels=Sides(NS=level, EW=2))
    score = match_score(INTERNATIONAL, standing, Verdict("NS", "forfeit"))
    assert score.match_points == Sides(2, 0)
    assert score.level_points == Sides(kept, 0)


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
    assert moved(HUAINAN, Sides(NS=4, EW=6), foul) == Sides(5, 5)


def test_43_the_second_time_loses_the_match() -> None:
    lost, foul, *_ = answers(HUAINAN, "hidden_cards", (entry("foul", "hidden_cards", seat="W"),))
    assert (lost.penalty, lost.article, lost.provisional) == ("match_forfeit", "R6.3", False)
    assert lost.effects == (MatchLost("EW"),)
    assert foul.penalty == "foul"


def test_86_a_penalty_lifts_nobody_past_a() -> None:
    assert moved(HUAINAN, Sides(NS=14, EW=2), answers(HUAINAN, "hidden_cards")[0]) == Sides(14, 2)


# -- the ladder of each offence -----------------------------------------------


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ([], "warning"),
        (["warning"], "violation"),
        (["warning", "violation"], "foul"),
        (["warning", "violation", "foul"], "foul"),
    ],
)
def test_a_wrong_form_of_play_is_warned_then_a_violation_then_a_foul(
    before: list[Penalty], expected: Penalty
) -> None:
    record = tuple(entry(penalty, "wrong_play_form") for penalty in before)
    first = answers(INTERNATIONAL, "wrong_play_form", record)[0]
    assert (first.penalty, first.article) == (expected, "A11.5")
    assert first.needs == ("chief" if expected == "foul" else "referee")
    assert first.loses_turn is (expected == "violation")


def test_a_pair_shares_its_ladder_and_another_pair_does_not() -> None:
    mine = entry("warning", "no_report", seat="W", person="partner")
    theirs = entry("warning", "no_report", seat="N", pair="3", person="opponent")
    assert ladder(INTERNATIONAL, "no_report", (mine,)) == "violation"
    assert ladder(INTERNATIONAL, "no_report", (theirs,)) == "warning"


def test_asking_is_warned_by_player_and_the_second_time_of_either_is_a_violation() -> None:
    first = answers(INTERNATIONAL, "asking_count")[0]
    assert (first.penalty, first.provisional) == ("warning", False)
    assert "no. 1 of this player in this match" in first.why_en
    partners = entry("warning", "asking_count", seat="W", person="Xi")
    for before in (entry("warning", "asking_count"), partners):
        second = answers(INTERNATIONAL, "asking_count", (before,))[0]
        assert (second.penalty, second.article) == ("violation", "A12.3")
        assert second.provisional
        assert "该对选手本局第2次" in second.why_zh


def test_a_pair_that_asked_twice_is_not_warned_again() -> None:
    record = tuple(entry(penalty, "asking_count") for penalty in ("warning", "violation"))
    third = answers(INTERNATIONAL, "asking_count", record, seat="W", person="Xi")
    assert [one.penalty for one in third] == ["foul", "violation"]
    assert "no. 3 of this pair" in third[1].why_en


def test_a_pair_counts_what_nobody_in_particular_did() -> None:
    record = (entry("warning", "asking_count", person=None),)
    assert ladder(INTERNATIONAL, "asking_count", record, person=None) == "violation"


def test_nobody_in_particular_is_no_player() -> None:
    record = (entry("warning", "other", person=None),)
    assert earlier(record, charge("other", person=None), "player", "match") == ()
    assert earlier(record, charge("other", person=None), "pair", "match") == record


def test_a_ladder_that_is_counted_by_match_begins_again_in_the_next() -> None:
    record = (entry("warning", "no_report", match="1"),)
    assert ladder(INTERNATIONAL, "no_report", record, match="2") == "warning"


def test_signals_are_counted_through_the_event() -> None:
    record = (entry("warning", "illegal_signal", round=1, match="9", seat="N", side="NS"),)
    second = answers(INTERNATIONAL, "illegal_signal", record, round=4)
    assert [one.penalty for one in second] == ["foul", "match_forfeit", "disqualification"]
    assert {one.needs for one in second} == {"chief"}
    assert second[0].article == "A19.2.2"
    assert ladder(INTERNATIONAL, "illegal_signal", record, event="another") == "warning"


def test_how_far_an_offence_is_counted_is_said_to_be_proposed_where_it_matters() -> None:
    first = answers(INTERNATIONAL, "wrong_play_form")[0]
    second = answers(INTERNATIONAL, "wrong_play_form", (entry("warning", "wrong_play_form"),))[0]
    sourced = answers(INTERNATIONAL, "no_report", (entry("warning", "no_report"),))[0]
    assert (first.provisional, second.provisional, sourced.provisional) == (False, True, False)
    assert second.why_en.endswith("(A11.5, how far it is counted is proposed)")


def test_a_play_out_of_turn_costs_the_turn_or_where_cards_lie_a_foul() -> None:
    by_letter, by_table = (
        answers(INTERNATIONAL, "play_out_of_turn")[0],
        answers(HUAINAN, "play_out_of_turn")[0],
    )
    assert (by_letter.penalty, by_letter.article) == ("none", "A17.2.1")
    assert by_letter.effects == (TurnLost("E", whole_trick=False),)
    assert (by_table.penalty, by_table.article) == ("foul", "R6.2")
    assert by_table.effects == (LevelUp("NS", 1),)


def test_a_penalty_that_is_the_same_every_time_does_not_rest_on_how_far_it_is_counted() -> None:
    for profile, offence, article in (
        (HUAINAN, "play_out_of_turn", "R6.2"),
        (INTERNATIONAL, "hidden_cards", "A15.3.1"),
        (INTERNATIONAL, "declare_out_of_turn", "A17.3"),
    ):
        second = answers(profile, offence, (entry("foul", offence),))[0]
        assert (second.article, second.provisional) == (article, False)
        assert second.why_en.endswith(f"({article})")


def test_fouls_out_of_turn_lose_no_match_where_the_profile_counts_none() -> None:
    fouls = tuple(entry("foul", "play_out_of_turn", deal=deal) for deal in (1, 1, 2, 3))
    counted, uncounted = (
        msgspec.structs.replace(
            HUAINAN,
            penalties=msgspec.structs.replace(HUAINAN.penalties, fouls_to_forfeit=times),
        )
        for times in (3, 0)
    )
    assert ladder(counted, "play_out_of_turn", fouls[:2]) == "match_forfeit"
    for before in range(len(fouls) + 1):
        (foul,) = answers(uncounted, "play_out_of_turn", fouls[:before])
        assert (foul.penalty, foul.article, foul.provisional) == ("foul", "R6.2", False)
        assert foul.effects == (LevelUp("NS", 1),)


def test_how_long_a_turn_out_of_turn_is_lost_is_the_profiles() -> None:
    rules = msgspec.structs.replace(INTERNATIONAL.penalties, out_of_turn_skips="trick")
    first = answers(msgspec.structs.replace(INTERNATIONAL, penalties=rules), "play_out_of_turn")[0]
    assert first.effects == (TurnLost("E", whole_trick=True),)
    assert "penalties.out_of_turn_skips" in first.keys


def test_the_warnings_of_two_fouls_are_counted_apart() -> None:
    record = tuple(
        entry(penalty, "declare_out_of_turn") for penalty in ("warning", "foul", "warning")
    )
    assert ladder(HUAINAN, "declare_out_of_turn", record[:2]) == "warning"
    assert ladder(HUAINAN, "declare_out_of_turn", record) == "foul"


def test_a_play_out_of_turn_takes_no_warning_away() -> None:
    record = (entry("warning", "declare_out_of_turn"), entry("foul", "play_out_of_turn"))
    assert ladder(HUAINAN, "declare_out_of_turn", record) == "foul"


def test_warnings_out_of_turn_end_with_the_deal() -> None:
    record = (entry("warning", "declare_out_of_turn", deal=2),)
    assert ladder(HUAINAN, "declare_out_of_turn", record, deal=3) == "warning"


def test_cheating_is_expelled_at_once_where_the_rulebook_says_so() -> None:
    for offence in ("hidden_cards", "collusion"):
        first = answers(BCTA, offence)[0]
        assert (first.penalty, first.needs, first.article) == ("disqualification", "chief", "D")
        assert first.effects == (MatchLost("EW"), Disqualified("7"))
        assert not first.provisional


def test_what_harmed_the_other_side_may_be_a_foul_at_once() -> None:
    assert ladder(INTERNATIONAL, "card_count") == "warning"
    harmed = answers(INTERNATIONAL, "card_count", harmed=True)
    assert [one.penalty for one in harmed] == ["foul", "warning", "violation"]
    assert harmed[0].article == "A15.3.3②"
    assert ladder(INTERNATIONAL, "disturbance", harmed=True) == "warning"


def test_hidden_cards_are_a_foul_at_once_where_they_did_harm_and_not_before() -> None:
    for profile in (INTERNATIONAL, HUAIAN):
        plain = answers(profile, "hidden_cards")
        assert [(one.penalty, one.needs, one.article) for one in plain[:3]] == [
            ("warning", "referee", "A15.3.1"),
            ("violation", "chief", "A15.3.2"),
            ("foul", "chief", "A15.3.3②"),
        ]
        harmed = answers(profile, "hidden_cards", harmed=True)
        assert [one.penalty for one in harmed[:3]] == ["foul", "warning", "violation"]
        assert (harmed[0].article, harmed[0].needs) == ("A15.3.3②", "chief")
        assert "harmed the other side" in harmed[0].why_en
        for foul in (plain[2], harmed[0]):
            assert foul.keys == ("penalties.hidden", "penalties.foul")


def test_hidden_cards_cost_the_same_with_and_without_harm_where_a_text_knows_one_penalty() -> None:
    for profile, penalties in (
        (HUAINAN, ["foul", "match_forfeit", "disqualification"]),
        (BCTA, ["disqualification", "foul", "match_forfeit"]),
    ):
        for harmed in (False, True):
            found = answers(profile, "hidden_cards", harmed=harmed)
            assert [one.penalty for one in found] == penalties
            assert not found[0].provisional
            assert "harmed" not in found[0].why_en


def test_an_event_that_makes_hidden_cards_a_foul_asks_for_harm_in_any_rulebook() -> None:
    rules = msgspec.structs.replace(HUAINAN.penalties, hidden="foul")
    profile = msgspec.structs.replace(HUAINAN, penalties=rules)
    assert ladder(profile, "hidden_cards") == "warning"
    assert ladder(profile, "hidden_cards", harmed=True) == "foul"


def test_who_is_late_has_defaulted_or_the_regulations_say() -> None:
    for profile, article in ((HUAINAN, "R6.1"), (BCTA, "C")):
        (default,) = answers(profile, "late", seat=None)
        assert (default.penalty, default.article) == ("match_forfeit", article)
    assert {one.needs for one in answers(INTERNATIONAL, "late", seat=None)} == {"chief"}
    assert ladder(INTERNATIONAL, "late", seat=None) == "none"


def test_a_wrong_return_found_in_play_stands_and_that_is_proposed() -> None:
    (answer,) = answers(INTERNATIONAL, "wrong_return_in_play")
    assert (answer.penalty, answer.needs, answer.article) == ("warning", "chief", None)
    assert answer.provisional
    assert answer.effects == ()


def test_where_a_rulebook_is_silent_seed_000_is_proposed() -> None:
    silent = answers(HUAINAN, "no_report")[0]
    assert (silent.penalty, silent.article, silent.provisional) == ("warning", None, True)
    assert silent.why_en.endswith("(the rulebook is silent, this is proposed)")
    assert silent.why_zh.endswith("（规则未载，暂定）")


def test_a_reason_says_what_why_and_where_it_stands() -> None:
    second = answers(INTERNATIONAL, "no_report", (entry("warning", "no_report"),))[0]
    assert second.why_en == (
        "cards left not reported: no. 2 of this pair in this match: violation, "
        "the right to lead or follow is lost for one trick (A12.1–2)"
    )
    assert second.why_zh == (
        "未主动报牌：该对选手本局第2次：记违例，停止一圈出牌权或跟牌权（A12.1–2）"
    )


# -- what many offences lead to -----------------------------------------------


@pytest.mark.parametrize(
    "where",
    [{"round": 2}, {"event": "another"}, {"pair": "3", "seat": "N", "side": "NS"}],
)
def test_a_violation_elsewhere_makes_no_foul(where: dict[str, Any]) -> None:
    record = (entry("violation", "no_report", **where),)
    assert ladder(INTERNATIONAL, "delay_tribute", record, step=2) == "violation"


def test_a_violation_of_an_earlier_match_of_the_round_counts() -> None:
    record = (entry("violation", "no_report", match="1", seat="N", side="NS"),)
    assert ladder(INTERNATIONAL, "delay_tribute", record, match="2", step=2) == "foul"


def test_a_first_disturbance_is_never_proposed_as_a_foul() -> None:
    record = (entry("violation", "no_report"), entry("foul", "hidden_cards"))
    for harmed in (False, True):
        first = answers(INTERNATIONAL, "disturbance", record, harmed=harmed)
        assert [one.penalty for one in first] == ["warning", "violation"]


def test_the_second_time_of_either_is_a_foul() -> None:
    warned = (entry("warning", "disturbance"),)
    assert ladder(INTERNATIONAL, "disturbance", warned) == "foul"
    assert (
        ladder(INTERNATIONAL, "delay_tribute", (entry("violation", "disturbance"),), step=2)
        == "foul"
    )
    assert ladder(INTERNATIONAL, "delay_tribute", warned, step=2) == "violation"


def test_choosing_the_violation_of_two_penalties_is_choosing_a_foul_the_second_time() -> None:
    record = (entry("violation", "no_report"),)
    assert [one.penalty for one in answers(INTERNATIONAL, "other", record)] == [
        "warning",
        "violation",
        "foul",
    ]


def test_without_a_ladder_of_violations_a_second_one_is_one_more() -> None:
    record = (entry("violation", "no_report"),)
    assert HUAINAN.penalties.violations_to_foul == 0
    assert ladder(HUAINAN, "delay_tribute", record, step=2) == "violation"


def test_fouls_are_counted_in_the_match() -> None:
    record = (entry("foul", "other", match="1"), entry("foul", "other", match="2"))
    assert ladder(INTERNATIONAL, "hidden_cards", record, match="2", harmed=True) == "foul"


def test_the_second_match_lost_in_an_event_expels() -> None:
    record = (entry("match_forfeit", "disobedience", round=1, seat="N", side="NS"),)
    expelled, lost = answers(INTERNATIONAL, "default", record, round=3, seat=None)
    assert (expelled.penalty, expelled.article) == ("disqualification", "A15.3.5")
    assert expelled.effects == (MatchLost("EW"), Disqualified("7"))
    assert lost.penalty == "match_forfeit"


@pytest.mark.parametrize("at_ms", [0, 60_000, 10**9])
def test_one_offence_can_climb_every_rung_whenever_the_others_were(at_ms: int) -> None:
    record = (
        entry("match_forfeit", "default", match="0", at_ms=at_ms),
        entry("foul", "other", at_ms=at_ms),
        entry("foul", "other", at_ms=at_ms),
        entry("violation", "no_report", at_ms=at_ms),
    )
    climbed = answers(INTERNATIONAL, "delay_tribute", record, step=2)
    assert [one.penalty for one in climbed] == [
        "disqualification",
        "match_forfeit",
        "foul",
        "violation",
    ]


# -- whose it is --------------------------------------------------------------


def test_what_the_players_settled_is_closed_in_one_rulebook() -> None:
    for decision in ("recognised", "annulled"):
        (closed,) = answers(BCTA, "no_report", settled_by_players=decision)
        assert (closed.penalty, closed.article, closed.effects) == ("none", "B", ())


def test_what_the_players_settled_is_for_the_referee_elsewhere() -> None:
    waived, *_ = answers(INTERNATIONAL, "no_report", settled_by_players="recognised")
    assert (waived.penalty, waived.needs, waived.effects) == ("none", "referee", ())
    assert waived.article == "A15.3.6"
    annulled = answers(INTERNATIONAL, "no_report", settled_by_players="annulled")
    assert annulled == answers(INTERNATIONAL, "no_report")


def test_what_the_players_accepted_may_be_recognised_too() -> None:
    record = (entry("warning", "no_report"),)
    plain = answers(INTERNATIONAL, "no_report", record)
    _, *accepted = answers(INTERNATIONAL, "no_report", record, settled_by_players="recognised")
    assert [one.penalty for one in accepted] == [one.penalty for one in plain] == ["violation"]
    assert accepted[0].article == "A15.3.6, A12.1–2"
    assert accepted[0].needs == "referee"
    assert (accepted[0].effects, accepted[0].provisional) == (plain[0].effects, False)
    assert accepted[0].keys == ("penalties.settled_by_players",)
    assert accepted[0].why_en == (
        "what the players settled among themselves is recognised: " + plain[0].why_en
    ).replace("(A12", "(A15.3.6, A12")
    assert accepted[0].why_zh.startswith("承认运动员之间自行的处理：未主动报牌：")


def test_what_is_recognised_is_given_by_whom_it_would_be_otherwise() -> None:
    record = (entry("violation", "no_report"),)
    waived, *accepted = answers(
        INTERNATIONAL, "delay_tribute", record, step=2, settled_by_players="recognised"
    )
    assert waived.needs == "referee"
    assert [(one.penalty, one.needs) for one in accepted] == [
        ("foul", "chief"),
        ("violation", "chief"),
    ]
    assert accepted[0].keys[:2] == ("penalties.settled_by_players", "penalties.violations_to_foul")


def test_nothing_is_recognised_twice_but_a_lost_turn_is_something() -> None:
    said: dict[str, Any] = {"settled_by_players": "recognised"}
    assert [one.penalty for one in answers(INTERNATIONAL, "draw_unseen", **said)] == ["none"]
    waived, turn, *_ = answers(INTERNATIONAL, "play_out_of_turn", **said)
    assert (waived.penalty, waived.effects) == ("none", ())
    assert (turn.penalty, turn.effects) == ("none", (TurnLost("E", whole_trick=False),))


def test_what_a_rulebook_does_not_say_of_settling_is_proposed() -> None:
    for one in answers(HUAINAN, "play_out_of_turn", settled_by_players="recognised"):
        assert one.provisional


def test_the_chief_may_give_any_penalty_at_his_discretion() -> None:
    for profile, article in ((INTERNATIONAL, "A15.3.7"), (BCTA, None)):
        free = by_discretion(profile, charge("no_report"), "warning")
        assert (free.penalty, free.needs, free.article) == ("warning", "chief", article)
        assert free.provisional is (article is None)
    assert by_discretion(INTERNATIONAL, charge("no_report"), "violation").loses_turn


@pytest.mark.parametrize(
    ("said", "reasons"),
    [
        ({}, ()),
        ({"pointed_out_by": "clock"}, ()),
        ({"pointed_out_by": "referee"}, ("not_at_once",)),
        ({"pointed_out_when": "later_trick"}, ("not_at_once",)),
        ({"pointed_out_when": "later_deal"}, ("not_at_once",)),
        ({"outsider_first": True}, ("outsider",)),
        ({"pointed_out_by": "outsider"}, ("not_at_once", "outsider")),
        ({"acted_first": True, "exploited": True}, ("acted_first", "exploited")),
    ],
)
def test_a_right_to_a_penalty_may_lapse(said: dict[str, Any], reasons: tuple[str, ...]) -> None:
    accused = charge("no_report", **said)
    assert lapse_reasons(accused) == reasons
    plain, found = answers(INTERNATIONAL, "no_report"), proposals(INTERNATIONAL, (), accused)
    assert found[: len(plain)] == plain
    assert [one.penalty for one in found[len(plain) :]] == (["none"] if reasons else [])


def test_a_lapse_has_its_words_and_its_article_where_the_rulebook_knows_it() -> None:
    reason: LapseReason = "acted_first"
    assert lapse_article(INTERNATIONAL, reason) == "A15.3.8③"
    assert lapse_article(HUAINAN, reason) is None
    assert "自行采取行动" in lapse_words(reason).zh


def test_a_disputed_lapse_is_the_chiefs() -> None:
    disputed = answers(INTERNATIONAL, "no_report", acted_first=True, lapse_disputed=True)
    assert {one.needs for one in disputed} == {"chief"}
    undisputed = answers(INTERNATIONAL, "no_report", acted_first=True)
    assert {one.needs for one in undisputed} == {"referee"}
    assert undisputed[-1].article == "A15.3.8③"


def test_a_charge_against_a_seat_of_the_other_side_is_refused() -> None:
    with pytest.raises(ValueError, match="N does not play for EW"):
        charge("no_report", seat="N", side="EW")
    with pytest.raises(ValueError, match="step = 0"):
        charge("no_report", step=0)


def test_proposals_and_records_survive_being_written_down() -> None:
    for offence in catalogue():
        for one in answers(HUAINAN, offence):
            assert msgspec.json.decode(msgspec.json.encode(one), type=Proposal) == one
    record = (entry("foul", "other"),)
    assert msgspec.json.decode(msgspec.json.encode(record), type=Record) == record


# -- whatever happened before -------------------------------------------------

penalties_given = st.sampled_from(["warning", "violation", "foul", "match_forfeit"])
entries = st.builds(
    lambda penalty, offence, seat, number, match, deal: entry(
        penalty, offence, seat=seat, round=number, match=match, deal=deal
    ),
    penalties_given,
    st.sampled_from(list(catalogue())),
    st.sampled_from(SEATS),
    st.integers(1, 2),
    st.sampled_from("12"),
    st.integers(1, 2),
)
records = st.lists(entries, max_size=8).map(tuple)
profiles = st.sampled_from([INTERNATIONAL, HUAIAN, HUAINAN, BCTA])
offences = st.sampled_from(list(catalogue()))


@given(profiles, records, offences, st.booleans())
def test_a_foul_and_more_and_every_choice_are_the_chiefs(
    profile: GuandanProfile, record: Record, offence: str, harmed: bool
) -> None:
    found = answers(profile, offence, record, harmed=harmed)
    assert len({one.penalty for one in found}) == len(found)
    for number, one in enumerate(found):
        if number or one.penalty in CHIEFS:
            assert one.needs == "chief"
        assert one.provisional or one.article
        assert one.provisional or all(profile.article(key) for key in one.keys)
        assert one.why_en.isprintable()
        assert "{" not in one.why_en + one.why_zh


@given(profiles, records, records, offences)
def test_what_others_did_changes_nothing(
    profile: GuandanProfile, record: Record, others: Record, offence: str
) -> None:
    strangers = tuple(
        msgspec.structs.replace(one, pair="3", person="other", side="NS", seat="N")
        for one in others
    )
    own = tuple(msgspec.structs.replace(one, side="EW", seat="E") for one in record)
    assert answers(profile, offence, (*own, *strangers)) == answers(profile, offence, own)


@given(profiles, records, records, offences)
def test_more_offences_never_make_a_penalty_milder(
    profile: GuandanProfile, record: Record, later: Record, offence: str
) -> None:
    order: list[Penalty] = ["none", "warning", "violation", "foul", "match_forfeit"]
    order.append("disqualification")
    more = tuple(one for one in later if one.penalty != "foul")  # a foul closes its warnings
    before = answers(profile, offence, record)[0].penalty
    after = answers(profile, offence, (*record, *more))[0].penalty
    assert order.index(before) <= order.index(after)


times = st.integers(0, 10**9)


@given(profiles, records, offences, st.lists(times, min_size=9, max_size=9))
def test_when_something_happened_is_never_counted_by(
    profile: GuandanProfile, record: Record, offence: str, at_ms: list[int]
) -> None:
    now, *before = at_ms
    moved_on = tuple(
        msgspec.structs.replace(one, at_ms=at) for one, at in zip(record, before, strict=False)
    )
    assert answers(profile, offence, moved_on, at_ms=now) == answers(profile, offence, record)


WHERE: dict[str, Any] = {
    "person": "Dong",
    "pair": "7",
    "event": "cup",
    "round": 1,
    "match": "1",
    "deal": 1,
    "at_ms": 60_000,
}


def placed(offence: str, said: dict[str, Any]) -> dict[str, Any]:
    seat: Seat | None = said.get("seat", "E")
    side = side_of(seat) if seat else "EW"
    return {**WHERE, "offence": offence, "seat": seat, "side": side, **said}


def charge(offence: str, **said: Any) -> Charge:
    return Charge(**{"pointed_out_by": "N", **placed(offence, said)})


def entry(penalty: Penalty, offence: str, **said: Any) -> Entry:
    return Entry(penalty=penalty, article=None, **placed(offence, said))


def answers(
    profile: GuandanProfile, offence: str, record: Record = (), **said: Any
) -> tuple[Proposal, ...]:
    return proposals(profile, record, charge(offence, **said))


def ladder(profile: GuandanProfile, offence: str, record: Record = (), **said: Any) -> Penalty:
    return answers(profile, offence, record, **said)[0].penalty


def moved(profile: GuandanProfile, levels: Sides, proposal: Proposal) -> Sides:
    standing = Standing(levels=levels)
    for effect in proposal.effects:
        if isinstance(effect, LevelUp):
            standing = shifted(profile, standing, effect.side, effect.steps, 1)
        elif isinstance(effect, LevelDown):
            standing = shifted(profile, standing, effect.side, -effect.steps, 1)
    return standing.levels


def test_an_incident_has_what_a_charge_and_an_entry_share() -> None:
    shared = set(Charge.__struct_fields__) & set(Entry.__struct_fields__)
    assert shared == set(Incident.__struct_fields__)


def test_no_charge_and_no_entry_is_without_its_time() -> None:
    for kind, said in ((Charge, {"pointed_out_by": "N"}), (Entry, {"article": None})):
        raw = {**placed("no_report", {}), "penalty": "warning", **said}
        assert msgspec.convert(raw, kind).at_ms == 60_000
        del raw["at_ms"]
        with pytest.raises(msgspec.ValidationError, match="missing required field `at_ms`"):
            msgspec.convert(raw, kind)


def test_what_a_ruling_leaves_in_the_record_has_the_time_of_the_offence() -> None:
    accused = charge("no_report", at_ms=754_321)
    ruling = propose("1", accused, proposals(INTERNATIONAL, (), accused)[0], "Lin")
    ruled = approve(ruling, "Lin", Role.REFEREE)
    assert isinstance(ruled, Ruling)
    left = entry_of(ruled)
    assert left is not None
    assert (left.person, left.article, left.at_ms) == ("Dong", "A12.1–2", 754_321)


def test_a_whole_pair_is_charged_without_a_seat_and_a_person() -> None:
    pairs = charge("late", seat=None, person=None, deal=0)
    assert (pairs.seat, pairs.person, pairs.side, pairs.at_ms) == (None, None, "EW", 60_000)
    (default,) = proposals(HUAINAN, (), pairs)
    assert default.effects == (MatchLost("EW"),)
