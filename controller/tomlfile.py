"""TOML files read into types: what is wrong with one is a line for people.

Configuration, rulebooks and every other file that a person writes is read here.
The line names the file, the key, what stands there and what is expected.
"""

import difflib
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import msgspec
from msgspec import inspect

Shape = TypeVar("Shape")


class FileError(Exception):
    """A file cannot be read or is not what it should be; its text is one line."""


class _Misfit(Exception):
    """What is wrong inside a file that parses; the file's name is not known here."""


def read(path: Path, shape: type[Shape], error: type[FileError] = FileError) -> Shape:
    """Return the file at `path` as a `shape`; paths in it count from the file's folder.

    Raises `error` where the file is missing, is no TOML, has a key that `shape` does
    not know or lacks one it needs, or a value of another type or out of bounds.
    """
    return parse(text_of(path, error), shape, error, name=str(path), folder=path.parent)


def text_of(path: Path, error: type[FileError] = FileError) -> str:
    """Return the text of the file at `path`. Raises `error` where there is none to read."""
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise error(f"{path}: there is no such file") from None
    except UnicodeDecodeError:
        raise error(f"{path}: the file is not UTF-8 text") from None
    except OSError as failure:
        raise error(f"{path}: cannot be read: {failure.strerror}") from None


def parse(
    text: str,
    shape: type[Shape],
    error: type[FileError] = FileError,
    *,
    name: str,
    folder: Path | None = None,
) -> Shape:
    """Return TOML text as a `shape`, as `read` does; `name` stands for the file in errors."""
    return fit(tables(text, error, name=name), shape, error, name=name, folder=folder)


def tables(text: str, error: type[FileError] = FileError, *, name: str) -> dict[str, Any]:
    """Return TOML text as plain tables. Raises `error`; `name` stands for the file."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as mistake:
        raise error(f"{name}: {mistake}") from None


def fit(
    raw: dict[str, Any],
    shape: type[Shape],
    error: type[FileError] = FileError,
    *,
    name: str,
    folder: Path | None = None,
) -> Shape:
    """Return plain tables as a `shape`, as `read` does; `name` stands for their file."""
    try:
        return _convert(raw, shape, (folder or Path()).resolve())
    except _Misfit as misfit:
        raise error(f"{name}: {misfit}") from None


def _convert(raw: dict[str, Any], shape: type[Shape], folder: Path) -> Shape:
    def place(kind: type, value: object) -> Path:
        if kind is Path and isinstance(value, str) and value:
            return folder / value
        raise ValueError("not a path")

    try:
        return msgspec.convert(raw, shape, dec_hook=place)
    except msgspec.ValidationError as mistake:
        _explain(str(mistake), raw, inspect.type_info(shape))


_KEY = re.compile(r"[^.\[\]]+|\[\d+\]")
_UNKNOWN = re.compile(r"Object contains unknown field `(.*)`")
_MISSING = re.compile(r"Object missing required field `(.*)`")
_MSGSPEC = re.compile(r"Expected|Invalid|Object|not a path")


def _explain(mistake: str, raw: dict[str, Any], shape: inspect.Type) -> NoReturn:
    """Say msgspec's mistake in the words of the file: its key, its value, what is expected."""
    what, _, where = mistake.partition(" - at `$")
    keys = _KEY.findall(where.rstrip("`"))
    if unknown := _UNKNOWN.match(what):
        key = unknown[1]
        raise _Misfit(f"{_dotted([*keys, key])}: unknown key{_advice(key, _type_at(shape, keys))}")
    if missing := _MISSING.match(what):
        keys = [*keys, missing[1]]
        raise _Misfit(f"{_dotted(keys)}: missing, expected {_expected(_type_at(shape, keys))}")
    if not _MSGSPEC.match(what):  # a type's own check: it names the key within its table
        raise _Misfit(_dotted([*keys, what]))
    value = _shown(_value_at(raw, keys))
    raise _Misfit(f"{_dotted(keys)} = {value}: expected {_expected(_type_at(shape, keys))}")


def _dotted(keys: Sequence[str]) -> str:
    return ".".join(keys).replace(".[", "[")


def _advice(key: str, table: inspect.Type) -> str:
    known = _fields(table)
    close = difflib.get_close_matches(key, known, n=1)
    return f', did you mean "{close[0]}"?' if close else f", expected one of {', '.join(known)}"


def _fields(table: inspect.Type) -> dict[str, inspect.Type]:
    if isinstance(table, inspect.StructType):
        return {field.encode_name: field.type for field in table.fields}
    return {}


def _type_at(shape: inspect.Type, keys: Sequence[str]) -> inspect.Type:
    for key in keys:
        shape = _bare(shape)
        if isinstance(shape, (inspect.ListType, inspect.VarTupleType)):
            shape = shape.item_type
        elif isinstance(shape, inspect.DictType):
            shape = shape.value_type
        else:
            shape = _fields(shape).get(key, inspect.AnyType())
    return shape if isinstance(shape, inspect.Metadata) else _bare(shape)


def _bare(shape: inspect.Type) -> inspect.Type:
    """The type itself, without its description and without "or nothing"."""
    if isinstance(shape, inspect.Metadata):
        return _bare(shape.type)
    if isinstance(shape, inspect.UnionType):
        return _bare(next(t for t in shape.types if not isinstance(t, inspect.NoneType)))
    return shape


def _value_at(raw: Any, keys: Sequence[str]) -> Any:
    for key in keys:
        raw = raw[int(key.strip("[]"))] if key.startswith("[") else raw[key]
    return raw


def _shown(value: object) -> str:
    text = f'"{value}"' if isinstance(value, str) else str(value)
    text = {"True": "true", "False": "false"}.get(text, text)
    return text if len(text) <= 60 else text[:57] + "..."


def _expected(shape: inspect.Type) -> str:
    """Say in words what a type takes; a description in its Meta comes before everything."""
    if isinstance(shape, inspect.Metadata):
        described = (shape.extra_json_schema or {}).get("description")
        return str(described) if described else _expected(shape.type)
    shape = _bare(shape)
    if isinstance(shape, inspect.LiteralType):
        return "one of " + ", ".join(_shown(value) for value in shape.values)
    if isinstance(shape, (inspect.IntType, inspect.FloatType)):
        noun = "a whole number" if isinstance(shape, inspect.IntType) else "a number"
        return noun + _bounds(shape)
    for kind, words in _WORDS.items():
        if isinstance(shape, kind):
            return words
    return "a value"


_WORDS: dict[type[inspect.Type], str] = {
    inspect.BoolType: "true or false",
    inspect.StrType: "text",
    inspect.CustomType: "a path",
    inspect.StructType: "a table",
    inspect.DictType: "a table",
    inspect.ListType: "a list",
    inspect.VarTupleType: "a list",
}


def _bounds(number: inspect.IntType | inspect.FloatType) -> str:
    least, most = number.ge, number.le
    if least is not None and most is not None:
        return f" from {least} to {most}"
    if least is not None:
        return f", {least} or more"
    return f", above {number.gt}" if number.gt is not None else ""
