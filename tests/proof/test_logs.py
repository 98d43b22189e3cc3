"""Events are taken however they were kept: line by line, or as one answer of the table."""

import json
from pathlib import Path
from typing import Any

import pytest

from controller.journal.entries import JournalError
from controller.journal.verify import verify
from controller.journal.verify.sources import read_messages
from tests.proof.vectors import VECTORS

pytestmark = pytest.mark.slow
EVENTS: list[dict[str, Any]] = json.loads(VECTORS.read_text(encoding="utf-8"))["events"]
STATE = {"machine": {"phase": "idle"}, "head": "00", "n": 1}


def log(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "log"
    path.write_text(text, encoding="utf-8")
    return path


def reply(events: list[dict[str, Any]]) -> dict[str, Any]:
    return {"id": "1", "ok": True, "result": {"events": events}}


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(map(json.dumps, [STATE, *EVENTS, STATE])) + "\n\n",
        json.dumps(reply(EVENTS)),
        json.dumps(reply(EVENTS), indent=1),
        "\n".join(json.dumps(reply(part)) for part in (EVENTS[:7], EVENTS[7:])),
        "\n".join(map(json.dumps, [reply(EVENTS[:7]), *EVENTS[5:], STATE])),
        VECTORS.read_text(encoding="utf-8"),
    ],
    ids=["lines", "an answer", "an answer in many lines", "two answers", "both", "the vectors"],
)
def test_the_same_is_said_of_events_however_they_were_kept(tmp_path: Path, text: str) -> None:
    report = verify(log(tmp_path, text))
    assert report.findings == []
    assert report.entries == len(EVENTS)
    assert len(report.attempts) == sum(row["kind"] == "committed" for row in EVENTS)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("what is this?", "line 1"),
        (json.dumps(EVENTS[0]) + "\n{", "line 2"),
        (json.dumps(reply([EVENTS[0], {"kind": "cut"}])), "line 1, event 2"),
        (json.dumps({"id": "1", "ok": False}), "line 1"),
        (json.dumps([1, 2]), "line 1"),
        ("null", "line 1"),
        ("[" * 100_000, "line 1"),
    ],
)
def test_what_is_no_log_is_told_in_one_line(tmp_path: Path, text: str, where: str) -> None:
    with pytest.raises(JournalError, match=f"{where} is not an event of a feed") as told:
        verify(log(tmp_path, text))
    assert "\n" not in str(told.value)


def test_an_event_may_tell_of_a_machine(tmp_path: Path) -> None:
    text = json.dumps(EVENTS[0] | {"machine": "a word that no chain binds"})
    assert [where for where, _ in read_messages(log(tmp_path, text))] == ["line 1"]
    assert verify(log(tmp_path, text)).entries == 1
