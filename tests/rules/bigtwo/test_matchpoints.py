from decimal import Decimal
from itertools import pairwise

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.rules.big_two import BigTwoRules
from tests.rules.bigtwo.ranking import (
    DealComparison,
    compare_deal,
    matchpoints_of,
    max_matchpoints,
    ranking_points,
)


def field(*scores: int) -> dict[str, int]:
    return {f"{n}": score for n, score in enumerate(scores, start=1)}


def compared(rules: BigTwoRules, *scores: int) -> list[DealComparison]:
    results = compare_deal([field(*scores)], rules.matchpoints, rules.ranking_points)
    return sorted(results, key=lambda result: result.entrant)


@pytest.mark.parametrize(
    ("scores", "mp", "percent", "places"),
    [
        ((15, 7, 21), [2, 0, 4], ["50.00", "0.00", "100.00"], [2, 3, 1]),
        ((1, 1, -3), [3, 3, 0], ["75.00", "75.00", "0.00"], [1, 1, 3]),
        ((18, 51, 18), [1, 4, 1], ["25.00", "100.00", "25.00"], [2, 1, 2]),
        ((10, 10, 5, 0), [5, 5, 2, 0], ["83.33", "83.33", "33.33", "0.00"], [1, 1, 3, 4]),
    ],
)
def test_the_seeds_three_deals_and_one_of_four_entrants(
    rules: BigTwoRules,
    scores: tuple[int, ...],
    mp: list[int],
    percent: list[str],
    places: list[int],
) -> None:
    results = compared(rules, *scores)
    assert [result.mp for result in results] == mp
    assert [str(result.percent) for result in results] == percent
    assert [result.place for result in results] == places
    assert {result.top for result in results} == {2 * (len(scores) - 1)}


def test_an_event_may_place_as_the_printed_example_does(rules: BigTwoRules) -> None:
    dense = msgspec.structs.replace(rules.ranking_points, shared="dense")
    results = compare_deal([field(1, 1, -3)], rules.matchpoints, dense)
    assert [result.place for result in results] == [1, 1, 2]


@given(st.lists(st.integers(-5, 5) | st.integers(-900, 900), min_size=2, max_size=40))
def test_matchpoints_of_a_field_are_n_times_n_minus_one(
    rules: BigTwoRules, scores: list[int]
) -> None:
    mp = matchpoints_of(field(*scores), rules.matchpoints)
    assert sum(mp.values()) == len(scores) * (len(scores) - 1)
    for name, score in field(*scores).items():
        assert mp[name] == sum(2 * (score > s) + (score == s) for s in scores) - 1


@given(st.lists(st.integers(-30, 30), min_size=2, max_size=30))
def test_a_better_score_is_never_worth_less(rules: BigTwoRules, scores: list[int]) -> None:
    results = sorted(compared(rules, *scores), key=lambda result: -result.score)
    for better, worse in pairwise(results):
        assert (better.score == worse.score) == (better.place == worse.place)
        assert better.place <= worse.place
        assert better.points >= worse.points
    assert results[0].place == 1


@pytest.mark.parametrize(
    ("place", "points"),
    [
        (1, "10000.00"),
        (2, "7000.00"),
        (3, "5000.00"),
        (4, "3500.00"),
        (5, "2500.00"),
        (6, "1750.00"),
        (7, "1250.00"),
        (14, "109.38"),
        (15, "78.13"),
        (99, "0.00"),
    ],
)
def test_ranking_points_of_a_place(rules: BigTwoRules, place: int, points: str) -> None:
    assert str(ranking_points(place, rules.ranking_points)) == points


def test_the_listed_places_follow_the_rule_of_the_rest(rules: BigTwoRules) -> None:
    two = msgspec.structs.replace(rules.ranking_points, listed=(10000, 7000))
    for place in range(1, 40):
        assert ranking_points(place, two) == ranking_points(place, rules.ranking_points)


def test_an_event_may_give_nothing_past_the_listed_places(rules: BigTwoRules) -> None:
    zero = msgspec.structs.replace(rules.ranking_points, rest="zero")
    assert [ranking_points(place, zero) for place in (4, 5, 6)] == [Decimal(3500), 0, 0]


def test_places_begin_with_one(rules: BigTwoRules) -> None:
    with pytest.raises(ValueError, match="not 0"):
        ranking_points(0, rules.ranking_points)


def test_places_are_taken_within_a_seat_or_over_the_deal(rules: BigTwoRules) -> None:
    fields = [{"a": 5, "b": 1, "c": 1}, {"d": 9, "e": 9, "f": 0}]
    seat = compare_deal(fields, rules.matchpoints, rules.ranking_points)
    assert {r.entrant: r.place for r in seat} == {"a": 1, "d": 1, "e": 1, "b": 2, "c": 2, "f": 3}
    over = msgspec.structs.replace(rules.matchpoints, among="deal")
    deal = compare_deal(fields, over, rules.ranking_points)
    assert {r.entrant: r.place for r in deal} == {"a": 1, "d": 2, "e": 2, "b": 4, "c": 4, "f": 6}


def test_one_table_alone_has_no_matchpoints(rules: BigTwoRules) -> None:
    with pytest.raises(ValueError, match="play the same deal at several tables"):
        compared(rules, 12)
    assert max_matchpoints(2, rules.matchpoints) == 2


def test_nobody_holds_two_seats_of_a_deal(rules: BigTwoRules) -> None:
    with pytest.raises(ValueError, match="a is in 2 fields"):
        compare_deal([{"a": 1, "b": 2}, {"a": 1, "c": 2}], rules.matchpoints, rules.ranking_points)


def test_results_can_be_written_as_json(rules: BigTwoRules) -> None:
    first = msgspec.json.decode(msgspec.json.encode(compared(rules, 1, 2)[0]))
    assert (first["percent"], first["points"]) == ("0.00", "7000.00")
