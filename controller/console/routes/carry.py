"""A match goes to another table, and where it could go."""

from typing import Final

from controller.console.carrying import About, MatchTransfer, TransferProgress, TransferRequest
from controller.console.console import Console
from controller.console.routing import REFEREES, Asked, route
from controller.console.store.orders import Orders


async def about(asked: Asked) -> About:
    """Return where a table's match could go, and which are on their way."""
    return await _match_transfer(asked.console).about(asked.table)


async def carry(asked: Asked) -> TransferProgress:
    """Carry a table's match to another one; the same id again goes on where it broke off."""
    table, wanted = asked.table, await asked.body(TransferRequest)
    return await _match_transfer(asked.console).carry(asked.person, table, wanted)


def _match_transfer(console: Console) -> MatchTransfer:
    return MatchTransfer(
        console.tables,
        console.desk,
        Orders(console.engine),
        console.archive,
        console.read,
        lambda table: console.line(table).verify,
        console.now_ms,
    )


ROUTES: Final = (
    route("/api/tables/{id}/carry", about, roles=REFEREES),
    route("/api/tables/{id}/carry", carry, ("POST",), roles=REFEREES),
)
