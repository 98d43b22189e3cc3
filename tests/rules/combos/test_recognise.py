import random
from collections import Counter
from collections.abc import Callable
from itertools import chain, combinations

import pytest

from controller.cards import Face, composition, face_text
from controller.rules.combos.guandan_combos import (
    COMBO_NAMES,
    contained_kinds,
    must_be_declared,
    readings,
)
from controller.rules.combos.play_notation import parse_play
from controller.rules.ranks import is_joker, is_wild, natural_rank
from tests.rows import each_row
from tests.rules.combos.oracle import Found, all_readings
from tests.rules.combos.plays import random_play, wild_face

Scale = Callable[[int], int]


def cards(text: str, level: int = 2) -> tuple[Face, ...]:
    return parse_play(text, level, composition(2, jokers=True)).faces


def found_by_us(faces: list[Face], level: int) -> list[Found]:
    return [
        (combo.kind, combo.rank, tuple(sorted(map(natural_rank, combo.wild_faces))))
        for combo in readings(faces, level)
    ]


@pytest.mark.slow
def test_every_substitution_of_wild_cards_agrees(scale: Scale) -> None:
    rng = random.Random(3)
    legal, wild = 0, Counter[int]()
    for _ in range(scale(50_000)):
        faces, level = random_play(rng)
        ours = found_by_us(faces, level)
        assert len(ours) == len(set(ours))
        assert set(ours) == all_readings(faces, level), (list(map(face_text, faces)), level)
        legal += bool(ours)
        wild[faces.count(wild_face(level))] += 1
    assert legal > scale(50_000) / 3, "too few legal plays to tell anything"
    assert all(wild[count] > scale(50_000) / 20 for count in (0, 1, 2)), "too few wild cards"


def test_what_a_play_contains_is_what_its_parts_are(scale: Scale) -> None:
    rng = random.Random(4)
    for _ in range(scale(3_000)):
        faces, level = random_play(rng)
        faces = faces[:7]
        parts = chain.from_iterable(combinations(faces, size) for size in range(1, len(faces) + 1))
        kinds = {kind for part in set(parts) for kind, *_ in all_readings(list(part), level)}
        assert set(contained_kinds(faces, level)) == kinds, (list(map(face_text, faces)), level)


def test_every_reading_uses_exactly_its_cards(scale: Scale) -> None:
    rng = random.Random(5)
    for _ in range(scale(50_000)):
        faces, level = random_play(rng)
        wilds = [face for face in faces if is_wild(face, level)]
        for combo in readings(faces, level):
            laid = Counter(combo.faces)
            assert not Counter(combo.wild_faces) - laid
            assert laid - Counter(combo.wild_faces) + Counter(wilds) == Counter(faces)
            assert combo.size == len(faces)
            assert not any(map(is_joker, combo.wild_faces))


def test_a_wild_card_in_place_of_a_card_never_removes_a_reading(scale: Scale) -> None:
    rng = random.Random(6)
    tried = 0
    for _ in range(scale(50_000)):
        faces, level = random_play(rng)
        plain = [n for n, face in enumerate(faces) if face != wild_face(level)]
        suited = [n for n in plain if not is_joker(faces[n])]
        if len(plain) < 2 or not suited or len(plain) < len(faces) - 1:
            continue
        other = list(faces)
        other[rng.choice(suited)] = wild_face(level)
        before = {(combo.kind, combo.rank) for combo in readings(faces, level)}
        assert before <= {(combo.kind, combo.rank) for combo in readings(other, level)}
        tried += bool(before)
    assert tried > scale(50_000) / 10


def test_cards_are_laid_low_to_high_and_a_low_ace_first() -> None:
    def laid(text: str) -> list[int]:
        (combo, *_) = readings(cards(text), 2)
        return list(map(natural_rank, combo.faces))

    assert laid("5 4 A 3 2") == [14, 2, 3, 4, 5]
    assert laid("T A J K Q") == [10, 11, 12, 13, 14]
    assert laid("22 AA 33") == [14, 14, 2, 2, 3, 3]
    assert laid("KKK 66") == [6, 6, 13, 13, 13]


def test_a_wild_card_takes_the_suit_of_a_straight_flush_and_none_that_makes_one() -> None:
    flush, straight = readings(cards("♦789J ♥2"), 2)
    assert [face_text(face) for face in (*flush.wild_faces, *straight.wild_faces)] == ["♦10", "♥10"]
    hearts = readings(cards("♥789J ♥2"), 2)
    assert [face_text(combo.wild_faces[0]) for combo in hearts] == ["♥10", "♠10"]


@pytest.mark.parametrize(
    ("text", "kind", "rank"),
    [
        ("KK66 ♥2", "full_house", 13),
        ("KK ♥2♥2 6", "full_house", 13),
        ("4567 ♥2", "straight", 8),
        ("A345 ♥2", "straight", 5),
        ("JQKA ♥2", "straight", 14),
        ("♦789T ♥2", "straight_flush", 11),
        ("7788 ♥2♥2", "tube", 9),
        ("QQQ ♥2♥2", "bomb", 12),
        ("♥2♥2", "pair", 15),
        ("♥2", "single", 15),
        ("♠4♠5♠6♠7♠8", "straight_flush", 8),
    ],
)
def test_what_counts_undeclared(text: str, kind: str, rank: int) -> None:
    combo = readings(cards(text), 2)[0]
    assert (combo.kind, combo.rank) == (kind, rank)


@each_row(
    ("text", "due"),
    [
        ("KK66 ♥2", True),
        ("4567 ♥2", True),
        ("7788 ♥2♥2", True),
        ("♦789T ♥2", True),
        ("♦789J ♥2", False),
        ("4568 ♥2", False),
        ("55677 ♥2", False),
        ("33344 ♥2", False),
        ("666 ♥2", False),
        ("KKK ♥2♥2", False),
        ("♠4♠5♠6♠7♠8", False),
        ("♥2♥2", False),
        ("JQKA2", False),
    ],
)
def test_a_declaration_is_due_where_a_wild_card_leaves_a_choice(text: str, due: bool) -> None:
    assert must_be_declared(readings(cards(text), 2)) is due


def test_a_choice_of_the_pair_alone_need_not_be_declared() -> None:
    houses = [combo for combo in readings(cards("KKK ♥2♥2"), 2) if combo.kind == "full_house"]
    assert len(houses) == 12
    assert natural_rank(houses[0].wild_faces[0]) == 2, "a wild card rather stays what it is"
    assert not must_be_declared(houses)


def test_nothing_is_a_play() -> None:
    assert readings((), 2) == ()
    assert contained_kinds((), 2) == ()


def test_the_kinds_in_a_wrong_play_are_told_in_their_usual_order() -> None:
    kinds = contained_kinds(cards("3334445 ♥2"), 2)
    assert kinds == ("single", "pair", "triple", "full_house", "tube", "plate", "bomb")
    assert [kind for kind in COMBO_NAMES if kind in kinds] == list(kinds)


def test_a_level_card_ranks_by_level_alone_and_by_nature_in_a_sequence() -> None:
    def rank(text: str) -> tuple[str, int]:
        combo = readings(cards(text, 7), 7)[0]
        return combo.kind, combo.rank

    assert rank("77") == ("pair", 15)
    assert rank("777 AA") == ("full_house", 15)
    assert rank("34567") == ("straight", 7)
    assert rank("666 777") == ("plate", 7)
    assert rank("667788") == ("tube", 8)
