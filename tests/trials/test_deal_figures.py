"""What the figures of whole deals compare."""

from collections import Counter

import pytest
from pytest_mock import MockerFixture

from controller.deal.sequence import sequence
from controller.messages import Landed, Outcome
from controller.rules.rulebooks import load_profile
from controller.trials.bench import deals
from controller.trials.dealt_again import Again, dealt_again, sequence_of
from controller.trials.mechanical import mechanical_s
from controller.trials.players import Dealt
from controller.trials.waiting import Spread, Waiting
from sim.mechanics.settings import Settings

pytestmark = pytest.mark.slow

SEED, COMMITMENT = bytes(range(32)), bytes(32)
ORDER = sequence(COMMITMENT, SEED, 41, 108)


def a_deal(wall_s: float) -> Dealt:
    return Dealt(
        table="T01",
        deal=1,
        attempt=1,
        outcome=Outcome.OK,
        fed=108,
        landed=Landed(N=27, W=27, S=27, E=27, tray=0),
        misdeals=[],
        commitment=COMMITMENT.hex(),
        seed=SEED.hex(),
        cut=41,
        wall_s=wall_s,
        feeding_ms=62.0 * 108,
        wrong=None,
    )


@pytest.mark.timeout(120)
def test_a_deal_of_a_whole_table_is_dealt_again_by_bare_boards_in_its_sequence() -> None:
    speed = 20.0
    (one,) = dealt_again(speed, 1)
    assert Counter(one.sequence) == dict.fromkeys("NWSE", 27)
    alone_s = mechanical_s(Settings(speed=speed), load_profile("international-000"), one.sequence)
    assert min(one.whole_s, one.bare_s) >= alone_s * 0.99
    assert 0 < one.routes_s < one.whole_s


def test_the_sequence_of_a_deal_follows_from_its_opened_proof() -> None:
    assert sequence_of(a_deal(10.8), 108) == ORDER


def test_the_median_is_that_of_the_multiples() -> None:
    assert deals._median([(10.0, 5.0), (9.0, 9.0), (30.0, 20.0)]) == (30.0, 20.0)


def test_a_deal_is_told_against_its_mechanics_and_so_are_its_routes(mocker: MockerFixture) -> None:
    alone_s = mechanical_s(Settings(), load_profile("international-000"), ORDER)
    dealt = [a_deal(alone_s * times) for times in (1.5, 1.25, 2.0, 1.0, 1.75)]
    mocker.patch.object(deals, "_deals", mocker.AsyncMock(return_value=(dealt, 0.05)))
    whole, routes = deals.deal()
    assert (whole.value, whole.floor) == (alone_s * 1.5, alone_s)
    assert (routes.value, routes.floor) == (0.01, alone_s)


def test_a_tight_deal_is_told_against_three_hosts_that_do_less(
    mocker: MockerFixture,
) -> None:
    mocker.patch.object(deals, "dealt_again", return_value=[Again(ORDER, 0.8, 0.75, 0.05)])
    alone_s = mechanical_s(Settings(speed=20), load_profile("international-000"), ORDER)
    floors = [0.75, pytest.approx(0.75), alone_s]
    assert [(one.value, one.floor) for one in deals.tight()] == [(0.8, least) for least in floors]


def test_a_flooded_deal_is_told_against_its_mechanics(mocker: MockerFixture) -> None:
    mocker.patch.object(deals, "_flooded", mocker.AsyncMock(return_value=a_deal(12.0)))
    alone_s = mechanical_s(Settings(), load_profile("international-000"), ORDER)
    assert [(one.value, one.floor) for one in deals.flood()] == [(12.0, alone_s)]


def test_mechanics_that_took_longer_to_feed_take_longer_alone() -> None:
    profile = load_profile("international-000")
    swift, slow = (
        mechanical_s(Settings(), profile, ORDER, feeding_ms=ms * 108.0) for ms in (60, 64)
    )
    assert slow - swift == pytest.approx(0.004 * 108, rel=0.02)


@pytest.mark.timeout(120)
async def test_each_table_of_a_hall_deals_once() -> None:
    dealt = await deals._in_a_hall(2, speed=20)
    assert [one.wrong for one in dealt] == [None, None]
    assert len({one.table for one in dealt}) == 2


def test_waiting_with_deal_ahead_is_told_against_waiting_without(mocker: MockerFixture) -> None:
    def played(count: int, *, ahead: bool) -> Waiting:
        spread = Spread(1.0, 4.0 if ahead else 40.0, 50.0)
        return Waiting(ahead=ahead, deals=count, machine=spread, hands=spread)

    mocker.patch.object(deals, "waiting", played)
    assert [(one.value, one.floor) for one in deals.wait_for_hands()] == [(4.0, 40.0)]
