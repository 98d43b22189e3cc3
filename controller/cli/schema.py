"""The public messages as JSON Schemas (2020-12), generated from their Python types.

A state has one type. An event has a type for each `kind`, a command for each `cmd`, and a reply for
each command that it answers. A later version may send fields that the schemas do not contain;
readers must ignore them. Only a command must have no other fields.
"""

import json
from collections.abc import Iterator, Mapping
from functools import cache, reduce
from operator import or_
from typing import Annotated, Any, Final

import click
import msgspec
from msgspec import UNSET, Meta, UnsetType

from controller.cli.command_answers import ANSWER_TYPES, EventsAnswer
from controller.commands.registry import COMMANDS, CommandSpec, list_names
from controller.journal.entry_kinds import (
    ENTRY_KINDS,
    KeptEvent,
    MatchToldData,
    MeetingData,
    TakenOverData,
)
from controller.match.match_events import MatchEvent
from controller.match.match_state import Meeting
from controller.match.transfer_document import TableMove, TransferProof
from controller.messages import Failure, MachinePhase, PersonName, PublicEvent, PublicState, Role
from controller.rules.penalties.penalty_record import PenaltyEntry

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

Key = Annotated[
    str, Meta(pattern="^[0-9a-f]{64}$", description="the signer's Ed25519 key, public, in hex")
]
Signature = Annotated[
    str, Meta(pattern="^[0-9a-f]{128}$", description="over all but key and sig, in hex")
]
Boot = Annotated[
    str, Meta(pattern="^[0-9a-f]+$", description="the run of the table that it is for, in hex")
]
CommandId = Annotated[
    str,
    Meta(min_length=1, max_length=128, description="the sender's: the same one twice acts once"),
]


class MeetingDataSchema(MeetingData, frozen=True, kw_only=True):
    """A new match: its players, table and rulebook, and the earlier penalties of its pairs."""

    meeting: Meeting  # type: ignore[assignment]  # a plain map in the base type, which has no match types
    record: tuple[PenaltyEntry, ...]  # type: ignore[assignment]


class KeptEventSchema(KeptEvent, frozen=True, kw_only=True):
    """A match event that was secret at first. `n` is the number of its private journal entry."""

    event: MatchEvent  # type: ignore[assignment]


class MatchToldDataSchema(MatchToldData, frozen=True, kw_only=True):
    """Match events that were secret until now, for example the cards that were given back.

    `told` is the list of these events.
    """

    told: tuple[KeptEventSchema, ...]  # type: ignore[assignment]


class TakenOverDataSchema(TakenOverData, frozen=True, kw_only=True):
    """A match that this table accepted from another table."""

    proofs: tuple[TransferProof, ...]  # type: ignore[assignment]
    moves: tuple[TableMove, ...] | UnsetType = UNSET  # type: ignore[assignment]


_MATCH_DATA_TYPES: Final[Mapping[str, Any]] = {
    "match": MatchEvent,
    "match_told": MatchToldDataSchema,
    "meeting": MeetingDataSchema,
    "taken_over": TakenOverDataSchema,
}
"""Entry data that the journal's own types do not describe."""


class RefusedReply(msgspec.Struct, frozen=True, kw_only=True):
    """A refusal of a command, with the reason and the action to take."""

    id: str
    ok: bool
    result: None = None
    error: Failure


def event_types() -> dict[str, Any]:
    """Return the type of each public event by its kind."""
    return {kind: _make_event_type(kind) for kind, row in ENTRY_KINDS.items() if row.public}


def command_types() -> dict[str, Any]:
    """Return the type of each command by its name."""
    return {cmd: _make_command_type(cmd, order) for cmd, order in COMMANDS.items()}


def reply_types() -> dict[str, Any]:
    """Return the type of the successful reply to each command, by the command's name."""
    return {
        cmd: msgspec.defstruct(
            f"{_camel_case(cmd)}Reply",
            [("id", str), ("ok", bool), ("result", ANSWER_TYPES[cmd]), ("error", None, None)],
            kw_only=True,
            namespace={"__doc__": f"`{cmd}` was carried out."},
        )
        for cmd in COMMANDS
    }


MESSAGE_NAMES: Final = ("state", "event", "command", "reply")
"""The messages that have a schema, in the order of printing."""


def make_schema(name: str | None = None) -> dict[str, Any]:
    """Return the JSON Schema of the message `name`, or of all messages if `name` is None.

    The schema of all messages has the schema of each message in `$defs`, under the name of the
    message. A type has the same name in every schema.
    """
    messages, parts = _build_definitions()
    if name is None:
        top: dict[str, Any] = {"anyOf": [{"$ref": f"#/$defs/{each}"} for each in MESSAGE_NAMES]}
        return {"$schema": DIALECT, **top, "$defs": messages | parts}
    reached = _reachable_parts(messages[name], messages | parts)
    return {"$schema": DIALECT, **messages[name], "$defs": reached}


@cache
def _build_definitions() -> tuple[dict[str, Any], dict[str, Any]]:
    events = reduce(or_, event_types().values())
    commands = reduce(or_, command_types().values())
    shapes = (PublicState, events, commands, RefusedReply, *reply_types().values())
    tops, parts = msgspec.json.schema_components(shapes, ref_template="#/$defs/{name}")
    (state, event, command, *replies), parts = _without_module_names((list(tops), dict(parts)))
    for name, part in parts.items():  # constraints that a type cannot express
        if name.endswith("Reply") or name == RefusedReply.__name__:
            part["properties"]["ok"] = {"const": name != RefusedReply.__name__}
    parts[EventsAnswer.__name__]["properties"]["events"]["items"] = {"$ref": "#/$defs/event"}
    del parts[PublicEvent.__name__]
    messages = {"state": state, "event": event, "command": command, "reply": {"anyOf": replies}}
    return {name: {"title": name, **top} for name, top in messages.items()}, parts


_MODULE_PREFIXES: Final = {
    "controller.messages": "",
    "controller.match.match_events": "",
    "controller.match.match_state": "Meeting",
    "controller.sheet.form": "Sheet",
}
"""Prefixes for the type names of modules, if two modules have a type of the same name."""


def _without_module_names(schema: Any) -> Any:
    """Return a copy of `schema` in which no type name begins with the name of its Python module."""
    if isinstance(schema, dict):
        return {_public_name(key): _without_module_names(value) for key, value in schema.items()}
    if isinstance(schema, list | tuple):
        return [_without_module_names(value) for value in schema]
    if isinstance(schema, str) and schema.startswith("#/$defs/"):
        return f"#/$defs/{_public_name(schema.removeprefix('#/$defs/'))}"
    return schema


def _public_name(name: str) -> str:
    module, dot, last = name.rpartition(".")
    return f"{_MODULE_PREFIXES[module]}{last}" if dot and module.startswith("controller.") else name


def _reachable_parts(schema: Any, parts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the definitions in `parts` to which `schema` refers, also via other definitions."""
    wanted: set[str] = set()
    ahead = list(_find_references(schema))
    while ahead:
        name = ahead.pop()
        if name not in wanted:
            wanted.add(name)
            ahead.extend(_find_references(parts[name]))
    return {name: part for name, part in parts.items() if name in wanted}


def _find_references(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        if isinstance(schema.get("$ref"), str):
            yield schema["$ref"].removeprefix("#/$defs/")
        for value in schema.values():
            yield from _find_references(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _find_references(value)


def _make_event_type(kind: str) -> Any:
    data = _MATCH_DATA_TYPES.get(kind, ENTRY_KINDS[kind].data)
    fields = [
        (
            field.name,
            data if field.name == "data" else field.type,
            *(() if field.required else (field.default,)),
        )
        for field in msgspec.structs.fields(PublicEvent)
        if field.name != "kind"
    ]
    return msgspec.defstruct(
        f"{_camel_case(kind)}Event",
        fields,
        tag_field="kind",
        tag=kind,
        kw_only=True,
        namespace={"__doc__": ENTRY_KINDS[kind].data.__doc__},
    )


def _make_command_type(cmd: str, order: CommandSpec) -> Any:
    def signed_field(name: str, kind: Any) -> tuple[Any, ...]:
        return (name, kind) if order.signed else (name, kind | None, None)

    due = any(field.required for field in msgspec.structs.fields(order.args))
    fields: list[Any] = [
        ("id", CommandId),
        ("deal", int | None, None),
        ("attempt", int | None, None),
        signed_field("boot", Boot),
        ("person", PersonName | None, None),
        ("args", order.args, *(() if due else (msgspec.field(default_factory=order.args),))),
        signed_field("key", Key),
        signed_field("sig", Signature),
    ]
    return msgspec.defstruct(
        f"{_camel_case(cmd)}Command",
        fields,
        tag_field="cmd",
        tag=cmd,
        kw_only=True,
        forbid_unknown_fields=True,
        namespace={"__doc__": _describe_command(order)},
    )


def _describe_command(order: CommandSpec) -> str:
    """Return a text about a command: what it does, and in which roles and phases it is possible."""
    bound = {
        "none": "Deal and attempt: null.",
        "machine": "Deal and attempt: the machine's (`machine` of the state).",
        "match": "Deal and attempt: the match's (`match` of the state).",
    }[order.bound_to]
    return (
        f"{order.help}. Roles: {list_names(Role, order.roles)}. "
        f"While the machine is: {list_names(MachinePhase, order.phases)}. {bound}"
    )


def _camel_case(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("_"))


EPILOG = """\b
Examples:
  dealtable schema > dealtable.schema.json
  dealtable schema event > event.schema.json
"""


@click.command(epilog=EPILOG)
@click.argument("name", required=False, type=click.Choice(MESSAGE_NAMES))
def command(name: str | None) -> None:
    """Print the JSON Schema of the message NAME, or without NAME one schema of all messages.

    \b
    state    topic state/TABLE of the feed: the whole public state of a table
    event    topic event/TABLE: an entry of its journal; `kind` gives the type of `data`,
             and in a match's entries `event` gives the event of the match
    command  sent by a client; `cmd` gives the type of `args`, the roles and the phases
    reply    the answer: $defs has a type for each command, and RefusedReply

    Without NAME, $defs has the schema of each message under the message's name.
    JSON Schema 2020-12. Later versions may add fields: ignore fields that you do not know.
    controller/messages.md has an example of every message.
    """
    click.echo(json.dumps(make_schema(name), indent=2, ensure_ascii=False))
