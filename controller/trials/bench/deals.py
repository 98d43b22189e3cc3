"""What a deal takes beyond its mechanics: alone, flooded with commands, in a hall, waited for."""

import asyncio
import tempfile
from pathlib import Path

from controller.messages import Role
from controller.rules.rulebooks import load_profile
from controller.trials.bench.registry import FigureUnit, FigureValue, choose_size, valued_figure
from controller.trials.dealt_again import repeat_deals, sequence_of
from controller.trials.flood import flood_commands, make_read_command
from controller.trials.hall import HallPlan, TableProcess, run_hall
from controller.trials.mechanical import mechanical_s
from controller.trials.metered import metrics_difference, read_metrics
from controller.trials.players import DealResult, seat_players
from controller.trials.waiting import simulate_waiting
from sim.mechanics.settings import MechanicsSettings

_DEALS, _FEW_DEALS = 5, 1
_TIGHT_SPEED, _TIGHT_DEALS, _FEW_TIGHT_DEALS = 20.0, 7, 1
_FLOOD_PER_S = 1000
_HALL_TABLES, _FEW_HALL_TABLES = 10, 2
_WAITING_DEALS, _FEW_WAITING_DEALS = 8, 3
_SMALL_SPEED = 5.0
"""With --small cards come so many times as fast: a host's share of a card's time grows with it."""


def _speed() -> float:
    return choose_size(1.0, _SMALL_SPEED)


def _mechanics_s(dealt: DealResult) -> float:
    """Return the seconds that the mechanics alone take for the same attempt."""
    profile = load_profile("international-000")
    order = sequence_of(dealt, profile.deck.cards)
    settings = MechanicsSettings(speed=_speed())
    return mechanical_s(settings, profile, order, feeding_ms=dealt.feeding_ms)


@valued_figure("deal")
def measure_deal() -> list[FigureValue]:
    """A deal at 100 ms a card, journal, CURVE and feed on, against its mechanics alone.

    The boards are behind ptys and inside the simulator, so that no pins between processes count.
    """
    dealt, routes_s = asyncio.run(_deal_several())
    wall_s, alone_s = _median_pair([(one.wall_s, _mechanics_s(one)) for one in dealt])
    return [
        _value_in_s("", wall_s, alone_s, documented=1.01, aim=1.01),
        _value_in_s(
            "from words to routes",
            routes_s / len(dealt),
            alone_s,
            documented=0.005 * _speed(),
            aim=0.005,
        ),
    ]


async def _deal_several() -> tuple[list[DealResult], float]:
    """Return some deals, and the seconds that all their routes took the machine."""
    with tempfile.TemporaryDirectory() as folder:
        async with (
            run_hall(HallPlan(Path(folder), boards="inside", speed=_speed())) as (table,),
            seat_players(table) as people,
        ):
            before = await read_metrics(table)
            dealt = [await people.play_deal() for _ in range(choose_size(_DEALS, _FEW_DEALS))]
            _, routes_s = metrics_difference(
                before, await read_metrics(table), "route_latency_seconds"
            )
    return dealt, routes_s


@valued_figure("tight")
def measure_tight_deal() -> list[FigureValue]:
    """A deal at 5 ms a card, against bare hosts: in Python, in no time, and none but mechanics."""
    profile = load_profile("international-000")
    found = repeat_deals(_TIGHT_SPEED, choose_size(_TIGHT_DEALS, _FEW_TIGHT_DEALS))
    bare = _median_pair([(one.whole_s, one.bare_s) for one in found])
    settings = MechanicsSettings(speed=_TIGHT_SPEED)
    at_once = _median_pair([(one.whole_s, one.whole_s - one.routes_s) for one in found])
    alone = _median_pair(
        [(one.whole_s, mechanical_s(settings, profile, one.sequence)) for one in found]
    )
    return [
        _value_in_s("over a bare host", *bare, documented=1.02, aim=1.02),
        _value_in_s("over a host in no time", *at_once, documented=1.02, aim=1.02),
        _value_in_s("over its mechanics", *alone, documented=1.4),
    ]


def _value_in_s(
    what: str, value: float, floor: float, documented: float, aim: float | None = None
) -> FigureValue:
    return FigureValue(
        what=what, value=value, floor=floor, unit=FigureUnit.S, documented=documented, aim=aim
    )


def _median_pair(pairs: list[tuple[float, float]]) -> tuple[float, float]:
    """Return the value and the floor of which the multiple is the median."""
    return sorted(pairs, key=lambda pair: pair[0] / pair[1])[len(pairs) // 2]


@valued_figure("flood")
def measure_flooded_deal() -> list[FigureValue]:
    """The same deal while one client sends 1,000 commands a second, against its mechanics alone."""
    dealt = asyncio.run(_deal_flooded())
    return [_value_in_s("", dealt.wall_s, _mechanics_s(dealt), documented=1.02)]


async def _deal_flooded() -> DealResult:
    with tempfile.TemporaryDirectory() as folder:
        async with (
            run_hall(HallPlan(Path(folder), speed=_speed())) as (table,),
            seat_players(table) as people,
            table.client(Role.OBSERVER) as stranger,
            flood_commands(stranger, _FLOOD_PER_S, make_read_command),
        ):
            return await people.play_deal()


@valued_figure("hall")
def measure_deal_in_hall() -> list[FigureValue]:
    """A deal at one of ten tables that deal on this computer, against its mechanics alone."""
    dealt = asyncio.run(_deal_in_hall(choose_size(_HALL_TABLES, _FEW_HALL_TABLES)))
    return [
        _value_in_s(
            "", *_median_pair([(one.wall_s, _mechanics_s(one)) for one in dealt]), documented=1.02
        )
    ]


async def _deal_in_hall(tables: int) -> list[DealResult]:
    """Deal once at every table, each begun at another moment."""
    with tempfile.TemporaryDirectory() as folder:
        plan = HallPlan(Path(folder), tables=tables, speed=_speed())
        async with run_hall(plan) as running:
            at = (_deal_at(table, plan.start_delay_s(n)) for n, table in enumerate(running))
            return list(await asyncio.gather(*at))


async def _deal_at(table: TableProcess, start_delay_s: float) -> DealResult:
    await asyncio.sleep(start_delay_s)
    async with seat_players(table) as people:
        return await people.play_deal()


@valued_figure("waiting")
def measure_wait_for_hands() -> list[FigureValue]:
    """From a deal's being due to the order for its hands, dealt ahead against not."""
    deals = choose_size(_WAITING_DEALS, _FEW_WAITING_DEALS)
    ahead, without = (simulate_waiting(deals, ahead=ahead).hands for ahead in (True, False))
    return [_value_in_s("", ahead.median_s, without.median_s, documented=0.17)]
