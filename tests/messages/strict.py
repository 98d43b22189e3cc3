"""The schemas that we print, closed: what they do not name is wrong here, not merely new."""

from functools import cache
from typing import Any

import msgspec
from jsonschema import Draft202012Validator

from controller.cli.schema import make_schema


def wrong(name: str, message: Any) -> list[str]:
    """Return what of a message does not fit the schema of that name in `$defs`, in words."""
    body = msgspec.json.decode(msgspec.json.encode(message))
    return [
        f"{error.json_path}: {error.message[:200]}" for error in _validator(name).iter_errors(body)
    ]


def event_name(kind: str) -> str:
    """Return what the schema of a kind of event is called."""
    return f"{_camel(kind)}Event"


def command_name(cmd: str) -> str:
    """Return what the schema of a command is called."""
    return f"{_camel(cmd)}Command"


def reply_name(cmd: str) -> str:
    """Return what the schema of the answer to a command is called, where it is carried out."""
    return f"{_camel(cmd)}Reply"


def _camel(name: str) -> str:
    return name.title().replace("_", "")


@cache
def _validator(name: str) -> Draft202012Validator:
    return Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": _parts()})


@cache
def _parts() -> Any:
    return closed(make_schema()["$defs"])


def closed(schema: Any) -> Any:
    """Return a schema in which an object has no field but those that it names."""
    if isinstance(schema, list):
        return [closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    shut = {name: closed(part) for name, part in schema.items()}
    if shut.get("type") == "object" and "properties" in shut:
        shut.setdefault("additionalProperties", False)
    return shut
