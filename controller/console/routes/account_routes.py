"""The routes for login, accounts and invitations."""

from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta
from starlette.responses import Response

from controller.console.accounts.account_store import SESSION_MS, Account
from controller.console.connection_limits import limited_address
from controller.console.live_pages.hall_page import own_account_json
from controller.console.request_error import RequestError, unknown_table
from controller.console.routing import (
    SESSION_COOKIE,
    STAFF,
    WITH_DISPLAYS,
    ConsoleRequest,
    json_response,
    page,
    route,
)
from controller.faults import Language
from controller.messages import PersonName, Role

_INVITING_ROLES: Final = frozenset({Role.CHIEF, Role.TECHNICIAN})

_ShortText = Annotated[str, Meta(max_length=64, pattern=r"^[^\x00]*$")]


class _LoginRequest(msgspec.Struct, forbid_unknown_fields=True):
    name: _ShortText
    pin: _ShortText


class _AcceptRequest(msgspec.Struct, forbid_unknown_fields=True):
    code: _ShortText
    pin: _ShortText


class _LanguageRequest(msgspec.Struct, forbid_unknown_fields=True):
    language: Language


class _InviteRequest(msgspec.Struct, forbid_unknown_fields=True):
    name: PersonName
    role: Role
    language: Language = "zh"
    table: str | None = None


class _RemoveRequest(msgspec.Struct, forbid_unknown_fields=True):
    name: _ShortText


async def log_in(request: ConsoleRequest) -> Response:
    """Check a name and a PIN, begin a session, and return the session's cookie to the browser."""
    said, sessions = await request.read_json(_LoginRequest), request.console.sessions
    person, token = await sessions.log_in(said.name, said.pin, _client_address(request))
    if request.token:  # A copied cookie of the old session must not work.
        await sessions.log_out(request.token)
    return _with_cookie(request, person, token)


async def accept_invitation(request: ConsoleRequest) -> Response:
    """Store the PIN that an invited person has chosen, and log that person in."""
    said, sessions = await request.read_json(_AcceptRequest), request.console.sessions
    person, token = await sessions.accept_invitation(said.code, said.pin, _client_address(request))
    return _with_cookie(request, person, token)


async def log_out(request: ConsoleRequest) -> Response:
    """End the session of this browser."""
    if request.token:
        await request.console.sessions.log_out(request.token)
    response = json_response({})
    response.delete_cookie(SESSION_COOKIE, path="/", httponly=True, samesite="strict")
    return response


async def get_account(request: ConsoleRequest) -> dict[str, Any]:
    """Return the account of the person who is logged in, and the name of the console."""
    return own_account_json(request.person) | {"console": request.console.config.console.name}


async def set_language(request: ConsoleRequest) -> dict[str, Any]:
    """Store the language in which a person reads the pages."""
    said = await request.read_json(_LanguageRequest)
    await request.console.sessions.set_language(request.person.name, said.language)
    return own_account_json(msgspec.structs.replace(request.person, language=said.language))


async def list_accounts(request: ConsoleRequest) -> dict[str, Any]:
    """List all accounts. An account with an invitation has the invitation's end."""
    people = await request.console.sessions.list_accounts()
    return {"people": people, "now_ms": request.console.now_ms()}


async def invite(request: ConsoleRequest) -> dict[str, Any]:
    """Create or update an account with a new invitation. Only this answer contains its code."""
    said = await request.read_json(_InviteRequest)
    if (said.role is Role.TABLE) != (said.table is not None):
        raise RequestError(
            400, "a display needs a table, and no other account has one", "仅台显须指定台号"
        )
    if said.table is not None and said.table not in request.console.tables.ids:
        raise unknown_table(said.table, 400)
    await _require_chief_for_chiefs(request, said.name, said.role)
    person = Account(name=said.name, role=said.role, language=said.language, table=said.table)
    sessions = request.console.sessions
    code = await sessions.invite(person)
    if said.role not in STAFF:
        request.console.call_assignments.release_person(said.name)
    until_ms = await sessions.invited_until_ms(person.name)
    return {"code": code, "name": person.name, "until_ms": until_ms}


async def remove(request: ConsoleRequest) -> dict[str, Any]:
    """Remove an account, so that its person can no longer log in."""
    name = (await request.read_json(_RemoveRequest)).name
    if name == request.person.name:
        raise RequestError(400, "you cannot remove your own account", "不能删除自己")
    await _require_chief_for_chiefs(request, name)
    if not await request.console.sessions.remove(name):
        raise RequestError(404, "there is no account with this name", "没有此人")
    request.console.call_assignments.release_person(name)
    return {}


async def _require_chief_for_chiefs(
    request: ConsoleRequest, name: str, role: Role | None = None
) -> None:
    """Raise RequestError if a person other than a chief tries to change or add a chief's account.

    A new invitation allows a new PIN, and so the use of the account.
    """
    if request.person.role is Role.CHIEF:
        return
    known = {one.name: one.role for one in await request.console.sessions.list_accounts()}
    if Role.CHIEF in (role, known.get(name)):
        raise RequestError(
            403, "only a chief may change a chief's account", "裁判长账户仅裁判长可管理"
        )


def _client_address(request: ConsoleRequest) -> str:
    client = request.http_request.client
    return "" if client is None else limited_address(client.host)


def _with_cookie(request: ConsoleRequest, person: Account, token: str) -> Response:
    response = json_response(own_account_json(person))
    # The browser uses TLS to the console, or to the proxy of its public address.
    url, public_url = request.http_request.url, request.console.config.console.public_url
    response.set_cookie(
        SESSION_COOKIE,
        token,
        max_age=SESSION_MS // 1000,
        path="/",
        secure=url.scheme == "https" or public_url == f"https://{url.netloc}",
        httponly=True,
        samesite="strict",
    )
    return response


ROUTES: Final = (
    page("/login", "login.html", roles=None),
    page("/invited", "invited.html", roles=None),
    route("/api/login", log_in, ("POST",), roles=None),
    route("/api/accept", accept_invitation, ("POST",), roles=None),
    route("/api/logout", log_out, ("POST",), roles=None),
    route("/api/me", get_account, roles=WITH_DISPLAYS),
    route("/api/me", set_language, ("POST",), roles=WITH_DISPLAYS),
    route("/api/people", list_accounts, roles=_INVITING_ROLES),
    route("/api/people", invite, ("POST",), roles=_INVITING_ROLES),
    route("/api/people", remove, ("DELETE",), roles=_INVITING_ROLES),
)
