"""Functions that read TOML files and convert their values to types.

An error names the key, the value found and the value expected.
"""

import difflib
import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import inspect

from controller.host.printable_text import (
    MAX_SHOWN_CHARACTERS,
    escape_unprintable,
    is_printable,
    shorten,
    toml_text,
)
from controller.words import Words


class Contradiction(ValueError):
    """An error for values of a TOML file that contradict each other.

    `found` describes the values, and begins with the key within its table. `expected` describes
    what is expected instead.
    """

    def __init__(self, found: Words, expected: Words) -> None:
        super().__init__(f"{found.en}, expected {expected.en}")
        self.found = found
        self.expected = expected


class ValueMistake(msgspec.Struct, frozen=True):
    """The description of a wrong value or key: what was found, and what is expected.

    `joiner` joins the two in English.
    """

    found: Words
    expected: Words
    joiner: str = ", expected "

    @property
    def text(self) -> str:
        """Return the mistake as one English line."""
        return f"{self.found.en}{self.joiner}{self.expected.en}"


def same_words(text: str) -> Words:
    """Return Words in which both the English and the Chinese text are `text`."""
    return Words(text, text)


def unknown_key_mistake(where: str, key: str, known: Iterable[str]) -> ValueMistake:
    """Return a description that begins with `where`, the full name of the unknown key `key`.

    It suggests the most similar key of `known`. If no key is similar, it lists all of them.
    """
    found, names = Words(f"{where}: unknown key", f"{where}：没有此项"), list(known)
    if not names:
        return ValueMistake(found, Words("nothing here", "空"))
    close = difflib.get_close_matches(key, names, n=1)
    if close:
        return ValueMistake(found, Words(f'"{close[0]}"?', f'"{close[0]}"'), ", did you mean ")
    return ValueMistake(found, Words(f"one of {', '.join(names)}", f"{'、'.join(names)} 之一"))


_PATH_PATTERN = re.compile(r" - at `\$([^`]*)`\Z")
_KEY_PATTERN = re.compile(r"[^.\[\]]+|\[\d+\]")
_UNKNOWN_FIELD_PATTERN = re.compile(r"(?s)Object contains unknown field `(.*)`")
_MISSING_FIELD_PATTERN = re.compile(r"Object missing required field `(.*)`")
_MSGSPEC_PATTERN = re.compile(r"Expected|Invalid|Object|not a path")


def explain_error(error: msgspec.ValidationError, raw: Any, shape: inspect.Type) -> ValueMistake:
    """Return a description of an error of msgspec: key, value found and value expected.

    `raw` is the value that msgspec could not convert to the type `shape`.
    """
    found = _PATH_PATTERN.search(str(error))
    what, where = (str(error)[: found.start()], found[1]) if found else (str(error), "")
    keys, own = _KEY_PATTERN.findall(where), error.__cause__
    if isinstance(own, Contradiction):
        said = Words(_dotted_key([*keys, own.found.en]), _dotted_key([*keys, own.found.zh]))
        return ValueMistake(said, own.expected)
    if unknown := _UNKNOWN_FIELD_PATTERN.match(what):
        known = _field_types(inner_type(_type_at(shape, keys)))
        return unknown_key_mistake(_dotted_key([*keys, shorten(unknown[1])]), unknown[1], known)
    if missing := _MISSING_FIELD_PATTERN.match(what):
        key = _dotted_key(keys := [*keys, missing[1]])
        said = Words(f"{key}: missing", f"{key}：未写")
        return ValueMistake(said, expected_words(_type_at(shape, keys)))
    # A check of a configuration's type names the key within its table.
    if not _MSGSPEC_PATTERN.match(what):
        return ValueMistake(same_words(_dotted_key([*keys, what])), same_words(""), "")
    for key in keys:
        raw = raw[int(key.strip("[]"))] if key.startswith("[") else raw[key]
    said = same_words(f"{_dotted_key(keys)} = {toml_text(raw)}")
    return ValueMistake(said, expected_words(_type_at(shape, keys)), ": expected ")


def _dotted_key(keys: Sequence[str]) -> str:
    *above, last = keys
    return ".".join([*map(shorten, above), last]).replace(".[", "[")


def _field_types(table: inspect.Type) -> dict[str, inspect.Type]:
    if isinstance(table, inspect.StructType):
        return {field.encode_name: field.type for field in table.fields}
    return {}


def _type_at(shape: inspect.Type, keys: Sequence[str]) -> inspect.Type:
    for key in keys:
        shape = inner_type(shape)
        if isinstance(shape, (inspect.ListType, inspect.VarTupleType)):
            shape = shape.item_type
        elif isinstance(shape, inspect.DictType):
            shape = shape.value_type
        else:
            shape = _field_types(shape).get(key, inspect.AnyType())
    return shape


def inner_type(shape: inspect.Type) -> inspect.Type:
    """Return `shape` without its metadata. For a union, return its first type that is not None."""
    if isinstance(shape, inspect.Metadata):
        return inner_type(shape.type)
    if isinstance(shape, inspect.UnionType):
        return inner_type(next(t for t in shape.types if not isinstance(t, inspect.NoneType)))
    return shape


def expected_words(shape: inspect.Type) -> Words:
    """Return a text that describes the values of the type `shape`, for example "a whole number".

    If the type's Meta has a description, this is the text. Its Chinese text is `zh` of the Meta's
    `extra`.
    """
    shape = without_none(shape)
    if isinstance(shape, inspect.Metadata):
        described = (shape.extra_json_schema or {}).get("description")
        if not described:
            return expected_words(shape.type)
        return Words(described, (shape.extra or {}).get("zh", described))
    if choices := [toml_text(value) for value in _choices(shape)]:
        return Words(f"one of {', '.join(choices)}", f"{'、'.join(choices)} 之一")
    shape = inner_type(shape)
    if isinstance(shape, (inspect.IntType, inspect.FloatType)):
        noun = _WHOLE_NUMBER if isinstance(shape, inspect.IntType) else Words("a number", "数")
        number = shape
        least, most = number.ge, number.le
        if least is not None and most is not None:
            return Words(f"{noun.en} from {least} to {most}", f"{least}至{most}的{noun.zh}")
        if least is not None:
            return Words(f"{noun.en}, {least} or more", f"不小于{least}的{noun.zh}")
        if number.gt is not None:
            return Words(f"{noun.en}, above {number.gt}", f"大于{number.gt}的{noun.zh}")
        return noun
    if isinstance(shape, inspect.TupleType):
        count = len(shape.item_types)
        said = {2: "two", 3: "three"}.get(count, str(count))
        item = expected_words(shape.item_types[0])
        if item.en.startswith(_WHOLE_NUMBER.en):
            en = item.en.replace(_WHOLE_NUMBER.en, f"{said} whole numbers", 1)
        else:
            en = f"a list of {said}, each {item.en}"
        return Words(en, f"{count}项的列表，每项为{item.zh}")
    for kind, words in _TYPE_WORDS.items():
        if isinstance(shape, kind):
            return words
    return Words("a value", "值")


def without_none(shape: inspect.Type) -> inspect.Type:
    """Return X if `shape` is a union of one type X and None, otherwise return `shape`.

    X keeps its metadata.
    """
    if not isinstance(shape, inspect.UnionType):
        return shape
    kinds = [kind for kind in shape.types if not isinstance(kind, inspect.NoneType)]
    return kinds[0] if len(kinds) == 1 else shape


_WHOLE_NUMBER = Words("a whole number", "整数")
_TYPE_WORDS: dict[type[inspect.Type], Words] = {
    inspect.BoolType: Words("true or false", "true 或 false"),
    inspect.StrType: Words("text", "文本"),
    inspect.CustomType: Words("a path", "路径"),
    inspect.StructType: Words("a table", "各项的表"),
    inspect.DictType: Words("a table", "各项的表"),
    inspect.ListType: Words("a list", "列表"),
    inspect.VarTupleType: Words("a list", "列表"),
}


def _choices(shape: inspect.Type) -> Iterator[object]:
    """Yield the allowed values of all Literal types in `shape`, which may be a union."""
    if isinstance(shape, inspect.LiteralType):
        yield from shape.values
    elif isinstance(shape, inspect.UnionType):
        for kind in shape.types:
            yield from _choices(kind)


Shape = TypeVar("Shape")

_MAX_TABLE_DEPTH = 32
"""Maximum depth of nested tables and lists. No file written by a person has so many levels."""
_TOO_DEEP = f"expected at most {_MAX_TABLE_DEPTH} tables and lists within each other"


class FileError(Exception):
    """An error for a file that cannot be read or has wrong contents. The text is one line."""

    def __init__(self, text: str) -> None:
        """Create an error with `text`, in which unprintable characters are escaped."""
        super().__init__(escape_unprintable(text))


class _BadValue(Exception):
    """An error for a TOML number that is too long, or for nesting that is too deep.

    Its text does not name the file.
    """


def read(path: Path, shape: type[Shape], error: type[FileError] = FileError) -> Shape:
    """Return the content of the TOML file at `path`, converted to the type `shape`.

    Relative paths in the file count from its folder. Raises `error` if the file is missing, is not
    TOML, has a key that `shape` does not have or lacks a required key. Raises `error` also for a
    value of a wrong type or out of bounds.
    """
    return parse(read_text(path, error), shape, error, name=str(path), folder=path.parent)


def read_text(path: Path, error: type[FileError] = FileError) -> str:
    """Return the text of the file at `path`, without the byte order mark that some editors add.

    Raises `error` if the file cannot be read.
    """
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise error(f"{path}: there is no such file") from None
    except UnicodeDecodeError:
        raise error(f"{path}: the file is not UTF-8 text") from None
    except ValueError:  # The name contains a NUL, or bytes of the command line that are not text.
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
    """Convert a TOML text to the type `shape`, and return the result.

    `name` names the file in errors. Relative paths count from `folder`. Raises as `read` does.
    """
    return convert_tables(
        parse_tables(text, error, name=name), shape, error, name=name, folder=folder
    )


def read_resource(package: str, name: str, shape: type[Shape]) -> Shape:
    """Return the contents of the TOML file `name` in `package`, converted to the type `shape`.

    Raises FileError.
    """
    text = resources.files(package).joinpath(name).read_text(encoding="utf-8")
    return parse(text, shape, name=name)


def parse_tables(text: str, error: type[FileError] = FileError, *, name: str) -> dict[str, Any]:
    """Return the contents of the TOML text `text` as nested dictionaries.

    Raises `error` if the text is not valid. `name` names the file in errors.
    """
    try:
        raw = tomllib.loads(text)
        for where, value in _walk_values(raw):
            if isinstance(value, int) and value.bit_length() > 63:
                raise _BadValue(f"{where}: expected a number of at most 18 digits")
    except _BadValue as misfit:
        raise error(f"{name}: {misfit}") from None
    except tomllib.TOMLDecodeError as mistake:
        raise error(f"{name}: {shorten(str(mistake), 3 * MAX_SHOWN_CHARACTERS)}") from None
    except ValueError:  # Python reads numbers of only some thousand digits.
        raise error(f"{name}: expected numbers of at most 18 digits") from None
    except RecursionError:
        raise error(f"{name}: {_TOO_DEEP}") from None
    return raw


def refuse_unprintable_text(
    raw: dict[str, Any], error: type[FileError] = FileError, *, name: str
) -> None:
    """Raise `error` if any text value in `raw` has a line break or an unprintable character.

    `raw` is the file as dictionaries. `name` names the file in errors.
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
    """Convert the decoded TOML tables `raw` to the type `shape`, and return the result.

    `name` names the file in errors. Relative paths count from `folder`. Raises as `read` does.
    """
    base = (folder or Path()).resolve()

    def place(kind: type, value: object) -> Path:
        if kind is Path and isinstance(value, str) and value:
            return base / value
        raise ValueError("not a path")

    try:
        return msgspec.convert(raw, shape, dec_hook=place)
    except msgspec.ValidationError as mistake:
        wrong = explain_error(mistake, raw, inspect.type_info(shape)).text
        raise error(f"{name}: {shorten(wrong, 6 * MAX_SHOWN_CHARACTERS)}") from None


def _walk_values(raw: dict[str, Any]) -> Iterator[tuple[str, object]]:
    """Yield (full key, value) for each value at any depth that is no table and no list.

    A full key has the keys of all tables above it, for example `gateway.feed`.

    Raises _BadValue for more than _MAX_TABLE_DEPTH levels.
    """
    due: list[tuple[str, object, int]] = [("", raw, 0)]
    while due:
        where, value, depth = due.pop()
        if depth > _MAX_TABLE_DEPTH:
            raise _BadValue(_TOO_DEEP)
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
