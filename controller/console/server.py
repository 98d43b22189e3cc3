"""The server of a console: it opens all parts, binds the port, and closes all parts in order."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

import uvicorn
from sqlalchemy import Engine
from starlette.applications import Starlette

from controller.client.client import ClientIdentity
from controller.config import ConfigError
from controller.console.app import make_app
from controller.console.commands.table_clients import TableClients, load_identity
from controller.console.connection_limits import ConnectionLimiter, LimitedConnection
from controller.console.console import RefereeConsole, TaskSupervisor
from controller.console.console_config import ConfiguredTable, ConsoleConfig, ConsoleSettings
from controller.console.feed.table_feeds import TableFeeds
from controller.console.store.archive import Archive
from controller.console.store.database import WorkerThread, open_engine
from controller.console.table_snapshots import RunBlocking
from controller.messages import Role
from controller.signing.releases import Manifest

_SHUTDOWN_TIMEOUT_S: Final = 1
"""Seconds for unfinished answers when the server ends. Streams have ended before."""
_BACKLOG: Final = 256
"""The number of connections that may wait for acceptance."""


class ConsoleFailed(Exception):
    """The console cannot continue, because it would show an old state as the present one."""


@asynccontextmanager
async def open_console(
    config: ConsoleConfig,
    path: Path | None,
    *,
    now_ms: Callable[[], int],
    entropy: Callable[[int], bytes],
    manifest: Manifest | None = None,
) -> AsyncIterator[RefereeConsole]:
    """Open a console during the block: its database, its tables, its people. Raises StoreError.

    `path` is the path of its console.toml. `manifest` is the manifest of the release that its
    tables should run.
    """

    def ids() -> str:
        return entropy(12).hex()

    def observer(line: ConfiguredTable) -> ClientIdentity:
        return load_identity(console.config.key_folder_of(line), Role.OBSERVER)

    async with AsyncExitStack() as stack:
        store, running = _open_database(stack, config.console.store), TaskSupervisor()
        tables = await stack.enter_async_context(
            TableFeeds(
                observer, Archive(store.engine), store.write, now_ms, ids, start_task=running.start
            )
        )
        clients = TableClients(
            tables.context,
            lambda table: console.configured_table(table),
            lambda table: console.config.key_folder_of(console.configured_table(table)),
            ids,
        )
        stack.push_async_callback(clients.close)
        console = RefereeConsole(
            config,
            tables,
            store.engine,
            store.write,
            store.read,
            clients.client_for,
            now_ms=now_ms,
            entropy=entropy,
            path=path,
            manifest=manifest,
            unsigned_heads=lambda table: tables.rejections(table).unsigned_heads,
            check=store.check,
            running=running,
        )
        for line in config.tables:
            tables.add(line)
        stack.push_async_callback(console.close)
        await console.start()
        yield console


class _Database(NamedTuple):
    """The database, and the functions that run calls on its three threads."""

    engine: Engine
    write: RunBlocking
    read: RunBlocking
    check: RunBlocking


def _open_database(stack: AsyncExitStack, url: str) -> _Database:
    """Open the database and its threads. The stack closes them. Raises StoreError."""
    engine = open_engine(url)
    stack.callback(engine.dispose)
    threads = [WorkerThread(name) for name in ("writing", "reading", "checking")]
    for thread in threads:
        stack.callback(thread.close)
    return _Database(engine, *(thread.run for thread in threads))


async def serve(
    console: RefereeConsole,
    stop: asyncio.Event,
    on_ready: Callable[[str], None],
    app: Starlette | None = None,
) -> None:
    """Serve a console until `stop` is set.

    `on_ready` is called with the console's address when the console answers. At the end, streams
    end at once, so that an open browser delays nothing. Raises ConfigError if the port cannot be
    used, and ConsoleFailed if the console cannot continue.
    """
    own = console.config.console
    with _bound_socket(own) as listening:
        tls = _tls_context(own)
        server = _UvicornServer(_uvicorn_config(app or make_app(console)))
        serving = asyncio.ensure_future(server.serve(sockets=[]))
        waited = (stop.wait(), console.stopping.wait())
        ends: list[asyncio.Task[Any]] = [asyncio.create_task(end) for end in waited]
        try:
            await server.ready.wait()
            ends.append(
                console.start_task(ConnectionLimiter(listening, server.make_connection, tls).run())
            )
            on_ready(console_address(own, listening.getsockname()[1]))
            await asyncio.wait({serving, *ends}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for end in ends:
                end.cancel()
            await asyncio.gather(*ends, return_exceptions=True)
            console.stopping.set()
            server.should_exit = True
            await serving
    failure = console.supervisor.failure
    if failure is not None:
        raise ConsoleFailed("the console failed and ended: see its log above") from failure


def console_address(own: ConsoleSettings, port: int) -> str:
    """Return the address for browsers of a console that listens at `port`."""
    scheme = "http" if own.tls_cert is None else "https"
    host = f"[{own.host}]" if ":" in own.host else own.host
    return f"{scheme}://{host}:{port}"


class _UvicornServer(uvicorn.Server):
    """A server that does not handle signals. `ready` is set when the server answers."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start the server, and set `ready`."""
        await super().startup(sockets)
        self.ready.set()

    def make_connection(self) -> LimitedConnection:
        """Return the protocol of a new connection. ConnectionLimiter accepts the connection."""
        return LimitedConnection(self.config, self.server_state, self.lifespan.state)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture no signal."""
        yield


def _uvicorn_config(app: Starlette) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=LimitedConnection,
        lifespan="off",
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=_SHUTDOWN_TIMEOUT_S,
    )


def _tls_context(own: ConsoleSettings) -> ssl.SSLContext | None:
    """Return the TLS context of connections, or None without TLS. Raises ConfigError."""
    if own.tls_cert is None or own.tls_key is None:
        return None

    def password() -> str:
        raise ConfigError(
            f"tls_key {own.tls_key}: has a password: use a key file without a password, which only "
            "the console can read"
        )

    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(own.tls_cert, own.tls_key, password)
    except (OSError, ssl.SSLError) as wrong:
        raise ConfigError(
            f"tls_cert {own.tls_cert}, tls_key {own.tls_key}: {wrong.strerror or wrong}"
        ) from None
    return context


@contextmanager
def _bound_socket(own: ConsoleSettings) -> Iterator[socket.socket]:
    """Yield a socket that is bound to the console's address. Raises ConfigError."""
    family = socket.AF_INET6 if ":" in own.host else socket.AF_INET
    try:
        listening = socket.create_server((own.host, own.port), family=family, backlog=_BACKLOG)
    except OSError as failure:
        raise ConfigError(
            f"listen = {own.listen}: {failure.strerror or failure}: choose another port, or an "
            "address of this computer"
        ) from None
    with listening:
        yield listening
