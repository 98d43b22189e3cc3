"""Help texts of `dealtable send`: a list of all commands, and a page about one command."""

import difflib
import shlex
from typing import Any, Final

import click
import msgspec
from msgspec import inspect

from controller.commands.registry import COMMANDS, CommandSpec, list_names, usage_line
from controller.commands.ruling_arguments import ConfirmVerbalArgs
from controller.faults import Language
from controller.host.printable_text import shorten
from controller.host.toml_files import expected_words
from controller.messages import MachinePhase, Role
from controller.rules.penalties.offences import offence_catalogue
from controller.words import Words

GROUPS: Final = {
    "Reading, by anybody": frozenset(Role),
    "The table, and referees": frozenset({Role.TABLE, Role.REFEREE, Role.CHIEF}),
    "Referees": frozenset({Role.REFEREE, Role.CHIEF}),
    "The chief referee": frozenset({Role.CHIEF}),
    "A technician": frozenset({Role.TECHNICIAN}),
}
"""The commands of a table, by the roles that may give them."""


def format_command_list() -> str:
    """Return the list of all commands with arguments and effects, for the end of a help text."""
    lines = []
    for title, roles in GROUPS.items():
        lines += ["\b", f"{title}:"]
        lines += [
            f"  {shorten(usage_line(cmd), _USAGE_WIDTH):<{_USAGE_WIDTH}}  {order.help}"
            for cmd, order in COMMANDS.items()
            if order.roles == roles
        ]
        lines.append("")
    return "\n".join(lines)


def describe_command(cmd: str, language: Language = "en") -> str:
    """Return the help text of the command `cmd`, with an example. Raises click.UsageError.

    Offences are listed by their ids, with their names in `language`.
    """
    if (order := COMMANDS.get(cmd)) is None:
        raise click.UsageError(getattr(describe_unknown_command(cmd), language))
    phases = "any; the match has phases of its own" if order.bound_to == "match" else "any"
    if order.phases != frozenset(MachinePhase):
        phases = f"of the machine: {list_names(MachinePhase, order.phases)}"
    lines = [f"{usage_line(cmd)}: {order.help}", ""]
    lines += [f"  {line.strip()}" for line in (order.args.__doc__ or "").strip().splitlines()]
    lines += ["", *_format_arguments(order)] if msgspec.structs.fields(order.args) else []
    lines += [
        "",
        f"Roles:   {list_names(Role, order.roles)}",
        f"Phases:  {phases}",
        f"About:   {_BOUND_TEXTS[order.bound_to]}",
        f"Example: {format_example(cmd)}",
    ]
    if OFFENCE_ARGUMENT in order.args.__struct_fields__:
        lines += ["", getattr(_OFFENCES_HEADING, language)]
        lines += [f"  {row.id:<28}{getattr(row, language)}" for row in offence_catalogue().values()]
    return "\n".join(lines)


def describe_unknown_command(cmd: str) -> Words:
    """Return the error text for the unknown command `cmd`, with a similar name if there is one."""
    if close := difflib.get_close_matches(cmd, COMMANDS, n=1):
        return Words(
            f"there is no command {cmd}, did you mean {close[0]}?",
            f"没有命令 {cmd}，是否为 {close[0]}？",
        )
    return Words(
        f"there is no command {cmd}, --help lists them", f"没有命令 {cmd}：--help 列出全部命令"
    )


def format_example(cmd: str) -> str:
    """Return an example command line that sends `cmd` with its required arguments and a key."""
    order = COMMANDS[cmd]
    words = [
        f"{name}={shlex.quote(value if isinstance(value, str) else _json(value))}"
        for name, value in _example_arguments(order.args).items()
    ]
    role = next(role for role in _EXAMPLE_ROLES if role in order.roles)
    key = ["--as", role.value] if order.signed else []
    return " ".join(["dealtable send", cmd, *words, *key, "--state-dir state"])


def argument_fields(args: Any) -> tuple[inspect.Field, ...]:
    """Return the fields of `args`, the type of a command's arguments."""
    shape = inspect.type_info(args)
    assert isinstance(shape, inspect.StructType)  # always true for argument types
    return shape.fields


def _format_arguments(order: CommandSpec) -> list[str]:
    lines = []
    for field in argument_fields(order.args):
        default = "" if field.required else f" (else {_json(field.default)})"
        if not field.required and field.default is None:
            default = " (may be left out)"
        lines.append(f"  {field.name:<20}{expected_words(field.type).en}{default}")
    return lines


def _example_arguments(args: Any) -> dict[str, Any]:
    """Return an example value for each required argument, from the schema of its type."""
    fields = argument_fields(args)
    due = {field.name: _example_value(field.type) for field in fields if field.required}
    if args is ConfirmVerbalArgs:
        return {"ruling": "R1"}
    return due | ({"seat": "N"} if "offence" in due and "side" not in due else {})


def _example_value(shape: inspect.Type) -> Any:
    if isinstance(shape, inspect.Metadata):
        return (shape.extra_json_schema or {})["examples"][0]
    return shape.values[0] if isinstance(shape, inspect.LiteralType) else True


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


OFFENCE_ARGUMENT: Final = "offence"
"""The argument that names an offence by its id."""

_OFFENCES_HEADING: Final = Words("Offences:", "违例事项：")

_USAGE_WIDTH: Final = 30
"""Width of a command with its arguments in the list. --about shows all arguments."""

_EXAMPLE_ROLES: Final = (Role.TABLE, Role.REFEREE, Role.CHIEF, Role.TECHNICIAN, Role.OBSERVER)

_BOUND_TEXTS: Final = {
    "none": "no deal of its own",
    "machine": "the deal and attempt that the machine has under way",
    "match": "the deal and attempt that the match is at",
}
"""The deal and attempt that a command must name, so that it cannot act on another. `send` asks the
table for them.
"""
