"""Benchmark figures of a real machine's journal: the size of a deal, and the bytes written.

`read_metrics` reads the metrics of a running machine through the socket that its gateway uses.
"""

import asyncio
import itertools
import sqlite3
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path

import click

from controller.config import load_table
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
from sim.bench.figure_registry import FigureUnit, FigureValue, choose_size, valued_figure
from sim.people.practice_players import seat_players
from sim.tables.process_costs import find_processes, written_kib
from sim.tables.table_processes import HallError, HallPlan, TableProcess, run_hall

_SETTLE_S = 0.5
"""The wait after a deal, until its last rows are written."""
BLOB_BYTES = 12
"""The smallest record of an event."""


def _read_journal(table: TableProcess) -> list[StoredRow]:
    with open_read_only(table.state_dir / STORE_NAME) as rows:
        return list(rows)


def _table_kib(columns: str, rows: Iterable[Sequence[object]]) -> float:
    """Return the size in KiB of a database table that has these rows, in whole pages."""
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
    """Return how much the metric `name` has increased between two readings.

    The result is the count and the total seconds, over all labels.
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
    """A deal's record, compared with 12 bytes an event, and the bytes written for the record."""
    return asyncio.run(_measure_journal(choose_size(2, 1)))


async def _measure_journal(deals: int) -> list[FigureValue]:
    """Play `deals` deals after a first one that does not count, and return their figures.

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
    entries = [decode(row.body) for row in rows]
    events = sum(
        len(unpack_events(entry.data, entry.attempt)) for entry in entries if entry.kind == "wire"
    )
    record_kib = _table_kib("n INTEGER PRIMARY KEY, body BLOB, head BLOB", rows)
    bare_kib = _table_kib("event BLOB", itertools.repeat((bytes(BLOB_BYTES),), events))
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
