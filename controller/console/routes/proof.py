"""The proof of a deal, for anybody in the hall: no login once the deal is over."""

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final

from starlette.responses import Response

from controller.console.routing import Asked, Handler, page, route
from controller.console.store.proofs import AttemptRecords, AttemptRows
from controller.console.store.sheets import ScoreSheetStore
from controller.console.view.proof import ProofView, Rulebook, Rulebooks, code, rulebooks, view
from controller.console.wrong import Wrong
from controller.rules.profile import Profile
from controller.rules.rulebooks import ProfileError, load_profile, profile_names

_PROOF_PATH: Final = re.compile(r"/proof/([^/?#]{1,64})/(\d{1,9})")


async def get_proof(asked: Asked) -> ProofView | Response:
    """Return what a browser checks an attempt with; before it is revealed nothing of it.

    With `format=events` the rows alone, as lines that `dealtable verify` takes.
    """
    table, attempt = asked.path["id"], _attempt_number(asked.path["attempt"])
    rows = await _rows(asked, table, attempt)
    over = rows is not None and await _is_over(asked, table, rows)
    events = tuple(asked.console.config.console.events)
    known = await asked.console.read(lambda: _load_rulebooks(events))
    shown = view(table, attempt, rows, known, over=over)
    if asked.query("format") != "events":
        return shown
    return Response(
        b"".join(bytes(row) + b"\n" for row in shown.events),
        media_type="application/jsonl",
        headers={
            "Cache-Control": "no-store",
            "Content-Disposition": f'attachment; filename="attempt-{attempt}.jsonl"',
        },
    )


async def books(asked: Asked) -> dict[str, list[Rulebook]]:
    """Return the rulebooks of these hashes (`hash`, given any number of times) that are at hand."""
    events = tuple(asked.console.config.console.events)
    known = await asked.console.read(lambda: _load_rulebooks(events))
    named = dict.fromkeys(asked.request.query_params.getlist("hash"))
    return {"rulebooks": [known[one] for one in named if one in known]}


async def picture(asked: Asked) -> Response:
    """Return the code to scan of a proof's page: only when its match is over.

    Telephones are for after play (seeds 002 A17.1.1, 000 A21.3).
    """
    place = _PROOF_PATH.fullmatch(asked.query("text"))
    if place is None:
        raise Wrong(404, "there is no such page", "没有此页面")
    rows = await _rows(asked, place[1], int(place[2]))
    if rows is None or "revealed" not in rows.steps or not await _is_over(asked, place[1], rows):
        raise Wrong(404, "after the match", "赛后可查")
    drawn = code(asked.origin + place[0])
    return Response(drawn, media_type="image/svg+xml", headers={"Cache-Control": "no-store"})


async def _rows(asked: Asked, table: str, attempt: int) -> AttemptRows | None:
    proofs = AttemptRecords(asked.console.engine)
    return await asked.console.past(lambda: proofs.around(table, attempt))


async def _is_over(asked: Asked, table: str, rows: AttemptRows) -> bool:
    """Tell whether the match of an attempt is over, as its table says, or the archive."""
    match = rows.match
    if match is None:
        return True  # practice: it ends with its deal
    console = asked.console
    state = console.tables.seen(table).state if table in console.tables.ids else None
    if state is not None and state.match.match == match:
        return state.match.verdict is not None
    proofs, sheets = AttemptRecords(console.engine), ScoreSheetStore(console.engine, console.now_ms)
    return await console.read(lambda: proofs.is_over(table, match) or bool(sheets.of(match, table)))


@cache
def _load_rulebooks(events: Sequence[Path]) -> Rulebooks:
    """Return every rulebook there is, and those of the events."""
    names = profile_names()
    found: list[Profile] = [load_profile(name) for name in names]
    for event in events:
        for name in names:
            try:
                found.append(load_profile(name, event))
            except ProfileError:
                continue  # it is for another rulebook
    return rulebooks(found)


def _limit_anonymous(handler: Handler) -> Handler:
    """Let strangers wait for each other: anybody may ask, and the others of the hall go on."""

    async def asked_in_turn(asked: Asked) -> object:
        async with asked.console.strangers:
            return await handler(asked)

    return asked_in_turn


def _attempt_number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise Wrong(404, "there is no such attempt", "没有这次发牌")
    return int(text)


ROUTES: Final = (
    page("/proof/{table}/{attempt}", "proof.html", roles=None),
    route("/api/tables/{id}/proof/{attempt}", _limit_anonymous(get_proof), roles=None),
    route("/api/proof/rulebooks", _limit_anonymous(books), roles=None),
    route("/qr.svg", _limit_anonymous(picture), roles=None),
)
