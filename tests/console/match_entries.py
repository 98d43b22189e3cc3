"""The public journal entries of a match."""

import itertools
from typing import Any

from controller.machine.commands.match_commands import meeting_data
from controller.match.match_events import encode_match_event
from controller.messages import PublicEvent
from controller.rules.penalties.penalty_record import Incident, PenaltyEntry
from tests.match.people import charge_of
from tests.match.table import Table

_NUMBERS = itertools.count(1)


def entry(kind: str, data: dict[str, Any]) -> PublicEvent:
    """Return one public entry of table T01."""
    return PublicEvent(
        table="T01",
        boot="b",
        n=next(_NUMBERS),
        time="2027-01-01T00:00:00.000+00:00",
        simulated=True,
        kind=kind,
        deal=1,
        attempt=1,
        data=data,
        prev="00" * 32,
        head="00" * 32,
    )


def entries(table: Table, record: tuple[PenaltyEntry, ...] = ()) -> list[PublicEvent]:
    """Return the entries that a table publishes for a match."""
    laid_out = meeting_data(table.profile, table.state.meeting, record)
    return [
        entry("meeting", dict(laid_out)),
        *(entry("match", encode_match_event(e)) for e in table.happened),
    ]


def brought(table: Table, seat: Any = "E", **changes: Any) -> PenaltyEntry:
    """Return a penalty from an earlier match that a pair brings along."""
    charge = charge_of(table.state, seat, "disturbance")
    said = {name: getattr(charge, name) for name in Incident.__struct_fields__}
    fields: dict[str, Any] = said | {"match": "M0", "penalty": "warning", "article": "A15.3.1"}
    return PenaltyEntry(**fields | changes)
