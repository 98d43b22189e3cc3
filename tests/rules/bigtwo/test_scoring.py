import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.messages import Seat
from controller.rules.big_two import BigTwoRules, card_points, deal_scores

SEATED: tuple[Seat, ...] = ("N", "W", "S", "E")


def left(*cards: int) -> dict[Seat, int]:
    return dict(zip(SEATED, cards, strict=True))


@pytest.mark.parametrize(
    ("cards", "points"),
    [(0, 0), (1, 1), (7, 7), (8, 16), (9, 18), (10, 30), (11, 33), (12, 36), (13, 52)],
)
def test_card_points_go_up_in_bands(rules: BigTwoRules, cards: int, points: int) -> None:
    assert card_points(cards, rules.scoring) == points


@pytest.mark.parametrize("cards", [-1, 14])
def test_no_hand_has_other_numbers_of_cards(rules: BigTwoRules, cards: int) -> None:
    with pytest.raises(ValueError, match=f"13 cards at most, not {cards}"):
        card_points(cards, rules.scoring)


def test_the_seeds_example_of_two_who_doubled(rules: BigTwoRules) -> None:
    scores = deal_scores(left(5, 8, 0, 12), rules, doubled=["N", "E"])
    assert list(scores.values()) == [136, 2, 98, -236]


def test_an_open_hand_counts_three_times_against_everybody(rules: BigTwoRules) -> None:
    scores = deal_scores(left(0, 13, 10, 1), rules, open_hands=["N"], doubled=["W"])
    assert list(scores.values()) == [405, -458, -75, 128]


def test_without_choices_only_card_points_are_settled(rules: BigTwoRules) -> None:
    assert list(deal_scores(left(0, 1, 7, 9), rules).values()) == [26, 22, -2, -46]


@given(
    st.integers(0, 3),
    st.tuples(*[st.integers(1, 13)] * 3),
    st.sets(st.sampled_from(SEATED)),
    st.sets(st.sampled_from(SEATED)),
)
def test_scores_always_add_up_to_nothing_and_who_is_out_never_loses(
    rules: BigTwoRules, out: int, cards: tuple[int, ...], open_hands: set[Seat], doubled: set[Seat]
) -> None:
    hands = left(*cards[:out], 0, *cards[out:])
    scores = deal_scores(hands, rules, open_hands, doubled)
    assert sum(scores.values()) == 0
    assert scores[SEATED[out]] > 0
    assert scores[max(SEATED, key=hands.__getitem__)] < 0


@pytest.mark.parametrize("cards", [(1, 2, 3, 4), (0, 0, 3, 4)])
def test_a_deal_ends_with_just_one_who_is_out(rules: BigTwoRules, cards: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="expected just one"):
        deal_scores(left(*cards), rules)


def test_four_seats_are_scored_and_no_others_choose(rules: BigTwoRules) -> None:
    with pytest.raises(ValueError, match="cards left of N W: expected N W S E"):
        deal_scores({"N": 0, "W": 3}, rules)
    with pytest.raises(ValueError, match="X: expected seats"):
        deal_scores(left(0, 1, 2, 3), rules, doubled=["X"])  # type: ignore[list-item]  # a stranger
