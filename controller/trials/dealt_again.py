"""Deals of a whole table, each dealt again by two boards and a dealing loop alone.

The second table has the same boards on ptys of its own and the same sequence of pockets; behind
them nothing but links and decisions. What a deal takes longer at the first one is what machine,
journal, gateway and feed add to it. What a host in C could save is less than its cards' waits for
their routes.
"""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path

import msgspec

from controller.deal.sequence import sequence
from controller.trials.bare_table import BareTable
from controller.trials.hall import HallPlan, run_hall, run_simulator
from controller.trials.metered import metrics_difference, read_metrics
from controller.trials.players import DealResult, seat_players
from drivers.link.port import SerialPort
from sim.folders import memory_folder
from sim.mechanics.settings import PhysicalSet

_BAUD = 921_600


class RepeatedDeal(msgspec.Struct, frozen=True):
    """A deal: its sequence, and the seconds from the first feed to the last landing, at the whole
    table and at the bare one. `routes_s`: how long the whole one's cards waited for their routes,
    from the bytes that decide on a card to the ROUTE that is written, all of them together.
    """

    sequence: str
    whole_s: float
    bare_s: float
    routes_s: float


def repeat_deals(speed: float, deals: int) -> list[RepeatedDeal]:
    """Deal so often, `speed` times as fast as is real; return each deal. Raises HallError."""
    return asyncio.run(_repeat_deals(speed, deals))


def sequence_of(dealt: DealResult, cards: int) -> str:
    """Return the sequence of a deal of `cards`, out of its opened proof."""
    seed, commitment = bytes.fromhex(dealt.seed), bytes.fromhex(dealt.commitment)
    return sequence(commitment, seed, dealt.cut, cards)


async def _repeat_deals(speed: float, deals: int) -> list[RepeatedDeal]:
    found = []
    with tempfile.TemporaryDirectory() as folder:
        async with (
            run_hall(HallPlan(Path(folder) / "whole", speed=speed)) as (table,),
            seat_players(table) as people,
            _run_bare_table(HallPlan(Path(folder) / "bare", speed=speed)) as bare_s,
        ):
            for _ in range(deals):
                before = await read_metrics(table)
                dealt = await people.play_deal()
                _, routes_s = metrics_difference(
                    before, await read_metrics(table), "route_latency_seconds"
                )
                order = sequence_of(dealt, table.profile.deck.cards)
                found.append(RepeatedDeal(order, dealt.wall_s, await bare_s(order), routes_s))
    return found


@asynccontextmanager
async def _run_bare_table(plan: HallPlan) -> AsyncIterator[Callable[[str], Awaitable[float]]]:
    """Give what deals a sequence at two boards of their own, and returns the seconds it took."""
    plan.state_dir.mkdir()
    with memory_folder() as runtime_dir:
        async with run_simulator(plan, runtime_dir) as (table,):
            dealer, reader = (SerialPort(port, _BAUD) for port in table.board_ports)
            with closing(BareTable(dealer, reader, plan.rules, PhysicalSet().back)) as bare:
                await bare.open()
                attempts = iter(range(1, 1 << 16))

                async def deal(order: str) -> float:
                    await bare.run_attempt(next(attempts), order)
                    truth = await table.control.request("truth")
                    await table.control.request("collect")
                    return float(truth["last_landing_s"] - truth["first_feed_s"])

                yield deal
