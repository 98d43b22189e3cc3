"""The web application: pages, files, routes, and the headers of every answer."""

import importlib
import pkgutil
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Final

from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from controller.console import routes
from controller.console.console import RefereeConsole
from controller.console.request_error import RequestError
from controller.console.routing import REQUEST_HEADER, error_response, missing_page

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


def make_app(
    console: RefereeConsole, custom_routes: Iterable[BaseRoute] | None = None
) -> Starlette:
    """Return the application of a started console.

    `custom_routes` replace those of routes/.
    """
    app = Starlette(
        routes=[
            *(all_routes() if custom_routes is None else custom_routes),
            Mount("/static/verify", _VerifierModules(directory=_CONSOLE_FOLDER.parent / "deal")),
            Mount("/static", _RevalidatedFiles(directory=_CONSOLE_FOLDER / "static")),
        ],
        exception_handlers={HTTPException: _not_found, Exception: _internal_error},
    )
    app.state.console = console
    app.add_middleware(_SecurityMiddleware)
    return app


def all_routes() -> list[BaseRoute]:
    """Return the routes of every module in routes/."""
    found: list[BaseRoute] = []
    for module in route_modules():
        found += routes_of(importlib.import_module(module))
    return found


def route_modules() -> list[str]:
    """Return the names of the modules in routes/."""
    return [f"{routes.__name__}.{one.name}" for one in pkgutil.iter_modules(routes.__path__)]


def routes_of(module: ModuleType) -> list[Route]:
    """Return the routes of a module of routes/."""
    return list(getattr(module, "ROUTES", ()))


class _RevalidatedFiles(StaticFiles):
    """Files that a browser checks each time, so that an updated console is shown at once."""

    def file_response(self, *args: object, **more: object) -> Response:
        """Return a file that the browser must check again."""
        response = super().file_response(*args, **more)  # type: ignore[arg-type]
        response.headers["Cache-Control"] = "no-cache"
        return response


class _VerifierModules(_RevalidatedFiles):
    """The verifier's own modules, from a folder with other files."""

    def lookup_path(self, path: str) -> tuple[str, object]:  # type: ignore[override]
        """Return the path of a module. Files of any other kind are not found."""
        return super().lookup_path(path) if path.endswith(".mjs") else ("", None)


class _SecurityMiddleware:
    """Middleware that refuses requests from other sites, and adds the headers to every answer.

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
    """Return the answer for an address without content: a page for a browser, otherwise JSON."""
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
