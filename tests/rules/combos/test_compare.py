import random
from collections.abc import Callable
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from controller.rules.combos.guandan_combos import (
    PATTERNS,
    Combo,
    ComboKind,
    can_beat,
    compare_key,
    readings,
)
from tests.rules.combos.plays import random_play

LADDER = (
    *("bomb 4", "bomb 5", "straight_flush", "bomb 6", "bomb 7", "bomb 8", "bomb 9", "bomb 10"),
    "joker_bomb",
)
BOMBS = ("bomb", "straight_flush", "joker_bomb")

COMBOS = sorted(
    {
        (pattern.kind, rank, size)
        for size, patterns in PATTERNS.items()
        for pattern in patterns
        for rank in {pattern.rank, 15}
    }
)
combos = st.sampled_from(COMBOS).map(lambda one: combo_of(*one))


def combo_of(kind: ComboKind, rank: int, size: int) -> Combo:
    return Combo(kind, rank, size, ())


def beats_slowly(challenger: Combo, table: Combo) -> bool:
    """The hierarchy as a table of names."""
    rungs = [
        LADDER.index(one.kind if one.kind != "bomb" else f"bomb {one.size}")
        if one.kind in BOMBS
        else -1
        for one in (challenger, table)
    ]
    if rungs == [-1, -1] and challenger.kind != table.kind:
        return False
    return rungs[0] > rungs[1] or (rungs[0] == rungs[1] and challenger.rank > table.rank)


def test_the_whole_hierarchy_is_a_ladder_of_names() -> None:
    every = [combo_of(*one) for one in COMBOS]
    for challenger, table in product(every, every):
        assert can_beat(challenger, table) is beats_slowly(challenger, table), (challenger, table)


def test_real_plays_climb_the_same_ladder(scale: Callable[[int], int]) -> None:
    rng = random.Random(8)
    for _ in range(scale(20_000)):
        level = rng.randrange(2, 15)
        first, second = (readings(*random_play(rng, level)) for _ in range(2))
        for challenger, table in product(first, second):
            assert can_beat(challenger, table) is beats_slowly(challenger, table)


@given(combos)
def test_no_play_beats_itself(combo: Combo) -> None:
    assert not can_beat(combo, combo)


@given(combos, combos)
def test_two_plays_never_beat_each_other(one: Combo, other: Combo) -> None:
    assert not (can_beat(one, other) and can_beat(other, one))


@given(combos, combos, combos)
def test_what_beats_a_beater_beats_what_that_beat(one: Combo, two: Combo, three: Combo) -> None:
    if can_beat(one, two) and can_beat(two, three):
        assert can_beat(one, three)


def test_within_a_type_what_is_equal_to_an_equal_is_equal() -> None:
    def tied(one: Combo, other: Combo) -> bool:
        return not can_beat(one, other) and not can_beat(other, one)

    for kind in {kind for kind, _, _ in COMBOS}:
        same = [combo_of(*one) for one in COMBOS if one[0] == kind]
        for one, two, three in product(same, same[::3], same[::2]):
            if tied(one, two) and tied(two, three):
                assert tied(one, three)
            assert tied(one, two) == (compare_key(one) == compare_key(two))
