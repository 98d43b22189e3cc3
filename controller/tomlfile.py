"""TOML files read into types: what is wrong with one is a line for people.

Configuration, rulebooks and every other file that a person writes is read here.
The line names the file, the key, what stands there and what is expected.
"""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import inspect

from controller.tomlwords import (
    MAX_SHOWN_CHARACTERS,
    escape_unprintable,
    explain_error,
    is_printable,
    shorten,
    toml_text,
)

Shape = TypeVar("Shape")


_MAX_TABLE_DEPTH = 32
"""Tables and lists within each other; no file of a person has so many."""


class FileError(Exception):
    """A file cannot be read or is not what it should be; its text is one line."""

    def __init__(self, text: str) -> None:
        """Keep the text, with what cannot be printed written as in a TOML file."""
        super().__init__(escape_unprintable(text))


class _BadValue(Exception):
    """What is wrong inside a file that parses; the file's name is not known here."""


def read(path: Path, shape: type[Shape], error: type[FileError] = FileError) -> Shape:
    """Return the file at `path` as a `shape`; paths in it count from the file's folder.

    Raises `error` where the file is missing, is no TOML, has a key that `shape` does
    not know or lacks one it needs, or a value of another type or out of bounds.
    """
    return parse(read_text(path, error), shape, error, name=str(path), folder=path.parent)


def read_text(path: Path, error: type[FileError] = FileError) -> str:
    """Return the text of the file at `path`, without a byte order mark (some editors' habit).

    Raises `error` where there is none to read.
    """
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise error(f"{path}: there is no such file") from None
    except UnicodeDecodeError:
        raise error(f"{path}: the file is not UTF-8 text") from None
    except ValueError:  # a NUL, or bytes that were no text on the command line
        raise error(f"{path}: this cannot be the name of a file") from None
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
    return convert_tables(
        parse_tables(text, error, name=name), shape, error, name=name, folder=folder
    )


def parse_tables(text: str, error: type[FileError] = FileError, *, name: str) -> dict[str, Any]:
    """Return TOML text as plain tables. Raises `error`; `name` stands for the file."""
    try:
        raw = tomllib.loads(text)
        for where, value in _walk_values(raw):
            if isinstance(value, int) and value.bit_length() > 63:
                raise _BadValue(f"{where}: expected a number of at most 18 digits")
    except _BadValue as misfit:
        raise error(f"{name}: {misfit}") from None
    except tomllib.TOMLDecodeError as mistake:
        raise error(f"{name}: {shorten(str(mistake), 3 * MAX_SHOWN_CHARACTERS)}") from None
    except ValueError:  # Python reads no more than some thousand digits
        raise error(f"{name}: expected numbers of at most 18 digits") from None
    except RecursionError:
        raise error(f"{name}: {_too_deep_text()}") from None
    return raw


def refuse_unprintable_text(
    raw: dict[str, Any], error: type[FileError] = FileError, *, name: str
) -> None:
    """Raise `error` for text that is not one line, or that holds what no page can print.

    `raw` are the plain tables of the file that `name` stands for.
    """
    for where, value in _walk_values(raw):
        if isinstance(value, str) and not all(map(is_printable, value)):
            raise error(
                f"{name}: {where} = {toml_text(value)}: expected one line of printable text"
            )


def convert_tables(
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
    except _BadValue as misfit:
        raise error(f"{name}: {shorten(str(misfit), 6 * MAX_SHOWN_CHARACTERS)}") from None


def _walk_values(raw: dict[str, Any]) -> Iterator[tuple[str, object]]:
    """Yield every value with its dotted key. Raises _Misfit for a pit of tables."""
    due: list[tuple[str, object, int]] = [("", raw, 0)]
    while due:
        where, value, depth = due.pop()
        if depth > _MAX_TABLE_DEPTH:
            raise _BadValue(_too_deep_text())
        if isinstance(value, dict):
            due += [
                (f"{where}.{shorten(key)}" if where else shorten(key), held, depth + 1)
                for key, held in reversed(value.items())
            ]
        elif isinstance(value, list):
            numbered = reversed(list(enumerate(value)))
            due += [(f"{where}[{n}]", held, depth + 1) for n, held in numbered]
        else:
            yield where, value


def _too_deep_text() -> str:
    return f"expected at most {_MAX_TABLE_DEPTH} tables and lists within each other"


def _convert(raw: dict[str, Any], shape: type[Shape], folder: Path) -> Shape:
    def place(kind: type, value: object) -> Path:
        if kind is Path and isinstance(value, str) and value:
            return folder / value
        raise ValueError("not a path")

    try:
        return msgspec.convert(raw, shape, dec_hook=place)
    except msgspec.ValidationError as mistake:
        raise _BadValue(explain_error(mistake, raw, inspect.type_info(shape)).text) from None
