"""First set-up: the tables on the network and those that are taken up, the console's own keys."""

from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Final, Literal
from urllib.parse import quote

import msgspec
import segno
from msgspec import Meta
from starlette.responses import Response

from controller.client.announced import TableAnnouncement, table_fingerprint
from controller.console.config import (
    ConfiguredTable,
)
from controller.console.console import Console
from controller.console.in_order import in_order
from controller.console.keys import certificate, secret_file
from controller.console.routing import Asked, page, route
from controller.console.standing import Standing
from controller.console.taking_up import (
    TableEnrolmentRequest,
    at,
    beside,
    finder,
    handle,
    let_go,
    take_up,
)
from controller.console.view.hardware import HardwareView, hardware
from controller.console.wrong import Wrong, no_table
from controller.messages import Role
from controller.roster import RosterError, fingerprint, read_certificate
from controller.words import people

_SETUP_ROLES: Final = frozenset({Role.TECHNICIAN, Role.CHIEF})
_CODE_PATTERN: Final = Meta(pattern=r"^[0-9A-Z]{4,40}$")

KnownAs = Literal["new", "here", "moved", "other_key"]


class EnrolledTable(msgspec.Struct, frozen=True, kw_only=True):
    """A table of this console. `fixed`: it stands in console.toml, where a person changes it.

    `hardware`: what stands behind its boards, null where nothing was heard of it.
    """

    id: str
    area: str
    feed: str
    commands: str
    fingerprint: str | None
    standing: Standing
    since_ms: int
    fixed: bool
    hardware: HardwareView | None = None


class ConsoleKey(msgspec.Struct, frozen=True, kw_only=True):
    """A key of the console, to be admitted at the tables. `why_not`: it cannot be, and why."""

    role: Role
    name: str = ""
    fingerprint: str = ""
    file: str = ""
    why_not: str | None = None


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """A table that says that it is there. `shown`: its fingerprint but for the last group.

    `like`: whether the console has it, at this address, elsewhere, or with another key.
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
    code: Annotated[str, _CODE_PATTERN]


async def seen(asked: Asked) -> dict[str, Any]:
    """Say which tables there are, how they stand, and which keys they have to admit."""
    console = asked.console
    here = {line.id for line in beside(console)}
    lines = sorted(console.config.tables, key=lambda line: in_order(line.id))
    tables = [_enrolled_table(console, line, fixed=line.id not in here) for line in lines]
    folder = console.config.console.keys
    return {
        "now_ms": console.now_ms(),
        "tables": tables,
        "areas": sorted({line.area for line in lines}, key=in_order),
        "keys": [_console_key(folder, role) for role in Role],
        "writable": console.tables_file is not None,
    }


async def found(asked: Asked) -> dict[str, Any]:
    """Say which tables were heard on the network; whoever asks goes on listening."""
    network = finder(asked.console)
    heard = network.found()
    return {
        "why_not": network.why_not,
        "found": [_found_table(asked.console, one) for one in heard],
    }


async def take(asked: Asked) -> EnrolledTable:
    """Take a table up."""
    line = await take_up(asked.console, await asked.body(TableEnrolmentRequest))
    return _enrolled_table(asked.console, line, fixed=False)


async def drop(asked: Asked) -> dict[str, Any]:
    """Let a table go: nothing more is heard of it; what is in the store stays there."""
    name = (await asked.body(_RemoveTableRequest)).id
    if not any(line.id == name for line in asked.console.config.tables):
        raise no_table(name)
    await let_go(asked.console, name)
    return {}


async def get_console_key(asked: Asked) -> Response:
    """Give a public certificate of the console, as a file to be carried to the tables."""
    folder = asked.console.config.console.keys
    name = asked.path["role"].removesuffix(".key")
    if name not in {role.value for role in Role}:
        raise Wrong(404, "there is no such role", "没有此角色")
    own = _console_key(folder, Role(name))
    if own.why_not is not None:
        raise Wrong(409, own.why_not, f"控制台没有可用的{people([name]).zh}公开证书")
    body = secret_file(folder, Role(name)).with_suffix(".key").read_bytes()
    return Response(
        body,
        media_type="text/plain; charset=utf-8",
        headers={
            "Content-Disposition": f"attachment; filename*=UTF-8''{quote(own.file)}",
            "Cache-Control": "no-store",
        },
    )


async def get_invitation_qr_code(asked: Asked) -> dict[str, Any]:
    """Return where an invitation is accepted, and that as a code to scan: rows of 0 and 1.

    The code stands behind #, which no browser sends to anybody.
    """
    code = (await asked.body(_InvitationCode)).code
    address = f"{asked.origin}/invited#{code}"
    drawn = segno.make(address, error="m")
    rows = ["".join("1" if dark else "0" for dark in row) for row in drawn.matrix_iter(border=4)]
    return {"address": address, "rows": rows}


# -- tables ---------------------------------------------------------------------


def _enrolled_table(console: Console, line: ConfiguredTable, *, fixed: bool) -> EnrolledTable:
    how, since_ms, state = Standing.CONNECTING, console.now_ms(), None
    with suppress(KeyError):
        known = console.tables.seen(line.id)
        (how, since_ms), state = known.standing(console.now_ms()), known.state
    return EnrolledTable(
        id=line.id,
        area=line.area,
        feed=line.feed,
        commands=line.commands,
        fingerprint=line.verify and table_fingerprint(line.server_key, line.verify),
        standing=how,
        since_ms=since_ms,
        fixed=fixed,
        hardware=None if state is None else hardware(state.boards),
    )


def _found_table(console: Console, one: TableAnnouncement) -> Found:
    *first, last = one.fingerprint.split("-")
    return Found(
        handle=handle(one),
        table=one.table,
        addresses=one.addresses,
        feed=one.feed,
        commands=one.commands,
        shown="-".join((*first, "?" * len(last))),
        like=_known_as(console, one),
    )


def _known_as(console: Console, one: TableAnnouncement) -> KnownAs:
    known = next((line for line in console.config.tables if line.id == one.table), None)
    if known is None:
        return "new"
    if known.server_key != one.key:
        return "other_key"
    places = {(at(host, one.feed), at(host, one.commands)) for host in one.addresses}
    return "here" if (known.feed, known.commands) in places else "moved"


# -- the console's own keys -----------------------------------------------------


def _console_key(folder: Path, role: Role) -> ConsoleKey:
    file = secret_file(folder, role).with_suffix(".key")
    try:
        own = certificate(folder, role)
        public = read_certificate(file)
    except RosterError as missing:
        return ConsoleKey(role=role, why_not=str(missing))
    if public.curve != own.curve or public.proof is None or public.has_secrets:
        why_not = f"{file}: is not the public file of the key beside it"
        return ConsoleKey(role=role, name=own.name, why_not=why_not)
    return ConsoleKey(
        role=role, name=own.name, fingerprint=fingerprint(own), file=f"{own.name}.key"
    )


ROUTES: Final = (
    page("/setup", "setup.html", roles=_SETUP_ROLES),
    page("/display/{id}", "display.html", roles=frozenset(Role)),
    route("/api/setup", seen, roles=_SETUP_ROLES),
    route("/api/setup/found", found, roles=_SETUP_ROLES),
    route("/api/setup/tables", take, ("POST",), roles=_SETUP_ROLES),
    route("/api/setup/tables", drop, ("DELETE",), roles=_SETUP_ROLES),
    route("/api/setup/keys/{role}", get_console_key, roles=_SETUP_ROLES),
    route("/api/setup/qr", get_invitation_qr_code, ("POST",), roles=_SETUP_ROLES),
)
