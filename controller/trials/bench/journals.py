"""What a deal costs the disk: its record, what is written for it, and how often."""

import asyncio
import tempfile
from pathlib import Path

from controller.trials.bench.registry import Unit, Value, choose_size, values
from controller.trials.hall import HallPlan, hall
from controller.trials.journalled import JournalCost, journalled

_SPEED = 20.0
_DEALS, _FEW_DEALS = 2, 1
_ON_DISK = "/var/tmp"
"""/tmp may lie in memory."""


@values("journal")
def journal() -> list[Value]:
    """A deal's record against 12 bytes an event, and what is written for it against the record."""
    left = asyncio.run(_left())
    return [
        Value(
            what="of a deal",
            value=left.record_kib / left.deals,
            floor=left.bare_kib / left.deals,
            unit=Unit.KIB,
            documented=2.6,
            aim_value=150,
        ),
        Value(
            what="of an event",
            value=left.record_kib * 1024 / left.events,
            floor=left.bare_kib * 1024 / left.events,
            unit=Unit.BYTES,
            documented=2.6,
        ),
        Value(
            what="written to the disk",
            value=left.disk_kib / left.deals,
            floor=left.record_kib / left.deals,
            unit=Unit.KIB,
            documented=7.0,
            aim=10,
        ),
        Value(
            what="against one a card",
            value=left.commits / left.deals,
            floor=left.cards / left.deals,
            unit=Unit.COMMITS,
            documented=0.25,
            aim=1.0,
        ),
    ]


async def _left() -> JournalCost:
    with tempfile.TemporaryDirectory(dir=_ON_DISK) as folder:
        async with hall(HallPlan(Path(folder), speed=_SPEED)) as (table,):
            return await journalled(table, choose_size(_DEALS, _FEW_DEALS))
