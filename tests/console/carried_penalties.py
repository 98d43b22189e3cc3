"""Matches whose penalties their pairs bring along to the next match."""

from typing import Any

import msgspec

from controller.console.store.archive import Archive, StoredEvent
from controller.match.reducer import new_match
from controller.messages import PublicEvent
from tests.console.match_entries import entries
from tests.match.people import meeting
from tests.match.table import Table

MINE = meeting()
"""The match in which all of this was ruled."""
PAIRS = {pair.id for pair in MINE.pairs.values()}
EAST_WEST = MINE.pairs["EW"].id


def a_match(**changes: Any) -> Table:
    """Return a match in its first deal."""
    table = Table()
    table.state = new_match(table.profile, msgspec.structs.replace(MINE, **changes))
    return table.started().in_play()


def keep(archive: Archive, table: str, told: list[PublicEvent]) -> None:
    """Keep entries as a table published them, in their order."""
    rows = [msgspec.structs.replace(event, table=table) for event in told]
    archive.keep([StoredEvent(event, msgspec.json.encode(event)) for event in rows])


def drawn() -> list[PublicEvent]:
    """Return an earlier match of the pairs of the draw, with a violation of pair East-West."""
    pairs = {
        "NS": msgspec.structs.replace(MINE.pairs["NS"], id="101"),
        "EW": msgspec.structs.replace(MINE.pairs["EW"], id="102"),
    }
    match = a_match(match_id="R1-M9", pairs=pairs)
    return entries(match.ruled("EW", "violation"))
