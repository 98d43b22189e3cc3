"""The enrolment and removal of tables while the console runs.

The console does not trust announcements on the network. A person must read the last group of the
fingerprint at the table itself. `dealtable keys admit` requires the same for a client.
"""

import asyncio
from contextlib import suppress
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from controller.client.discovery import TableAnnouncement, table_fingerprint
from controller.config import ConfigError
from controller.console.console import RefereeConsole
from controller.console.console_config import (
    ConfiguredTable,
    ConsoleConfig,
    read_tables,
    write_tables,
)
from controller.console.request_error import RequestError
from controller.console.table_discovery import TableDiscovery
from controller.host.toml_files import convert_tables
from controller.roster.certificate import parse_certificate

_CONNECT_TIMEOUT_S: Final = 2.0

PortNumber = Annotated[int, Meta(ge=1, le=65_535)]


class TableEnrolmentRequest(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A table to be enrolled: a found table by its `handle`, or the data of a table by hand.

    `said` is the last group of the fingerprint, or the whole fingerprint, as the table shows it.
    """

    said: str
    area: str
    handle: str | None = None
    id: str | None = None
    host: str | None = None
    feed: PortNumber = 5556
    commands: PortNumber = 5557
    certificate: str | None = None


async def enrol_table(console: RefereeConsole, request: TableEnrolmentRequest) -> ConfiguredTable:
    """Enrol a table, and return its configuration.

    Raises RequestError, also if a person read another fingerprint at the table.
    """
    line = await (
        _table_by_hand(request) if request.handle is None else _announced_table(console, request)
    )
    assert line.verify is not None
    _check_fingerprint(table_fingerprint(line.server_key, line.verify), request.said)
    await _save_and_apply(console, line.id, line)
    return line


async def remove_table(console: RefereeConsole, name: str) -> None:
    """Remove a table. Its data in the store stay there. Raises RequestError."""
    await _save_and_apply(console, name, None)


def enrolled_tables(console: RefereeConsole) -> tuple[ConfiguredTable, ...]:
    """Return the tables that were enrolled here, or () if their file cannot be read."""
    if console.tables_file is None:
        return ()
    with suppress(ConfigError):
        return read_tables(console.tables_file)
    return ()


def discovery_of(console: RefereeConsole) -> TableDiscovery:
    """Return the console's only listener on the network. It is created at the first use."""
    there = next((one for one in console.services if isinstance(one, TableDiscovery)), None)
    if there is None:
        there = TableDiscovery()
        console.services.append(there)
    return there


def tcp_address(host: str, port: int) -> str:
    """Return an address in ZeroMQ's form."""
    return f"tcp://{host}:{port}"


def announcement_handle(announced: TableAnnouncement) -> str:
    """Return the identifier of a found table for the browser.

    The identifier does not contain the last group of the fingerprint.
    """
    group = announced.fingerprint.rpartition("-")[0]
    return f"{announced.table}:{group}:{announced.addresses[0]}:{announced.feed}"


async def _announced_table(
    console: RefereeConsole, request: TableEnrolmentRequest
) -> ConfiguredTable:
    """Return the found table, with the address at which it answers. Raises RequestError."""
    heard = discovery_of(console).list_found()
    one = next((one for one in heard if announcement_handle(one) == request.handle), None)
    if one is None:
        raise RequestError(
            409,
            "this table is not announced any more: search again",
            "该台已不在网络上，请重新查找",
        )
    answers = await asyncio.gather(*(_is_reachable(host, one.feed) for host in one.addresses))
    host = next((host for host, there in zip(one.addresses, answers, strict=True) if there), None)
    if host is None:
        raise _unreachable(", ".join(tcp_address(host, one.feed) for host in one.addresses))
    return _configured_table(
        one.table, request.area, host, one.feed, one.commands, one.key, one.verify
    )


async def _table_by_hand(request: TableEnrolmentRequest) -> ConfiguredTable:
    """Return the table that was entered by hand, with its certificate. Raises RequestError."""
    if not request.id or not request.host or not request.certificate:
        raise RequestError(
            400, "a table needs a name, an address and its table.key", "须填台号、地址和table.key"
        )
    try:
        own = parse_certificate(request.certificate)
    except (KeyError, ValueError, OverflowError) as wrong:
        raise RequestError(
            400, f"this is not a table.key: {wrong}", "这不是table.key文件，请取keys/table.key"
        ) from None
    if own.role is not None or own.has_secrets:
        raise RequestError(
            400,
            "this is not a table's public key: use keys/table.key, which has no secret",
            "这不是牌台的公开证书：请取keys/table.key，勿取私钥文件",
        )
    line = _configured_table(
        request.id,
        request.area,
        request.host,
        request.feed,
        request.commands,
        own.curve,
        own.verify.hex(),
    )
    if not await _is_reachable(request.host, request.feed):
        raise _unreachable(line.feed)
    return line


def _configured_table(
    table: str, area: str, host: str, feed: int, commands: int, key: str, verify: str
) -> ConfiguredTable:
    raw = {
        "id": table,
        "area": area.strip(),
        "feed": tcp_address(host, feed),
        "commands": tcp_address(host, commands),
        "server_key": key,
        "verify": verify,
    }
    try:
        return convert_tables(raw, ConfiguredTable, ConfigError, name="table")
    except ConfigError as wrong:
        raise RequestError(400, str(wrong), f"填写有误：{wrong}") from None


async def _is_reachable(host: str, port: int) -> bool:
    """Return whether a program answers at this address."""
    try:
        async with asyncio.timeout(_CONNECT_TIMEOUT_S):
            _, writer = await asyncio.open_connection(host, port)
    except (OSError, TimeoutError, UnicodeError):
        return False
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
    return True


def _unreachable(where: str) -> RequestError:
    return RequestError(
        409,
        f"no answer from {where}: check that the table runs and the network allows the connection",
        f"{where}没有应答：请查牌台是否已启动、网络是否连通",
    )


def _check_fingerprint(whole: str, entered: str) -> None:
    """Check that `entered` is the fingerprint, or its last group. Raises RequestError."""
    plain = entered.strip().lower().replace("-", "").replace(" ", "")
    if plain not in (whole.rpartition("-")[2], whole.replace("-", "")):
        raise RequestError(
            409,
            "this key has another fingerprint: another machine, or a typing error. Nothing changed",
            "指纹不符：可能是另一台机器，也可能抄错。未作任何改动",
        )


async def _save_and_apply(
    console: RefereeConsole, name: str, configured: ConfiguredTable | None
) -> None:
    """Add a table to the file, or remove it, and apply the change without a restart.

    Raises RequestError.
    """
    file = console.tables_file
    if file is None:
        raise RequestError(
            409, "this console has no file to store tables in", "本控制台没有可写的配置文件"
        )
    more = () if configured is None else (configured,)

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
        raise RequestError(409, f"{file}: {why}", f"{file}无法写入：{why}") from None
    if not done:
        raise RequestError(
            409,
            f"table {name} is in console.toml: change it in that file",
            f"{name}写在console.toml中，请在该文件中修改",
        )
    tables = tuple(one for one in console.config.tables if one.id != name)
    console.config = ConsoleConfig(console.config.console, (*tables, *more))
    if configured is None:
        console.tables.remove(name)
    else:
        console.tables.add(configured)
