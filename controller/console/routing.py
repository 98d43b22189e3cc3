"""Tools for routes: requests, JSON answers, errors in English and Chinese, and allowed roles."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import quote

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, RedirectResponse, Response
from starlette.routing import Route

from controller.console.accounts.account_store import Account, NotAllowed
from controller.console.request_error import RequestError, unknown_table
from controller.console.store.database import StoreError
from controller.host.loggers import structlog
from controller.messages import Role
from controller.words import roles_with_article

if TYPE_CHECKING:
    from controller.console.console import RefereeConsole

Shape = TypeVar("Shape")
Roles = frozenset[Role]

WITH_DISPLAYS: Final[Roles] = frozenset(Role)
EVERYBODY: Final[Roles] = WITH_DISPLAYS - {Role.TABLE}
"""All roles of people. The role of a table's display is not among them."""
CHIEF: Final[Roles] = frozenset({Role.CHIEF})
REFEREES: Final[Roles] = CHIEF | {Role.REFEREE}
STAFF: Final[Roles] = REFEREES | {Role.TECHNICIAN}
_READ_METHODS: Final = frozenset({"GET", "HEAD"})
SESSION_COOKIE: Final = "dealtable"
REQUEST_HEADER: Final = "X-Dealtable"
MAX_BODY_BYTES: Final = 1 << 20
"""The maximum length of a request's body. The draw of a large hall has a tenth of that."""
BODY_TIMEOUT_S: Final = 30.0
"""Seconds within which the whole body of a request must arrive."""
_HOST_PATTERN: Final = re.compile(r"([A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(:\d{1,5})?")
_PAGES_FOLDER: Final = Path(__file__).parent / "pages"

_log = structlog.get_logger("console")


class ConsoleRequest:
    """A browser's request, with its console and the person who sent it."""

    def __init__(self, request: Request, console: "RefereeConsole", person: Account | None) -> None:
        self.http_request, self.console, self._person = request, console, person

    @property
    def person(self) -> Account:
        """Return the person who sent the request. A route without login has none."""
        assert self._person is not None
        return self._person

    @property
    def path_params(self) -> dict[str, str]:
        """Return the values of the named parts of the path."""
        return self.http_request.path_params

    @property
    def table(self) -> str:
        """Return the table's id from the path of the request.

        Raises RequestError for a table that does not belong to the console.
        """
        name = self.path_params["id"]
        if name not in self.console.tables.ids:
            raise unknown_table(name)
        return name

    @property
    def public_origin(self) -> str:
        """Return the address at which other devices reach this console.

        The address comes from the configuration, or from the browser's request. Raises RequestError
        for an invalid host name, because people open this address from a QR code.
        """
        configured, url = self.console.config.console.public_url, self.http_request.url
        if configured:
            return configured.rstrip("/")
        if not _HOST_PATTERN.fullmatch(url.netloc):
            raise RequestError(400, "the header Host has no valid name", "Host请求头有误")
        return f"{url.scheme}://{url.netloc}"

    @property
    def token(self) -> str:
        """Return the session token of the browser, or "" if the browser sent none."""
        return self.http_request.cookies.get(SESSION_COOKIE, "")

    def query(self, name: str, default: str = "") -> str:
        """Return the query parameter `name`, or `default` if the address has no such parameter."""
        return self.http_request.query_params.get(name, default)

    def number(self, name: str, default: int = 0) -> int:
        """Return the number in the query parameter `name`, or `default` if there is none.

        Raises RequestError for a parameter that is no number.
        """
        text = self.query(name, str(default))
        if not (text.isascii() and text.isdigit() and len(text) < 16):
            raise RequestError(
                400, f"{name}: expected a number of 0 or more", f"{name}须为非负整数"
            )
        return int(text)

    async def read_bytes(self, max_bytes: int = MAX_BODY_BYTES) -> bytes:
        """Return the body of the request.

        Raises RequestError for a body that has more than `max_bytes` bytes, is too slow, or
        incomplete.
        """
        body = bytearray()
        try:
            async with asyncio.timeout(BODY_TIMEOUT_S):
                async for piece in self.http_request.stream():
                    body += piece
                    if len(body) > max_bytes:
                        raise RequestError(
                            413,
                            f"expected at most {max_bytes} bytes",
                            f"内容过长，至多{max_bytes}字节",
                        )
        except (TimeoutError, ClientDisconnect):
            raise RequestError(
                408, "the request did not arrive completely", "请求未完整到达"
            ) from None
        return bytes(body)

    async def read_text(self) -> str:
        """Return the body as text, without a byte order mark. Raises RequestError."""
        try:
            return (await self.read_bytes()).decode("utf-8-sig")
        except UnicodeDecodeError:
            raise RequestError(400, "expected UTF-8 text", "须为UTF-8文本") from None

    async def read_json(self, shape: type[Shape], max_bytes: int = MAX_BODY_BYTES) -> Shape:
        """Return the JSON body, decoded as the type `shape`.

        Raises RequestError as `read_bytes` does.
        """
        raw = await self.read_bytes(max_bytes)
        try:
            return msgspec.json.decode(raw, type=shape)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as wrong:
            raise RequestError(400, f"invalid request: {wrong}", f"请求有误：{wrong}") from None


Handler = Callable[[ConsoleRequest], Awaitable[Any]]
Endpoint = Callable[[Request], Awaitable[Response]]


def route(
    path: str,
    handler: Handler,
    methods: Sequence[str] = ("GET",),
    roles: Roles | None = EVERYBODY,
    *,
    rate_limited: bool | None = None,
) -> Route:
    """Return a route that needs a login with one of `roles`, or no login if `roles` is None.

    If `rate_limited` is True, a request counts as one command of its person, for any number of
    tables. With None, it counts if a login is needed and the request may change something.
    """
    if rate_limited is None:
        rate_limited = roles is not None and not _READ_METHODS.issuperset(methods)

    async def endpoint(request: Request) -> Response:
        console: RefereeConsole = request.app.state.console
        try:
            person = await console.sessions.session_owner(request.cookies.get(SESSION_COOKIE, ""))
        except StoreError:
            if roles is not None:
                raise
            person = None  # A request without a login is answered while the database is away.
        if roles is not None:
            person = admit(person, roles)
            now_s = asyncio.get_running_loop().time()
            # Counted before the body is read. Above the limit, the command is certainly not sent.
            if rate_limited and not console.command_buckets.allow(person.name, now_s):
                raise RequestError(
                    429,
                    "too many commands in a short time: wait a second, then try again",
                    "操作过于频繁：请稍等一秒再试",
                    wait_s=console.command_buckets.wait_s,
                )
        answered = await handler(ConsoleRequest(request, console, person))
        return answered if isinstance(answered, Response) else json_response(answered)

    return Route(path, _with_error_responses(path, endpoint), methods=list(methods))


def page(path: str, file: str, roles: Roles | None = EVERYBODY) -> Route:
    """Return the route of an HTML file in the folder `pages`.

    A browser without a login is redirected to the login page. For an unknown table, the answer is
    the page for an address without content.
    """

    async def endpoint(request: Request) -> Response:
        console: RefereeConsole = request.app.state.console
        if roles is not None:
            person = await console.sessions.session_owner(request.cookies.get(SESSION_COOKIE, ""))
            if person is None:
                return RedirectResponse(f"/login?next={quote(request.scope['path'])}", 303)
            if person.role not in roles:
                home = "/" if person.table is None else f"/display/{person.table}"
                return RedirectResponse(home, 303)
            if request.path_params.get("id", "") not in ("", *console.tables.ids):
                return missing_page()
        return FileResponse(_PAGES_FOLDER / file, headers={"Cache-Control": "no-cache"})

    return Route(path, _with_error_responses(path, endpoint), methods=["GET"])


def missing_page() -> Response:
    """Return the page that a browser receives for an unknown address."""
    return FileResponse(_PAGES_FOLDER / "missing.html", 404, headers={"Cache-Control": "no-store"})


def _with_error_responses(path: str, endpoint: Endpoint) -> Endpoint:
    """Return `endpoint` with an error response for each refusal and each database error."""

    async def answered(request: Request) -> Response:
        try:
            return await endpoint(request)
        except RequestError as wrong:
            return error_response(wrong)
        except NotAllowed as wrong:
            return error_response(RequestError(403, wrong.en, wrong.zh))
        except StoreError as failed:
            # The cause goes only to the log.
            _log.error("the database failed", path=path, why=str(failed))
            return error_response(
                RequestError(
                    503, "the console's database cannot be used: see its log", "控制台数据库不可用"
                )
            )

    return answered


def admit(person: Account | None, roles: Roles) -> Account:
    """Return `person`, or raise RequestError for None or for a person without an allowed role."""
    if person is None:
        raise RequestError(401, "please log in", "请先登录")
    if person.role not in roles:
        own = roles_with_article([person.role])
        allowed = roles_with_article(role for role in Role if role in roles)
        raise RequestError(
            403,
            f"not allowed for {own.en}, only for: {allowed.en}",
            f"{own.zh}无此权限，限：{allowed.zh}",
        )
    return person


def error_response(wrong: RequestError) -> Response:
    """Return the HTTP answer for `wrong`, the refusal of a request."""
    refusal = json_response({"error": {"en": wrong.en, "zh": wrong.zh}}, wrong.status)
    if wrong.wait_s is not None:
        refusal.headers["Retry-After"] = str(wrong.wait_s)
    return refusal


def json_response(value: object, status: int = 200) -> Response:
    """Return `value` as a JSON answer that must not be cached."""
    return Response(
        msgspec.json.encode(value),
        status,
        headers={"Cache-Control": "no-store"},
        media_type="application/json",
    )


def file_response(body: bytes, media_type: str, name: str) -> Response:
    """Return an answer that the browser saves as a file called `name`, and must not cache."""
    return Response(
        body,
        media_type=media_type,
        headers={
            "Cache-Control": "no-store",
            "Content-Disposition": f'attachment; filename="{name}"',
        },
    )
