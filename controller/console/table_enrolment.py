"""A search for tables on the network, and functions that add and remove a console's tables.

`TableDiscovery` finds tables that announce themselves. The console does not trust announcements. A
person must read the last group of the fingerprint at the table itself. `dealtable keys admit`
requires the same for a client.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated, Final

import msgspec
from msgspec import Meta
from zeroconf import Error, InterfaceChoice, IPVersion, ServiceStateChange, Zeroconf
from zeroconf.asyncio import AsyncServiceBrowser, AsyncServiceInfo, AsyncZeroconf

from controller.client.discovery import (
    SERVICE_TYPE,
    BadAnnouncement,
    TableAnnouncement,
    parse_service,
    table_fingerprint,
)
from controller.config import ConfigError
from controller.console.console import RefereeConsole
from controller.console.console_config import (
    ConfiguredTable,
    ConsoleConfig,
    read_tables,
    write_tables,
)
from controller.console.request_error import RequestError
from controller.console.table_snapshots import natural_sort_key
from controller.host.loggers import structlog
from controller.host.printable_text import escape_unprintable, shorten
from controller.host.toml_files import convert_tables
from controller.roster.certificate import parse_certificate

LISTEN_TIMEOUT_S: Final = 60.0
"""Seconds for which the search continues after the last call of `list_found`."""
_QUERY_TIMEOUT_MS: Final = 3_000
_MAX_TABLES: Final = 1_000
"""The maximum of announced tables. A hall has four hundred, so more of them are forged."""
_MAX_LOGGED_INVALID: Final = 20
"""The maximum of invalid announcements in the log."""
_log = structlog.get_logger("console")


class TableDiscovery:
    """A search for tables on the network. It stops LISTEN_TIMEOUT_S after the last `list_found`.

    `interfaces` are addresses of this computer.
    """

    def __init__(self, interfaces: Sequence[str] | InterfaceChoice = InterfaceChoice.All) -> None:
        self._interfaces = interfaces
        self._found: dict[str, TableAnnouncement] = {}
        self._queries: set[asyncio.Task[None]] = set()
        self._zeroconf: AsyncZeroconf | None = None
        self._browser: AsyncServiceBrowser | None = None
        self._stop_timer: asyncio.TimerHandle | None = None
        self._closing: set[asyncio.Task[None]] = set()
        self._invalid_count = 0
        self.listen_error: str | None = None

    def list_found(self) -> tuple[TableAnnouncement, ...]:
        """Return the tables found until now, and start the search if it does not run.

        They are sorted by name. `listen_error` is the reason why the search cannot run, or None.
        """
        loop = asyncio.get_running_loop()
        if self._stop_timer is not None:
            self._stop_timer.cancel()
        self._stop_timer = loop.call_later(LISTEN_TIMEOUT_S, self._stop)
        if self._zeroconf is None:
            self._start()
        found = self._found.values()
        return tuple(sorted(found, key=lambda one: (natural_sort_key(one.table), one.fingerprint)))

    async def close(self) -> None:
        """Stop the search, and wait until it has stopped."""
        self._stop()
        await asyncio.gather(*self._closing)

    def _start(self) -> None:
        self.listen_error = None
        try:
            self._zeroconf = AsyncZeroconf(self._interfaces, ip_version=IPVersion.V4Only)
        except (OSError, Error) as error:
            self.listen_error = getattr(error, "strerror", None) or str(error)
            _log.warning("cannot search for tables on the network", why=self.listen_error)
            return
        self._browser = AsyncServiceBrowser(
            self._zeroconf.zeroconf, [SERVICE_TYPE], handlers=[self._service_changed]
        )

    def _stop(self) -> None:
        if self._stop_timer is not None:
            self._stop_timer.cancel()
            self._stop_timer = None
        zeroconf, browser = self._zeroconf, self._browser
        self._zeroconf = self._browser = None
        self._found.clear()
        for task in self._queries:
            task.cancel()
        if zeroconf is not None and browser is not None:
            ending = asyncio.ensure_future(_close(zeroconf, browser))
            self._closing.add(ending)
            ending.add_done_callback(self._closing.discard)

    def _service_changed(
        self, zeroconf: Zeroconf, service_type: str, name: str, state_change: ServiceStateChange
    ) -> None:
        if state_change is ServiceStateChange.Removed:
            self._found.pop(name, None)
        elif len(self._found) < _MAX_TABLES and len(self._queries) < _MAX_TABLES:
            task = asyncio.ensure_future(self._query(zeroconf, name))
            self._queries.add(task)
            task.add_done_callback(self._queries.discard)

    async def _query(self, zeroconf: Zeroconf, name: str) -> None:
        """Request the address and the properties of an announced table, and add it to `_found`."""
        info = AsyncServiceInfo(SERVICE_TYPE, name)
        with suppress(Error):
            if not await info.async_request(zeroconf, _QUERY_TIMEOUT_MS):
                return
            try:
                self._found[name] = parse_service(
                    info.properties, info.parsed_addresses(IPVersion.V4Only)
                )
            except BadAnnouncement as wrong:
                self._found.pop(name, None)
                # Any program may announce such services without end.
                if self._invalid_count < _MAX_LOGGED_INVALID:
                    self._invalid_count += 1
                    why = escape_unprintable(shorten(str(wrong)))
                    _log.warning(
                        "invalid announcement", name=escape_unprintable(shorten(name)), why=why
                    )


async def _close(zeroconf: AsyncZeroconf, browser: AsyncServiceBrowser) -> None:
    """End the search on the network. An error is only logged."""
    for end in (browser.async_cancel, zeroconf.async_close):
        try:
            await end()
        except Exception as error:
            _log.warning("the search on the network did not end cleanly", why=str(error))


_CONNECT_TIMEOUT_S: Final = 2.0

PortNumber = Annotated[int, Meta(ge=1, le=65_535)]


class TableEnrolmentRequest(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A person's request to add a table to the console.

    A table that was found on the network has a `handle`. For a table that was entered by hand, the
    other fields are set instead. `said` is the last group of the fingerprint, or the whole
    fingerprint, as the table shows it.
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
    """Add a table to the console, and return its configuration.

    Raises RequestError, also if a person read another fingerprint at the table.
    """
    line = await (
        _table_by_hand(request) if request.handle is None else _announced_table(console, request)
    )
    assert line.verify is not None
    whole = table_fingerprint(line.server_key, line.verify)
    plain = request.said.strip().lower().replace("-", "").replace(" ", "")
    if plain not in (whole.rpartition("-")[2], whole.replace("-", "")):
        raise RequestError(
            409,
            "this key has another fingerprint: another machine, or a typing error. Nothing changed",
            "指纹不符：可能是另一台机器，也可能抄错。未作任何改动",
        )
    await _save_and_apply(console, line.id, line)
    return line


async def remove_table(console: RefereeConsole, name: str) -> None:
    """Remove a table from the console. Its data stay in the database. Raises RequestError."""
    await _save_and_apply(console, name, None)


def enrolled_tables(console: RefereeConsole) -> tuple[ConfiguredTable, ...]:
    """Return the tables in tables.toml, or () if there is no such file or it cannot be read."""
    if console.tables_file is None:
        return ()
    with suppress(ConfigError):
        return read_tables(console.tables_file)
    return ()


def discovery_of(console: RefereeConsole) -> TableDiscovery:
    """Return the console's one search for tables on the network.

    It is created at the first use.
    """
    there = next((one for one in console.services if isinstance(one, TableDiscovery)), None)
    if there is None:
        there = TableDiscovery()
        console.services.append(there)
    return there


def tcp_address(host: str, port: int) -> str:
    """Return the ZeroMQ address of a TCP port."""
    return f"tcp://{host}:{port}"


def announcement_handle(announced: TableAnnouncement) -> str:
    """Return the identifier of a found table, which a browser sends to choose this table.

    The identifier does not contain the last group of the fingerprint.
    """
    group = announced.fingerprint.rpartition("-")[0]
    return f"{announced.table}:{group}:{announced.addresses[0]}:{announced.feed}"


async def _announced_table(
    console: RefereeConsole, request: TableEnrolmentRequest
) -> ConfiguredTable:
    """Return the configuration of a found table, with the first of its reachable addresses.

    Raises RequestError, also if the table is no longer announced or has no reachable address.
    """
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
    """Return a table's configuration from the values that a person typed. Raises RequestError."""
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
    """Return whether a program at this address accepts a connection within two seconds."""
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


async def _save_and_apply(
    console: RefereeConsole, name: str, configured: ConfiguredTable | None
) -> None:
    """Add table `name` to tables.toml and the console, or remove it if `configured` is None.

    No restart is needed. Raises RequestError.
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
