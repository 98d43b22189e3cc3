"""The commands as a page needs them: who may give each, and what its form asks for.

Made from what the table itself checks them by (controller/commands.py), so that a page knows an
argument as soon as the table does.
"""

from collections.abc import Mapping
from enum import Enum
from typing import Any, Final, Literal, get_args, get_origin, get_type_hints

import msgspec
from msgspec import inspect

from controller.commands import COMMANDS, BoundTo, CommandSpec
from controller.console.view.called import name_of
from controller.console.view.called_arguments import ARGUMENT_NAMES
from controller.match_arguments import CountsForSeats, PairDetailsBySide
from controller.messages import Role
from controller.words import COMMAND_WORDS as CALLED

ArgumentKind = Literal[
    "seat",
    "side",
    "text",
    "int",
    "bool",
    "cards",
    "counts",
    "order",
    "choice",
    "card",
    "pairs",
    "object",
]


class ArgumentView(msgspec.Struct, frozen=True, kw_only=True):
    """One argument. `min`, `max`: of a number; of a text how long it may be."""

    name: str
    kind: ArgumentKind
    required: bool
    default: Any = None
    choices: list[str] | None = None
    min: int | None = None
    max: int | None = None
    words_en: str
    words_zh: str


class CommandFormView(msgspec.Struct, frozen=True, kw_only=True):
    """One command. `label_*`: a button's words; `does_*`: a line."""

    roles: list[Role]
    signed: bool
    bound: BoundTo
    label_en: str
    label_zh: str
    does_en: str
    does_zh: str
    args: list[ArgumentView]


def command_forms() -> Mapping[str, CommandFormView]:
    """Return every command by its name."""
    return _FORMS


def _command_form(cmd: str, command: CommandSpec) -> CommandFormView:
    label, said = name_of(CALLED, cmd), get_type_hints(command.args)
    return CommandFormView(
        roles=[role for role in Role if role in command.roles],
        signed=command.signed,
        bound=command.bound_to,
        label_en=label.en,
        label_zh=label.zh,
        does_en=command.help.partition(" (")[0] if _has_chinese(command.help) else command.help,
        does_zh=label.zh,
        args=[_argument_view(field, said[field.name]) for field in _struct_fields(command.args)],
    )


def _has_chinese(text: str) -> bool:
    return any(char > "\u2fff" for char in text)


def _struct_fields(form: type[msgspec.Struct]) -> tuple[inspect.Field, ...]:
    shape = inspect.type_info(form)
    assert isinstance(shape, inspect.StructType)
    return shape.fields


def _argument_view(field: inspect.Field, annotation: Any) -> ArgumentView:
    shape, meta = _unwrapped(field.type)
    kind = _kind(shape, meta)
    words = name_of(ARGUMENT_NAMES, field.encode_name)
    default = None if field.default is msgspec.NODEFAULT else msgspec.to_builtins(field.default)
    return ArgumentView(
        name=field.encode_name,
        kind=kind,
        required=field.required,
        default=default,
        choices=_choices(annotation) if kind == "choice" else None,
        min=_limit(shape, "ge", "min_length"),
        max=_limit(shape, "le", "max_length"),
        words_en=words.en,
        words_zh=words.zh,
    )


def _choices(annotation: Any) -> list[str]:
    """Return the values of an annotation, in the order in which they are declared."""
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return [str(one.value) for one in annotation]
    if get_origin(annotation) is Literal:
        return [str(value) for value in get_args(annotation)]
    return [value for part in get_args(annotation) for value in _choices(part)]


def _unwrapped(shape: inspect.Type) -> tuple[inspect.Type, Mapping[str, Any]]:
    """Return a type without `None` and wrapping, and what its description says."""
    meta: Mapping[str, Any] = {}
    while True:
        if isinstance(shape, inspect.Metadata):
            meta = {**(shape.extra_json_schema or {}), **meta}
            shape = shape.type
        elif isinstance(shape, inspect.UnionType):
            rest = [one for one in shape.types if not isinstance(one, inspect.NoneType)]
            if len(rest) != 1:
                return shape, meta
            shape = rest[0]
        else:
            return shape, meta


def _kind(shape: inspect.Type, meta: Mapping[str, Any]) -> ArgumentKind:
    title = meta.get("title")
    if title in ("seat", "side"):
        return "seat" if title == "seat" else "side"
    if isinstance(shape, inspect.StructType):
        return _KIND_BY_STRUCT.get(shape.cls, "object")
    if isinstance(shape, inspect.LiteralType | inspect.EnumType):
        return "choice"
    if isinstance(shape, inspect.BoolType):
        return "bool"
    if isinstance(shape, inspect.IntType):
        return "int"
    if isinstance(shape, inspect.StrType):
        return "card" if "a card, as" in str(meta.get("description", "")) else "text"
    if isinstance(shape, inspect.VarTupleType):
        _, of_one = _unwrapped(shape.item_type)
        return "order" if of_one.get("title") == "seat" else "object"
    return "object"


def _limit(shape: inspect.Type, of_number: str, of_text: str) -> int | None:
    name = of_number if isinstance(shape, inspect.IntType) else of_text
    found = getattr(shape, name, None)
    return found if isinstance(found, int) else None


_KIND_BY_STRUCT: Final[Mapping[type, ArgumentKind]] = {
    CountsForSeats: "counts",
    PairDetailsBySide: "pairs",
}
_FORMS: Final = {cmd: _command_form(cmd, order) for cmd, order in COMMANDS.items()}
