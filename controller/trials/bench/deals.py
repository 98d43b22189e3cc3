"""What a deal takes beyond its mechanics: alone, flooded with commands, in a hall, waited for."""

import asyncio
import tempfile
from pathlib import Path

from controller.messages import Role
from controller.rules.rulebooks import load_profile
from controller.trials.bench.registry import Unit, Value, choose_size, values
from controller.trials.dealt_again import dealt_again, sequence_of
from controller.trials.flood import flood_commands, reading
from controller.trials.hall import HallPlan, TableProcess, hall
from controller.trials.mechanical import mechanical_s
from controller.trials.metered import metered, passed
from controller.trials.players import Dealt, players
from controller.trials.waiting import waiting
from sim.mechanics.settings import Settings

_DEALS, _FEW_DEALS = 5, 1
_TIGHT_SPEED, _TIGHT_DEALS, _FEW_TIGHT_DEALS = 20.0, 7, 1
_FLOOD_PER_S = 1000
_HALL_TABLES, _FEW_HALL_TABLES = 10, 2
_WAITING_DEALS, _FEW_WAITING_DEALS = 8, 3
_SMALL_SPEED = 5.0
"""With --small cards come so many times as fast: a host's share of a card's time grows with it."""


def _speed() -> float:
    return choose_size(1.0, _SMALL_SPEED)


def _mechanics_s(dealt: Dealt) -> float:
    """Return the seconds that the mechanics alone take for the same attempt."""
    profile = load_profile("international-000")
    order = sequence_of(dealt, profile.deck.cards)
    settings = Settings(speed=_speed())
    return mechanical_s(settings, profile, order, feeding_ms=dealt.feeding_ms)


@values("deal")
def deal() -> list[Value]:
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


async def _deal_several() -> tuple[list[Dealt], float]:
    """Return some deals, and the seconds that all their routes took the machine."""
    with tempfile.TemporaryDirectory() as folder:
        async with (
            hall(HallPlan(Path(folder), boards="inside", speed=_speed())) as (table,),
            players(table) as people,
        ):
            before = await metered(table)
            dealt = [await people.deal() for _ in range(choose_size(_DEALS, _FEW_DEALS))]
            _, routes_s = passed(before, await metered(table), "route_latency_seconds")
    return dealt, routes_s


@values("tight")
def measure_tight_deal() -> list[Value]:
    """A deal at 5 ms a card, against bare hosts: in Python, in no time, and none but mechanics."""
    profile = load_profile("international-000")
    found = dealt_again(_TIGHT_SPEED, choose_size(_TIGHT_DEALS, _FEW_TIGHT_DEALS))
    bare = _median_pair([(one.whole_s, one.bare_s) for one in found])
    settings = Settings(speed=_TIGHT_SPEED)
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
) -> Value:
    return Value(what=what, value=value, floor=floor, unit=Unit.S, documented=documented, aim=aim)


def _median_pair(pairs: list[tuple[float, float]]) -> tuple[float, float]:
    """Return the value and the floor of which the multiple is the median."""
    return sorted(pairs, key=lambda pair: pair[0] / pair[1])[len(pairs) // 2]


@values("flood")
def flood() -> list[Value]:
    """The same deal while one client sends 1,000 commands a second, against its mechanics alone."""
    dealt = asyncio.run(_deal_flooded())
    return [_value_in_s("", dealt.wall_s, _mechanics_s(dealt), documented=1.02)]


async def _deal_flooded() -> Dealt:
    with tempfile.TemporaryDirectory() as folder:
        async with (
            hall(HallPlan(Path(folder), speed=_speed())) as (table,),
            players(table) as people,
            table.client(Role.OBSERVER) as stranger,
            flood_commands(stranger, _FLOOD_PER_S, reading),
        ):
            return await people.deal()


@values("hall")
def measure_deal_in_hall() -> list[Value]:
    """A deal at one of ten tables that deal on this computer, against its mechanics alone."""
    dealt = asyncio.run(_deal_in_hall(choose_size(_HALL_TABLES, _FEW_HALL_TABLES)))
    return [
        _value_in_s(
            "", *_median_pair([(one.wall_s, _mechanics_s(one)) for one in dealt]), documented=1.02
        )
    ]


async def _deal_in_hall(tables: int) -> list[Dealt]:
    """Deal once at every table, each begun at another moment."""
    with tempfile.TemporaryDirectory() as folder:
        plan = HallPlan(Path(folder), tables=tables, speed=_speed())
        async with hall(plan) as running:
            at = (_deal_at(table, plan.begins_s(n)) for n, table in enumerate(running))
            return list(await asyncio.gather(*at))


async def _deal_at(table: TableProcess, begins_s: float) -> Dealt:
    await asyncio.sleep(begins_s)
    async with players(table) as people:
        return await people.deal()


@values("waiting")
def measure_wait_for_hands() -> list[Value]:
    """From a deal's being due to the order for its hands, dealt ahead against not."""
    deals = choose_size(_WAITING_DEALS, _FEW_WAITING_DEALS)
    ahead, without = (waiting(deals, ahead=ahead).hands for ahead in (True, False))
    return [_value_in_s("", ahead.median_s, without.median_s, documented=0.17)]
