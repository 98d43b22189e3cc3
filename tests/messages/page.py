"""controller/messages.md: the prose is written by hand, the examples come from the runs."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from importlib import resources
from pathlib import Path
from typing import Any, get_args

import msgspec

from controller.commands.registry import COMMANDS, CommandSpec, list_names, usage_line
from controller.journal.entry_kinds import ENTRY_KINDS
from controller.match import match_events
from controller.match.match_events import MatchEvent, encode_match_event
from controller.messages import MachinePhase, PublicEvent, PublicState, Role
from tests.messages.runs import Said

PAGE = Path(str(resources.files("controller"))) / "messages.md"
WIDTH = 100
LONGEST = 140
"""Letters of a text that is not cut."""

_MADE: tuple[MatchEvent, ...] = (
    match_events.ExtraDealOrdered(
        at_ms=5_404_000, reason="equal levels in a knockout", by="Chen", role=Role.CHIEF
    ),
    match_events.DealStopped(at_ms=5_404_000, reason="time is up", by="Li", role=Role.REFEREE),
    match_events.HandsReleased(at_ms=20_250, turned_to="E", turned_up="SK"),
)
"""What no run has: time ends no deal there, and the machine's entries stand for a release."""

_PLACE = re.compile(r"(?ms)^<!-- example: ([a-z ]+) -->\n(?:.*?^<!-- end -->\n)?")


def page(text: str, said: Mapping[str, Said]) -> str:
    """Return a page with every example in its place as the runs have it."""
    return _PLACE.sub(lambda place: _filled(place[1], said), text)


def lasting(text: str) -> str:
    """Return a page without what changes with every other change: hashes, times, numbers."""
    text = re.sub(r'"[0-9a-f]{8,}"', '"hex"', text)
    text = re.sub(r'"[A-Za-z0-9+/…]{24,}={0,2}"', '"base64"', text)
    text = re.sub(r'"\d{4}-\d\d-\d\dT[^"]*"', '"time"', text)
    return re.sub(r'("(?:n|seq|left_s|\w*_ms)":) \d+', r"\1 0", text)


def _filled(name: str, said: Mapping[str, Said]) -> str:
    return f"<!-- example: {name} -->\n{_EXAMPLES[name](said)}\n<!-- end -->\n"


# -- the examples ---------------------------------------------------------------


def _state(said: Mapping[str, Said]) -> str:
    return _json(next(state for state in said["a match"].states if _in_the_middle(state)))


def _in_the_middle(state: PublicState) -> bool:
    match = state.match
    return match.phase == "play" and bool(match.rulings) and bool(match.order or match.outs)


def _answered(cmd: str, ok: bool, which: int) -> Callable[[Mapping[str, Said]], str]:
    """Return an example of a command (`which` = 0) or of its reply (1)."""

    def example(said: Mapping[str, Said]) -> str:
        found = (pair for pair in said["a match"].answered if pair[0].cmd == cmd)
        return _json(next(pair for pair in found if pair[1].ok is ok)[which])

    return example


def _offers(said: Mapping[str, Said]) -> str:
    """Return the answer to `offers` with a few of them: one that is open, one not, one by word."""
    found = (pair[1] for pair in said["a match"].answered if pair[0].cmd == "offers")
    reply = next(found)
    assert reply.result is not None
    some = [one for one in reply.result["offers"] if one["cmd"] in _SOME_OFFERS]
    return _json(msgspec.structs.replace(reply, result={"offers": some}))


_SOME_OFFERS = frozenset({"out", "release", "redeal"})


def _commands(said: Mapping[str, Said]) -> str:
    rows = [_row(cmd, order) for cmd, order in COMMANDS.items()]
    return "\n".join(
        ["| command | roles | deal and attempt of | phases |", "|---|---|---|---|", *rows]
    )


def _row(cmd: str, order: CommandSpec) -> str:
    who = "anybody, unsigned" if not order.signed else list_names(Role, order.roles)
    bound = "–" if order.bound_to == "none" else order.bound_to
    phases = (
        "" if order.phases == frozenset(MachinePhase) else list_names(MachinePhase, order.phases)
    )
    return f"| `{usage_line(cmd)}`: {order.help} | {who} | {bound} | {phases} |"


def _events(said: Mapping[str, Said]) -> str:
    there = {event.kind: event for event in reversed(list(_all(said)))}
    kinds = [kind for kind, row in ENTRY_KINDS.items() if row.public]
    return "\n\n".join(
        f"### `{kind}`\n\n{_words(ENTRY_KINDS[kind].data)}\n\n{_json(there[kind])}"
        for kind in kinds
    )


def _match_events(said: Mapping[str, Said]) -> str:
    there = {event["event"]: event for event in map(encode_match_event, _MADE)}
    there |= {
        event.data["event"]: event.data
        for event in reversed(list(_all(said)))
        if event.kind == "match"
    }
    return "\n\n".join(
        f"### `{tag}`\n\n{_words(kind)}\n\n{_json(there[tag])}"
        for kind in get_args(MatchEvent)
        for tag in [kind.__struct_config__.tag]
    )


def _all(said: Mapping[str, Said]) -> Iterator[PublicEvent]:
    for each in said.values():
        yield from each.events


def _words(shape: type[Any]) -> str:
    """Return what a type says of itself, as one text."""
    lines = (shape.__doc__ or "").strip().splitlines()
    return "\n".join(line.strip() for line in lines)


_EXAMPLES: Mapping[str, Callable[[Mapping[str, Said]], str]] = {
    "state": _state,
    "command": _answered("result", True, 0),
    "reply": _answered("result", True, 1),
    "refused command": _answered("claim_count", False, 0),
    "refusal": _answered("claim_count", False, 1),
    "offers": _offers,
    "foresee": _answered("foresee", True, 1),
    "lost time": _answered("lost_time", True, 1),
    "commands": _commands,
    "events": _events,
    "match events": _match_events,
}


# -- JSON for people -------------------------------------------------------------


def _json(message: Any) -> str:
    value = msgspec.json.decode(msgspec.json.encode(message))
    return f"```json\n{_laid_out(_cut(value), '')}\n```"


def _cut(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _cut(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_cut(part) for part in value]
    long = isinstance(value, str) and len(value) > LONGEST and " " not in value
    return f"{value[:24]}…" if long else value


def _laid_out(value: Any, indent: str) -> str:
    """Return JSON on one line where there is room, else a line for each of its parts."""
    line = json.dumps(value, ensure_ascii=False)
    if len(indent) + len(line) <= WIDTH or not isinstance(value, dict | list) or not value:
        return line
    deeper = indent + "  "
    if isinstance(value, dict):
        parts = [f"{json.dumps(key)}: {_laid_out(part, deeper)}" for key, part in value.items()]
        opens, closes = "{", "}"
    else:
        parts = [_laid_out(part, deeper) for part in value]
        opens, closes = "[", "]"
    body = f",\n{deeper}".join(parts)
    return f"{opens}\n{deeper}{body}\n{indent}{closes}"
