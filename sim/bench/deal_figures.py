"""Figures of deals at a whole table, at a bare table, among other tables, and with waiting people.

`repeat_deals` deals each sequence at a whole table, and again at a bare table with the same boards
on other ptys. The bare table has only serial links and decisions. The additional time of the whole
table is the cost of machine, journal, gateway and feed. A host in C could save less than the time
for which the cards wait for their routes.
"""

import asyncio
import random
import statistics
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path

import msgspec

from controller.client.client import Client
from controller.config import CardSetSection
from controller.deal.sequence import POCKET_LETTERS, sequence
from controller.messages import ClientCommand, CommandReply, Role
from controller.rules.profile_files import load_profile
from drivers.link.serial_port import SerialPort
from sim.bench.bare_table import BareTable, mechanical_s
from sim.bench.figure_registry import (
    FigureUnit,
    FigureValue,
    choose_size,
    time_in_turns_us,
    valued_figure,
)
from sim.bench.machine_counters import metrics_difference, read_metrics
from sim.mechanics.mechanics_settings import MechanicsSettings, PhysicalSet
from sim.memory_folders import memory_folder
from sim.people.practice_players import DealResult, seat_players
from sim.people.simulated_players import PlayerDurations, SimulatedPlayers
from sim.tables.table_in_process import run_table_in_process
from sim.tables.table_processes import HallPlan, TableProcess, run_hall, run_simulator
from sim.virtual_loop import VirtualLoop

_BAUD = 921_600


class RepeatedDeal(msgspec.Struct, frozen=True):
    """One deal at the whole table and at the bare table.

    `whole_s` and `bare_s`: the seconds from the first feed to the last landing. `routes_s`: how
    long the cards of the whole table waited for their routes, in total. A wait is from the bytes
    that decide a card to the written ROUTE.
    """

    sequence: str
    whole_s: float
    bare_s: float
    routes_s: float


def repeat_deals(speed: float, deals: int) -> list[RepeatedDeal]:
    """Return `deals` deals, dealt `speed` times as fast as in reality. Raises HallError."""
    return asyncio.run(_repeat_deals(speed, deals))


def sequence_of(dealt: DealResult, cards: int) -> str:
    """Return the sequence of a deal of `cards` cards, from its opened proof."""
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
    """Yield a function that deals a sequence at a bare table and returns the seconds."""
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


SEND_INTERVAL_S = 0.02
"""The interval between groups of commands. All commands that are due are sent at once."""


@asynccontextmanager
async def flood_commands(
    client: Client, per_s: float, make: Callable[[int], ClientCommand]
) -> AsyncIterator[Counter[str]]:
    """Send `per_s` commands a second during the block, and count the answers by their code."""
    answers: Counter[str] = Counter()
    flooding = asyncio.ensure_future(_send_commands(client, per_s, make, answers))
    try:
        yield answers
    finally:
        flooding.cancel()
        await asyncio.gather(flooding, return_exceptions=True)


async def _send_commands(
    client: Client, per_s: float, make: Callable[[int], ClientCommand], answers: Counter[str]
) -> None:
    loop = asyncio.get_running_loop()
    begun_s, sent = loop.time(), 0
    asked: set[asyncio.Task[CommandReply]] = set()

    def answered(task: asyncio.Task[CommandReply]) -> None:
        asked.discard(task)
        if not task.cancelled() and task.exception() is None:
            error = task.result().error
            answers[error.code if error else "ok"] += 1

    try:
        while True:
            while sent < (loop.time() - begun_s) * per_s:
                sent += 1
                task = asyncio.ensure_future(client.send(make(sent)))
                asked.add(task)
                task.add_done_callback(answered)
            await asyncio.sleep(SEND_INTERVAL_S)
    finally:
        for task in asked:
            task.cancel()
        await asyncio.gather(*asked, return_exceptions=True)


def make_read_command(number: int) -> ClientCommand:
    """Return a command whose answer is as large as an answer can be."""
    return msgspec.convert(
        {"id": f"flood-{number}", "cmd": "events", "args": {"since": 0}}, ClientCommand
    )


_TWO_SETS = (CardSetSection(id="S1", back="A"), CardSetSection(id="S2", back="B"))
_IN_MEMORY = Path("/dev/shm")


class TimeSpread(msgspec.Struct, frozen=True):
    """Seconds of some deals: minimum, median and maximum."""

    least_s: float
    median_s: float
    most_s: float


class SimulatedWaiting(msgspec.Struct, frozen=True, kw_only=True):
    """The waiting times of people over `deals` deals, the first deal of each match excluded.

    `machine`: from the moment when a deal is due until its hands are ready (due_to_ready_ms of
    `released`). `hands`: until a person commands their release. The second time includes the time
    people need to clear the table, load, start, cut and press.
    """

    ahead: bool
    deals: int
    machine: TimeSpread
    hands: TimeSpread


def simulate_waiting(deals: int, *, ahead: bool, seed: int = 1) -> SimulatedWaiting:
    """Play `deals` deals, with or without deal-ahead, and return the waiting times."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(_play_match_deals(deals, ahead, seed))


async def _play_match_deals(deals: int, ahead: bool, seed: int) -> SimulatedWaiting:
    with tempfile.TemporaryDirectory(dir=_IN_MEMORY) as folder:
        async with run_table_in_process(
            MechanicsSettings(), Path(folder), seed=seed, card_sets=_TWO_SETS, deal_ahead=ahead
        ) as table:
            people = SimulatedPlayers(
                table, random.Random(seed), deal_ahead=ahead, durations=PlayerDurations()
            )
            left = deals
            while left > 0:
                await people.begin_match(f"M{left}")
                left -= await people.play(left + 1) - 1
                await people.sign()
            released = [event for event in table.events if event.kind == "released"]
    later = [event.data for event in released if event.deal != 1]
    machine = [one["due_to_ready_ms"] / 1000 for one in later]
    hands = [
        at + data["ready_to_button_ms"] / 1000 for at, data in zip(machine, later, strict=True)
    ]
    return SimulatedWaiting(
        ahead=ahead,
        deals=len(later),
        machine=_summarize_times(machine),
        hands=_summarize_times(hands),
    )


def _summarize_times(times_s: list[float]) -> TimeSpread:
    return TimeSpread(min(times_s), statistics.median(times_s), max(times_s))


def waiting_table(both: tuple[SimulatedWaiting, ...]) -> str:
    """Return the figures as a table for people."""
    spans = (f"{what}: least median most" for what in ("machine", "hands"))
    lines = [f"{'':<18}{'deals':>6}  " + "  ".join(f"{span:>30}" for span in spans)]
    for one in both:
        name = "deal-ahead" if one.ahead else "without"
        spans = (
            f"{span.least_s:>12.1f}{span.median_s:>9.1f}{span.most_s:>9.1f}"
            for span in (one.machine, one.hands)
        )
        lines.append(f"{name:<18}{one.deals:>6}  " + "  ".join(spans))
    return "\n".join([*lines, "seconds a deal, from when it is due; play takes 6 to 10 minutes"])


_DEALS, _FEW_DEALS = 5, 1
_TIGHT_SPEED, _TIGHT_DEALS, _FEW_TIGHT_DEALS = 20.0, 7, 1
_FLOOD_PER_S = 1000
_HALL_TABLES, _FEW_HALL_TABLES = 10, 2
_WAITING_DEALS, _FEW_WAITING_DEALS = 8, 3
_SMALL_SPEED = 5.0
"""The speed of the cards with --small. The host's share of a card's time grows with the speed."""


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
    """A deal at 100 ms a card with journal, CURVE and feed, against its mechanics alone.

    The simulator contains the boards, so that no pins between processes add time. The boards are
    connected by ptys.
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
    """Return some deals, and the seconds that the machine took for all their routes."""
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
    """A deal at 5 ms a card, against a bare host, a host that takes no time, and mechanics."""
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
    """Return the pair of value and floor whose ratio is the median."""
    return sorted(pairs, key=lambda pair: pair[0] / pair[1])[len(pairs) // 2]


@valued_figure("flood")
def measure_flooded_deal() -> list[FigureValue]:
    """A deal while one client sends 1,000 commands a second, against its mechanics alone."""
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
    """A deal at one of ten tables that deal on this computer, against its mechanics only."""
    dealt = asyncio.run(_deal_in_hall(choose_size(_HALL_TABLES, _FEW_HALL_TABLES)))
    return [
        _value_in_s(
            "", *_median_pair([(one.wall_s, _mechanics_s(one)) for one in dealt]), documented=1.02
        )
    ]


async def _deal_in_hall(tables: int) -> list[DealResult]:
    """Deal once at every table. The tables start at different times."""
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
    """Time from when a deal is due to the release command, dealt ahead against not dealt ahead."""
    deals = choose_size(_WAITING_DEALS, _FEW_WAITING_DEALS)
    ahead, without = (simulate_waiting(deals, ahead=ahead).hands for ahead in (True, False))
    return [_value_in_s("", ahead.median_s, without.median_s, documented=0.17)]


_CARDS = 108
_SEQUENCE_COUNT = 200
_ROUNDS = 15
_SEED = bytes(range(32))


def _make_sequences() -> None:
    for number in range(_SEQUENCE_COUNT):
        sequence(number.to_bytes(32, "big"), _SEED, 41, _CARDS)


def _repeat_shuffle(shuffle: Callable[[list[str]], None]) -> Callable[[], None]:
    def shuffles() -> None:
        for _ in range(_SEQUENCE_COUNT):
            order = list(POCKET_LETTERS * (_CARDS // len(POCKET_LETTERS)))
            shuffle(order)

    return shuffles


@valued_figure("fair")
def measure_sequence() -> list[FigureValue]:
    """The fair sequence of a deal from its seed, against random.shuffle and SystemRandom's."""
    return [
        _over_shuffle("over random.shuffle", random.Random(1).shuffle, aim=1.0),
        _over_shuffle("over SystemRandom", random.SystemRandom().shuffle, aim=1 / 6),
    ]


def _over_shuffle(what: str, shuffle: Callable[[list[str]], None], aim: float) -> FigureValue:
    """Return the figure over one of the shuffles. The documented value is also the aim."""
    value, floor = time_in_turns_us(
        _make_sequences, _repeat_shuffle(shuffle), _SEQUENCE_COUNT, _ROUNDS
    )
    return FigureValue(
        what=what, value=value, floor=floor, unit=FigureUnit.US, documented=aim, aim=aim
    )
