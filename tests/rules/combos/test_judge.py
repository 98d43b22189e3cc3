from importlib import resources

import msgspec
import pytest

from controller.rules.combos.articles import RULES, SEEDS, reason
from controller.rules.combos.combo import KINDS
from controller.rules.combos.judge import PROFILES, judge, judge_contained
from controller.rules.combos.notation import Nonsense
from controller.rules.combos.ruling import Ruling

INTERNATIONAL = "international-000"
BIG_TWO = "bigtwo-2017-002"

# level, play, on, declared, legal, a rule that the ruling names
RULINGS: list[tuple[int, str, str | None, str | None, bool, str]] = [
    (2, "K", None, None, True, "single"),
    (2, "KK", None, None, True, "pair"),
    (2, "KKK", None, None, True, "triple"),
    (2, "KKK66", None, None, True, "full_house"),
    (2, "34567", None, None, True, "straight"),
    (2, "334455", None, None, True, "tube"),
    (2, "333444", None, None, True, "plate"),
    (2, "3333", None, None, True, "bomb"),
    (2, "♠34567", None, None, True, "straight_flush"),
    (2, "SJSJBJBJ", None, None, True, "joker_bomb"),
    (2, "3333333 ♥2♥2", None, None, True, "long_bomb"),
    (2, "KKK SJ SJ", None, None, True, "joker_pair"),
    (2, "K ♥2", None, None, True, "wild"),
    (2, "♥2 ♥2", None, None, True, "wild_alone"),
    (4, "34567", None, None, True, "natural_place"),
    (2, "4567 ♥2", None, None, True, "declare"),
    (2, "4567 ♥2", None, "34567", True, "declared"),
    (2, "♦789J ♥2", None, "straight", True, "declared_lower"),
    (2, "KK66 ♥2", None, "plate", False, "not_as_declared"),
    (2, "KK66 ♥2", None, None, True, "undeclared_triple"),
    (2, "4567 ♥2", None, None, True, "undeclared_high"),
    (2, "7788 ♥2♥2", None, None, True, "undeclared_tube"),
    (2, "♦789J ♥2", None, None, True, "undeclared_class"),
    (2, "34567", None, None, True, "bare_suits"),
    (2, "KQ", None, None, False, "no_type"),
    (2, "K9 ♥2♥2", None, None, False, "no_type"),
    (2, "♥2 SJ", None, None, False, "wild_no_joker"),
    (2, "SJ SJ BJ ♥2", None, None, False, "wild_no_joker"),
    (2, "SJ BJ", None, None, False, "unlike_jokers"),
    (2, "JQKA2", None, None, False, "straight_wraps"),
    (2, "KA23 ♥2", None, None, False, "straight_wraps"),
    (2, "3456", None, None, False, "straight_length"),
    (2, "KKAA22", None, None, False, "tube_wraps"),
    (2, "AA223344", None, None, False, "tube_length"),
    (2, "3344", None, None, False, "tube_length"),
    (2, "JJJQQQKKK", None, None, False, "plate_length"),
    (2, "999J", None, None, False, "triple_with"),
    (2, "99 ♥2 JQ", None, None, False, "triple_with"),
    (2, "3", "KQ", None, False, "table_no_type"),
    (2, "3", None, None, True, "lead"),
    (2, "33", "4", None, False, "same_kind"),
    (2, "4", "4", None, False, "greater"),
    (10, "10", "A", None, True, "by_rank"),
    (2, "44455", "33366", None, True, "by_triple"),
    (2, "45678", "34567", None, True, "by_top"),
    (2, "333444", "AAA222", None, True, "by_top_group"),
    (2, "3333", "BJ", None, True, "bomb_over_all"),
    (2, "BJ", "3333", None, False, "bomb_over_all"),
    (2, "♠34567", "AAA KK", None, True, "flush_over_all"),
    (2, "33333", "AAAA", None, True, "more_cards"),
    (2, "4444", "3333", None, True, "bomb_rank"),
    (2, "♠34567", "AAAAA", None, True, "flush_over_bomb"),
    (2, "AAAAA", "♠34567", None, False, "flush_over_bomb"),
    (2, "♥45678", "♠34567", None, True, "flush_rank"),
    (3, "222222", "♠34567", None, True, "bomb_over_flush"),
    (2, "SJSJBJBJ", "33333333", None, True, "jokers_over_all"),
]


def rules_of(ruling: Ruling) -> list[str]:
    judged = [one for one in (ruling.table, ruling.play) if one]
    reasons = [reason for one in judged for reason in one.reasons] + list(ruling.reasons)
    return [reason.rule for reason in reasons]


@pytest.mark.parametrize(("level", "play", "on", "declare", "legal", "rule"), RULINGS)
def test_a_ruling_says_whether_and_why(
    level: int, play: str, on: str | None, declare: str | None, legal: bool, rule: str
) -> None:
    ruling = judge(INTERNATIONAL, level, play, on, declare)
    assert ruling.legal is legal
    assert rule in rules_of(ruling)
    assert ruling.en.startswith("legal: " if legal else "not legal: ")
    assert ruling.zh.startswith("合法：" if legal else "不合法：")


def test_every_rule_is_a_reason_of_some_ruling() -> None:
    assert {rule for *_, rule in RULINGS} == set(RULES) - {"contained"}


def test_every_kind_has_an_article_in_every_rulebook() -> None:
    for profile in SEEDS:
        assert not any(reason(kind, profile).provisional for kind in KINDS)


def test_every_profile_there_is_can_be_asked() -> None:
    folder = resources.files("controller.rules") / "profiles"
    names = {entry.name.removesuffix(".toml") for entry in folder.iterdir()}
    assert names == set(PROFILES)


@pytest.mark.parametrize(
    ("profile", "articles"),
    [
        ("international-000", ["000 A4.6", "000 A8.3", "000 A8.1"]),
        ("huaian-2017-001", ["001 A4.6", "001 A8.3", "001 A8.1"]),
        ("huainan-2013-003", ["003 R1", "003 R2", "003 R3"]),
        ("bcta-004", ["004 CN3", "004 CN3", "000 A8.1 (provisional)"]),
    ],
)
def test_articles_are_those_of_the_rulebook_that_was_asked(
    profile: str, articles: list[str]
) -> None:
    ruling = judge(profile, 2, "44455", "33366")
    assert [one.article for one in (*ruling.play.reasons, *ruling.reasons)] == articles
    assert ruling.provisional is (profile == "bcta-004")


def test_what_no_rulebook_says_is_provisional_in_each() -> None:
    for profile in SEEDS:
        ruling = judge(profile, 2, "4567 ♥2")
        assert ruling.provisional
        assert "provisional" in [one.article for one in ruling.play.reasons]


def test_a_plain_ruling_rests_on_nothing_provisional() -> None:
    assert not judge(INTERNATIONAL, 2, "♠4♥5♠6♠7♠8", "34567").provisional
    assert not judge(INTERNATIONAL, 2, "♠45678", "34567").provisional


def test_a_play_of_another_kind_is_refused_for_that_alone() -> None:
    assert [one.rule for one in judge(INTERNATIONAL, 2, "33", "4").reasons] == ["same_kind"]
    assert [one.rule for one in judge(INTERNATIONAL, 2, "BJ", "3333").reasons] == ["bomb_over_all"]


def test_all_readings_are_told_with_the_one_that_counts() -> None:
    play = judge(INTERNATIONAL, 2, "7788 ♥2♥2", declare="plate").play
    assert [(one.kind, one.decides) for one in play.readings] == [
        ("tube", "9"),
        ("tube", "8"),
        ("plate", "8"),
    ]
    assert play.default == play.readings[0]
    assert play.counts_as == play.readings[2]
    assert play.counts_as.cards == ("7", "7", "7(♥2)", "8", "8", "8(♥2)")
    assert play.declaration_due


@pytest.mark.parametrize(
    ("level", "play", "cards", "decides"),
    [
        (2, "KK66 ♥2", "6 6 K K K(♥2)", "K"),
        (2, "♦789J ♥2", "♦7 ♦8 ♦9 ♦10(♥2) ♦J", "J"),
        (2, "K♠ ♥2", "♠K K(♥2)", "K"),
        (2, "♥2 ♥2", "♥2 ♥2", "2"),
        (7, "7", "7", "7"),
        (7, "SJ SJ", "SJ SJ", "SJ"),
        (7, "KKK SJ SJ", "K K K SJ SJ", "K"),
        (7, "A2345", "A 2 3 4 5", "5"),
        (7, "♥7 3456", "3 4 5 6 ♥7", "7"),
    ],
)
def test_a_reading_shows_the_cards_as_they_are_laid(
    level: int, play: str, cards: str, decides: str
) -> None:
    reading = judge(INTERNATIONAL, level, play).play.counts_as
    assert reading is not None
    assert (" ".join(reading.cards), reading.decides) == (cards, decides)


@pytest.mark.parametrize(
    ("declare", "cards"),
    [
        ("straight", "♦7 ♦8 ♦9 ♦10 J(♥2)"),
        ("杂花顺", "♦7 ♦8 ♦9 ♦10 J(♥2)"),
        ("straight-flush", "♦7 ♦8 ♦9 ♦10 ♦J(♥2)"),
        ("straight_flush 6789T", "♦6(♥2) ♦7 ♦8 ♦9 ♦10"),
        ("同花顺 6789T", "♦6(♥2) ♦7 ♦8 ♦9 ♦10"),
        ("Straight 6789T", "6(♥2) ♦7 ♦8 ♦9 ♦10"),
        ("6789T", "♦6(♥2) ♦7 ♦8 ♦9 ♦10"),
        ("♦T9876", "♦6(♥2) ♦7 ♦8 ♦9 ♦10"),
    ],
)
def test_a_declaration_is_a_kind_or_ranks_or_both(declare: str, cards: str) -> None:
    reading = judge(INTERNATIONAL, 2, "♦789T ♥2", declare=declare).play.counts_as
    assert reading is not None
    assert " ".join(reading.cards) == cards


def test_each_play_has_its_own_declaration() -> None:
    low, high = "34567", "45678"
    assert judge(INTERNATIONAL, 2, "4567 ♥2", "4567 ♥2", high, low).legal
    assert not judge(INTERNATIONAL, 2, "4567 ♥2", "4567 ♥2", low, high).legal
    assert not judge(INTERNATIONAL, 2, "4567 ♥2", "4567 ♥2").legal


def test_a_wrong_play_is_named_by_what_it_was_declared() -> None:
    ruling = judge(INTERNATIONAL, 2, "KK66 ♥2", declare="plate")
    assert (ruling.legal, ruling.en) == (False, "not legal: K K 6 6 ♥2 is no plate")
    assert ruling.play.default is not None
    assert ruling.play.counts_as is None


def test_a_ruling_is_json_both_ways() -> None:
    for ruling in (judge(INTERNATIONAL, 2, "7788 ♥2♥2", "334455"), judge(BIG_TWO, None, "♠3")):
        assert msgspec.json.decode(msgspec.json.encode(ruling), type=Ruling) == ruling


def test_the_kinds_in_an_exposed_play_are_told_with_their_article() -> None:
    told = judge_contained(INTERNATIONAL, 2, "999J")
    assert told.kinds == ("single", "pair", "triple")
    assert (told.en, told.zh) == ("single, pair, triple", "单张、对子、三同张")
    assert (told.reasons[0].article, told.provisional) == ("000 A16.3.1", False)
    assert judge_contained("bcta-004", 2, "999J").provisional


@pytest.mark.parametrize(
    ("play", "on", "legal", "rules"),
    [
        ("♠3", None, True, ["single", "lead"]),
        ("♠2", "♠A", True, ["single", "single", "by_card"]),
        ("♥3", "♠3", False, ["single", "single", "by_card", "greater"]),
        ("♠3♥3", "♠4", False, ["single", "pair", "same_kind"]),
        ("♠34568", "♦34567", False, ["straight_flush", "flush", "by_kind", "greater"]),
        ("♠34568", "♦3456 ♣7", True, ["straight", "flush", "by_kind"]),
        ("♠4♥4♣4♠5♥5", "♠3♥3♣3♠6♥6", True, ["full_house", "full_house", "by_highest"]),
        ("♠3♠4", None, False, ["no_type"]),
        ("♠3", "♠4♠5", False, ["no_type", "single", "table_no_type"]),
    ],
)
def test_big_two_is_judged_by_its_own_rules(
    play: str, on: str | None, legal: bool, rules: list[str]
) -> None:
    ruling = judge(BIG_TWO, None, play, on)
    assert (ruling.legal, rules_of(ruling)) == (legal, rules)
    assert ruling.level is None


def test_in_big_two_the_deciding_card_has_a_suit() -> None:
    decides = [judge(BIG_TWO, 5, play).play.readings[0].decides for play in ("♠2♦2", "♦3♣3", "♥T")]
    assert decides == ["♠2", "♣3", "♥10"]


@pytest.mark.parametrize(
    ("profile", "level", "play", "declare", "says"),
    [
        ("whist", 2, "3", None, 'profile "whist": expected one of international-000, '),
        (INTERNATIONAL, None, "3", None, "which level is played? give it: 2…10, J, Q, K or A"),
        (INTERNATIONAL, 15, "3", None, "which level is played?"),
        (INTERNATIONAL, 2, "", None, "the play is empty"),
        (INTERNATIONAL, 2, "3", "foo", 'nobody can declare "foo": write its ranks'),
        (INTERNATIONAL, 2, "3", "plate x", 'nobody can declare "plate x": write its ranks'),
        (INTERNATIONAL, 2, "3", "", "the declaration is empty"),
        (BIG_TWO, None, "♠3", "single", "nothing is declared in Big Two"),
        (BIG_TWO, None, "3", None, '"3": place 1, "3": suits decide in Big Two'),
    ],
)
def test_nonsense_is_told_in_one_line(
    profile: str, level: int | None, play: str, declare: str | None, says: str
) -> None:
    with pytest.raises(Nonsense) as told:
        judge(profile, level, play, declare=declare)
    assert str(told.value).startswith(says)
    assert "\n" not in str(told.value)


def test_big_two_has_no_wrong_lead_to_look_into() -> None:
    with pytest.raises(Nonsense, match="Guandan alone"):
        judge_contained(BIG_TWO, None, "♠3")
