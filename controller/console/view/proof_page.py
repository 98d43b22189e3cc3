"""The proof of one attempt for a browser: published events, and the rulebooks that they name."""

import io
from collections.abc import Iterable, Mapping
from typing import Final, Literal

import msgspec
import segno

from controller.console.store.match_records import AttemptRows
from controller.messages import PublicEvent
from controller.rules.profile import Profile
from controller.rules.regulations_page import profile_hash, regulations_text
from controller.signing import canonical_json

ProofStanding = Literal["unknown", "later", "revealed", "sealed"]


class RulebookTexts(msgspec.Struct, frozen=True):
    """The two texts of a rulebook from which its hash is made (controller/deal/PROOF.md §1)."""

    rules: str
    page: str


class ProofView(msgspec.Struct, frozen=True, kw_only=True):
    """The data with which a browser checks the proof of one attempt.

    `standing` "later": the deal is not over, so nothing of it is shown. `events`: rows as the table
    published them. `heads`: the heads of its journal that were signed and stored between these
    rows. `over`: the match is over, so telephones are allowed again.
    """

    table: str
    attempt: int
    standing: ProofStanding
    over: bool = False
    match: str | None = None
    events: list[msgspec.Raw] = []
    heads: list[tuple[int, str]] = []
    rulebooks: list[RulebookTexts] = []


RulebooksByHash = Mapping[str, RulebookTexts]
"""Rulebooks by the hash (in hex) by which commitments name them."""


def rulebooks_by_hash(profiles: Iterable[Profile]) -> dict[str, RulebookTexts]:
    """Return the texts of rulebooks by their hash. Each rulebook needs about 50 ms."""
    return {
        profile_hash(profile).hex(): RulebookTexts(
            canonical_json(profile).decode(), regulations_text(profile)
        )
        for profile in profiles
    }


def proof_standing(rows: AttemptRows | None) -> ProofStanding:
    """Return the state of an attempt's proof: "revealed", "sealed", "later" or "unknown".

    "later": the deal is not over. "unknown": the archive has no event of the attempt. After a
    power failure only the chief's key opens the attempt. Then the result is "sealed".
    """
    if rows is None:
        return "unknown"
    if "revealed" in rows.steps:
        return "revealed"
    return "sealed" if "sealed_to_chief" in rows.steps else "later"


def build_proof_view(
    table: str, attempt: int, rows: AttemptRows | None, known: RulebooksByHash, *, over: bool
) -> ProofView:
    """Return the data with which a browser checks an attempt's proof. `over`: its match is over."""
    how = proof_standing(rows)
    if rows is None or how == "later":
        return ProofView(table=table, attempt=attempt, standing=how)
    events = [msgspec.json.decode(body, type=PublicEvent) for body in rows.bodies]
    named = [event.data.get("profile_hash") for event in events]
    return ProofView(
        table=table,
        attempt=attempt,
        standing=how,
        over=over,
        match=rows.match,
        events=list(rows.bodies),
        heads=list(rows.heads),
        rulebooks=[known[name] for name in sorted(known) if name in named],
    )


QUIET_ZONE: Final = 4
"""White modules around the code, as the standard of QR codes requires."""


def qr_code_svg(address: str) -> str:
    """Return a QR code of an address as an SVG image, in black on a white background."""
    made = segno.make(address, error="m", micro=False)
    out = io.BytesIO()
    made.save(out, kind="svg", scale=8, border=QUIET_ZONE, dark="#000", light="#fff", xmldecl=False)
    return out.getvalue().decode()
