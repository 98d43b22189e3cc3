"""The vectors of the proof: events of one table, and what `verify` finds in each attempt."""

import hashlib
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import pytest

from controller.journal.verify import verify
from controller.journal.verify.verify_report import AttemptReport
from controller.signing import signed_heads
from sim.campaign.campaign_lives import LIFE_DEALS
from tests.proof.browser import FOLDER
from tests.proof.changes import rechained
from tests.proof.lives import Feed, feed_of, lives, log_of

VECTORS = FOLDER / "events.json"
_SAID = (
    "attempt",
    "deal",
    "outcome",
    "cut",
    "commitment",
    "sequence",
    "grade",
    "verdicts",
    "missing",
)
_SECRET = hashlib.sha256(b"a table's signing key, for these vectors").digest()


def said(standing: AttemptReport) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(msgspec.json.encode(standing))
    return {name: told[name] for name in _SAID}


def vectors_anew() -> str:
    """Deal one life of a table; return its vectors as JSON."""
    with TemporaryDirectory() as place, pytest.MonkeyPatch.context() as patch:
        folder = Path(place)
        chosen = _chosen(feed_of(lives(LIFE_DEALS, folder, patch)[0]), folder)
        report = verify(log_of(chosen, folder))
    made = {
        "events": chosen,
        "attempts": list(map(said, report.attempts)),
        "missing": report.missing,
        "head": _head(chosen),
    }
    return json.dumps(made, ensure_ascii=False, indent=1) + "\n"


def _chosen(feed: Feed, folder: Path) -> Feed:
    """Take the first attempt of each kind, and what was said of it."""
    refed = {row["attempt"] for row in feed if row["kind"] == "dealt" and row["data"]["refed"]}
    found: dict[str, int] = {}
    for each in verify(log_of(feed, folder)).attempts:
        found.setdefault(f"{each.outcome} {each.uncut}", each.attempt)
        if each.outcome != "ok":
            found.setdefault(each.verdicts[0].says, each.attempt)
        if each.attempt in refed:
            found.setdefault("tray", each.attempt)
        if "DOUBLE_FEED" in each.reasons or each.withdrawn:
            found.setdefault(each.reasons[0], each.attempt)
    wanted = set(found.values())
    first = next(row for row in feed if row["kind"] == "opened")
    chosen = [row for row in feed if row is first or row["attempt"] in wanted]
    first["data"]["verify"] = signed_heads.verify_key(
        _SECRET
    ).hex()  # whose secret anybody may know
    return rechained(chosen)


def _head(feed: Feed) -> dict[str, Any]:
    table_key, last = feed[0]["data"]["table_key"], feed[-1]
    signed = signed_heads.sign_head(table_key, last["n"], bytes.fromhex(last["head"]), _SECRET)
    told: dict[str, Any] = json.loads(msgspec.json.encode(signed))
    return {"table_key": table_key, "verify": signed_heads.verify_key(_SECRET).hex(), **told}
