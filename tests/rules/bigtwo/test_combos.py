import itertools
import random
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cmp_to_key

import msgspec
import pytest

from controller.cards import Face, face_text, parse_face
from controller.rules.big_two import BigTwoComboRules, BigTwoRules
from controller.rules.combos.big_two_combos import (
    BIG_TWO_KIND_NAMES,
    FIVE_CARD_KINDS,
    USUAL_COMBO_RULES,
    BigTwoCombo,
    can_beat,
    can_follow,
    compare_key,
    readings,
)
from tests.rows import each_row

DIAMOND_3 = parse_face("♦3")


def cards(text: str) -> list[Face]:
    return [parse_face(word) for word in text.split()]


def combo(text: str, combos: BigTwoComboRules = USUAL_COMBO_RULES) -> BigTwoCombo:
    (found,) = readings(cards(text), combos)
    return found


def changed(**keys: object) -> BigTwoComboRules:
    return msgspec.structs.replace(USUAL_COMBO_RULES, **keys)


def test_the_usual_combinations_are_the_profiles_own(rules: BigTwoRules) -> None:
    assert rules.combos == USUAL_COMBO_RULES


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("♠8", "single"),
        ("♠5 ♦5", "pair"),
        ("♠3 ♦3 ♣3", "triple"),
        ("♠3 ♠4 ♦5 ♠6 ♠7", "straight"),
        ("♠3 ♠4 ♠5 ♠6 ♠8", "flush"),
        ("♠9 ♥9 ♦9 ♠3 ♥3", "full_house"),
        ("♠8 ♥8 ♣8 ♦8 ♠3", "four_one"),
        ("♠3 ♠4 ♠5 ♠6 ♠7", "straight_flush"),
    ],
)
def test_the_seeds_own_examples_are_what_it_calls_them(text: str, kind: str) -> None:
    assert combo(text).kind == kind


@each_row(
    "text",
    [
        "",
        "♠8 ♠9",
        "♠8 ♥8 ♣8 ♦8",
        "♠8 ♥8 ♣8 ♦9",
        "♠J ♥Q ♣K ♦A ♠2",
        "♠Q ♥K ♣A ♦2 ♠3",
        "♠K ♥A ♣2 ♦3 ♠4",
        "♠8 ♥8 ♣9 ♦9 ♠3",
        "♠8 ♥8 ♣8 ♦9 ♠3",
        "♠3 ♥4 ♣5 ♦6 ♠7 ♥8",
        "♠8 ♠8",
        "SJ",
        "SJ BJ",
        "BJ ♠10 ♥J ♣Q ♦K",
    ],
)
def test_what_is_no_combination_has_no_reading(text: str) -> None:
    assert readings(cards(text)) == ()


@each_row(
    ("higher", "lower"),
    [
        ("♦2", "♠A"),
        ("♦A", "♠K"),
        ("♦4", "♠3"),
        ("♠9", "♥9"),
        ("♥9", "♣9"),
        ("♣9", "♦9"),
        ("♦2 ♣2", "♠A ♥A"),
        ("♠9 ♦9", "♥9 ♣9"),
        ("♦2 ♣2 ♥2", "♠A ♥A ♣A"),
        ("♠10 ♥J ♣Q ♦K ♦A", "♠9 ♥10 ♣J ♦Q ♠K"),
        ("♦3 ♥4 ♣5 ♦6 ♦7", "♠2 ♥3 ♣4 ♦5 ♠6"),
        ("♦2 ♥3 ♣4 ♦5 ♦6", "♠A ♥2 ♣3 ♠4 ♠5"),
        ("♦3 ♥4 ♣5 ♦6 ♠7", "♠3 ♠4 ♠5 ♠6 ♥7"),
        ("♥2 ♥3 ♥4 ♥5 ♥7", "♠A ♠K ♠Q ♠J ♠9"),
        ("♠3 ♠4 ♠5 ♠6 ♠9", "♥3 ♥4 ♥5 ♥8 ♥9"),
        ("♦4 ♣4 ♥4 ♠3 ♥3", "♦3 ♣3 ♥3 ♠A ♥A"),
        ("♦4 ♣4 ♥4 ♠4 ♥3", "♦3 ♣3 ♥3 ♠3 ♥2"),
        ("♦A ♦2 ♦3 ♦4 ♦5", "♠A ♥A ♣A ♦A ♠2"),
        ("♦3 ♣3 ♥3 ♠3 ♥4", "♠2 ♥2 ♣2 ♠A ♥A"),
        ("♦3 ♣3 ♥3 ♠4 ♥4", "♠2 ♠A ♠K ♠Q ♠10"),
        ("♦3 ♦4 ♦5 ♦6 ♦8", "♠10 ♥J ♣Q ♦K ♠A"),
    ],
)
def test_the_higher_play_beats_and_the_lower_does_not(higher: str, lower: str) -> None:
    assert can_beat(combo(higher), combo(lower))
    assert not can_beat(combo(lower), combo(higher))


@pytest.mark.parametrize(
    ("one", "other"),
    [("♠2", "♠3 ♥3"), ("♠3 ♥3", "♠4 ♥4 ♣4"), ("♠2 ♥2 ♣2", "♠3 ♥4 ♣5 ♦6 ♠7"), ("♠2", "♠4 ♥4 ♣4")],
)
def test_plays_of_another_count_never_beat_each_other(one: str, other: str) -> None:
    assert not can_beat(combo(one), combo(other))
    assert not can_beat(combo(other), combo(one))


def test_by_the_letter_of_article_7_a_flush_does_not_follow_a_straight() -> None:
    flush, straight = combo("♠3 ♠4 ♠5 ♠6 ♠8"), combo("♠3 ♥4 ♠5 ♠6 ♠7")
    letter = changed(five_cards="same_kind")
    assert can_beat(flush, straight)
    assert not can_beat(flush, straight, letter)
    assert can_beat(combo("♥4 ♥5 ♥6 ♥7 ♥9"), flush, letter)


def test_an_event_may_forbid_the_two_in_straights() -> None:
    low, next_low = cards("♠A ♥2 ♣3 ♦4 ♠5"), cards("♠2 ♥3 ♣4 ♦5 ♠6")
    assert not readings(low, changed(a_low=False))
    assert readings(next_low, changed(a_low=False))
    assert not readings(next_low, changed(a_low=False, two_in_straights=False))


def test_an_event_may_let_the_two_rank_straights() -> None:
    by_two = changed(straights_by="singles")
    low, high = "♠A ♥2 ♣3 ♦4 ♠5", "♠10 ♥J ♣Q ♦K ♣A"
    assert can_beat(combo(low, by_two), combo(high, by_two), by_two)
    assert can_beat(combo(high), combo(low))


def test_an_event_may_compare_full_houses_and_fours_by_their_highest_card() -> None:
    highest = changed(full_house_by="highest_card", four_one_by="highest_card")
    for lower, higher in (
        ("♦4 ♣4 ♥4 ♠5 ♥5", "♦3 ♣3 ♥3 ♠A ♥A"),
        ("♦4 ♣4 ♥4 ♠4 ♥3", "♦3 ♣3 ♥3 ♠3 ♥2"),
    ):
        assert can_beat(combo(lower), combo(higher))
        assert can_beat(combo(higher, highest), combo(lower, highest), highest)


def test_a_straight_is_laid_from_low_to_high() -> None:
    laid = [face_text(face) for face in combo("♠5 ♥2 ♣3 ♦A ♠4").faces]
    assert laid == ["♦A", "♥2", "♣3", "♠4", "♠5"]
    assert [face_text(face) for face in combo("♥9 ♠3 ♦9 ♠9 ♦3").faces][:3] == ["♦9", "♥9", "♠9"]


def test_a_reading_uses_exactly_its_cards(scale: Callable[[int], int]) -> None:
    for play in plays(scale(20_000), seed=1):
        for found in readings(play):
            assert sorted(found.faces) == sorted(play)
            assert found.size == BIG_TWO_KIND_NAMES[found.kind].size == len(play)


def test_a_dumb_recogniser_agrees_on_random_plays(scale: Callable[[int], int]) -> None:
    legal = 0
    for play in plays(scale(20_000), seed=2):
        assert [found.kind for found in readings(play)] == dumb_kinds(play), play
        legal += bool(readings(play))
    assert legal > scale(20_000) / 3


@pytest.mark.slow
def test_all_five_card_plays_with_the_three_of_diamonds_are_as_many_as_combinatorics_says() -> None:
    others = [face for face in range(52) if face != DIAMOND_3]
    found: Counter[str] = Counter()
    for four in itertools.combinations(others, 4):
        found.update(reading.kind for reading in readings((DIAMOND_3, *four)))
    assert found == {
        "straight_flush": 3,
        "four_one": 48 + 12,
        "full_house": 3 * 12 * 6 + 3 * 12 * 4,
        "flush": 495 - 3,
        "straight": 3 * 4**4 - 3,
    }


def test_comparison_is_a_strict_weak_order_within_a_class(scale: Callable[[int], int]) -> None:
    draw = random.Random(3)
    every = [found for play in plays(2_000, seed=4) for found in readings(play)]
    for size in (1, 2, 3, 5):
        pool = [found for found in every if found.size == size]
        for _ in range(scale(20_000)):
            a, b, c = draw.choices(pool, k=3)
            assert not can_beat(a, a)
            assert not (can_beat(a, b) and can_beat(b, a))
            if can_beat(a, b) and can_beat(b, c):
                assert can_beat(a, c)
            if can_beat(a, c):  # else what is equal to b would be ordered: negative transitivity
                assert can_beat(a, b) or can_beat(b, c)


def test_no_two_plays_of_one_pack_are_equal_unless_they_share_their_deciding_card() -> None:
    pool = [found for play in plays(400, seed=5) for found in readings(play)]
    for a, b in itertools.combinations(pool, 2):
        if not can_follow(a, b) or set(a.faces) & set(b.faces):
            continue
        assert can_beat(a, b) != can_beat(b, a)


def test_plays_sorted_by_strength_agree_with_beating() -> None:
    every = [found for play in plays(1_000, seed=6) for found in readings(play)]
    fives = [found for found in every if found.size == 5]

    def higher(a: BigTwoCombo, b: BigTwoCombo) -> int:
        return can_beat(a, b) - can_beat(b, a)

    by_beating = sorted(fives, key=cmp_to_key(higher))
    assert [compare_key(found) for found in by_beating] == sorted(map(compare_key, fives))
    assert [kind for kind, _ in itertools.groupby(found.kind for found in by_beating)] == [
        kind for kind in FIVE_CARD_KINDS if any(found.kind == kind for found in fives)
    ]


def plays(count: int, seed: int) -> Iterable[tuple[Face, ...]]:
    """Random plays, more than a third of them combinations: of one or two ranks, or near a run."""
    draw = random.Random(seed)
    for _ in range(count):
        if draw.random() < 0.5:
            ranks = draw.sample(range(13), draw.choice((1, 2)))
            pool = [suit * 13 + rank for rank in ranks for suit in range(4)]
            yield tuple(draw.sample(pool, min(len(pool), draw.choice((1, 2, 3, 4, 5, 5)))))
        else:
            start, reach = draw.randrange(13), draw.choice((5, 5, 6))
            suits = draw.choice(((0, 1, 2, 3), (draw.randrange(4),)))
            near = draw.sample([(start + n) % 13 for n in range(reach)], 5)
            yield tuple(draw.choice(suits) * 13 + rank for rank in near)


RUNS = {frozenset("A23456789TJQKA"[n : n + 5]) for n in range(10)}


def dumb_kinds(play: Iterable[Face]) -> list[str]:
    """The kinds of a play, found from its text alone."""
    texts = [face_text(face).replace("10", "T") for face in play]
    alike = sorted(Counter(text[1] for text in texts).values())
    run = len(texts) == 5 and frozenset(text[1] for text in texts) in RUNS
    one_suit = len(texts) == 5 and len({text[0] for text in texts}) == 1
    tests = {
        "straight_flush": run and one_suit,
        "four_one": alike == [1, 4],
        "full_house": alike == [2, 3],
        "flush": one_suit,
        "straight": run,
        "triple": alike == [3],
        "pair": alike == [2],
        "single": alike == [1],
    }
    return [kind for kind, holds in tests.items() if holds][:1]
