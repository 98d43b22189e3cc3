"""An evening at a table of the real machine, in virtual time: what its feed and its sheet said."""

import asyncio
import functools
import random
import tempfile
from pathlib import Path
from typing import Any

import msgspec

from controller.config import CardSetSection
from sim.mechanics.mechanics_settings import MechanicsSettings
from sim.tables.table_in_process import run_table_in_process
from sim.virtual_loop import VirtualLoop
from tests.simulated_players import PlayerDurations, SimulatedPlayers

TABLE = "T21"
"""None of the fake console's: the evening is over, and its table is gone."""
_SETS = (CardSetSection(id="S1", back="A"), CardSetSection(id="S2", back="B"))
_BRISK = PlayerDurations(load=(2, 3), count=(2, 3), exchange=(1, 2), play=(3, 5), confirm=(1, 2))

Rows = list[dict[str, Any]]


@functools.cache
def evening(deals: int = 2) -> tuple[Rows, dict[str, Any]]:
    """Return the events of a match M1 that was signed and of M2's first deal, and M1's sheet.

    It has a loop of its own: no test's may run meanwhile.
    """
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(_played(deals))


async def _played(deals: int) -> tuple[Rows, dict[str, Any]]:
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        async with run_table_in_process(
            MechanicsSettings(), Path(folder), seed=7, card_sets=_SETS, table_id=TABLE
        ) as table:
            people = SimulatedPlayers(table, random.Random(7), deal_ahead=False, durations=_BRISK)
            await people.begin_match("M1")
            await people.play(deals)
            await people.sign()
            sheet = table.machine.match_commands.score_sheet(TABLE, table.machine.record.head)
            await people.begin_match("M2")
            await people.play(1)
            rows = [msgspec.to_builtins(event) for event in table.events]
    return rows, msgspec.json.decode(msgspec.json.encode(sheet))


def of(rows: Rows, kind: str, attempt: int) -> dict[str, Any]:
    """Return the row of a kind of an attempt."""
    (found,) = (row for row in rows if row["kind"] == kind and row["attempt"] == attempt)
    return found
