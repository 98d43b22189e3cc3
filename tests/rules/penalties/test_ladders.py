import msgspec
import pytest

from controller.rules.penalties.penalty_record import Penalty, earlier_entries
from controller.rules.penalties.proposals import LevelUp, MatchLost, PairDisqualified, TurnLost

from .charged import BCTA, HUAIAN, HUAINAN, INTERNATIONAL, answers, charge, entry, ladder


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
    assert earlier_entries(record, charge("other", person=None), "player", "match") == ()
    assert earlier_entries(record, charge("other", person=None), "pair", "match") == record


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
            HUAINAN, penalties=msgspec.structs.replace(HUAINAN.penalties, fouls_to_forfeit=times)
        )
        for times in (3, 0)
    )
    assert ladder(counted, "play_out_of_turn", fouls[:2]) == "match_forfeit"
    for before in range(len(fouls) + 1):
        (foul,) = answers(uncounted, "play_out_of_turn", fouls[:before])
        assert (foul.penalty, foul.article, foul.provisional) == ("foul", "R6.2", False)
        assert foul.effects == (LevelUp("NS", 1),)


@pytest.mark.parametrize(
    ("offence", "step", "key"),
    [("play_out_of_turn", None, "out_of_turn_skips"), ("delay_play", 2, "delay_skips")],
)
def test_how_long_a_right_to_play_is_lost_is_the_profiles_and_proposed(
    offence: str, step: int | None, key: str
) -> None:
    for how, said in (("one_turn", "this turn is lost"), ("trick", "is lost for one trick")):
        rules = msgspec.structs.replace(INTERNATIONAL.penalties, **{key: how})
        profile = msgspec.structs.replace(INTERNATIONAL, penalties=rules)
        first = answers(profile, offence, step=step)[0]
        assert first.effects == (TurnLost("E", whole_trick=how == "trick"),)
        assert said in first.why_en
        assert (f"penalties.{key}" in first.keys, first.provisional) == (True, True)


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
        assert first.effects == (MatchLost("EW"), PairDisqualified("7"))
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
