"""Orders to a table, who goes there, and what its journal says."""

from typing import Any, Final

import msgspec

from controller.client.refused import LARGEST
from controller.console.routing import STAFF, Asked, route
from controller.console.wish import ConsoleCommandRequest
from controller.console.wrong import Wrong
from controller.messages import Event, Role

_MAX_EVENTS: Final = 1_000
_SENDERS: Final = STAFF | {Role.TABLE}


async def do(asked: Asked) -> dict[str, Any]:
    """Give an order; the same id again asks what became of it."""
    table, person = asked.path["id"], asked.person
    wish = await asked.body(ConsoleCommandRequest, LARGEST)  # it is kept, and no table takes more
    if person.role is Role.TABLE and person.table != table:
        raise Wrong(403, "this display is of another table", "本台显属于另一张台")
    return (await asked.console.desk.do(person, table, wish)).as_json()


async def again(asked: Asked) -> dict[str, Any]:
    """Ask what became of an order that nobody has an answer to, whoever gave it."""
    table, order = asked.table, asked.path["order"]
    return (await asked.console.desk.again(asked.person, table, order)).as_json()


class _TakeRequest(msgspec.Struct, forbid_unknown_fields=True):
    """`over`: whom the page showed as going there."""

    over: str | None = None


async def take(asked: Asked) -> dict[str, Any]:
    """Say that this person goes to a table; two who press at once do not both think so."""
    table, said = asked.table, await asked.body(_TakeRequest)
    goes = asked.console.takes.who(table)
    if goes not in (None, said.over, asked.person.name):
        raise Wrong(409, f"{goes} goes there already", f"{goes}正前往")
    asked.console.takes.put(table, asked.person.name)
    return {"taken_by": asked.person.name}


async def leave(asked: Asked) -> dict[str, Any]:
    """Say that this person goes to a table no more; of another one the chief alone says so.

    Whoever else wants to go there takes the table in his stead: somebody goes there then.
    """
    table, person = asked.table, asked.person
    goes = asked.console.takes.who(table)
    if goes not in (None, person.name) and person.role is not Role.CHIEF:
        raise Wrong(
            403,
            f"{goes} goes there: take it yourself, or ask the chief",
            f"{goes}正前往，可由你接手",
        )
    asked.console.takes.put(table, None)
    return {"taken_by": None}


async def events(asked: Asked) -> dict[str, Any]:
    """List a table's public events behind a number, as they came."""
    table, since = asked.table, asked.number("since")

    def page() -> list[Event]:
        found: list[Event] = []
        for event in asked.console.archive.events(table, since):
            found.append(event)
            if len(found) == _MAX_EVENTS:
                break
        return found

    return {"events": await asked.console.past(page)}


ROUTES: Final = (
    route("/api/tables/{id}/do", do, ("POST",), roles=_SENDERS),
    route("/api/tables/{id}/orders/{order}/again", again, ("POST",), roles=STAFF),
    route("/api/tables/{id}/take", take, ("POST",), roles=STAFF),
    route("/api/tables/{id}/leave", leave, ("POST",), roles=STAFF),
    route("/api/tables/{id}/events", events),
)
