"""The routes for the set-up: tables on the network, enrolled tables, and the console's keys."""

from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Final, Literal
from urllib.parse import quote

import msgspec
import segno
from msgspec import Meta
from starlette.responses import Response

from controller.client.discovery import TableAnnouncement, table_fingerprint
from controller.console.commands.table_clients import load_certificate, secret_key_file
from controller.console.console import RefereeConsole
from controller.console.console_config import ConfiguredTable
from controller.console.freshness import Freshness
from controller.console.request_error import RequestError, unknown_table
from controller.console.routing import ConsoleRequest, page, route
from controller.console.table_enrolment import (
    TableEnrolmentRequest,
    announcement_handle,
    discovery_of,
    enrol_table,
    enrolled_tables,
    remove_table,
    tcp_address,
)
from controller.console.table_snapshots import natural_sort_key
from controller.console.view import fill_struct
from controller.console.view.hardware import HardwareView, describe_hardware
from controller.messages import Role
from controller.roster import RosterError, fingerprint, read_certificate
from controller.words import roles_with_article

_SETUP_ROLES: Final = frozenset({Role.TECHNICIAN, Role.CHIEF})

KnownAs = Literal["new", "here", "moved", "other_key"]


class EnrolledTable(msgspec.Struct, frozen=True, kw_only=True):
    """A table that belongs to this console.

    `fixed` is True for a table in console.toml, which only a person changes. `hardware` is null if
    the table has not published any state.
    """

    id: str
    area: str
    feed: str
    commands: str
    fingerprint: str | None
    standing: Freshness
    since_ms: int
    fixed: bool
    hardware: HardwareView | None = None


class ConsoleKey(msgspec.Struct, frozen=True, kw_only=True):
    """The console's public key for one role, which the tables must admit.

    `why_not` is the reason why the key cannot be used, or null.
    """

    role: Role
    name: str = ""
    fingerprint: str = ""
    file: str = ""
    why_not: str | None = None


class FoundTable(msgspec.Struct, frozen=True, kw_only=True):
    """A table that announces itself on the network.

    `shown` is its fingerprint without the last group. `like` is "new" for an unknown table, or how
    the console has it: "here" at this address, "moved" from another address, or "other_key".
    """

    handle: str
    table: str
    addresses: tuple[str, ...]
    feed: int
    commands: int
    shown: str
    like: KnownAs


class _RemoveTableRequest(msgspec.Struct, forbid_unknown_fields=True):
    id: str


class _InvitationCode(msgspec.Struct, forbid_unknown_fields=True):
    code: Annotated[str, Meta(pattern=r"^[0-9A-Z]{4,40}$")]


async def get_setup(request: ConsoleRequest) -> dict[str, Any]:
    """Return the console's tables with their freshness, and the keys that tables must admit."""
    console = request.console
    here = {line.id for line in enrolled_tables(console)}
    lines = sorted(console.config.tables, key=lambda line: natural_sort_key(line.id))
    tables = [_enrolled_table(console, line, fixed=line.id not in here) for line in lines]
    folder = console.config.console.keys
    return {
        "now_ms": console.now_ms(),
        "tables": tables,
        "areas": sorted({line.area for line in lines}, key=natural_sort_key),
        "keys": [_console_key(folder, role) for role in Role],
        "writable": console.tables_file is not None,
    }


async def list_found_tables(request: ConsoleRequest) -> dict[str, Any]:
    """Return the tables that announce themselves now. Each request prolongs the search."""
    network = discovery_of(request.console)
    found = [_found_table(request.console, one) for one in network.list_found()]
    return {"why_not": network.listen_error, "found": found}


async def enrol(request: ConsoleRequest) -> EnrolledTable:
    """Add a table to the console, and return the table."""
    line = await enrol_table(request.console, await request.read_json(TableEnrolmentRequest))
    return _enrolled_table(request.console, line, fixed=False)


async def remove(request: ConsoleRequest) -> dict[str, Any]:
    """Remove a table from the console. Its data in the store stay there."""
    name = (await request.read_json(_RemoveTableRequest)).id
    if not any(line.id == name for line in request.console.config.tables):
        raise unknown_table(name)
    await remove_table(request.console, name)
    return {}


async def get_console_key(request: ConsoleRequest) -> Response:
    """Return the console's public certificate for a role, as a file for the tables."""
    folder = request.console.config.console.keys
    name = request.path_params["role"].removesuffix(".key")
    if name not in {role.value for role in Role}:
        raise RequestError(404, "there is no such role", "没有此角色")
    own = _console_key(folder, Role(name))
    if own.why_not is not None:
        raise RequestError(
            409, own.why_not, f"控制台没有可用的{roles_with_article([name]).zh}公开证书"
        )
    body = secret_key_file(folder, Role(name)).with_suffix(".key").read_bytes()
    return Response(
        body,
        media_type="text/plain; charset=utf-8",
        headers={
            "Content-Disposition": f"attachment; filename*=UTF-8''{quote(own.file)}",
            "Cache-Control": "no-store",
        },
    )


async def get_invitation_qr_code(request: ConsoleRequest) -> dict[str, Any]:
    """Return the address at which a person accepts an invitation, and its QR code.

    The QR code is given as rows of 0 and 1. The invitation's code is after `#`. A browser does not
    send that part to a server.
    """
    code = (await request.read_json(_InvitationCode)).code
    address = f"{request.public_origin}/invited#{code}"
    drawn = segno.make(address, error="m")
    rows = ["".join("1" if dark else "0" for dark in row) for row in drawn.matrix_iter(border=4)]
    return {"address": address, "rows": rows}


def _enrolled_table(
    console: RefereeConsole, configured: ConfiguredTable, *, fixed: bool
) -> EnrolledTable:
    how, since_ms, state = Freshness.CONNECTING, console.now_ms(), None
    with suppress(KeyError):
        known = console.tables.snapshot(configured.id)
        (how, since_ms), state = known.freshness(console.now_ms()), known.state
    return fill_struct(
        EnrolledTable,
        configured,
        fingerprint=configured.verify
        and table_fingerprint(configured.server_key, configured.verify),
        standing=how,
        since_ms=since_ms,
        fixed=fixed,
        hardware=None if state is None else describe_hardware(state.boards),
    )


def _found_table(console: RefereeConsole, announced: TableAnnouncement) -> FoundTable:
    *first, last = announced.fingerprint.split("-")
    return fill_struct(
        FoundTable,
        announced,
        handle=announcement_handle(announced),
        shown="-".join((*first, "?" * len(last))),
        like=_known_as(console, announced),
    )


def _known_as(console: RefereeConsole, announced: TableAnnouncement) -> KnownAs:
    known = next((line for line in console.config.tables if line.id == announced.table), None)
    if known is None:
        return "new"
    if known.server_key != announced.key:
        return "other_key"
    places = {
        (tcp_address(host, announced.feed), tcp_address(host, announced.commands))
        for host in announced.addresses
    }
    return "here" if (known.feed, known.commands) in places else "moved"


def _console_key(folder: Path, role: Role) -> ConsoleKey:
    file = secret_key_file(folder, role).with_suffix(".key")
    try:
        own = load_certificate(folder, role)
        public = read_certificate(file)
    except RosterError as missing:
        return ConsoleKey(role=role, why_not=str(missing))
    if public.curve != own.curve or public.proof is None or public.has_secrets:
        why_not = f"{file}: does not belong to the secret key beside it"
        return ConsoleKey(role=role, name=own.name, why_not=why_not)
    name = own.name
    return ConsoleKey(role=role, name=name, fingerprint=fingerprint(own), file=f"{name}.key")


ROUTES: Final = (
    page("/setup", "setup.html", roles=_SETUP_ROLES),
    page("/display/{id}", "display.html", roles=frozenset(Role)),
    route("/api/setup", get_setup, roles=_SETUP_ROLES),
    route("/api/setup/found", list_found_tables, roles=_SETUP_ROLES),
    route("/api/setup/tables", enrol, ("POST",), roles=_SETUP_ROLES),
    route("/api/setup/tables", remove, ("DELETE",), roles=_SETUP_ROLES),
    route("/api/setup/keys/{role}", get_console_key, roles=_SETUP_ROLES),
    route("/api/setup/qr", get_invitation_qr_code, ("POST",), roles=_SETUP_ROLES),
)
