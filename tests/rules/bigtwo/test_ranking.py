from decimal import Decimal
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.rules.big_two import BigTwoRules, FinalRankingRules
from tests.rules.bigtwo.ranking import RankedDeal, compare_deal, final_ranking


def row(
    entrant: str,
    deal: int,
    points: int,
    *,
    round: int = 1,
    table: int = 1,
    score: int = 0,
    time_ms: int | None = None,
) -> RankedDeal:
    return RankedDeal(entrant, deal, round, table, score, Decimal(points), time_ms)


def told(rules: BigTwoRules, *rows: RankedDeal) -> list[tuple[int, str, str | None]]:
    return [
        (line.place, line.entrant, line.decided_by) for line in final_ranking(rows, rules.final)
    ]


def test_the_higher_total_ranks_first(rules: BigTwoRules) -> None:
    rows = [row("a", 1, 3500), row("b", 1, 10000), row("a", 2, 7000), row("b", 2, 5000)]
    lines = final_ranking(rows, rules.final)
    assert [(line.entrant, line.total, line.decided_by) for line in lines] == [
        ("b", Decimal(15000), None),
        ("a", Decimal(10500), "total"),
    ]


def test_the_seeds_example_of_three_players_and_three_deals_adds_up(rules: BigTwoRules) -> None:
    deals = ({"1": 15, "2": 7, "3": 21}, {"1": 1, "2": 1, "3": -3}, {"1": 18, "2": 51, "3": 18})
    rows = [
        RankedDeal(line.entrant, deal, deal, int(line.entrant), line.score, line.points)
        for deal, scores in enumerate(deals, start=1)
        for line in compare_deal([scores], rules.matchpoints, rules.ranking_points)
    ]
    assert [(line.entrant, int(line.total)) for line in final_ranking(rows, rules.final)] == [
        ("2", 25000),
        ("1", 24000),
        ("3", 22000),
    ]


def test_first_it_counts_how_good_the_beaten_opponents_are(rules: BigTwoRules) -> None:
    rows = [
        row("a", 1, 5000, table=1, score=10),
        row("strong", 1, 7000, table=1, score=-10),
        row("b", 1, 5000, table=2, score=10),
        row("weak", 1, 3500, table=2, score=-10),
    ]
    assert told(rules, *rows) == [
        (1, "strong", None),
        (2, "a", "total"),
        (3, "b", "beaten_average"),
        (4, "weak", "total"),
    ]


def test_beaten_opponents_count_on_average_not_by_their_number(rules: BigTwoRules) -> None:
    rows = [
        row("a", 1, 5000, table=1, score=10),
        row("x", 1, 3000, table=1, score=-10),
        row("b", 1, 5000, table=2, score=10),
        row("y", 1, 2500, table=2, score=-5),
        row("z", 1, 2500, table=2, score=-5),
    ]
    assert told(rules, *rows)[:2] == [(1, "a", None), (2, "b", "beaten_average")]


def test_an_opponent_is_beaten_over_the_round_not_in_one_deal(rules: BigTwoRules) -> None:
    rows = [
        row("a", 1, 2500, score=10),
        row("x", 1, 5000, score=-10),
        row("a", 2, 2500, score=-30),
        row("x", 2, 5000, score=30),
        row("b", 1, 5000, table=2, score=5),
        row("y", 1, 1000, table=2, score=-5),
    ]
    assert told(rules, *rows)[1:3] == [(2, "b", "total"), (3, "a", "beaten_average")]


def test_then_more_firsts_in_a_round_and_then_more_seconds(rules: BigTwoRules) -> None:
    rows = [
        *(row("a", deal, p, round=deal, table=1) for deal, p in ((1, 10), (2, 6), (3, 8))),
        *(row("b", deal, p, round=deal, table=2) for deal, p in ((1, 8), (2, 10), (3, 6))),
        *(row("c", deal, p, round=deal, table=3) for deal, p in ((1, 7), (2, 7), (3, 10))),
        *(row("d", deal, p, round=deal, table=4) for deal, p in ((1, 1), (2, 8), (3, 1))),
    ]
    # firsts 1 each; seconds: a in 3, b in 1; thirds: a in none, b in 3
    assert told(rules, *rows) == [
        (1, "b", None),
        (2, "a", "round_places"),
        (3, "c", "round_places"),
        (4, "d", "total"),
    ]


def test_then_less_playing_time(rules: BigTwoRules) -> None:
    rows = [
        row("a", 1, 5, table=1, time_ms=9_000),
        row("b", 1, 5, table=2, time_ms=8_000),
        row("c", 1, 5, table=3, time_ms=9_000),
    ]
    assert told(rules, *rows) == [(1, "b", None), (2, "a", "total_time"), (2, "c", "play_off")]


def test_then_less_time_without_the_slowest_and_the_fastest_deal(rules: BigTwoRules) -> None:
    times = {"a": (1, 5, 9), "b": (4, 4, 7)}
    rows = [
        row(name, deal, 5, table=ord(name), time_ms=time)
        for name, all_times in times.items()
        for deal, time in enumerate(all_times, start=1)
    ]
    assert told(rules, *rows) == [(1, "b", None), (2, "a", "trimmed_time")]


def test_what_nothing_tells_apart_plays_off_and_shares_a_place(rules: BigTwoRules) -> None:
    rows = [row("a", 1, 5, table=1), row("b", 1, 5, table=2), row("c", 1, 4, table=3)]
    assert told(rules, *rows) == [(1, "a", None), (1, "b", "play_off"), (3, "c", "total")]


def test_a_time_that_is_missing_for_one_tells_nobody_apart(rules: BigTwoRules) -> None:
    rows = [row("a", 1, 5, table=1, time_ms=9_000), row("b", 1, 5, table=2)]
    assert told(rules, *rows)[1] == (1, "b", "play_off")


def test_the_order_of_tie_breaks_is_the_profiles() -> None:
    rows = [
        row("a", 1, 5000, table=1, score=10, time_ms=2),
        row("x", 1, 7000, table=1, score=-10, time_ms=1),
        row("b", 1, 5000, table=2, score=0, time_ms=1),
    ]
    by_time = final_ranking(rows, FinalRankingRules(("total_time", "beaten_average")))
    by_beaten = final_ranking(rows, FinalRankingRules(("beaten_average", "total_time")))
    assert [line.entrant for line in by_time] == ["x", "b", "a"]
    assert [line.entrant for line in by_beaten] == ["x", "a", "b"]


def test_nobody_has_a_deal_twice(rules: BigTwoRules) -> None:
    with pytest.raises(ValueError, match="a has deal 1 twice"):
        final_ranking([row("a", 1, 5), row("a", 1, 5)], rules.final)


def test_nothing_played_ranks_nobody(rules: BigTwoRules) -> None:
    assert final_ranking([], rules.final) == ()


@given(st.lists(st.sampled_from([(5, 1), (5, -1), (7, 2), (3, -2)]), min_size=4, max_size=32))
def test_places_never_go_back_and_the_order_of_rows_does_not_matter(
    rules: BigTwoRules, results: list[tuple[int, int]]
) -> None:
    rows = [
        row(f"{n % 8}", n // 8, points, round=n // 16, table=n % 8 // 4, score=score)
        for n, (points, score) in enumerate(results)
    ]
    lines = final_ranking(rows, rules.final)
    assert lines == final_ranking(rows[::-1], rules.final)
    assert len(lines) == len({row.entrant for row in rows})
    for n, (above, line) in enumerate(pairwise(lines), start=2):
        assert line.place == (above.place if line.decided_by == "play_off" else n)
        assert (above.total > line.total) == (line.decided_by == "total")
