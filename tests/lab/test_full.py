"""Whole simulated deals: what is counted stands in their journals."""

import random

import numpy as np
import pytest

from sim.lab import journal_deals
from sim.lab.collected_deals import CollectedDeals, DealsSource, ReadingOutcome
from sim.mechanics.fault_menu import WearLevel, parse_fault

pytestmark = pytest.mark.slow

SEED = 3


def life(deals: int, *faults: str) -> CollectedDeals:
    wear = WearLevel(rates=tuple(map(parse_fault, faults)))
    return journal_deals.deal_life(deals, random.Random(SEED).randbytes, wear)


@pytest.fixture(scope="module")
def faultless() -> CollectedDeals:
    return life(3)


def test_a_faultless_machine_accepts_every_card_and_gives_none_away(
    faultless: CollectedDeals,
) -> None:
    assert len(faultless) == 3
    assert not faultless.verdicts.any()
    assert np.array_equal(faultless.seats, faultless.waiting)
    assert faultless.collected is None
    assert faultless.source == DealsSource(path="full", asked=3, passes=3)


def test_the_next_deal_follows_with_the_same_set(faultless: CollectedDeals) -> None:
    assert faultless.follows.tolist() == [False, True, True]


def test_another_entropy_is_another_life(faultless: CollectedDeals) -> None:
    other = journal_deals.deal_life(1, random.Random(4).randbytes, WearLevel())

    assert not np.array_equal(other.waiting[0], faultless.waiting[0])


def test_two_cards_that_left_as_one_were_in_the_tray_both() -> None:
    deals = life(1, "double_feed:at=30")

    assert np.flatnonzero(deals.verdicts[0] == ReadingOutcome.TRAY).tolist() == [29, 107]
    assert np.array_equal(deals.seats, deals.waiting)


def test_a_card_that_was_read_wrong_once_was_read_again() -> None:
    deals = life(1, "misread:at=50,confidence=50")

    assert deals.verdicts[0, 49] in (ReadingOutcome.READ_AGAIN, ReadingOutcome.TRAY)
    assert np.count_nonzero(deals.verdicts) == 1


def test_attempts_that_came_to_nothing_are_counted_and_not_among_the_deals() -> None:
    deals = life(1, "wrong_pocket:at=20")

    assert len(deals) == 1
    assert deals.source.given_up >= 1


def test_another_set_does_not_follow_the_one_before() -> None:
    opened = [
        journal_deals.AttemptByPlace([], [], [], [], card_set, 2)
        for card_set in ("S1", "S1", "S2", "S2", "S1")
    ]

    assert list(journal_deals._follows(opened)) == [False, True, False, True, False]
