"""No test of the family is idle: each catches a flaw that was made for it."""

import pytest

from sim.lab.collected_deals import CollectedDeals
from sim.lab.family import FAMILY, judge_deals
from tests.lab.dealing import production
from tests.lab.flaws import FLAWS, flawed

pytestmark = pytest.mark.slow

DEALS = 1_000


@pytest.fixture(scope="module")
def fair() -> CollectedDeals:
    return production(DEALS)


def test_every_test_has_a_flaw_that_is_made_for_it() -> None:
    assert list(FLAWS) == [question.name for question in FAMILY]


def test_the_deals_without_a_flaw_are_inside(fair: CollectedDeals) -> None:
    judgement = judge_deals(fair)

    assert judgement.outside == ()
    assert all(result.p is not None for result in judgement.results)


@pytest.mark.parametrize("name", FLAWS)
def test_a_test_is_outside_by_its_own_flaw(fair: CollectedDeals, name: str) -> None:
    assert name in judge_deals(flawed(fair, name)).outside


def test_no_two_tests_of_the_family_are_one(fair: CollectedDeals) -> None:
    """A chance that is another's to the last digit was counted from the same."""
    found = [
        each for each in judge_deals(fair).results if each.name not in ("repeated", "own-place")
    ]

    assert len({(each.statistic, each.p) for each in found}) == len(found)
