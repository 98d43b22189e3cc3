"""From when on a row of the journal counts as told: its line of the feed, or a state behind it."""

import json
from typing import Any

from controller.journal.entries import JournalEntry, StoredRow, encode
from tests.peek.evidence import Evidence
from tests.peek.hidden import NEVER
from tests.peek.overheard import CLIENT, MACHINE_SOCKET, SECOND_GATEWAY
from tests.peek.told import Told

KINDS = ("committed", "verdict", "revealed", "record")


def test_a_row_is_told_by_its_line_of_the_feed() -> None:
    told = told_by(state(on=2), event(3), state(on=4))
    assert told.until("revealed", 1) == 1


def test_no_state_that_stands_on_an_earlier_row_tells_it_whatever_it_shows() -> None:
    told = told_by(state(on=2, fairness=[{"attempt": 1, "reveal": {"seed": "00"}}]), event(3))
    assert told.until("revealed", 1) == 1


def test_a_row_of_which_no_gateway_heard_is_told_by_the_first_state_behind_it() -> None:
    told = told_by(event(2), state(on=2), state(on=4), state(on=4))
    assert told.until("revealed", 1) == told.until("record", 1) == 2


def test_a_row_that_is_nowhere_told_or_written_stays_hidden() -> None:
    told = told_by(event(1), state(on=2))
    assert told.until("record", 1) == told.until("record", 2) == NEVER


def test_a_state_with_a_head_of_no_row_tells_nothing() -> None:
    assert told_by(state(on=9)).until("committed", 1) == NEVER


def test_what_others_hear_and_lines_that_broke_off_tell_nothing() -> None:
    evidence = Evidence()
    evidence.add(CLIENT, "as observer", event(3))
    evidence.add(SECOND_GATEWAY, " out", event(3)[:-1])
    assert Told.of(evidence, journal()).until("revealed", 1) == NEVER
    evidence.add(SECOND_GATEWAY, " out", event(3))
    assert Told.of(evidence, journal()).until("revealed", 1) == 2


def told_by(*lines: bytes) -> Told:
    evidence = Evidence()
    for number, line in enumerate(lines):
        evidence.add(MACHINE_SOCKET, " out", line + b" " * number)
    return Told.of(evidence, journal())


def journal() -> list[StoredRow]:
    return [StoredRow(n, encode(_entry(n, kind)), head(n)) for n, kind in enumerate(KINDS, 1)]


def head(n: int) -> bytes:
    return bytes([n]) * 32


def state(on: int, **shows: Any) -> bytes:
    return _line("state/T01", {"head": head(on).hex(), **shows})


def event(n: int) -> bytes:
    return _line("event/T01", {"n": n, "kind": KINDS[n - 1], "attempt": 1})


def _entry(n: int, kind: str) -> JournalEntry:
    return JournalEntry(n=n, time="", boot="", kind=kind, public=True, deal=1, attempt=1, data={})


def _line(topic: str, body: dict[str, Any]) -> bytes:
    said = {"to": "feed", "topic": topic, "body": body}
    return json.dumps(said, separators=(",", ":")).encode()
