"""First set-up: tables found on the network or named by hand, compared, and taken up at once.

Nothing that the network says is believed: a table is taken up once somebody has read the last
group of its fingerprint off the table itself, as `dealtable keys admit` asks for a client's.
"""

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import msgspec
import segno
from msgspec import Meta
from starlette.responses import Response

from controller.client.announced import Announced, fingerprint_of
from controller.config import ConfigError
from controller.console.config import (
    ConsoleConfig,
    TableLine,
    read_tables,
    write_tables,
)
from controller.console.console import Console
from controller.console.find import Finder
from controller.console.keys import certificate, secret_file
from controller.console.routing import Asked, Wrong, page, route
from controller.console.standing import Standing
from controller.messages import Role
from controller.roster import RosterError, fingerprint, read_certificate
from controller.roster.certificate import certificate_of
from controller.tomlfile import fit

_SETTERS: Final = frozenset({Role.TECHNICIAN, Role.CHIEF})
_KNOCK_S: Final = 2.0
_PORT: Final = Meta(ge=1, le=65_535)
_CODE: Final = Meta(pattern=r"^[0-9A-Z]{4,40}$")

Port = Annotated[int, _PORT]
Like = Literal["new", "here", "moved", "other_key"]


class TableSet(msgspec.Struct, frozen=True, kw_only=True):
    """A table of this console. `fixed`: it stands in console.toml, where a person changes it."""

    id: str
    area: str
    feed: str
    commands: str
    fingerprint: str | None
    standing: Standing
    since_ms: int
    fixed: bool


class OwnKey(msgspec.Struct, frozen=True, kw_only=True):
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
    like: Like


class _Take(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A table to be taken up: one that was found, by its `handle`; or all of it, by hand.

    `said`: the last group of the fingerprint, or all of it, as the table's own side shows it.
    """

    said: str
    area: str
    handle: str | None = None
    id: str | None = None
    host: str | None = None
    feed: Port = 5556
    commands: Port = 5557
    certificate: str | None = None


class _Drop(msgspec.Struct, forbid_unknown_fields=True):
    id: str


class _Code(msgspec.Struct, forbid_unknown_fields=True):
    code: Annotated[str, _CODE]


async def seen(asked: Asked) -> dict[str, Any]:
    """Say which tables there are, how they stand, and which keys they have to admit."""
    console = asked.console
    beside = {line.id for line in _beside(console)}
    tables = [_set(console, line, fixed=line.id not in beside) for line in console.config.tables]
    folder = console.config.console.keys
    return {
        "now_ms": console.now_ms(),
        "tables": tables,
        "areas": sorted({line.area for line in console.config.tables}),
        "keys": [_own(folder, role) for role in Role],
        "writable": console.tables_file is not None,
    }


async def found(asked: Asked) -> dict[str, Any]:
    """Say which tables were heard on the network; whoever asks goes on listening."""
    finder = _finder(asked.console)
    heard = finder.found()
    return {"why_not": finder.why_not, "found": [_found(asked.console, one) for one in heard]}


async def take(asked: Asked) -> TableSet:
    """Take a table up: its fingerprint is the one that somebody read at the table."""
    wish = await asked.body(_Take)
    line = await (_by_hand(wish) if wish.handle is None else _heard(asked.console, wish))
    assert line.verify is not None
    _compare(fingerprint_of(line.server_key, line.verify), wish.said)
    await _written(asked.console, line.id, line)
    return _set(asked.console, line, fixed=False)


async def drop(asked: Asked) -> dict[str, Any]:
    """Let a table go: nothing more is heard of it; what is in the store stays there."""
    name = (await asked.body(_Drop)).id
    if not any(line.id == name for line in asked.console.config.tables):
        raise Wrong(404, f"there is no table {name} here", f"没有{name}这张台")
    await _written(asked.console, name, None)
    return {}


async def own_key(asked: Asked) -> Response:
    """Give a public certificate of the console, as a file to be carried to the tables."""
    folder = asked.console.config.console.keys
    name = asked.path["role"].removesuffix(".key")
    if name not in {role.value for role in Role}:
        raise Wrong(404, "there is no such role", "没有此角色")
    own = _own(folder, Role(name))
    if own.why_not is not None:
        raise Wrong(409, own.why_not, f"控制台没有可用的{name}公开证书")
    body = secret_file(folder, Role(name)).with_suffix(".key").read_bytes()
    return Response(
        body,
        media_type="text/plain; charset=utf-8",
        headers={
            "Content-Disposition": f"attachment; filename*=UTF-8''{own.file}",
            "Cache-Control": "no-store",
        },
    )


async def qr(asked: Asked) -> dict[str, Any]:
    """Return where an invitation is accepted, and that as a code to scan: rows of 0 and 1.

    The code stands behind #, which no browser sends to anybody.
    """
    code = (await asked.body(_Code)).code
    address = f"{origin(asked)}/invited#{code}"
    drawn = segno.make(address, error="m")
    rows = ["".join("1" if dark else "0" for dark in row) for row in drawn.matrix_iter(border=4)]
    return {"address": address, "rows": rows}


def origin(asked: Asked) -> str:
    """Return where others find this console: as configured, else as this browser found it."""
    url = asked.request.url
    said = asked.console.config.console.public_url
    return said.rstrip("/") if said else f"{url.scheme}://{url.netloc}"


# -- tables ---------------------------------------------------------------------


def _set(console: Console, line: TableLine, *, fixed: bool) -> TableSet:
    how, since_ms = Standing.CONNECTING, console.now_ms()
    with suppress(KeyError):
        how, since_ms = console.tables.seen(line.id).standing(console.now_ms())
    return TableSet(
        id=line.id,
        area=line.area,
        feed=line.feed,
        commands=line.commands,
        fingerprint=line.verify and fingerprint_of(line.server_key, line.verify),
        standing=how,
        since_ms=since_ms,
        fixed=fixed,
    )


def _found(console: Console, one: Announced) -> Found:
    *first, last = one.fingerprint.split("-")
    return Found(
        handle=_handle(one),
        table=one.table,
        addresses=one.addresses,
        feed=one.feed,
        commands=one.commands,
        shown="-".join((*first, "?" * len(last))),
        like=_like(console, one),
    )


def _like(console: Console, one: Announced) -> Like:
    known = next((line for line in console.config.tables if line.id == one.table), None)
    if known is None:
        return "new"
    if known.server_key != one.key:
        return "other_key"
    at = {(_at(host, one.feed), _at(host, one.commands)) for host in one.addresses}
    return "here" if (known.feed, known.commands) in at else "moved"


def _handle(one: Announced) -> str:
    """What names a heard table to the browser: no part of the group that is asked for."""
    return f"{one.table}:{one.fingerprint.rpartition('-')[0]}:{one.addresses[0]}:{one.feed}"


async def _heard(console: Console, wish: _Take) -> TableLine:
    """Return the found table that is meant, at the address at which it answers. Raises Wrong."""
    heard = _finder(console).found()
    one = next((one for one in heard if _handle(one) == wish.handle), None)
    if one is None:
        raise Wrong(
            409, "this table is not announced any more: look again", "该台已不在网络上，请重新查找"
        )
    answers = await asyncio.gather(*(_knock(host, one.feed) for host in one.addresses))
    host = next((host for host, there in zip(one.addresses, answers, strict=True) if there), None)
    if host is None:
        raise _nobody_at(", ".join(_at(host, one.feed) for host in one.addresses))
    return _line(one.table, wish.area, host, one.feed, one.commands, one.key, one.verify)


async def _by_hand(wish: _Take) -> TableLine:
    """Return the table that was named by hand, with its certificate. Raises Wrong."""
    if not wish.id or not wish.host or not wish.certificate:
        raise Wrong(
            400, "a table has a name, an address and its table.key", "须填台号、地址和table.key"
        )
    try:
        own = certificate_of(wish.certificate)
    except (KeyError, ValueError, OverflowError) as wrong:
        raise Wrong(
            400, f"this is no table.key: {wrong}", "这不是table.key文件，请取keys/table.key"
        ) from None
    if own.role is not None or own.has_secrets:
        raise Wrong(
            400,
            "this is another key: take keys/table.key, which has no secret",
            "这不是牌台的公开证书：请取keys/table.key，勿取私钥文件",
        )
    line = _line(
        wish.id, wish.area, wish.host, wish.feed, wish.commands, own.curve, own.verify.hex()
    )
    if not await _knock(wish.host, wish.feed):
        raise _nobody_at(line.feed)
    return line


def _line(
    table: str, area: str, host: str, feed: int, commands: int, key: str, verify: str
) -> TableLine:
    raw = {
        "id": table,
        "area": area.strip(),
        "feed": _at(host, feed),
        "commands": _at(host, commands),
        "server_key": key,
        "verify": verify,
    }
    try:
        return fit(raw, TableLine, ConfigError, name="table")
    except ConfigError as wrong:
        raise Wrong(400, str(wrong), f"填写有误：{wrong}") from None


def _at(host: str, port: int) -> str:
    return f"tcp://{host}:{port}"


async def _knock(host: str, port: int) -> bool:
    """Tell whether anybody answers there."""
    try:
        async with asyncio.timeout(_KNOCK_S):
            _, writer = await asyncio.open_connection(host, port)
    except (OSError, TimeoutError, UnicodeError):
        return False
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
    return True


def _nobody_at(where: str) -> Wrong:
    return Wrong(
        409,
        f"nobody answers at {where}: is the table running, and does the network let you through?",
        f"{where}没有应答：请查牌台是否已启动、网络是否连通",
    )


def _compare(whole: str, said: str) -> None:
    """Return where `said` is the fingerprint, or its last group. Raises Wrong."""
    plain = said.strip().lower().replace("-", "").replace(" ", "")
    if plain not in (whole.rpartition("-")[2], whole.replace("-", "")):
        raise Wrong(
            409,
            "that is not this key's fingerprint: another machine, or a slip. Nothing was changed",
            "指纹不符：可能是另一台机器，也可能抄错。未作任何改动",
        )


async def _written(console: Console, name: str, line: TableLine | None) -> None:
    """Write a table down, or out, and take it up, or let it go, without a restart."""
    file = console.tables_file
    if file is None:
        raise Wrong(409, "this console has no file for its tables", "本控制台没有可写的配置文件")
    more = () if line is None else (line,)

    def write() -> bool:
        kept = read_tables(file)
        others = tuple(one for one in kept if one.id != name)
        if any(one.id == name for one in console.config.tables) and len(others) == len(kept):
            return False
        write_tables(file, (*others, *more))
        return True

    try:
        done = await console.write(write)
    except (OSError, ConfigError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise Wrong(409, f"{file}: {why}", f"{file}无法写入：{why}") from None
    if not done:
        raise Wrong(
            409,
            f"table {name} stands in console.toml: change it there",
            f"{name}写在console.toml中，请在该文件中修改",
        )
    tables = tuple(one for one in console.config.tables if one.id != name)
    console.config = ConsoleConfig(console.config.console, (*tables, *more))
    if line is None:
        console.tables.remove(name)
    else:
        console.tables.add(line)


def _beside(console: Console) -> tuple[TableLine, ...]:
    if console.tables_file is None:
        return ()
    with suppress(ConfigError):
        return read_tables(console.tables_file)
    return ()


def _finder(console: Console) -> Finder:
    """Return the console's one listener on the network; the first time, make it."""
    there = next((one for one in console.keepers if isinstance(one, Finder)), None)
    if there is None:
        there = Finder()
        console.keepers.append(there)
    return there


# -- the console's own keys -----------------------------------------------------


def _own(folder: Path, role: Role) -> OwnKey:
    file = secret_file(folder, role).with_suffix(".key")
    try:
        own = certificate(folder, role)
        public = read_certificate(file)
    except RosterError as missing:
        return OwnKey(role=role, why_not=str(missing))
    if public.curve != own.curve or public.proof is None or public.has_secrets:
        why_not = f"{file}: is not the public file of the key beside it"
        return OwnKey(role=role, name=own.name, why_not=why_not)
    return OwnKey(role=role, name=own.name, fingerprint=fingerprint(own), file=f"{own.name}.key")


ROUTES: Final = (
    page("/setup", "setup.html", roles=_SETTERS),
    page("/display/{id}", "display.html", roles=frozenset(Role)),
    route("/api/setup", seen, roles=_SETTERS),
    route("/api/setup/found", found, roles=_SETTERS),
    route("/api/setup/tables", take, ("POST",), roles=_SETTERS),
    route("/api/setup/tables", drop, ("DELETE",), roles=_SETTERS),
    route("/api/setup/keys/{role}", own_key, roles=_SETTERS),
    route("/api/setup/qr", qr, ("POST",), roles=_SETTERS),
)
