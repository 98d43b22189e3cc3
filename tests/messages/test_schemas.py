"""What a table sends and takes fits the schemas that `dealtable schema` prints."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest
from jsonschema import Draft202012Validator

from controller.cli.schema import MESSAGE_NAMES, make_schema
from controller.commands.registry import COMMANDS
from controller.journal.entry_kinds import ENTRY_KINDS
from controller.match.match_events import MatchEvent
from controller.messages import PublicEvent, PublicState, Seat
from controller.rules.profile_files import load_profile
from sim.mechanics.mechanics_settings import MechanicsSettings
from sim.tables.table_in_process import run_table_in_process
from tests.match.table import BIG_TWO, INTL, B, H, N
from tests.matches.at_trial import AtTrial
from tests.matches.people import People
from tests.matches.script import Deal, Script
from tests.matches.watch import leaks
from tests.messages.runs import RUNS, Said
from tests.messages.strict import closed, command_name, event_name, reply_name, wrong

NEVER_BY_ITSELF = {"Released"}
"""Match events that the machine's own entries always stand for."""


def test_the_schema_of_all_is_one() -> None:
    """Of each alone, every part is one of its parts: the next test."""
    Draft202012Validator.check_schema(make_schema())


@pytest.mark.parametrize("name", MESSAGE_NAMES)
def test_a_schema_alone_says_the_same_as_in_the_one_of_all(name: str) -> None:
    alone, every = make_schema(name), make_schema()
    assert alone["$defs"].items() <= every["$defs"].items()
    assert {key: alone[key] for key in every["$defs"][name]} == every["$defs"][name]


def test_schemas_are_printed_in_the_same_order_by_every_process() -> None:
    command = [sys.executable, "-c", "from controller.cli import main; main()", "schema"]
    printed = {
        subprocess.run(
            command, env={**os.environ, "PYTHONHASHSEED": seed}, stdout=subprocess.PIPE, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(printed) == 1
    assert json.loads(printed.pop()) == make_schema()


@pytest.mark.parametrize("run", RUNS)
def test_every_state_fits(said: dict[str, Said], run: str) -> None:
    assert said[run].states
    for state in said[run].states:
        assert wrong("state", state) == []


@pytest.mark.parametrize("run", RUNS)
def test_every_event_fits_what_its_kind_says(said: dict[str, Said], run: str) -> None:
    assert said[run].events
    for event in said[run].events:
        assert wrong(event_name(event.kind), event) == []
    assert wrong("event", said[run].events[0]) == []


@pytest.mark.parametrize("run", RUNS)
def test_every_command_and_its_reply_fit(said: dict[str, Said], run: str) -> None:
    for command, reply in said[run].answered:
        assert wrong(command_name(command.cmd), command) == []
        name = reply_name(command.cmd) if reply.ok else "RefusedReply"
        assert wrong(name, reply) == []


def test_every_kind_of_event_was_among_them(said: dict[str, Said]) -> None:
    kinds = {event.kind for each in said.values() for event in each.events}
    assert kinds == {kind for kind, row in ENTRY_KINDS.items() if row.public}


def test_every_private_entry_holds_what_its_kind_says(said: dict[str, Said]) -> None:
    private = [entry for each in said.values() for entry in each.entries if not entry.public]
    assert {entry.kind for entry in private} == {
        kind for kind, row in ENTRY_KINDS.items() if not row.public
    }
    forms = {
        kind: Draft202012Validator(closed(msgspec.json.schema(data)))
        for kind, data in {
            **{entry.kind: ENTRY_KINDS[entry.kind].data for entry in private},
            "match_kept": MatchEvent,
        }.items()
    }
    for entry in private:
        forms[entry.kind].validate(entry.data)


def test_every_event_of_a_match_was_among_them_but_the_rarest(said: dict[str, Said]) -> None:
    happened = {
        event.data["event"]
        for each in said.values()
        for event in each.events
        if event.kind == "match"
    }
    rare = {"ExtraDealOrdered", "DealStopped"}
    assert (
        happened
        == {event.__struct_config__.tag for event in get_args(MatchEvent)} - NEVER_BY_ITSELF - rare
    )


def test_every_command_has_a_schema_and_so_has_its_reply() -> None:
    parts = make_schema()["$defs"]
    for cmd in COMMANDS:
        assert {command_name(cmd), reply_name(cmd)} <= parts.keys()


SPOILT: list[tuple[str, Any]] = [
    ("kind", "begun"),
    ("data", {"cut": 40}),
    ("data", {"cut": "40", "at_ms": 1}),
    ("data", {"cut": 40, "at_ms": 1, "faces": ["SA"]}),
    ("extra", 1),
]


@pytest.mark.parametrize(("field", "value"), SPOILT)
def test_an_event_that_is_spoilt_does_not_fit(
    said: dict[str, Said], field: str, value: Any
) -> None:
    event = next(each for each in said["practice"].events if each.kind == "cut")
    body = _body(event)
    assert wrong("event", body) == []
    assert wrong("event", {**body, field: value}) != []


def test_a_face_in_a_state_would_not_fit(said: dict[str, Said]) -> None:
    body = _body(said["a match"].states[-1])
    assert wrong("state", {**body, "hands": {"N": ["SA"]}}) != []
    assert wrong("state", {**body, "machine": {**body["machine"], "face": "SA"}}) != []


def _body(message: PublicState | PublicEvent) -> dict[str, Any]:
    body: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(message))
    return body


@pytest.mark.parametrize("run", RUNS)
def test_no_face_is_told_before_its_time(said: dict[str, Said], run: str) -> None:
    named = said[run].states[0].match.profile
    assert leaks(load_profile(named), said[run].states, said[run].events) == []


MATCHES = [
    (name, tuple(Deal(order) for order in (*4 * ["NS"], *4 * ["EW"], "NS", "NS")))
    for name in (INTL, H, N, B)
]
LEFT: dict[Seat, int] = {"N": 0, "W": 3, "S": 7, "E": 1}
MATCHES.append((BIG_TWO, 8 * (Deal(left=LEFT, opens="N", doubles="WE"),)))
EVERY = 20
"""Of the states of a whole match: two in a row hardly differ."""


@pytest.mark.slow
@pytest.mark.virtual
@pytest.mark.parametrize(("name", "deals"), MATCHES, ids=[name for name, _ in MATCHES])
async def test_a_whole_match_of_each_profile_fits(
    runtime_dir: Path, name: str, deals: tuple[Deal, ...]
) -> None:
    profile = load_profile(name)
    async with run_table_in_process(MechanicsSettings(), runtime_dir, profile=profile) as at:
        table: Any = AtTrial(at)
        sheet = await People(table, Script(profile, deals)).play()
        for state in at.states[::EVERY]:
            assert wrong("state", state) == []
        for event in at.events:
            assert wrong(event_name(event.kind), event) == []
    assert sheet["state"] == "signed"
    assert wrong("SheetReply", {"id": "1", "ok": True, "result": sheet, "error": None}) == []
