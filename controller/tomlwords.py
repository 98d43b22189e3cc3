"""What is wrong with a value, in the words of the TOML file that it stands in.

The types' own mistakes are told as a person sees them: the key, what stands there, what
is expected.
"""

import difflib
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec import inspect

LONGEST = 60
"""Characters of a value, or of a key, that are shown."""


def printable(text: str) -> str:
    """Return text as one line: line breaks, control characters and the like are escaped."""
    return "".join(sign if prints(sign) else _escaped(sign) for sign in text)


def shown(value: object) -> str:
    """Return a value as a TOML file has it, shortened if it is long."""
    return short(_written(value))


def advice(key: str, known: Iterable[str]) -> str:
    """Return what to say after an unknown key: the likeliest one, or all that are known."""
    names = list(known)
    if not names:
        return ", expected nothing here"
    close = difflib.get_close_matches(key, names, n=1)
    return f', did you mean "{close[0]}"?' if close else f", expected one of {', '.join(names)}"


def prints(sign: str) -> bool:
    """Tell whether a character has a place on a line: no break, no control, no direction mark."""
    category = unicodedata.category(sign)
    return category[0] != "C" and category not in ("Zl", "Zp")


def _escaped(sign: str) -> str:
    return sign.encode("unicode_escape").decode()


def _written(value: object) -> str:
    match value:
        case str():
            return f'"{value}"'
        case bool():
            return "true" if value else "false"
        case list() | tuple():
            return f"[{', '.join(map(_written, value))}]"
        case dict():
            return f"{{{', '.join(f'{key} = {_written(held)}' for key, held in value.items())}}}"
    return str(value)


def short(text: str, longest: int = LONGEST) -> str:
    """Return text, cut off where it is longer than `longest` characters."""
    return text if len(text) <= longest else text[: longest - 3] + "..."


_WHERE = re.compile(r" - at `\$([^`]*)`\Z")
_KEY = re.compile(r"[^.\[\]]+|\[\d+\]")
_UNKNOWN = re.compile(r"(?s)Object contains unknown field `(.*)`")
_MISSING = re.compile(r"Object missing required field `(.*)`")
_MSGSPEC = re.compile(r"Expected|Invalid|Object|not a path")


def in_words(mistake: str, raw: dict[str, Any], shape: inspect.Type) -> str:
    """Return msgspec's mistake in the words of the file: its key, its value, what is expected."""
    found = _WHERE.search(mistake)
    what, where = (mistake[: found.start()], found[1]) if found else (mistake, "")
    keys = _KEY.findall(where)
    if unknown := _UNKNOWN.match(what):
        key = unknown[1]
        known = _fields(bare(_type_at(shape, keys)))
        return f"{_dotted([*keys, short(key)])}: unknown key{advice(key, known)}"
    if missing := _MISSING.match(what):
        keys = [*keys, missing[1]]
        return f"{_dotted(keys)}: missing, expected {expected(_type_at(shape, keys))}"
    if not _MSGSPEC.match(what):  # a type's own check: it names the key within its table
        return _dotted([*keys, what])
    value = shown(_value_at(raw, keys))
    return f"{_dotted(keys)} = {value}: expected {expected(_type_at(shape, keys))}"


def _dotted(keys: Sequence[str]) -> str:
    *above, last = keys
    return ".".join([*map(short, above), last]).replace(".[", "[")


def _fields(table: inspect.Type) -> dict[str, inspect.Type]:
    if isinstance(table, inspect.StructType):
        return {field.encode_name: field.type for field in table.fields}
    return {}


def _type_at(shape: inspect.Type, keys: Sequence[str]) -> inspect.Type:
    for key in keys:
        shape = bare(shape)
        if isinstance(shape, (inspect.ListType, inspect.VarTupleType)):
            shape = shape.item_type
        elif isinstance(shape, inspect.DictType):
            shape = shape.value_type
        else:
            shape = _fields(shape).get(key, inspect.AnyType())
    return shape


def bare(shape: inspect.Type) -> inspect.Type:
    """Return the type itself, without its description and without "or nothing"."""
    if isinstance(shape, inspect.Metadata):
        return bare(shape.type)
    if isinstance(shape, inspect.UnionType):
        return bare(next(t for t in shape.types if not isinstance(t, inspect.NoneType)))
    return shape


def _value_at(raw: Any, keys: Sequence[str]) -> Any:
    for key in keys:
        raw = raw[int(key.strip("[]"))] if key.startswith("[") else raw[key]
    return raw


def expected(shape: inspect.Type) -> str:
    """Say in words what a type takes; a description in its Meta comes before everything."""
    shape = _if_given(shape)
    if isinstance(shape, inspect.Metadata):
        described = (shape.extra_json_schema or {}).get("description")
        return str(described) if described else expected(shape.type)
    if choices := [shown(value) for value in _choices(shape)]:
        return f"one of {', '.join(choices)}"
    shape = bare(shape)
    if isinstance(shape, (inspect.IntType, inspect.FloatType)):
        noun = "a whole number" if isinstance(shape, inspect.IntType) else "a number"
        return noun + _bounds(shape)
    if isinstance(shape, inspect.TupleType):
        return _several(shape)
    for kind, words in _WORDS.items():
        if isinstance(shape, kind):
            return words
    return "a value"


def _if_given(shape: inspect.Type) -> inspect.Type:
    """Return the only type beside "or nothing", with its description; else the type as it is."""
    if not isinstance(shape, inspect.UnionType):
        return shape
    kinds = [kind for kind in shape.types if not isinstance(kind, inspect.NoneType)]
    return kinds[0] if len(kinds) == 1 else shape


_WORDS: dict[type[inspect.Type], str] = {
    inspect.BoolType: "true or false",
    inspect.StrType: "text",
    inspect.CustomType: "a path",
    inspect.StructType: "a table",
    inspect.DictType: "a table",
    inspect.ListType: "a list",
    inspect.VarTupleType: "a list",
}


def _choices(shape: inspect.Type) -> Iterator[object]:
    """Yield the values of a type that has a closed set of them, or of several such types."""
    if isinstance(shape, inspect.LiteralType):
        yield from shape.values
    elif isinstance(shape, inspect.UnionType):
        for kind in shape.types:
            yield from _choices(kind)


def _several(shape: inspect.TupleType) -> str:
    """Say what a list of fixed length takes; all of its items are alike."""
    number = {2: "two", 3: "three"}.get(len(shape.item_types), str(len(shape.item_types)))
    item = expected(shape.item_types[0])
    if item.startswith("a whole number"):
        return item.replace("a whole number", f"{number} whole numbers", 1)
    return f"a list of {number}, each {item}"


def _bounds(number: inspect.IntType | inspect.FloatType) -> str:
    least, most = number.ge, number.le
    if least is not None and most is not None:
        return f" from {least} to {most}"
    if least is not None:
        return f", {least} or more"
    return f", above {number.gt}" if number.gt is not None else ""
