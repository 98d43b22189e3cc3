"""deploy/CONFIGURATION.md, made from the types that the files are read into.

What a key takes and what it is without being said come from its type; what it means stands in
configuration.toml beside this file, by file, type and key; for the rules of an event, by key.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path, PurePath
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import inspect

from controller.cli.adapter_files import BarcodeFile
from controller.config import SimConfig, TableConfig
from controller.console.console_config import ConsoleConfig
from controller.host.printable_text import toml_text
from controller.host.toml_files import expected_words, inner_type
from controller.rules import key_text as rule_keys
from controller.rules.profile import Profile
from controller.rules.profile_files import load_profile, profile_names

ROOT: Final = Path(__file__).parents[2]
PAGE: Final = ROOT / "deploy" / "CONFIGURATION.md"
_MEANINGS: Final = Path(__file__).with_name("configuration.toml")

SHAPES: Final[Mapping[str, type[msgspec.Struct]]] = {
    "table.toml": TableConfig,
    "sim.toml": SimConfig,
    "console.toml": ConsoleConfig,
    "barcode.toml": BarcodeFile,
}
"""The files whose keys are all in one type each; an event's are a rulebook's."""
ANY: Final = "NAME"
"""What stands in a dotted name where a person gives a name of his own."""
WHOLE_FILE: Final = "the file itself"
"""The heading of the keys that are outside all sections."""
_EVENT: Final = ("profile", "title_en", "title_zh", "organizer")


class Part(NamedTuple):
    """One type of a file: the tables that are such, and its keys."""

    shape: inspect.StructType
    places: tuple[str, ...]

    @property
    def name(self) -> str:
        """The name of the type."""
        return self.shape.cls.__name__

    @property
    def values(self) -> list[inspect.Field]:
        """The keys that hold a value, and no table of their own."""
        return [field for field in self.shape.fields if not _tables_in(field)]


def parts(file: str) -> list[Part]:
    """Return every type of a file in the order in which its keys stand there."""
    found: dict[type, list[str]] = {}
    shapes: dict[type, inspect.StructType] = {}
    for place, shape in _tables(inspect.type_info(SHAPES[file]), ""):
        found.setdefault(shape.cls, []).append(place)
        shapes[shape.cls] = shape
    return [Part(shapes[cls], tuple(places)) for cls, places in found.items()]


def meanings() -> Mapping[str, Any]:
    """Return what is said of each key, by file, type and key."""
    return tomllib.loads(_MEANINGS.read_text("utf-8"))


def page() -> str:
    """Return the whole page."""
    blocks = [meanings()["head"].strip()]
    for file, shape in SHAPES.items():
        about = (shape.__doc__ or "").strip().splitlines()[0]
        said = meanings()[file]
        blocks.append(f"## `{file}`\n\n{said.get('about', about)}")
        blocks += [_part(file, part) for part in parts(file) if part.values]
    blocks.append(_event())
    return "\n\n".join(blocks) + "\n"


def _part(file: str, part: Part) -> str:
    said = meanings()[file].get(part.name, {})
    heads = ", ".join(f"`{place}`" for place in part.places if place)
    about = meanings()[file].get(part.places[0] or WHOLE_FILE) or _prose(part.shape.cls)
    rows = [
        f"| `{field.encode_name}` | {_takes(field)} | {_default(field)} "
        f"| {_cell(said.get(field.encode_name, ''))} |"
        for field in part.values
    ]
    table = ["| key | takes | default | meaning |", "|---|---|---|---|", *rows]
    return f"### {heads or WHOLE_FILE}\n\n{about}\n\n" + "\n".join(table)


def _event() -> str:
    """Say what an event's file may settle: any rule of its rulebook."""
    rows = []
    types = _rule_types()
    rules = meanings()["event.toml"]["rules"]
    for key, words in rule_keys.all_keys().items():
        rows.append(
            f"| `{key}` | {_cell(words.label.en)} | {_cell(types.get(key, 'a value'))} "
            f"| {_cell(rules[key])} |"
        )
    needed = "\n".join(
        f"| `{key}` | text | needed | {_cell(meanings()['event.toml'][key])} |" for key in _EVENT
    )
    return (
        f"## `event.toml`\n\n{meanings()['event.toml']['about']}\n\n"
        f"| key | takes | default | meaning |\n|---|---|---|---|\n{needed}\n\n"
        "This file can decide the following rules. If a rule is not in the file, the profile\n"
        "decides it. The column *what* has the name that `dealtable rules` prints.\n\n"
        "| key | what | takes | meaning |\n|---|---|---|---|\n" + "\n".join(rows)
    )


@cache
def _rule_types() -> dict[str, str]:
    """Say what each rule of any profile takes, by its dotted key."""
    found: dict[str, str] = {}
    for name in profile_names():
        profile: Profile = load_profile(name)
        for key, shape in _leaves(inspect.type_info(type(profile)), ""):
            found.setdefault(key, expected_words(shape).en)
    return found


def _leaves(shape: inspect.Type, above: str) -> Iterator[tuple[str, inspect.Type]]:
    held = inner_type(shape)
    if isinstance(held, inspect.StructType) and not held.array_like:
        for field in held.fields:
            yield from _leaves(field.type, f"{above}.{field.encode_name}".lstrip("."))
    else:
        yield above, shape


def _tables(shape: inspect.Type, above: str) -> Iterator[tuple[str, inspect.StructType]]:
    """Yield every table with its heading, a table of a person's own name as NAME."""
    held = inner_type(shape)
    if not isinstance(held, inspect.StructType):
        return
    yield (f"[{above}]" if above and not above.endswith("]]") else above), held
    for field in held.fields:
        inner, many = _table_of(field.type)
        if inner is None:
            continue
        name = f"{_bare_name(above)}.{field.encode_name}".lstrip(".")
        below = {"": name, "dict": f"{name}.{ANY}", "list": f"[[{name}]]"}[many]
        yield from _tables(inner, below)


def _bare_name(above: str) -> str:
    return above.strip("[]")


def _table_of(shape: inspect.Type) -> tuple[inspect.StructType | None, str]:
    """Return the type of a table, or of each of many; None for what holds a value."""
    held = inner_type(shape)
    if isinstance(held, inspect.StructType):
        return held, ""
    if isinstance(held, inspect.DictType):
        inner = inner_type(held.value_type)
        return (inner, "dict") if isinstance(inner, inspect.StructType) else (None, "")
    if isinstance(held, inspect.VarTupleType | inspect.ListType):
        inner = inner_type(held.item_type)
        return (inner, "list") if isinstance(inner, inspect.StructType) else (None, "")
    return None, ""


def _tables_in(field: inspect.Field) -> bool:
    return _table_of(field.type)[0] is not None


def _takes(field: inspect.Field) -> str:
    return _cell(takes(field.type))


def takes(shape: inspect.Type) -> str:
    """Say in words what a key takes: one of several types, and how long a list may be."""
    if isinstance(shape, inspect.UnionType):
        kinds = [one for one in shape.types if not isinstance(one, inspect.NoneType)]
        return ", or ".join(map(takes, kinds))
    if isinstance(shape, inspect.VarTupleType):
        least, most = shape.min_length or 0, shape.max_length
        count = f"{least} " if least == most else f"{least} to {most} " if most else ""
        return f"a list of {count}values, each {expected_words(shape.item_type).en}"
    return expected_words(shape).en


def _default(field: inspect.Field) -> str:
    if field.required:
        return "needed"
    value = field.default
    if value is msgspec.NODEFAULT:
        value = field.default_factory() if callable(field.default_factory) else None
    if value is None or value == Path():
        return "—"
    return f"`{_toml(value)}`"


def _toml(value: Any) -> str:
    if isinstance(value, PurePath):
        return toml_text(str(value))
    return toml_text(list(value) if isinstance(value, tuple) else value)


def _prose(shape: type) -> str:
    """Return the docstring of a type, without the spaces before its lines."""
    lines = [line.strip() for line in (shape.__doc__ or "").strip().splitlines()]
    return "\n".join(lines)


def _cell(text: str) -> str:
    return re.sub(r"\s+", " ", text).replace("|", "\\|").strip()
