"""Benchmark figures of deals: their journal, their duration, and the fair sequence.

`read_metrics` reads the metrics of a running machine through the socket that its gateway uses.
"""

import asyncio
import itertools
import random
import sqlite3
import tempfile
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager, closing
from pathlib import Path

import click

from controller.client.client import Client
from controller.config import load_table
from controller.deal.sequence import POCKET_LETTERS, sequence
from controller.gateway_protocol import (
    MAX_MACHINE_LINE_BYTES,
    AskMetricsMessage,
    MetricsMessage,
    decode_machine_line,
    encode_line,
)
from controller.journal.entries import StoredRow, decode
from controller.journal.packed_board_events import unpack_events
from controller.journal.store import STORE_NAME, open_read_only
from controller.messages import ClientCommand, Role
from sim.bench.bare_table import dealt_mechanical_s
from sim.bench.figure_registry import (
    FigureUnit,
    FigureValue,
    choose_size,
    time_in_turns_us,
    valued_figure,
)
from sim.people.practice_players import DealResult, seat_players
from sim.tables.process_costs import find_processes, written_kib
from sim.tables.table_processes import HallError, HallPlan, TableProcess, run_hall

_SETTLE_S = 0.5
"""The wait after a deal, until its last rows are written."""
BLOB_BYTES = 12
"""The smallest record of an event."""


def _read_journal(table: TableProcess) -> list[StoredRow]:
    with open_read_only(table.state_dir / STORE_NAME) as rows:
        return list(rows)


def _database_kib(columns: str, rows: Iterable[Sequence[object]]) -> float:
    """Return the size in KiB (whole pages) of a new SQLite database that contains only `rows`."""
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute(f"CREATE TABLE one({columns})")
        values = ", ".join("?" * (columns.count(",") + 1))
        db.executemany(f"INSERT INTO one VALUES ({values})", rows)
        (pages,) = db.execute("PRAGMA page_count").fetchone()
        (page_bytes,) = db.execute("PRAGMA page_size").fetchone()
        return float(pages * page_bytes / 1024)


async def read_metrics(table: TableProcess) -> MetricsMessage:
    """Return the present metrics of a table's machine process.

    Raises HallError if the machine cannot be reached.
    """
    path = load_table(table.config).socket
    try:
        reader, writer = await asyncio.open_unix_connection(str(path), limit=MAX_MACHINE_LINE_BYTES)
    except OSError as error:
        raise HallError(f"the machine of table {table.id} is not there: {error}") from error
    try:
        writer.write(encode_line(AskMetricsMessage()))
        async for line in reader:
            message = decode_machine_line(line)
            if isinstance(message, MetricsMessage):
                return message
    finally:
        writer.close()
    raise HallError(f"the machine of table {table.id} hung up")


def metrics_difference(before: MetricsMessage, now: MetricsMessage, name: str) -> tuple[int, float]:
    """Return how much the count and the seconds of metric `name` grew from `before` to `now`.

    The increase is the sum over all labels.
    """
    count, total_s = 0, 0.0
    for message, sign in ((now, 1), (before, -1)):
        for one in message.distributions:
            if one.name == name:
                count += sign * sum(one.counts)
                total_s += sign * one.sum_s
    return count, total_s


@valued_figure("journal")
def measure_deal_journal() -> list[FigureValue]:
    """Measure the size and disk writes of a deal's journal. The floor is 12 bytes an event."""
    return asyncio.run(_measure_journal(choose_size(2, 1)))


async def _measure_journal(deals: int) -> list[FigureValue]:
    """Measure the journal of `deals` deals after a first deal, and return the figure values.

    Raises click.ClickException if the table's state folder is not on a disk, because nothing is
    written to a disk then.
    """
    # /tmp may be in memory.
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        async with (
            run_hall(HallPlan(Path(folder), speed=20.0)) as (table,),
            seat_players(table) as people,
        ):
            assert table.daemon is not None
            machine = find_processes(table.daemon.pid)["run machine"]
            await people.play_deal()
            await asyncio.sleep(_SETTLE_S)
            rows_before, disk_before_kib = len(_read_journal(table)), written_kib(machine)
            before = await read_metrics(table)
            for _ in range(deals):
                await people.play_deal()
            await asyncio.sleep(_SETTLE_S)
            disk_kib = written_kib(machine) - disk_before_kib
            now = await read_metrics(table)
            rows = _read_journal(table)[rows_before:]
    if disk_kib <= 0:
        raise click.ClickException(f"{table.state_dir} is not on a disk: nothing was written")
    # Each commit is a group of rows that the machine gave to the writer.
    commits, _ = metrics_difference(before, now, "journal_write_seconds")
    entries = (decode(row.body) for row in rows)
    events = sum(len(unpack_events(one.data, one.attempt)) for one in entries if one.kind == "wire")
    record_kib = _database_kib("n INTEGER PRIMARY KEY, body BLOB, head BLOB", rows)
    bare_kib = _database_kib("event BLOB", itertools.repeat((bytes(BLOB_BYTES),), events))
    cards = float(table.profile.deck.cards)
    each = 1024 / events
    record, bare, written = record_kib / deals, bare_kib / deals, disk_kib / deals
    event, bare_event = record_kib * each, bare_kib * each
    kib, commits_unit = FigureUnit.KIB, FigureUnit.COMMITS
    return [
        FigureValue("of a deal", record, bare, kib, documented=2.6, aim_value=150),
        FigureValue("of an event", event, bare_event, FigureUnit.BYTES, documented=2.6),
        FigureValue("written to the disk", written, record, kib, documented=7.0, aim=10),
        FigureValue("against one a card", commits / deals, cards, commits_unit, 0.25, aim=1.0),
    ]


SEND_INTERVAL_S = 0.02
"""The interval between groups of commands. All commands that are due are sent at once."""


@asynccontextmanager
async def flood_commands(client: Client, per_s: float) -> AsyncIterator[None]:
    """Send `per_s` commands a second during the `with` block.

    Each answer is as large as it can be.
    """
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
    """Measure a deal's time if each card takes 100 ms. The floor is the mechanics alone.

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
    """Play `count` deals. Return their results, and the program's total seconds for all routes."""
    with tempfile.TemporaryDirectory() as folder:
        async with (
            run_hall(HallPlan(Path(folder), boards="inside", speed=_speed())) as (table,),
            seat_players(table) as people,
        ):
            before = await read_metrics(table)
            dealt = [await people.play_deal() for _ in range(count)]
            now = await read_metrics(table)
    _, routes_s = metrics_difference(before, now, "route_latency_seconds")
    return dealt, routes_s


def _median_pair(pairs: list[tuple[float, float]]) -> tuple[float, float]:
    """Return the pair (measured value, floor) whose ratio is the median of all ratios."""
    return sorted(pairs, key=lambda pair: pair[0] / pair[1])[len(pairs) // 2]


@valued_figure("flood")
def measure_flooded_deal() -> list[FigureValue]:
    """Measure a deal's time while 1,000 commands a second arrive. The floor is the mechanics."""
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
    """Measure a deal's time while ten tables share a computer. The floor is the mechanics alone."""
    dealt = asyncio.run(_deal_in_hall(choose_size(10, 2)))
    wall_s, alone_s = _median_pair([(one.wall_s, _mechanics_s(one)) for one in dealt])
    return [FigureValue("", wall_s, alone_s, FigureUnit.S, documented=1.02)]


async def _deal_in_hall(tables: int) -> list[DealResult]:
    """Deal once at each of `tables` tables, which start at different times. Return the results."""

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
    """Measure the time to compute a fair sequence. Floors: random.shuffle and SystemRandom."""
    return [
        _compare_shuffle("over random.shuffle", random.Random(1).shuffle, aim=1.0),
        _compare_shuffle("over SystemRandom", random.SystemRandom().shuffle, aim=1 / 6),
    ]


def _compare_shuffle(what: str, shuffle: Callable[[list[str]], None], aim: float) -> FigureValue:
    """Compare the time to compute a fair sequence with its floor, the time of `shuffle`.

    `what` names the value. `aim` is the aimed and the documented multiple of the floor.
    """

    def make_sequences() -> None:
        for number in range(_SEQUENCE_COUNT):
            sequence(number.to_bytes(32, "big"), _SEED, 41, _CARDS)

    def shuffle_orders() -> None:
        for _ in range(_SEQUENCE_COUNT):
            shuffle(list(POCKET_LETTERS * (_CARDS // len(POCKET_LETTERS))))

    value, floor = time_in_turns_us(make_sequences, shuffle_orders, _SEQUENCE_COUNT, rounds=15)
    return FigureValue(what, value, floor, FigureUnit.US, documented=aim, aim=aim)
