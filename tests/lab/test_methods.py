"""How deals come about: the product's way, and ways that are not fair."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.deal.sequence import POCKET_LETTERS, fair_order, sequence
from sim.lab.collected_deals import ReadingOutcome, make_deals
from sim.lab.deal_chain import (
    METHODS,
    UNFAIR_METHODS,
    collect_stack,
    deal_chain,
    gather_pockets,
    new_stack,
    riffle_stack,
    route_through_tray,
)
from sim.lab.deal_measures import DealMeasures
from sim.lab.family import judge_deals
from tests.lab.dealing import production, routed, uniform

pytestmark = pytest.mark.slow


@given(
    said=st.lists(st.sampled_from(list(ReadingOutcome)), min_size=108, max_size=108),
    seed=st.integers(0, 2**32),
)
def test_no_verdict_moves_a_card_from_its_own_pocket(said: list[int], seed: int) -> None:
    letters = fair_order(random.Random(seed).randrange, 108)

    assert "".join(POCKET_LETTERS[seat] for seat in route_through_tray(letters, said)) == letters


def test_a_rejected_card_shifts_the_others_where_the_method_is_naive() -> None:
    letters = ("NWSE" * 27)[:108]
    said = [ReadingOutcome.ACCEPTED] * 108
    said[10] = ReadingOutcome.TRAY

    dealt = METHODS["reject-shift"](letters, said, random.Random(0))

    assert dealt.seats[:10] == dealt.waiting[:10]
    assert dealt.seats[11:] == dealt.waiting[10:-1]
    assert dealt.seats[10] == dealt.waiting[-1]


@pytest.mark.parametrize("method", UNFAIR_METHODS)
def test_a_naive_method_is_outside_with_two_hundred_deals(method: str) -> None:
    assert judge_deals(production(200, 0, method)).outside


def test_a_random_pocket_that_is_not_full_gives_itself_away_by_the_last_two_cards() -> None:
    judgement = judge_deals(production(400, method="naive-pocket"))

    assert "tail" in judgement.outside
    tail = next(result for result in judgement.results if result.name == "tail")
    assert float(tail.seen) == pytest.approx(0.815, abs=0.06)


def test_riffles_alone_leave_the_order_of_the_stack() -> None:
    assert {"collected-pairs", "index-seat"} <= set(
        judge_deals(production(200, method="riffles")).outside
    )


def test_rejects_that_shift_are_outside_by_the_cards_that_moved_alone() -> None:
    assert judge_deals(production(400, method="reject-shift")).outside == ("own-place",)


@pytest.mark.parametrize(
    ("told", "tests"), [("index", {"own-place"}), ("place", {"tray-face", "tray-sides"})]
)
def test_routing_jokers_through_rejects_is_outside(told: str, tests: set[str]) -> None:
    deals = routed(production(400), 1, random.Random(1), told=told)

    assert tests <= set(judge_deals(deals).outside)


def test_routing_in_one_deal_of_twenty_is_seen_in_a_thousand() -> None:
    deals = routed(production(1_000), 0.05, random.Random(2), told="place")

    assert "tray-face" in judge_deals(deals).outside


def test_giving_up_the_deals_that_are_bad_for_a_side_is_outside() -> None:
    deals = production(625, 0)
    seen = DealMeasures(deals)
    lead = seen.side_lead(seen.side_weights(tray_only=False))
    kept = np.flatnonzero(lead >= np.quantile(lead, 0.2))

    chosen = make_deals(*(getattr(deals, name)[kept] for name in ("cards", "waiting", "seats")))

    assert "strength" in judge_deals(chosen).outside


def test_the_deals_are_those_of_the_production_sequence(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def listening(committed: bytes, seed: bytes, cut: int | None, cards: int) -> str:
        made.append(sequence(committed, seed, cut, cards))
        return made[-1]

    monkeypatch.setattr("sim.lab.deal_chain.sequence", listening)
    deals = production(20)

    waiting = ["".join(POCKET_LETTERS[seat] for seat in row) for row in deals.waiting]
    assert len(set(waiting)) == 20
    assert set(waiting) <= set(made)  # attempts that were given up are not among the deals
    assert len(made) == 20 + deals.source.given_up


def test_every_deal_has_a_seed_of_its_own() -> None:
    asked: list[int] = []
    rng = random.Random(5)

    def entropy(size: int) -> bytes:
        asked.append(size)
        return rng.randbytes(size)

    dealt = deal_chain(10, "fair", entropy)

    assert asked == [32] * (1 + 10 + dealt.source.given_up)


def test_a_deal_is_fed_from_the_stack_that_the_deal_before_it_left() -> None:
    deals = production(30)
    assert deals.collected is not None

    for row in np.flatnonzero(deals.follows):
        seat = dict(zip(deals.cards[row - 1], deals.seats[row - 1], strict=True))
        first = [seat[card] for card in deals.collected[row][:20]]
        assert len(set(first)) == 4  # tricks lie in it, not hands
    assert not deals.follows[0]
    assert deals.follows[1:].all()


@given(st.randoms(use_true_random=False), st.integers(0, 5))
def test_riffles_keep_every_card_and_make_few_rising_runs(
    chance: random.Random, passes: int
) -> None:
    stack = riffle_stack(new_stack(), passes, chance)

    assert sorted(stack) == new_stack()
    place = {card: index for index, card in enumerate(stack)}
    runs = 1 + sum(place[card] > place[card + 1] for card in range(107))
    assert runs <= 2**passes


def test_players_lay_down_what_they_have_of_a_rank_together() -> None:
    deals = uniform(1, np.random.default_rng(1))
    cards, seats = deals.cards[0].tolist(), deals.seats[0].tolist()

    stack = collect_stack(cards, seats, random.Random(1))

    assert sorted(stack) == new_stack()
    seat = dict(zip(cards, seats, strict=True))
    lowest = min(
        card % 54 % 13 for card in cards if seat[card] == seat[stack[0]] and card % 54 < 52
    )
    assert stack[0] % 54 % 13 == lowest


def test_a_misdeal_is_gathered_pocket_by_pocket() -> None:
    assert gather_pockets([5, 6, 7, 8], [1, 0, 1, 3]) == [6, 5, 7, 8]
