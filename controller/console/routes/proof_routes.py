"""The routes for the proof of a deal, which everybody can read without a login after the deal."""

import re
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from itertools import product
from pathlib import Path
from typing import Final

from starlette.responses import Response

from controller.console.request_error import RequestError
from controller.console.routing import ConsoleRequest, Handler, file_response, page, route
from controller.console.store.match_records import AttemptRecords, AttemptRows, ScoreSheetStore
from controller.console.view.proof_page import (
    ProofView,
    RulebooksByHash,
    RulebookTexts,
    build_proof_view,
    qr_code_svg,
    rulebooks_by_hash,
)
from controller.rules.profile import Profile
from controller.rules.profile_files import ProfileError, load_profile, profile_names

_PROOF_PATH: Final = re.compile(r"/proof/([^/?#]{1,64})/(\d{1,9})")


async def get_proof(request: ConsoleRequest) -> ProofView | Response:
    """Return the data with which people can check an attempt, for the page or as a file.

    Before these data are published, return only the attempt's status. With `format=events`, return
    only the events, as a file of lines for `dealtable verify`.
    """
    table, text = request.path_params["id"], request.path_params["attempt"]
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise RequestError(404, "there is no such attempt", "没有这次发牌")
    attempt = int(text)
    rows = await _attempt_rows(request, table, attempt)
    over = rows is not None and await _is_over(request, table, rows)
    known = await _read_rulebooks(request)
    shown = build_proof_view(table, attempt, rows, known, over=over)
    if request.query("format") != "events":
        return shown
    body = b"".join(bytes(row) + b"\n" for row in shown.events)
    return file_response(body, "application/jsonl", f"attempt-{attempt}.jsonl")


async def list_rulebooks(request: ConsoleRequest) -> dict[str, list[RulebookTexts]]:
    """Return the texts of those rulebooks that the `hash` parameters of the request name."""
    known = await _read_rulebooks(request)
    named = dict.fromkeys(request.http_request.query_params.getlist("hash"))
    return {"rulebooks": [known[one] for one in named if one in known]}


async def get_qr_code(request: ConsoleRequest) -> Response:
    """Return the QR code of a proof page's address. Raises RequestError before the match is over.

    Telephones are allowed only after play. Sources: seeds 002 A17.1.1, 000 A21.3.
    """
    place = _PROOF_PATH.fullmatch(request.query("text"))
    if place is None:
        raise RequestError(404, "there is no such page", "没有此页面")
    rows = await _attempt_rows(request, place[1], int(place[2]))
    if rows is None or "revealed" not in rows.steps or not await _is_over(request, place[1], rows):
        raise RequestError(404, "available after the match", "赛后可查")
    drawn = qr_code_svg(request.public_origin + place[0])
    return Response(drawn, media_type="image/svg+xml", headers={"Cache-Control": "no-store"})


async def _attempt_rows(request: ConsoleRequest, table: str, attempt: int) -> AttemptRows | None:
    proofs = AttemptRecords(request.console.engine)
    return await request.console.read_after_flush(lambda: proofs.rows_of_attempt(table, attempt))


async def _is_over(request: ConsoleRequest, table: str, rows: AttemptRows) -> bool:
    """Return True if the match of the attempt in `rows` is over, or if the attempt has no match."""
    match = rows.match
    if match is None:
        return True  # A practice deal has no match.
    console = request.console
    state = console.tables.snapshot(table).state if table in console.tables.ids else None
    if state is not None and state.match.match == match:
        return state.match.verdict is not None
    proofs, sheets = AttemptRecords(console.engine), ScoreSheetStore(console.engine, console.now_ms)
    return await console.read(
        lambda: proofs.is_over(table, match) or bool(sheets.versions_of(match, table))
    )


async def _read_rulebooks(request: ConsoleRequest) -> RulebooksByHash:
    events = tuple(request.console.config.console.events)
    return await request.console.read(lambda: _load_rulebooks(events))


@cache
def _load_rulebooks(events: Sequence[Path]) -> RulebooksByHash:
    """Return all rulebooks by hash: each alone, and with each file in `events` that fits it."""
    names = profile_names()
    found: list[Profile] = [load_profile(name) for name in names]
    for event, name in product(events, names):
        with suppress(ProfileError):  # The event's file may be for another rulebook.
            found.append(load_profile(name, event))
    return rulebooks_by_hash(found)


def _limit_anonymous(handler: Handler) -> Handler:
    """Return `handler` with a limit on how many requests without a login run at the same time.

    So these requests do not slow the hall's page.
    """

    async def asked_in_turn(asked: ConsoleRequest) -> object:
        async with asked.console.anonymous_slots:
            return await handler(asked)

    return asked_in_turn


ROUTES: Final = (
    page("/proof/{table}/{attempt}", "proof.html", roles=None),
    route("/api/tables/{id}/proof/{attempt}", _limit_anonymous(get_proof), roles=None),
    route("/api/proof/rulebooks", _limit_anonymous(list_rulebooks), roles=None),
    route("/qr.svg", _limit_anonymous(get_qr_code), roles=None),
)
