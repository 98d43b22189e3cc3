"""events.json: what one table published of some attempts, and what both verifiers find."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from nacl.signing import VerifyKey

from controller.journal.verify import verify
from controller.messages import SignedHead
from controller.signing import signed_heads
from tests.proof.browser import Browser
from tests.proof.lives import log_of
from tests.proof.vectors import VECTORS, said


@pytest.fixture(scope="module")
def vectors() -> Any:
    return json.loads(VECTORS.read_text(encoding="utf-8"))


def test_verify_says_what_the_vectors_say(vectors: Any, tmp_path: Path) -> None:
    report = verify(log_of(vectors["events"], tmp_path))
    assert (report.findings, report.missing) == ([], vectors["missing"])
    assert list(map(said, report.attempts)) == vectors["attempts"]


def test_the_browser_says_what_the_vectors_say(vectors: Any, browser: Browser) -> None:
    report = browser.check(vectors["events"])
    assert (report["findings"], report["missing"]) == ([], vectors["missing"])
    assert [each.pop("findings") for each in report["attempts"]] == [[]] * len(vectors["attempts"])
    assert report["attempts"] == vectors["attempts"]


def test_the_vectors_show_every_kind_of_end(vectors: Any) -> None:
    attempts = vectors["attempts"]
    assert {each["outcome"] for each in attempts} == {"ok", "misdeal", "void"}
    assert {each["cut"] is None for each in attempts} == {True, False}
    assert {each["grade"] for each in attempts} == {"sequence", "hands"}
    assert any(row["kind"] == "dealt" and row["data"]["refed"] for row in vectors["events"])
    said_to_reasons = {ruling["says"] for each in attempts for ruling in each["verdicts"]}
    assert said_to_reasons == {"follows", "not shown"}


def test_the_orders_of_the_vectors_bear_signatures_as_the_page_says(vectors: Any) -> None:
    def field(x: str | int | None) -> bytes:
        raw = ("" if x is None else str(x)).encode()
        return len(raw).to_bytes(2, "big") + raw

    table_key, signed = vectors["events"][0]["data"]["table_key"], 0
    for row in vectors["events"]:
        if row["kind"] != "command" or "sig" not in row["data"]:
            continue
        said = row["data"]
        args = json.dumps(said["args"], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        fields = ("dealtable/command/2", table_key, said["boot"], said["id"], *said["of"])
        message = b"".join(map(field, (*fields, said["cmd"], said["person"], args)))
        VerifyKey(bytes.fromhex(said["key"])).verify(message, bytes.fromhex(said["sig"]))
        assert said["boot"] == row["boot"]
        signed += 1
    assert signed > 3


def test_the_signed_head_of_the_vectors_bears_the_tables_signature(vectors: Any) -> None:
    head = vectors["head"]
    signed = SignedHead(n=head["n"], head=head["head"], sig=head["sig"])
    verify_key = bytes.fromhex(head["verify"])
    assert signed_heads.is_signed_by(signed, head["table_key"], verify_key)
    other = msgspec.structs.replace(signed, n=head["n"] + 1)
    assert not signed_heads.is_signed_by(other, head["table_key"], verify_key)
    assert vectors["events"][-1]["head"] == head["head"]
    opened = vectors["events"][0]["data"]
    assert (opened["table_key"], opened["verify"]) == (head["table_key"], head["verify"])
