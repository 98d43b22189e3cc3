"""What a deal takes beyond its mechanics: alone, flooded with commands, in a hall, waited for."""

import asyncio
import statistics
import tempfile
from pathlib import Path

from controller.deal.sequence import sequence
from controller.messages import Role
from controller.rules.rulebooks import load_profile
from controller.trials.bench.registry import figure
from controller.trials.flood import flooded, reading
from controller.trials.hall import HallPlan, RunningTable, hall
from controller.trials.mechanical import mechanical_s
from controller.trials.players import Dealt, players
from controller.trials.waiting import waiting
from sim.mechanics.settings import Settings

_FLOOD_PER_S = 1000
_HALL_TABLES = 10


def _alone_s(dealt: Dealt) -> float:
    """Return the seconds that the mechanics alone take for the same attempt."""
    profile = load_profile("international-000")
    seed, commitment = bytes.fromhex(dealt.seed), bytes.fromhex(dealt.commitment)
    order = sequence(commitment, seed, dealt.cut, profile.deck.cards)
    return mechanical_s(Settings(), profile, order)


class _OneDeal:
    """A deal at the reference pace with everything on; its floor is the same one's mechanics.

    The floor is asked first, so that it deals and keeps the wall time for the figure.
    """

    wall_s = 0.0

    def mechanics_alone(self) -> float:
        """Deal; return the seconds that the same attempt takes without line and host."""
        dealt = asyncio.run(self._deal())
        self.wall_s = dealt.wall_s
        return _alone_s(dealt)

    async def _deal(self) -> Dealt:
        with tempfile.TemporaryDirectory() as folder:
            async with hall(HallPlan(Path(folder))) as (table,), players(table) as people:
                return await people.deal()


class _FloodedDeal(_OneDeal):
    """The same while another client sends a thousand commands a second."""

    async def _deal(self) -> Dealt:
        with tempfile.TemporaryDirectory() as folder:
            async with (
                hall(HallPlan(Path(folder))) as (table,),
                players(table) as people,
                table.client(Role.OBSERVER) as stranger,
                flooded(stranger, _FLOOD_PER_S, reading),
            ):
                return await people.deal()


class _Hall:
    """A hall whose tables deal at the reference pace, each begun at another moment."""

    wall_s = 0.0

    def mechanics_alone(self) -> float:
        """Deal at every table; return the median of what their mechanics alone take."""
        dealt = asyncio.run(self._deal())
        self.wall_s = statistics.median(one.wall_s for one in dealt)
        return statistics.median(map(_alone_s, dealt))

    async def _deal(self) -> list[Dealt]:
        with tempfile.TemporaryDirectory() as folder:
            plan = HallPlan(Path(folder), tables=_HALL_TABLES)
            async with hall(plan) as tables:
                at = (self._deal_at(table, plan.begins_s(n)) for n, table in enumerate(tables))
                return list(await asyncio.gather(*at))

    async def _deal_at(self, table: RunningTable, begins_s: float) -> Dealt:
        await asyncio.sleep(begins_s)
        async with players(table) as people:
            return await people.deal()


_one_deal, _flooded_deal = _OneDeal(), _FloodedDeal()


@figure("deal", floor=_one_deal.mechanics_alone, documented=1.01, rounds=5)
def deal() -> float:
    """A deal at 100 ms a card, boards, journal, CURVE and feed on, against its mechanics alone."""
    return _one_deal.wall_s


@figure("flood", floor=_flooded_deal.mechanics_alone, documented=1.02, rounds=2)
def deal_under_flood() -> float:
    """The same deal while one client sends 1,000 commands a second, against its mechanics alone."""
    return _flooded_deal.wall_s


_hall = _Hall()


@figure("hall", floor=_hall.mechanics_alone, documented=1.02, rounds=1)
def deal_in_a_hall() -> float:
    """A deal at one of ten tables that deal on this computer, against its mechanics alone."""
    return _hall.wall_s


_WAITING_DEALS = 8


def _waits_for_the_machine() -> float:
    return waiting(_WAITING_DEALS, ahead=False).hands.median_s


@figure("waiting", floor=_waits_for_the_machine, documented=0.17, rounds=1)
def wait_for_hands() -> float:
    """From a deal's being due to the order for its hands, with deal-ahead against without."""
    return waiting(_WAITING_DEALS, ahead=True).hands.median_s
