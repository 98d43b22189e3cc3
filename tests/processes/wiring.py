"""The links under which a table looks for its boards."""

from pathlib import Path

from sim.tables.table_processes import TableProcess


async def port_of(table: TableProcess, board: str) -> Path:
    """Return the path under which the table looks for a board."""
    return Path((await table.control.request("info"))[board])


async def exchange(table: TableProcess) -> None:
    """Let the links of the two boards lead to each other's ptys."""
    dealer, reader = await port_of(table, "dealer"), await port_of(table, "reader")
    between = dealer.with_suffix(".between")
    dealer.rename(between)
    reader.rename(dealer)
    between.rename(reader)
