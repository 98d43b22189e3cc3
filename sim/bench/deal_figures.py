"""Benchmark figures of deals, at one table or among other tables, and of the fair sequence."""

import asyncio
import random
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from controller.client.client import Client
from controller.deal.sequence import POCKET_LETTERS, sequence
from controller.messages import ClientCommand, Role
from sim.bench.bare_table import dealt_mechanical_s
from sim.bench.figure_registry import (
    FigureUnit,
    FigureValue,
    choose_size,
    time_in_turns_us,
    valued_figure,
)
from sim.bench.journal_figures import metrics_difference, read_metrics
from sim.people.practice_players import DealResult, seat_players
from sim.tables.table_processes import HallPlan, TableProcess, run_hall

SEND_INTERVAL_S = 0.02
"""The interval between groups of commands. All commands that are due are sent at once."""


@asynccontextmanager
async def flood_commands(client: Client, per_s: float) -> AsyncIterator[None]:
    """Send `per_s` commands a second during the block. Each answer is as large as it can be."""
    asked: set[asyncio.Task[object]] = set()

    def answered(task: asyncio.Task[object]) -> None:
        asked.discard(task)
        if not task.cancelled():
            task.exception()  # an answer that does not arrive is not an error here

    async def send_due() -> None:
        loop = asyncio.get_running_loop()
        begun_s, sent = loop.time(), 0
        while True:
            while sent < (loop.time() - begun_s) * per_s:
                sent += 1
                command = ClientCommand(id=f"flood-{sent}", cmd="events", args={"since": 0})
                task: asyncio.Task[object] = asyncio.create_task(client.send(command))
                asked.add(task)
                task.add_done_callback(answered)
            await asyncio.sleep(SEND_INTERVAL_S)

    flooding = asyncio.ensure_future(send_due())
    try:
        yield
    finally:
        for task in (flooding, *asked):
            task.cancel()
        await asyncio.gather(flooding, *asked, return_exceptions=True)


_SMALL_SPEED = 5.0
"""The speed of the cards with --small. The host's share of a card's time grows with the speed."""


def _speed() -> float:
    return choose_size(1.0, _SMALL_SPEED)


def _mechanics_s(dealt: DealResult) -> float:
    return dealt_mechanical_s(dealt, _speed())


@valued_figure("deal")
def measure_deal() -> list[FigureValue]:
    """A deal at 100 ms a card with journal, CURVE and feed, compared with its mechanics alone.

    The simulator contains the boards, so that no pins between processes add time. The boards are
    connected by ptys.
    """
    dealt, routes_s = asyncio.run(_deal_several(choose_size(5, 1)))
    wall_s, alone_s = _median_pair([(one.wall_s, _mechanics_s(one)) for one in dealt])
    route_s, documented = routes_s / len(dealt), 0.005 * _speed()
    return [
        FigureValue("", wall_s, alone_s, FigureUnit.S, documented=1.01, aim=1.01),
        FigureValue("from words to routes", route_s, alone_s, FigureUnit.S, documented, aim=0.005),
    ]


async def _deal_several(count: int) -> tuple[list[DealResult], float]:
    """Return the results of `count` deals, and the seconds that all their routes took."""
    with tempfile.TemporaryDirectory() as folder:
        async with (
            run_hall(HallPlan(Path(folder), boards="inside", speed=_speed())) as (table,),
            seat_players(table) as people,
        ):
            before = await read_metrics(table)
            dealt = [await people.play_deal() for _ in range(count)]
            _, routes_s = metrics_difference(
                before, await read_metrics(table), "route_latency_seconds"
            )
    return dealt, routes_s


def _median_pair(pairs: list[tuple[float, float]]) -> tuple[float, float]:
    """Return the pair of value and floor whose ratio is the median of all ratios."""
    return sorted(pairs, key=lambda pair: pair[0] / pair[1])[len(pairs) // 2]


@valued_figure("flood")
def measure_flooded_deal() -> list[FigureValue]:
    """A deal while one client sends 1,000 commands a second, compared with its mechanics alone."""
    dealt = asyncio.run(_deal_flooded())
    return [FigureValue("", dealt.wall_s, _mechanics_s(dealt), FigureUnit.S, documented=1.02)]


async def _deal_flooded() -> DealResult:
    with tempfile.TemporaryDirectory() as folder:
        async with (
            run_hall(HallPlan(Path(folder), speed=_speed())) as (table,),
            seat_players(table) as people,
            table.client(Role.OBSERVER) as stranger,
            flood_commands(stranger, per_s=1000),
        ):
            return await people.play_deal()


@valued_figure("hall")
def measure_deal_in_hall() -> list[FigureValue]:
    """A deal at one of ten tables that deal on this computer, compared with its mechanics alone."""
    dealt = asyncio.run(_deal_in_hall(choose_size(10, 2)))
    wall_s, alone_s = _median_pair([(one.wall_s, _mechanics_s(one)) for one in dealt])
    return [FigureValue("", wall_s, alone_s, FigureUnit.S, documented=1.02)]


async def _deal_in_hall(tables: int) -> list[DealResult]:
    """Return the results of one deal at each table. The tables start at different times."""

    async def deal_at(number: int, table: TableProcess) -> DealResult:
        await asyncio.sleep(plan.start_delay_s(number))
        async with seat_players(table) as people:
            return await people.play_deal()

    with tempfile.TemporaryDirectory() as folder:
        plan = HallPlan(Path(folder), tables=tables, speed=_speed())
        async with run_hall(plan) as running:
            return await asyncio.gather(*(deal_at(*one) for one in enumerate(running)))


_CARDS = 108
_SEQUENCE_COUNT = 200
_SEED = bytes(range(32))


@valued_figure("fair")
def measure_sequence() -> list[FigureValue]:
    """The fair sequence of a deal, compared with random.shuffle and SystemRandom's shuffle."""
    return [
        _over_shuffle("over random.shuffle", random.Random(1).shuffle, aim=1.0),
        _over_shuffle("over SystemRandom", random.SystemRandom().shuffle, aim=1 / 6),
    ]


def _over_shuffle(what: str, shuffle: Callable[[list[str]], None], aim: float) -> FigureValue:
    """Return the figure value that compares the fair sequence with `shuffle`.

    The documented value is also the aim.
    """

    def make_sequences() -> None:
        for number in range(_SEQUENCE_COUNT):
            sequence(number.to_bytes(32, "big"), _SEED, 41, _CARDS)

    def shuffle_orders() -> None:
        for _ in range(_SEQUENCE_COUNT):
            shuffle(list(POCKET_LETTERS * (_CARDS // len(POCKET_LETTERS))))

    value, floor = time_in_turns_us(make_sequences, shuffle_orders, _SEQUENCE_COUNT, rounds=15)
    return FigureValue(what, value, floor, FigureUnit.US, documented=aim, aim=aim)
