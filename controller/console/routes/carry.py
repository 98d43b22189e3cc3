"""A match goes to another table, and where it could go."""

from typing import Final

from controller.console.carrying import (
    MatchTransfer,
    TransferOptions,
    TransferProgress,
    TransferRequest,
)
from controller.console.console import RefereeConsole
from controller.console.routing import REFEREES, ConsoleRequest, route
from controller.console.store.orders import CommandLog


async def list_transfer_options(request: ConsoleRequest) -> TransferOptions:
    """Return where a table's match could go, and which are on their way."""
    return await _match_transfer(request.console).find_options(request.table)


async def transfer_match(request: ConsoleRequest) -> TransferProgress:
    """Carry a table's match to another one; the same id again goes on where it broke off."""
    table, wanted = request.table, await request.read_json(TransferRequest)
    return await _match_transfer(request.console).transfer(request.person, table, wanted)


def _match_transfer(console: RefereeConsole) -> MatchTransfer:
    return MatchTransfer(
        console.tables,
        console.dispatcher,
        CommandLog(console.engine),
        console.archive,
        console.read,
        lambda table: console.configured_table(table).verify,
        console.now_ms,
    )


ROUTES: Final = (
    route("/api/tables/{id}/carry", list_transfer_options, roles=REFEREES),
    route("/api/tables/{id}/carry", transfer_match, ("POST",), roles=REFEREES),
)
