"""From when on something is known: the feed says it, or a state after the machine died."""

import json
from typing import Any

from tests.peek.evidence import Evidence
from tests.peek.hidden import NEVER
from tests.peek.overheard import MACHINE_SOCKET
from tests.peek.truth import Told


def test_a_row_is_known_from_its_line_of_the_feed_on_whatever_a_state_shows_before() -> None:
    told = Told.of(_said(_state(reveal=None), _state(reveal={"seed": "00"}), _revealed()))
    assert told.until("revealed", 1) == 2
    assert told.until("revealed", 2) == NEVER


def test_a_seed_that_was_journalled_as_the_machine_died_is_known_from_the_first_state_on() -> None:
    told = Told.of(_said(_state(reveal=None), _state(reveal={"seed": "00"})))
    assert (told.until("revealed", 1), told.until("record", 1)) == (1, 1)
    assert told.until("held", 1) == NEVER


def _said(*messages: dict[str, Any]) -> Evidence:
    evidence = Evidence()
    for number, message in enumerate(messages):
        line = {"to": "feed", **message, "number": number}
        evidence.add(MACHINE_SOCKET, "out", json.dumps(line, separators=(",", ":")).encode())
    return evidence


def _state(reveal: dict[str, Any] | None) -> dict[str, Any]:
    return {"topic": "state/T01", "body": {"fairness": [{"attempt": 1, "reveal": reveal}]}}


def _revealed() -> dict[str, Any]:
    return {"topic": "event/T01", "body": {"kind": "revealed", "n": 7, "attempt": 1}}
