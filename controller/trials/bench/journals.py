"""What a deal costs the disk: its record, what is written for it, and how often."""

import asyncio
import tempfile
from pathlib import Path

from controller.trials.bench.registry import FigureUnit, FigureValue, choose_size, valued_figure
from controller.trials.hall import HallPlan, run_hall
from controller.trials.journalled import JournalCost, measure_journal

_SPEED = 20.0
_DEALS, _FEW_DEALS = 2, 1
_ON_DISK = "/var/tmp"
"""/tmp may lie in memory."""


@valued_figure("journal")
def measure_deal_journal() -> list[FigureValue]:
    """A deal's record against 12 bytes an event, and what is written for it against the record."""
    left = asyncio.run(_deal_and_measure())
    return [
        FigureValue(
            what="of a deal",
            value=left.record_kib / left.deals,
            floor=left.bare_kib / left.deals,
            unit=FigureUnit.KIB,
            documented=2.6,
            aim_value=150,
        ),
        FigureValue(
            what="of an event",
            value=left.record_kib * 1024 / left.events,
            floor=left.bare_kib * 1024 / left.events,
            unit=FigureUnit.BYTES,
            documented=2.6,
        ),
        FigureValue(
            what="written to the disk",
            value=left.disk_kib / left.deals,
            floor=left.record_kib / left.deals,
            unit=FigureUnit.KIB,
            documented=7.0,
            aim=10,
        ),
        FigureValue(
            what="against one a card",
            value=left.commits / left.deals,
            floor=left.cards / left.deals,
            unit=FigureUnit.COMMITS,
            documented=0.25,
            aim=1.0,
        ),
    ]


async def _deal_and_measure() -> JournalCost:
    with tempfile.TemporaryDirectory(dir=_ON_DISK) as folder:
        async with run_hall(HallPlan(Path(folder), speed=_SPEED)) as (table,):
            return await measure_journal(table, choose_size(_DEALS, _FEW_DEALS))
