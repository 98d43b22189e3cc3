"""The routes of one table: commands, referees who go to it, match transfers, and its events."""

from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any, Final

import msgspec

from controller.commands.registry import MAX_COMMAND_BYTES
from controller.console.commands.command_log import CommandLog, ConsoleCommandRequest
from controller.console.commands.match_transfer import (
    MatchTransfer,
    TransferOptions,
    TransferProgress,
    TransferRequest,
)
from controller.console.console import RefereeConsole
from controller.console.request_error import RequestError
from controller.console.routing import (
    EVERYBODY,
    REFEREES,
    STAFF,
    WITH_DISPLAYS,
    ConsoleRequest,
    page,
    route,
)
from controller.console.view.command_forms import CommandFormView, command_forms
from controller.console.view.event_lines import describe_events
from controller.faults import Language, fault_catalogue
from controller.messages import PublicEvent, Role


async def send_command(request: ConsoleRequest) -> dict[str, Any]:
    """Send a command, and return its result. A repeated id returns the same command's result."""
    table, person = request.path_params["id"], request.person
    # The command is stored, so it must not be longer than a table accepts.
    wish = await request.read_json(ConsoleCommandRequest, MAX_COMMAND_BYTES)
    if person.role is Role.TABLE and person.table != table:
        raise RequestError(403, "this display is of another table", "本台显属于另一张台")
    return (await request.console.dispatcher.send(person, table, wish)).as_json()


async def ask_command_again(request: ConsoleRequest) -> dict[str, Any]:
    """Request again the result of a command that had no answer. Any person may have sent it."""
    table, order = request.table, request.path_params["order"]
    return (await request.console.dispatcher.ask_again(request.person, table, order)).as_json()


class _TakeRequest(msgspec.Struct, forbid_unknown_fields=True):
    """A referee's request to go to a table. `over` is the person who, on the page, already goes."""

    over: str | None = None


async def take_call(request: ConsoleRequest) -> dict[str, Any]:
    """Record that this person goes to a table.

    Raises RequestError if a person goes there that the page did not show. So only one of two people
    who press at the same time is recorded.
    """
    table, said = request.table, await request.read_json(_TakeRequest)
    goes = request.console.call_assignments.assigned_to(table)
    if goes not in (None, said.over, request.person.name):
        raise RequestError(409, f"{goes} is already on the way", f"{goes}正前往")
    request.console.call_assignments.assign(table, request.person.name)
    return {"taken_by": request.person.name}


async def leave_call(request: ConsoleRequest) -> dict[str, Any]:
    """Record that this person no longer goes to a table.

    The chief may do so for another person. Raises RequestError for anybody else: they must take
    the table over, so that one person still goes there.
    """
    table, person = request.table, request.person
    goes = request.console.call_assignments.assigned_to(table)
    if goes not in (None, person.name) and person.role is not Role.CHIEF:
        raise RequestError(
            403,
            f"{goes} is on the way: take the table over, or ask the chief",
            f"{goes}正前往，可由你接手",
        )
    request.console.call_assignments.assign(table, None)
    return {"taken_by": None}


async def list_transfer_options(request: ConsoleRequest) -> TransferOptions:
    """Return the possible transfers from this table, and unfinished transfers from and to it."""
    return await _match_transfer(request.console).find_options(request.table)


async def transfer_match(request: ConsoleRequest) -> TransferProgress:
    """Transfer a table's match to another table.

    A second request with the same id continues an interrupted transfer.
    """
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


async def list_commands(request: ConsoleRequest) -> Mapping[str, CommandFormView]:
    """Return, for each command, its form on the page, its roles and its arguments."""
    return command_forms()


async def list_faults(request: ConsoleRequest) -> Mapping[str, Mapping[Language, str]]:
    """Return the cause of each fault in words, for example why a set of cards is barred."""
    return {
        name: {"en": row.cause(), "zh": row.cause(language="zh")}
        for name, row in fault_catalogue().items()
    }


_LINES_PER_PAGE: Final = 100
_ENTRIES_PER_PAGE: Final = 400
"""Entries that are read for one page. Some are private, and some only describe later entries."""
_NO_END: Final = 10**14


async def list_event_lines(request: ConsoleRequest) -> dict[str, Any]:
    """Return the text lines of the last public entries with numbers below `before`, oldest first.

    In the answer, `before` is the number of the first entry, for the request of the next page.
    """
    table, before = request.table, request.number("before", _NO_END)
    archive = request.console.archive

    def read() -> tuple[int, Sequence[PublicEvent]]:
        end = min(before, archive.last_number(table) + 1)
        since = max(0, end - 1 - _ENTRIES_PER_PAGE)
        return since, list(takewhile(lambda one: one.n < end, archive.events(table, since)))

    since, events = await request.console.read_after_flush(read)
    lines = describe_events(events)
    page = lines[-_LINES_PER_PAGE:]
    first = page[0].n if len(lines) > _LINES_PER_PAGE else since + 1
    return {"told": page, "before": first, "more": first > 1}


ROUTES: Final = (
    route("/api/tables/{id}/do", send_command, ("POST",), roles=STAFF | {Role.TABLE}),
    route("/api/tables/{id}/orders/{order}/again", ask_command_again, ("POST",), roles=STAFF),
    route("/api/tables/{id}/take", take_call, ("POST",), roles=STAFF),
    route("/api/tables/{id}/leave", leave_call, ("POST",), roles=STAFF),
    route("/api/tables/{id}/carry", list_transfer_options, roles=REFEREES),
    route("/api/tables/{id}/carry", transfer_match, ("POST",), roles=REFEREES),
    route("/api/commands", list_commands, roles=WITH_DISPLAYS),
    route("/api/faults", list_faults, roles=WITH_DISPLAYS),
    page("/table/{id}", "table.html", roles=EVERYBODY),
    route("/api/tables/{id}/told", list_event_lines, roles=EVERYBODY),
)
