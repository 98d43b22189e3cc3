"""Tables of a hall in virtual time, which publish when a test asks for it."""

import asyncio
import json
from typing import Any

import msgspec

from controller.client.connection import TableConnectionState
from controller.console.freshness import ContactTimes, stamp_to_epoch_ms
from controller.console.live_pages.hall_page import Hall
from controller.console.table_snapshots import TableSnapshot
from controller.messages import Role
from tests.console.fake import Scripted
from tests.console.states import state

AT = "2027-01-01T00:00:10.000+00:00"
AT_MS = stamp_to_epoch_ms(AT)


def clock_ms() -> int:
    """Return the time of the console's clock: AT, plus the time of the loop."""
    return AT_MS + int(asyncio.get_running_loop().time() * 1000)


class Tables(Scripted):
    """Tables that are heard when a test says so."""

    def __init__(self) -> None:
        super().__init__(0)

    def begin(self, table: str) -> None:
        """Add a table that has published nothing."""
        self._seen[table] = TableSnapshot(
            table=table, area="A", contact_times=ContactTimes(link_since_ms=clock_ms())
        )

    def hear(self, table: str, **changes: Any) -> None:
        """Publish a state of a table."""
        said = state(table=table, **changes)
        heard = ContactTimes(
            link=TableConnectionState.OPEN,
            link_since_ms=AT_MS,
            received_ms=clock_ms(),
            changed_ms=clock_ms(),
        )
        seen = TableSnapshot(
            table=table, area="A", state=said, body=msgspec.json.encode(said), contact_times=heard
        )
        self._seen[table] = seen
        for told in self._changed[:]:
            told(table)


def parts(hall: Hall, role: Role = Role.REFEREE) -> dict[str, Any]:
    """Return what a page of this role shows that is opened now."""
    _, found = hall.parts_for(role).changes_since(0)
    return {name: json.loads(body) for name, body in found.items() if body is not None}
