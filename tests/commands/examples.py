"""Arguments of commands, made from the examples of their schemas."""

from typing import Any

import msgspec

from controller.commands.registry import COMMANDS


def example(cmd: str) -> dict[str, Any]:
    """Return the required arguments of a command, each with the example of its schema."""
    raw: dict[str, Any] = {}
    schema = msgspec.json.schema(COMMANDS[cmd].args)
    top = schema["$defs"][schema["$ref"].rpartition("/")[2]]
    for name in top["required"]:
        field = top["properties"][name]
        raw[name] = field["examples"][0] if "examples" in field else _first(field)
    return dict(msgspec.json.decode(msgspec.json.encode(raw)))  # a copy


def _first(field: dict[str, Any]) -> Any:
    if "enum" in field:
        return field["enum"][0]
    return {"boolean": True}[field["type"]]
