"""Metrics of a running machine, read through the socket that its gateway uses."""

import asyncio

from controller.config import load_table
from controller.gateway_protocol import (
    MAX_MACHINE_LINE_BYTES,
    AskMetricsMessage,
    MetricDistribution,
    MetricsMessage,
    decode_machine_line,
    encode_line,
)
from sim.tables.table_processes import HallError, TableProcess


async def read_metrics(table: TableProcess) -> MetricsMessage:
    """Return the present metrics of a table's machine. Raises HallError."""
    path = load_table(table.config).socket
    try:
        reader, writer = await asyncio.open_unix_connection(str(path), limit=MAX_MACHINE_LINE_BYTES)
    except OSError as error:
        raise HallError(f"the machine of table {table.id} does not answer: {error}") from error
    try:
        writer.write(encode_line(AskMetricsMessage()))
        async for line in reader:
            message = decode_machine_line(line)
            if isinstance(message, MetricsMessage):
                return message
    finally:
        writer.close()
    raise HallError(f"the machine of table {table.id} closed the connection")


def metrics_difference(before: MetricsMessage, now: MetricsMessage, name: str) -> tuple[int, float]:
    """Return the increase of a metric between two readings.

    The result is the count and the total seconds, over all labels.
    """
    (many, took_s), (many_before, took_before_s) = (
        _sum_distribution(at, name) for at in (now, before)
    )
    return many - many_before, took_s - took_before_s


def _sum_distribution(numbers: MetricsMessage, name: str) -> tuple[int, float]:
    found: list[MetricDistribution] = [one for one in numbers.distributions if one.name == name]
    return sum(sum(one.counts) for one in found), sum(one.sum_s for one in found)
