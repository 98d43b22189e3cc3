from pathlib import Path

import msgspec
import pytest

from controller.rules.combos.card_tokens import QuestionError
from controller.rules.combos.combo_judge import judge_contained_kinds, judge_play
from controller.rules.combos.combo_rules import COMBO_RULES, cite_rule
from controller.rules.combos.guandan_combos import COMBO_NAMES
from controller.rules.combos.play_ruling import ComboReading, ContainedKinds, LaidCard, PlayRuling
from controller.rules.profile_files import ProfileError, load_profile, profile_names
from tests.rows import each_row

INTERNATIONAL = "international-000"
BIG_TWO = "bigtwo-2017-002"
GUANDAN = [name for name in profile_names() if name != BIG_TWO]

DASHES = "-\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u301c\uff0d\uff5e~"
"""What keyboards and programs write between two ends."""

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
    (2, "4567 ♥2", None, "3-7", True, "declared"),
    (2, "444555", None, "飞机", True, "lead"),
    (2, "4567 ♥2", None, "3 - 7", True, "declared"),
    (2, "4567 ♥2", None, "7–3", True, "declared"),
    (2, "4567 ♥2", None, "顺子3到7", True, "declared"),
    (2, "4567 ♥2", None, "straight 3 to 7", True, "declared"),
    (2, "4567 ♥2", None, "from 3 to 7", True, "declared"),
    (2, "4567 ♥2", None, "三到七", True, "declared"),
    (2, "4567 ♥2", None, "从3到7", True, "declared"),
    (2, "4567 ♥2", None, "3——7", True, "declared"),
    (2, "4567 ♥2", None, "顺子：3-7", True, "declared"),
    (2, "4567 ♥2", None, "3-7：顺子", True, "declared"),
    (2, "4567 ♥2", None, "♥3-7", True, "declared"),
    (2, "4567 ♥2", None, "♥️3 - ♠7", True, "declared"),
    (2, "4567 ♥2", None, "红桃3到7红桃", True, "declared"),
    (2, "♥4567 ♥2", None, "同花顺♥3-7", True, "declared"),
    (2, "4567 ♥2", None, "同花顺♥3-7", False, "not_as_declared"),
    (2, "TJQK ♥2", None, "十到A", True, "declared"),
    *((2, "4567 ♥2", None, f"3{dash}7", True, "declared") for dash in DASHES),
    (2, "4567 ♥2", None, "4-8", True, "declared"),
    (2, "4567 ♥2", None, "5-9", False, "not_as_declared"),
    (2, "TJQK ♥2", None, "10-A", True, "declared"),
    (2, "345A ♥2", None, "A-5", True, "declared"),
    (2, "7788 ♥2♥2", None, "tube 7-9", True, "declared"),
    (2, "7788 ♥2♥2", None, "7-8", True, "declared"),
    (2, "7788 ♥2♥2", None, "6-8", True, "declared"),
    (2, "KK66 ♥2", None, "plate", False, "not_as_declared"),
    (2, "KK66 ♥2", None, None, True, "undeclared_triple"),
    (2, "4567 ♥2", None, None, True, "undeclared_high"),
    (2, "7788 ♥2♥2", None, None, True, "undeclared_tube"),
    (2, "♦789J ♥2", None, None, True, "undeclared_class"),
    (2, "34567", None, None, True, "bare_suits"),
    (2, "33 2", None, None, False, "bare_level"),
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
    (10, "10", "A", None, True, "by_level"),
    (10, "10 ♥10", "SJ SJ", None, False, "by_level"),
    (2, "7788 ♥2♥2", "555666", None, True, "undeclared_follows"),
    (2, "♠34567", None, "straight", True, "declared_plain"),
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


def cards_of(reading: ComboReading | None) -> str:
    assert reading is not None
    return " ".join(map(str, reading.cards))


def rules_of(ruling: PlayRuling) -> list[str]:
    judged = [one for one in (ruling.table, ruling.play) if one]
    reasons = [reason for one in judged for reason in one.reasons] + list(ruling.reasons)
    return [reason.rule for reason in reasons]


@each_row(("level", "play", "on", "declare", "legal", "rule"), RULINGS)
def test_a_ruling_says_whether_and_why(
    level: int, play: str, on: str | None, declare: str | None, legal: bool, rule: str
) -> None:
    ruling = judge_play(INTERNATIONAL, level, play, on, declare)
    assert ruling.legal is legal
    assert rule in rules_of(ruling)
    assert ruling.en.startswith("legal: " if legal else "not legal: ")
    assert ruling.zh.startswith("合法：" if legal else "不合法：")


def test_every_rule_is_a_reason_of_some_ruling() -> None:
    assert {rule for *_, rule in RULINGS} == set(COMBO_RULES) - {"contained"}


def test_every_kind_has_an_article_in_every_rulebook() -> None:
    for name in GUANDAN:
        profile = load_profile(name)
        assert not any(cite_rule(kind, profile, 2).provisional for kind in COMBO_NAMES)


@pytest.mark.parametrize("name", profile_names())
def test_every_profile_there_is_can_be_asked_by_its_name_or_as_it_was_loaded(name: str) -> None:
    level = None if name == BIG_TWO else 2
    profile = load_profile(name)
    ruling = judge_play(profile, level, "♠3")
    assert ruling == judge_play(name, level, "♠3")
    assert ruling.reasons[0].article.startswith(profile.text) or ruling.reasons[0].provisional


@pytest.mark.parametrize(
    ("profile", "articles"),
    [
        ("international-000", ["000 A4.6", "000 A8.3", "000 A8.1"]),
        ("huaian-2017-001", ["001 A4.6", "001 A8.3", "001 A8.1"]),
        ("huainan-2013-003", ["003 R1", "003 R2", "003 R3"]),
        ("bcta-004", ["004 CN3", "004 CN3", "004 CN4"]),
    ],
)
def test_articles_are_those_of_the_rulebook_that_was_asked(
    profile: str, articles: list[str]
) -> None:
    ruling = judge_play(profile, 2, "44455", "33366")
    assert [one.article for one in (*ruling.play.reasons, *ruling.reasons)] == articles
    assert not ruling.provisional


def test_where_the_level_card_ranks_is_open_in_004_alone() -> None:
    for name in GUANDAN:
        assert judge_play(name, 10, "10", "A").provisional is (name == "bcta-004")


def test_an_undeclared_play_is_not_refused_for_a_kind_that_was_proposed_here() -> None:
    assert judge_play(INTERNATIONAL, 2, "7788 ♥2♥2", "555666").legal
    assert judge_play(INTERNATIONAL, 2, "7788 ♥2♥2", "445566").legal
    assert not judge_play(INTERNATIONAL, 2, "7788 ♥2♥2", "555666", "tube").legal


def test_what_no_rulebook_says_is_provisional_in_each() -> None:
    for profile in GUANDAN:
        ruling = judge_play(profile, 2, "4567 ♥2")
        assert ruling.provisional
        assert "provisional" in [one.article for one in ruling.play.reasons]


def test_a_plain_ruling_rests_on_nothing_provisional() -> None:
    assert not judge_play(INTERNATIONAL, 2, "♠4♥5♠6♠7♠8", "34567").provisional
    assert not judge_play(INTERNATIONAL, 2, "♠45678", "34567").provisional


def test_a_play_of_another_kind_is_refused_for_that_alone() -> None:
    assert [one.rule for one in judge_play(INTERNATIONAL, 2, "33", "4").reasons] == ["same_kind"]
    assert [one.rule for one in judge_play(INTERNATIONAL, 2, "BJ", "3333").reasons] == [
        "bomb_over_all"
    ]


def test_all_readings_are_told_with_the_one_that_counts() -> None:
    play = judge_play(INTERNATIONAL, 2, "7788 ♥2♥2", declare="plate").play
    assert [(one.kind, one.decides) for one in play.readings] == [
        ("tube", "9"),
        ("tube", "8"),
        ("plate", "8"),
    ]
    assert play.default == play.readings[0]
    assert play.counts_as == play.readings[2]
    assert cards_of(play.counts_as) == "7 7 7(♥2) 8 8 8(♥2)"
    assert play.counts_as.cards[2] == LaidCard("♥2", stands_for="7")
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
    reading = judge_play(INTERNATIONAL, level, play).play.counts_as
    assert reading is not None
    assert (cards_of(reading), reading.decides) == (cards, decides)


@each_row(
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
        ("顺子6789T", "6(♥2) ♦7 ♦8 ♦9 ♦10"),
        ("straight6789T", "6(♥2) ♦7 ♦8 ♦9 ♦10"),
        ("六七八九十顺子", "6(♥2) ♦7 ♦8 ♦9 ♦10"),
        ("同花顺６７８９１０", "♦6(♥2) ♦7 ♦8 ♦9 ♦10"),
    ],
)
def test_a_declaration_is_a_kind_or_ranks_or_both(declare: str, cards: str) -> None:
    reading = judge_play(INTERNATIONAL, 2, "♦789T ♥2", declare=declare).play.counts_as
    assert cards_of(reading) == cards


def test_each_play_has_its_own_declaration() -> None:
    low, high = "34567", "45678"
    assert judge_play(INTERNATIONAL, 2, "4567 ♥2", "4567 ♥2", high, low).legal
    assert not judge_play(INTERNATIONAL, 2, "4567 ♥2", "4567 ♥2", low, high).legal
    assert not judge_play(INTERNATIONAL, 2, "4567 ♥2", "4567 ♥2").legal


@pytest.mark.parametrize(
    ("declare", "en", "zh"),
    [
        ("plate", "plate", "三同连张"),
        ("钢 板".replace(" ", ""), "plate", "三同连张"),
        ("STRAIGHT\n- flush", "straight flush", "同花顺"),
        ("三连张", "plate", "三同连张"),
        ("天王炸", "joker bomb", "四大天王"),
        ("顺子 a2345", "straight A 2 3 4 5", "顺子 A 2 3 4 5"),
        ("K\nK555", "K K 5 5 5", "K K 5 5 5"),
        ("大王小王 333", "BJ SJ 3 3 3", "BJ SJ 3 3 3"),
    ],
)
def test_a_wrong_play_is_named_by_what_it_was_declared(declare: str, en: str, zh: str) -> None:
    ruling = judge_play(INTERNATIONAL, 2, "KK66 ♥2", declare=declare)
    assert (ruling.legal, ruling.en) == (False, f"not legal: K K 6 6 ♥2 is no {en}")
    assert ruling.zh == f"不合法：K K 6 6 ♥2 不能算{zh}"
    assert ruling.play.default is not None
    assert ruling.play.counts_as is None


def test_full_houses_may_be_declared_by_the_name_of_the_other_card_game() -> None:
    assert judge_play(INTERNATIONAL, 2, "KK66 ♥2", declare="葫芦").legal


def test_a_declaration_is_told_as_it_was_understood() -> None:
    declared = judge_play(INTERNATIONAL, 2, "4567 ♥2", declare="顺子34567").play.declared
    assert declared is not None
    assert (declared.kind, declared.ranks) == ("straight", ("3", "4", "5", "6", "7"))
    only_ranks = judge_play(INTERNATIONAL, 2, "4567 ♥2", declare="7 6 5 4 3").play.declared
    assert only_ranks is not None
    assert (only_ranks.kind, only_ranks.ranks) == (None, ("7", "6", "5", "4", "3"))


def test_a_ruling_is_json_both_ways() -> None:
    for ruling in (
        judge_play(INTERNATIONAL, 2, "7788 ♥2♥2", "334455"),
        judge_play(BIG_TWO, None, "♠3"),
    ):
        assert msgspec.json.decode(msgspec.json.encode(ruling), type=PlayRuling) == ruling
        assert msgspec.to_builtins(ruling)["type"] == "ruling"
    told = judge_contained_kinds(INTERNATIONAL, 2, "999J")
    assert msgspec.json.decode(msgspec.json.encode(told), type=ContainedKinds) == told
    assert msgspec.to_builtins(told)["type"] == "containing"


def test_a_program_need_not_parse_a_wild_card() -> None:
    play = msgspec.to_builtins(judge_play(INTERNATIONAL, 2, "♦789J ♥2").play)
    assert play["counts_as"]["cards"][3] == {"card": "♥2", "stands_for": "♦10"}
    assert play["bare"] == ()
    assert msgspec.to_builtins(judge_play(INTERNATIONAL, 2, "K6 ♥2").play)["bare"] == ("K", "6")


def test_the_kinds_in_an_exposed_play_are_told_with_their_article() -> None:
    told = judge_contained_kinds(INTERNATIONAL, 2, "999J")
    assert told.kinds == ("single", "pair", "triple")
    assert (told.en, told.zh) == ("single, pair, triple", "单张、对子、三同张")
    assert (told.reasons[0].article, told.provisional) == ("000 A16.3.1", False)
    assert judge_contained_kinds("bcta-004", 2, "999J").provisional


@pytest.mark.parametrize(
    ("play", "on", "legal", "rules"),
    [
        ("♠3", None, True, ["single", "first_lead"]),
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
    ruling = judge_play(BIG_TWO, None, play, on)
    assert (ruling.legal, rules_of(ruling)) == (legal, rules)
    assert ruling.level is None


def test_in_big_two_the_deciding_card_has_a_suit() -> None:
    decides = [
        judge_play(BIG_TWO, None, play).play.readings[0].decides for play in ("♠2♦2", "♦3♣3", "♥T")
    ]
    assert decides == ["♠2", "♣3", "♥10"]


def test_in_big_two_sj_is_the_jack_of_spades() -> None:
    assert judge_play(BIG_TWO, None, "S10SJSQSKSA").play.counts_as == (
        judge_play(BIG_TWO, None, "♠10♠J♠Q♠K♠A").play.counts_as
    )


def test_a_first_lead_in_big_two_holds_its_card() -> None:
    (why,) = judge_play(BIG_TWO, None, "♠4").reasons
    assert why.en == "any combination may be led, but the first play of a deal holds ♦3"
    assert "♦3" in why.zh
    assert (why.article, why.provisional) == ("002 A7", False)


def event(folder: Path, profile: str, rules: str) -> Path:
    file = folder / "event.toml"
    file.write_text(
        f'profile = "{profile}"\ntitle_en = "Cup"\ntitle_zh = "杯"\norganizer = "X"\n{rules}\n'
    )
    return file


TRIPLES = "♠4♥4♣4♠5♥5", "♠3♥3♣3♠6♥6"


@pytest.mark.parametrize(
    ("rules", "play", "on", "legal", "rule", "provisional"),
    [
        ("", *TRIPLES, True, "by_highest", True),
        ('combos.full_house_by = "triple"', *TRIPLES, True, "by_highest", False),
        ('combos.full_house_by = "highest_card"', *TRIPLES, False, "by_highest", False),
        ("", "♠34568", "♦3456 ♣7", True, "by_kind", True),
        ('combos.five_cards = "one_class"', "♠34568", "♦3456 ♣7", True, "by_kind", False),
        (
            'combos.five_cards = "same_kind"',
            "♠34568",
            "♦3456 ♣7",
            False,
            "same_kind_of_five",
            False,
        ),
        ("lead.must_include = false", "♠4", None, True, "lead", False),
        ("", "♠34569", "♦34568", True, "by_highest", False),
    ],
)
def test_an_event_settles_what_the_rulebook_of_big_two_leaves_open(
    tmp_path: Path, rules: str, play: str, on: str | None, legal: bool, rule: str, provisional: bool
) -> None:
    profile = load_profile(BIG_TWO, event(tmp_path, BIG_TWO, f"[bigtwo]\n{rules}"))
    ruling = judge_play(profile, None, play, on)
    assert (ruling.legal, ruling.reasons[0].rule) == (legal, rule)
    assert (ruling.provisional, ruling.event) == (provisional, "Cup")
    settled = bool(rules) and rule != "lead"
    assert ruling.reasons[0].article == "Cup" if settled else "002" in ruling.reasons[0].article


def test_the_way_of_deciding_is_told_as_it_is_settled(tmp_path: Path) -> None:
    rules = '[bigtwo.combos]\nfull_house_by = "highest_card"'
    profile = load_profile(BIG_TWO, event(tmp_path, BIG_TWO, rules))
    plain, settled = (judge_play(one, None, *TRIPLES).reasons[0] for one in (BIG_TWO, profile))
    assert plain.en == "full houses compare by the triple, then by its suit"
    assert settled.en == "full houses compare by their highest card, then by its suit"


def test_an_event_settles_what_an_undeclared_play_is(tmp_path: Path) -> None:
    file = event(tmp_path, INTERNATIONAL, '[conduct]\nundeclared = "higher"')
    ruling = judge_play(load_profile(INTERNATIONAL, file), 2, "4567 ♥2")
    assert not ruling.provisional
    assert "Cup" in [one.article for one in ruling.play.reasons]


@pytest.mark.parametrize(
    ("profile", "level", "play", "declare", "says"),
    [
        (INTERNATIONAL, None, "3", None, "which level is played? give it: 2…10, J, Q, K or A"),
        (INTERNATIONAL, 15, "3", None, "which level is played?"),
        (INTERNATIONAL, 2, "", None, "the play is empty"),
        (INTERNATIONAL, 2, "3", "foo", 'no play can be declared as "foo": write ranks'),
        (INTERNATIONAL, 2, "4567 ♥2", "3-8", '"3-8" names 6 of 5 cards: write the rank of each'),
        (INTERNATIONAL, 2, "4567 ♥2", "3 7", '"3 7" names 2 of 5 cards: write the rank of each'),
        (INTERNATIONAL, 2, "KK66 ♥2", "三带二6", '"三带二6" names 1 of 5 cards'),
        (INTERNATIONAL, 2, "3", "plate x", 'no play can be declared as "plate x": write ranks'),
        (INTERNATIONAL, 2, "3", "", "the declaration is empty"),
        (BIG_TWO, None, "♠3", "single", "nothing is declared in Big Two"),
        (BIG_TWO, None, "♠3", "", "nothing is declared in Big Two"),
        (BIG_TWO, 2, "♠3", None, "no level is played in Big Two: leave it out"),
        (BIG_TWO, None, "3", None, '"3": place 1, "3": suits decide in Big Two'),
    ],
)
def test_nonsense_is_told_in_one_line(
    profile: str, level: int | None, play: str, declare: str | None, says: str
) -> None:
    with pytest.raises(QuestionError) as told:
        judge_play(profile, level, play, declare=declare)
    assert str(told.value).startswith(says)
    assert "\n" not in str(told.value)


def test_big_two_has_no_wrong_lead_to_look_into() -> None:
    with pytest.raises(QuestionError, match="Guandan alone"):
        judge_contained_kinds(BIG_TWO, None, "♠3")


def test_an_unknown_profile_is_none() -> None:
    with pytest.raises(ProfileError, match='profile "whist": expected one of'):
        judge_play("whist", 2, "3")


def test_the_kinds_to_declare_are_listed_in_both_languages() -> None:
    with pytest.raises(QuestionError, match="tube 三连对, plate 三同连张"):
        judge_play(INTERNATIONAL, 2, "3", declare="foo")
