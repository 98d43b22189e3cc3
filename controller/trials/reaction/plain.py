"""A table of two boards and the dealing loop alone: what a route costs before all else.

    python -m controller.trials.reaction.plain DEALER READER CONTROL

deals once for each line of its input, gathers the cards, and prints a line; it ends with its input.
"""

import asyncio
import gc
import sys

import click

from controller.deal.sequence import sequence
from controller.rules.rulebooks import load_profile
from controller.trials.bare_table import BareTable
from controller.trials.hall import ControlClient
from drivers.link.port import SerialPort
from sim.mechanics.settings import PhysicalSet

_SEED = bytes(range(32))
_BAUD = 921_600


async def deal_on_input(dealer: str, reader: str, control: str) -> None:
    """Deal at the table behind these ports until the input ends."""
    profile = load_profile("international-000")
    ports = (SerialPort(dealer, _BAUD), SerialPort(reader, _BAUD))
    table = BareTable(*ports, profile, PhysicalSet().back)
    hands = ControlClient(control)
    orders = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(orders), sys.stdin
    )
    await table.open()
    gc.collect()
    gc.freeze()
    gc.disable()
    attempt = 0
    try:
        while await orders.readline():
            attempt += 1
            order = sequence(attempt.to_bytes(32), _SEED, None, profile.deck.cards)
            await table.run_attempt(attempt, order)
            await hands.request("collect")
            click.echo(attempt)
    finally:
        table.close()


if __name__ == "__main__":
    asyncio.run(deal_on_input(*sys.argv[1:]))
