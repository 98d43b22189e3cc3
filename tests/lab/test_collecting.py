"""Collecting deals: the same ones over any number of cores, and kept whatever happens."""

import random

import numpy as np
import pytest

from sim.lab import collection as collecting
from sim.lab.collected_deals import CollectedDeals
from sim.lab.collection import CollectionPlan, CollectionResult, collect_deals, plan_parts, run_part
from sim.lab.deal_chain import Entropy
from tests.lab.dealing import same

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collecting, "PART_DEALS", {"sequence": 20, "full": 2})


def nobody(size: int) -> bytes:
    raise AssertionError("a plan with a seed asks for no entropy")


def test_the_same_seed_gives_the_same_deals_over_one_core_and_over_two() -> None:
    plan = CollectionPlan(deals=90, seed=4)

    alone, shared = collect_deals(plan, nobody), collect_deals(plan, nobody, jobs=2)

    assert same(alone.deals, shared.deals)
    assert alone.deals.source == shared.deals.source
    assert len(alone.deals) == 90


def test_a_retest_has_fresh_deals() -> None:
    first, again = (
        collect_deals(CollectionPlan(deals=20, seed=4, again=how), nobody).deals
        for how in (False, True)
    )

    assert not same(first, again)


def test_deals_without_a_seed_are_of_the_entropy_that_is_handed_in() -> None:
    one, other = (
        collect_deals(CollectionPlan(deals=20), random.Random(7).randbytes).deals for _ in range(2)
    )

    assert same(one, other)
    assert not same(one, collect_deals(CollectionPlan(deals=20), random.Random(8).randbytes).deals)


def test_no_two_parts_have_the_same_deals() -> None:
    first, second = list(plan_parts(CollectionPlan(deals=40, seed=1)))

    assert not same(run_part(first, nobody), run_part(second, nobody))


def test_the_cards_of_a_part_do_not_follow_those_of_the_part_before() -> None:
    flags = collect_deals(CollectionPlan(deals=50, seed=1), nobody).deals.follows

    assert np.flatnonzero(~flags).tolist() == [0, 20, 40]


@pytest.mark.parametrize("jobs", [1, 2])
def test_who_breaks_it_off_keeps_what_was_there(jobs: int) -> None:
    came: list[int] = []

    def saw(deals: int) -> None:
        came.append(deals)
        if len(came) == 3:
            raise KeyboardInterrupt

    collected = collect_deals(CollectionPlan(deals=2_000, seed=1), nobody, jobs=jobs, on_deals=saw)

    assert collected.interrupted
    assert len(collected.deals) >= 60
    assert collected.deals.source.asked == 2_000


def test_a_part_that_fails_is_told_and_the_others_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    def once(part: collecting.CollectionPart, entropy: Entropy) -> CollectedDeals:
        if part.number == 1:
            raise ValueError("the third\nstep")
        return run_part(part, entropy)

    monkeypatch.setattr(collecting, "run_part", once)
    collected: CollectionResult = collect_deals(CollectionPlan(deals=60, seed=1), nobody)

    assert len(collected.deals) == 40
    assert collected.failed == (collected.failed[0],)
    assert collected.failed[0].startswith("part 1: ValueError: the third step")


def test_whole_simulated_deals_are_read_out_of_their_journals() -> None:
    collected = collect_deals(CollectionPlan(deals=6, path="full", seed=3), nobody)
    deals = collected.deals

    assert collected.failed == ()
    assert len(deals) == 6
    assert np.array_equal(deals.seats, deals.waiting)
    assert deals.collected is None
    assert len({row.tobytes() for row in deals.waiting}) == 6
    assert same(deals, collect_deals(CollectionPlan(deals=6, path="full", seed=3), nobody).deals)
