"""Orders to a table, who goes there, and what its journal says."""

from typing import Any, Final

import msgspec

from controller.client.refused import MAX_COMMAND_BYTES
from controller.console.routing import STAFF, ConsoleRequest, route
from controller.console.wish import ConsoleCommandRequest
from controller.console.wrong import RequestError
from controller.messages import PublicEvent, Role

_MAX_EVENTS: Final = 1_000
_SENDERS: Final = STAFF | {Role.TABLE}


async def send_command(request: ConsoleRequest) -> dict[str, Any]:
    """Give an order; the same id again asks what became of it."""
    table, person = request.path_params["id"], request.person
    wish = await request.read_json(
        ConsoleCommandRequest, MAX_COMMAND_BYTES
    )  # it is kept, and no table takes more
    if person.role is Role.TABLE and person.table != table:
        raise RequestError(403, "this display is of another table", "本台显属于另一张台")
    return (await request.console.dispatcher.send(person, table, wish)).as_json()


async def ask_command_again(request: ConsoleRequest) -> dict[str, Any]:
    """Ask what became of an order that nobody has an answer to, whoever gave it."""
    table, order = request.table, request.path_params["order"]
    return (await request.console.dispatcher.ask_again(request.person, table, order)).as_json()


class _TakeRequest(msgspec.Struct, forbid_unknown_fields=True):
    """`over`: whom the page showed as going there."""

    over: str | None = None


async def take_call(request: ConsoleRequest) -> dict[str, Any]:
    """Say that this person goes to a table; two who press at once do not both think so."""
    table, said = request.table, await request.read_json(_TakeRequest)
    goes = request.console.call_assignments.assigned_to(table)
    if goes not in (None, said.over, request.person.name):
        raise RequestError(409, f"{goes} goes there already", f"{goes}正前往")
    request.console.call_assignments.assign(table, request.person.name)
    return {"taken_by": request.person.name}


async def leave_call(request: ConsoleRequest) -> dict[str, Any]:
    """Say that this person goes to a table no more; of another one the chief alone says so.

    Whoever else wants to go there takes the table in his stead: somebody goes there then.
    """
    table, person = request.table, request.person
    goes = request.console.call_assignments.assigned_to(table)
    if goes not in (None, person.name) and person.role is not Role.CHIEF:
        raise RequestError(
            403,
            f"{goes} goes there: take it yourself, or ask the chief",
            f"{goes}正前往，可由你接手",
        )
    request.console.call_assignments.assign(table, None)
    return {"taken_by": None}


async def list_events(request: ConsoleRequest) -> dict[str, Any]:
    """List a table's public events behind a number, as they came."""
    table, since = request.table, request.number("since")

    def page() -> list[PublicEvent]:
        found: list[PublicEvent] = []
        for event in request.console.archive.events(table, since):
            found.append(event)
            if len(found) == _MAX_EVENTS:
                break
        return found

    return {"events": await request.console.read_after_flush(page)}


ROUTES: Final = (
    route("/api/tables/{id}/do", send_command, ("POST",), roles=_SENDERS),
    route("/api/tables/{id}/orders/{order}/again", ask_command_again, ("POST",), roles=STAFF),
    route("/api/tables/{id}/take", take_call, ("POST",), roles=STAFF),
    route("/api/tables/{id}/leave", leave_call, ("POST",), roles=STAFF),
    route("/api/tables/{id}/events", list_events),
)
