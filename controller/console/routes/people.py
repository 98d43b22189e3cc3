"""Who is logged in, who may, and who is invited."""

from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta
from starlette.responses import Response

from controller.console.doors import counted
from controller.console.hall import me
from controller.console.people import SESSION_MS, Person
from controller.console.routing import (
    SESSION_COOKIE,
    STAFF,
    WITH_DISPLAYS,
    Asked,
    answer,
    page,
    route,
)
from controller.console.wrong import Wrong, no_table
from controller.faults import Language
from controller.messages import Person as PersonName
from controller.messages import Role

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


async def log_in(asked: Asked) -> Response:
    """Begin a session; the browser gets its cookie."""
    said = await asked.body(_LoginRequest)
    person, token = await asked.console.sessions.log_in(said.name, said.pin, _client_address(asked))
    if asked.token:  # this browser has another one now: who copied the old one is out
        await asked.console.sessions.log_out(asked.token)
    return _with_cookie(asked, person, token)


async def accept(asked: Asked) -> Response:
    """Let somebody who was invited set his PIN, and log him in."""
    said = await asked.body(_AcceptRequest)
    person, token = await asked.console.sessions.accept(said.code, said.pin, _client_address(asked))
    return _with_cookie(asked, person, token)


async def log_out(asked: Asked) -> Response:
    """End the session."""
    if asked.token:
        await asked.console.sessions.log_out(asked.token)
    response = answer({})
    response.delete_cookie(SESSION_COOKIE, path="/", httponly=True, samesite="strict")
    return response


async def who(asked: Asked) -> dict[str, Any]:
    """Say who is logged in, and at which console."""
    return me(asked.person) | {"console": asked.console.config.console.name}


async def reads(asked: Asked) -> dict[str, Any]:
    """Remember in which language somebody reads."""
    said = await asked.body(_LanguageRequest)
    await asked.console.sessions.speak(asked.person.name, said.language)
    return me(msgspec.structs.replace(asked.person, language=said.language))


async def everybody(asked: Asked) -> dict[str, Any]:
    """List who may log in or is invited, and until when."""
    return {"people": await asked.console.sessions.all(), "now_ms": asked.console.now_ms()}


async def invite(asked: Asked) -> dict[str, Any]:
    """Write somebody down; his code is shown this once, with how long it is good."""
    said = await asked.body(_InviteRequest)
    if (said.role is Role.TABLE) != (said.table is not None):
        raise Wrong(400, "a display names its table, nobody else does", "仅台显须指定台号")
    if said.table is not None and said.table not in asked.console.tables.ids:
        raise no_table(said.table, 400)
    await _require_chief_for_chiefs(asked, said.name, said.role)
    person = Person(name=said.name, role=said.role, language=said.language, table=said.table)
    sessions = asked.console.sessions
    code = await sessions.invite(person)
    if said.role not in STAFF:
        asked.console.takes.drop(said.name)
    until_ms = await sessions.invited_until_ms(person.name)
    return {"code": code, "name": person.name, "until_ms": until_ms}


async def remove(asked: Asked) -> dict[str, Any]:
    """Let somebody in no more."""
    name = (await asked.body(_RemoveRequest)).name
    if name == asked.person.name:
        raise Wrong(400, "nobody removes himself", "不能删除自己")
    await _require_chief_for_chiefs(asked, name)
    if not await asked.console.sessions.remove(name):
        raise Wrong(404, "there is nobody of this name", "没有此人")
    asked.console.takes.drop(name)
    return {}


async def _require_chief_for_chiefs(asked: Asked, name: str, role: Role | None = None) -> None:
    """Leave chiefs to chiefs: whoever invites one anew may set his PIN. Raises Wrong."""
    if asked.person.role is Role.CHIEF:
        return
    known = {one.name: one.role for one in await asked.console.sessions.all()}
    if Role.CHIEF in (role, known.get(name)):
        raise Wrong(403, "only a chief may do that of a chief", "裁判长账户仅裁判长可管理")


def _client_address(asked: Asked) -> str:
    client = asked.request.client
    return "" if client is None else counted(client.host)


def _is_encrypted(asked: Asked) -> bool:
    """Tell whether a browser came by TLS: to the console, or to the proxy that it is known by."""
    url, said = asked.request.url, asked.console.config.console.public_url
    return url.scheme == "https" or said == f"https://{url.netloc}"


def _with_cookie(asked: Asked, person: Person, token: str) -> Response:
    response = answer(me(person))
    response.set_cookie(
        SESSION_COOKIE,
        token,
        max_age=SESSION_MS // 1000,
        path="/",
        secure=_is_encrypted(asked),
        httponly=True,
        samesite="strict",
    )
    return response


ROUTES: Final = (
    page("/login", "login.html", roles=None),
    page("/invited", "invited.html", roles=None),
    route("/api/login", log_in, ("POST",), roles=None),
    route("/api/accept", accept, ("POST",), roles=None),
    route("/api/logout", log_out, ("POST",), roles=None),
    route("/api/me", who, roles=WITH_DISPLAYS),
    route("/api/me", reads, ("POST",), roles=WITH_DISPLAYS),
    route("/api/people", everybody, roles=_INVITING_ROLES),
    route("/api/people", invite, ("POST",), roles=_INVITING_ROLES),
    route("/api/people", remove, ("DELETE",), roles=_INVITING_ROLES),
)
