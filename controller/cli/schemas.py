"""The public messages as JSON Schemas (2020-12), from the types that everything is made of.

A state is one type. An event, a command and a reply are one of many: by its `kind`, by its
`cmd`, and by the command that it answers. What the schemas do not name may still come from a
later version: whoever reads passes it over. A command alone is closed.
"""

from collections.abc import Iterator, Mapping
from functools import cache, reduce
from operator import or_
from typing import Annotated, Any, Final

import msgspec
from msgspec import UNSET, Meta, UnsetType

from controller.cli.answers import ANSWERS, Entries
from controller.commands import COMMANDS, Order, names
from controller.journal.data import KeptEvent, MatchToldData, MeetingData, TakenOverData
from controller.journal.kinds import KINDS
from controller.match.events import MatchEvent
from controller.match.meeting import Meeting
from controller.match.transfer import Move, Proof
from controller.messages import Event, Failure, Person, Phase, Role, State
from controller.rules.penalties.records import Entry

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

Key = Annotated[
    str, Meta(pattern="^[0-9a-f]{64}$", description="the signer's Ed25519 key, public, in hex")
]
Signature = Annotated[
    str, Meta(pattern="^[0-9a-f]{128}$", description="over all but key and sig, in hex")
]
Boot = Annotated[
    str,
    Meta(pattern="^[0-9a-f]+$", description="the run of the table that it is for, in hex"),
]
CommandId = Annotated[
    str,
    Meta(min_length=1, max_length=128, description="the sender's: the same one twice acts once"),
]


class LaidOutData(MeetingData, frozen=True, kw_only=True):
    """A match is laid out: who plays it where, by which rulebook, and what its pairs bring."""

    meeting: Meeting  # type: ignore[assignment]  # said as a map where nobody knows a match
    record: tuple[Entry, ...]  # type: ignore[assignment]


class Told(KeptEvent, frozen=True, kw_only=True):
    """What happened in the match at the private entry `n`."""

    event: MatchEvent  # type: ignore[assignment]


class ToldData(MatchToldData, frozen=True, kw_only=True):
    """What was kept back of the match, once it may be seen: all returns of a deal at once."""

    told: tuple[Told, ...]  # type: ignore[assignment]


class ArrivedData(TakenOverData, frozen=True, kw_only=True):
    """A match came from another table."""

    proofs: tuple[Proof, ...]  # type: ignore[assignment]
    moves: tuple[Move, ...] | UnsetType = UNSET  # type: ignore[assignment]


_OF_A_MATCH: Final[Mapping[str, Any]] = {
    "match": MatchEvent,
    "match_told": ToldData,
    "meeting": LaidOutData,
    "taken_over": ArrivedData,
}
"""Data that the journal's own types cannot say."""


class Refused(msgspec.Struct, frozen=True, kw_only=True):
    """The command was not carried out: why, and what to do."""

    id: str
    ok: bool
    result: None = None
    error: Failure


def event_types() -> dict[str, Any]:
    """Return the type of a public event by its kind."""
    return {kind: _event(kind) for kind, row in KINDS.items() if row.public}


def command_types() -> dict[str, Any]:
    """Return the type of a command by its name."""
    return {cmd: _command(cmd, order) for cmd, order in COMMANDS.items()}


def reply_types() -> dict[str, Any]:
    """Return the type of a reply by the command that it answers, where that is carried out."""
    return {cmd: _reply(cmd) for cmd in COMMANDS}


NAMES: Final = ("state", "event", "command", "reply")
"""The messages that have a schema, in the order in which they are printed."""


def document(name: str | None = None) -> dict[str, Any]:
    """Return one JSON Schema of all messages, each in `$defs` under its name, or of one of them.

    The same part has the same name in each of them.
    """
    messages, parts = _messages_and_parts()
    if name is None:
        top: dict[str, Any] = {"anyOf": [_ref(each) for each in NAMES]}
        return {"$schema": DIALECT, **top, "$defs": messages | parts}
    reached = _reached(messages[name], messages | parts)
    return {"$schema": DIALECT, **messages[name], "$defs": reached}


@cache
def _messages_and_parts() -> tuple[dict[str, Any], dict[str, Any]]:
    events = reduce(or_, event_types().values())
    commands = reduce(or_, command_types().values())
    shapes = (State, events, commands, Refused, *reply_types().values())
    tops, parts = msgspec.json.schema_components(shapes, ref_template="#/$defs/{name}")
    (state, event, command, *replies), parts = _renamed((list(tops), dict(parts)))
    for name, part in parts.items():  # what no type can say
        if name.endswith("Reply") or name == Refused.__name__:
            part["properties"]["ok"] = {"const": name != Refused.__name__}
    parts[Entries.__name__]["properties"]["events"]["items"] = _ref("event")
    del parts[Event.__name__]
    messages = {"state": state, "event": event, "command": command, "reply": {"anyOf": replies}}
    return {name: {"title": name, **top} for name, top in messages.items()}, parts


_PREFIXES: Final = {
    "controller.messages": "",
    "controller.match.events": "",
    "controller.match.meeting": "Meeting",
    "controller.sheet.form": "Sheet",
}
"""What is put before the names of a module's types where two modules have the same."""


def _renamed(schema: Any) -> Any:
    """Return a schema, or parts of one, without the names of modules in it."""
    if isinstance(schema, dict):
        return {_short(key): _renamed(value) for key, value in schema.items()}
    if isinstance(schema, list | tuple):
        return [_renamed(value) for value in schema]
    if isinstance(schema, str) and schema.startswith("#/$defs/"):
        return f"#/$defs/{_short(schema.removeprefix('#/$defs/'))}"
    return schema


def _short(name: str) -> str:
    module, dot, last = name.rpartition(".")
    return f"{_PREFIXES[module]}{last}" if dot and module.startswith("controller.") else name


def _reached(schema: Any, parts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts that a schema refers to, and those refer to, in the order of `parts`."""
    wanted: set[str] = set()
    ahead = list(_refs(schema))
    while ahead:
        name = ahead.pop()
        if name not in wanted:
            wanted.add(name)
            ahead.extend(_refs(parts[name]))
    return {name: part for name, part in parts.items() if name in wanted}


def _refs(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        if isinstance(schema.get("$ref"), str):
            yield schema["$ref"].removeprefix("#/$defs/")
        for value in schema.values():
            yield from _refs(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _refs(value)


def _ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/$defs/{name}"}


def _event(kind: str) -> Any:
    data = _OF_A_MATCH.get(kind, KINDS[kind].data)
    fields = [
        (field.name, data if field.name == "data" else field.type, *_default(field))
        for field in msgspec.structs.fields(Event)
        if field.name != "kind"
    ]
    about = KINDS[kind].data.__doc__
    return msgspec.defstruct(
        f"{_camel(kind)}Event",
        fields,
        tag_field="kind",
        tag=kind,
        kw_only=True,
        namespace={"__doc__": about},
    )


def _command(cmd: str, order: Order) -> Any:
    due = any(field.required for field in msgspec.structs.fields(order.args))
    fields: list[Any] = [
        ("id", CommandId),
        ("deal", int | None, None),
        ("attempt", int | None, None),
        ("boot", Boot) if order.signed else ("boot", Boot | None, None),
        ("person", Person | None, None),
        ("args", order.args, *(() if due else (msgspec.field(default_factory=order.args),))),
        *(
            [("key", Key), ("sig", Signature)]
            if order.signed
            else [("key", Key | None, None), ("sig", Signature | None, None)]
        ),
    ]
    return msgspec.defstruct(
        f"{_camel(cmd)}Command",
        fields,
        tag_field="cmd",
        tag=cmd,
        kw_only=True,
        forbid_unknown_fields=True,
        namespace={"__doc__": _about(order)},
    )


def _about(order: Order) -> str:
    """Say what a command does, who may give it, and when."""
    bound = {
        "none": "Deal and attempt: null.",
        "machine": "Deal and attempt: the machine's (`machine` of the state).",
        "match": "Deal and attempt: the match's (`match` of the state).",
    }[order.bound]
    return (
        f"{order.does}. Roles: {names(Role, order.roles)}. "
        f"While the machine is: {names(Phase, order.phases)}. {bound}"
    )


def _reply(cmd: str) -> Any:
    answer = ANSWERS[cmd]
    return msgspec.defstruct(
        f"{_camel(cmd)}Reply",
        [("id", str), ("ok", bool), ("result", answer), ("error", None, None)],
        kw_only=True,
        namespace={"__doc__": f"`{cmd}` was carried out."},
    )


def _default(field: msgspec.structs.FieldInfo) -> tuple[Any, ...]:
    return () if field.required else (field.default,)


def _camel(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("_"))
