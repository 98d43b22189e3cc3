"""The console's web server: the web application, its security headers, and the listening port."""

import asyncio
import importlib
import pkgutil
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, Final

import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from controller.client.client import ClientIdentity
from controller.config import ConfigError
from controller.console import routes
from controller.console.commands.table_clients import TableClients, load_identity
from controller.console.connection_limits import ConnectionLimiter, LimitedConnection
from controller.console.console import RefereeConsole, TaskSupervisor
from controller.console.console_config import ConfiguredTable, ConsoleConfig, ConsoleSettings
from controller.console.feed.table_feeds import TableFeeds
from controller.console.request_error import RequestError
from controller.console.routing import REQUEST_HEADER, error_response, missing_page
from controller.console.store.archive import Archive
from controller.console.store.database import WorkerThread, open_engine
from controller.messages import Role
from controller.signing.releases import Manifest

_CONSOLE_FOLDER: Final = Path(__file__).parent
_HEADERS: Final = {
    "Content-Security-Policy": "default-src 'self'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'; object-src 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
_SAFE_METHODS: Final = frozenset({"GET", "HEAD"})


def make_app(console: RefereeConsole) -> Starlette:
    """Return the web application of a started console."""
    app = Starlette(
        routes=[
            *all_routes(),
            Mount("/static/verify", _VerifierModules(directory=_CONSOLE_FOLDER.parent / "deal")),
            Mount("/static", _RevalidatedFiles(directory=_CONSOLE_FOLDER / "static")),
        ],
        exception_handlers={HTTPException: _not_found, Exception: _internal_error},
    )
    app.state.console = console
    app.add_middleware(_SecurityMiddleware)
    return app


def all_routes() -> list[BaseRoute]:
    """Return the routes that the modules in the folder `routes` declare."""
    names = [f"{routes.__name__}.{one.name}" for one in pkgutil.iter_modules(routes.__path__)]
    return [one for name in names for one in getattr(importlib.import_module(name), "ROUTES", ())]


class _RevalidatedFiles(StaticFiles):
    """Static files that a browser uses again only if the server confirms that they are current."""

    def file_response(self, *args: object, **more: object) -> Response:
        """Return a file, with a header that makes the browser check each time for a newer file."""
        response = super().file_response(*args, **more)  # type: ignore[arg-type]
        response.headers["Cache-Control"] = "no-cache"
        return response


class _VerifierModules(_RevalidatedFiles):
    """The deal verifier's JavaScript modules: the files *.mjs of a folder, and no other file."""

    def lookup_path(self, path: str) -> tuple[str, object]:  # type: ignore[override]
        """Return the full path of a JavaScript module, or ("", None) for any other file."""
        return super().lookup_path(path) if path.endswith(".mjs") else ("", None)


class _SecurityMiddleware:
    """A middleware that refuses forms from other sites, and adds security headers to answers.

    A page of another site can send a form to the console, but it cannot set the required header. In
    present browsers the cookie's SameSite attribute alone would be enough.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        if "\0" in scope["path"] or b"%00" in scope["query_string"]:  # No database accepts NUL.
            wrong = RequestError(404, "there is no such page", "没有此页面")
            await error_response(wrong)(scope, receive, with_headers)
            return
        if scope["method"] not in _SAFE_METHODS and not Request(scope).headers.get(REQUEST_HEADER):
            wrong = RequestError(
                403, f"the header {REQUEST_HEADER} is missing", f"缺少{REQUEST_HEADER}请求头"
            )
            await error_response(wrong)(scope, receive, with_headers)
            return
        await self._app(scope, receive, with_headers)


async def _not_found(request: Request, error: Exception) -> Response:
    """Return the answer to a request that no route accepts.

    A browser receives a page if the status is 404. Every other answer is JSON.
    """
    status = error.status_code if isinstance(error, HTTPException) else 404
    if status == 404 and "text/html" in request.headers.get("accept", ""):
        return missing_page()
    if status == 405:
        return error_response(
            RequestError(status, "this address does not allow the method", "不支持此操作")
        )
    return error_response(RequestError(status, "there is no such page", "没有此页面"))


async def _internal_error(_: Request, __: Exception) -> Response:
    answer = error_response(
        RequestError(500, "the console failed: see its log", "控制台出错，请查看日志")
    )
    answer.headers.update(_HEADERS)  # This answer does not pass through the middleware.
    return answer


_SHUTDOWN_TIMEOUT_S: Final = 1
"""Seconds for unfinished answers when the server ends. Streams have ended before."""
_BACKLOG: Final = 256
"""The number of connections that may wait for acceptance."""


class ConsoleFailed(Exception):
    """An error that ends the console, because its pages could show an old state as present."""


@asynccontextmanager
async def open_console(
    config: ConsoleConfig,
    path: Path | None,
    *,
    now_ms: Callable[[], int],
    entropy: Callable[[int], bytes],
    manifest: Manifest | None = None,
) -> AsyncIterator[RefereeConsole]:
    """Start a console, yield it, and close it after the `async with` block. Raises StoreError.

    `path` is the path of its console.toml. `manifest` is the manifest of the release that its
    tables should run.
    """

    def ids() -> str:
        return entropy(12).hex()

    def observer(line: ConfiguredTable) -> ClientIdentity:
        return load_identity(console.config.key_folder_of(line), Role.OBSERVER)

    async with AsyncExitStack() as stack:
        engine, running = open_engine(config.console.store), TaskSupervisor()
        stack.callback(engine.dispose)
        threads = [WorkerThread(name) for name in ("writing", "reading", "checking")]
        for thread in threads:
            stack.callback(thread.close)
        write, read, check = (thread.run for thread in threads)
        tables = await stack.enter_async_context(
            TableFeeds(observer, Archive(engine), write, now_ms, ids, start_task=running.start)
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
            engine,
            write,
            read,
            clients.client_for,
            now_ms=now_ms,
            entropy=entropy,
            path=path,
            manifest=manifest,
            unsigned_heads=lambda table: tables.rejections(table).unsigned_heads,
            check=check,
            running=running,
        )
        for line in config.tables:
            tables.add(line)
        stack.push_async_callback(console.close)
        await console.start()
        yield console


async def serve(
    console: RefereeConsole, stop: asyncio.Event, on_ready: Callable[[str], None]
) -> None:
    """Serve a console until `stop` is set.

    `on_ready` is called with the console's address when the console answers. At the end, streams
    end at once, so that an open browser delays nothing. Raises ConfigError if the port cannot be
    used, and ConsoleFailed if the console cannot continue.
    """
    own = console.config.console
    with _bound_socket(own) as listening:
        tls = _tls_context(own)
        server = _UvicornServer(make_app(console))
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
    """Return the console's web address, which a person enters in a browser."""
    scheme = "http" if own.tls_cert is None else "https"
    host = f"[{own.host}]" if ":" in own.host else own.host
    return f"{scheme}://{host}:{port}"


class _UvicornServer(uvicorn.Server):
    """A uvicorn server that does not handle signals. `ready` is set when the server answers."""

    def __init__(self, app: Starlette) -> None:
        config = uvicorn.Config(
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
        super().__init__(config)
        self.ready = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start the server, and then set the event `ready`."""
        await super().startup(sockets)
        self.ready.set()

    def make_connection(self) -> LimitedConnection:
        """Return a new protocol object for one connection. ConnectionLimiter calls this method."""
        return LimitedConnection(self.config, self.server_state, self.lifespan.state)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Replace uvicorn's method, and install no signal handlers: the process has its own."""
        yield


def _tls_context(own: ConsoleSettings) -> ssl.SSLContext | None:
    """Return the TLS settings of connections, or None if no certificate or no key is configured.

    Raises ConfigError.
    """
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
    """Yield a socket that listens at the console's address, then close it. Raises ConfigError."""
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
