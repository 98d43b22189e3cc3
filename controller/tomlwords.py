"""What is wrong with a value, in the words of the TOML file that it stands in.

The types' own mistakes are told as a person sees them: the key, what stands there, what
is expected.
"""

import difflib
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec
from msgspec import inspect

from controller.words import Words

MAX_SHOWN_CHARACTERS = 60
"""Characters of a value, or of a key, that are shown."""


def escape_unprintable(text: str) -> str:
    """Return text as one line: line breaks, control characters and the like are escaped."""
    return "".join(sign if is_printable(sign) else _escape(sign) for sign in text)


def toml_text(value: object) -> str:
    """Return a value as a TOML file has it, shortened if it is long."""
    return shorten(_toml_value(value))


class Contradiction(ValueError):
    """Values that do not go together: what was found, and what is expected instead.

    `found` begins with the key within its table.
    """

    def __init__(self, found: Words, expected: Words) -> None:
        """Keep both."""
        super().__init__(f"{found.en}, expected {expected.en}")
        self.found = found
        self.expected = expected


class ValueMistake(msgspec.Struct, frozen=True):
    """What was found, and what is expected instead; `between`: what joins them in English."""

    found: Words
    expected: Words
    joiner: str = ", expected "

    @property
    def text(self) -> str:
        """Return it in one English line."""
        return f"{self.found.en}{self.joiner}{self.expected.en}"


def same_words(text: str) -> Words:
    """Return text that is the same in both languages."""
    return Words(text, text)


def unknown_key_mistake(where: str, key: str, known: Iterable[str]) -> ValueMistake:
    """Return what is wrong with a key at `where`: expected is the likeliest one, or one of all."""
    found, names = Words(f"{where}: unknown key", f"{where}：没有此项"), list(known)
    if not names:
        return ValueMistake(found, Words("nothing here", "空"))
    close = difflib.get_close_matches(key, names, n=1)
    if close:
        return ValueMistake(found, Words(f'"{close[0]}"?', f'"{close[0]}"'), ", did you mean ")
    return ValueMistake(found, Words(f"one of {', '.join(names)}", f"{'、'.join(names)} 之一"))


def is_printable(character: str) -> bool:
    """Tell whether a character has a place on a line: no break, no control, no direction mark."""
    category = unicodedata.category(character)
    return category[0] != "C" and category not in ("Zl", "Zp")


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode()


def _toml_value(value: object) -> str:
    match value:
        case str():
            return f'"{value}"'
        case bool():
            return "true" if value else "false"
        case list() | tuple():
            return f"[{', '.join(map(_toml_value, value))}]"
        case dict():
            return f"{{{', '.join(f'{key} = {_toml_value(held)}' for key, held in value.items())}}}"
    return str(value)


def shorten(text: str, max_length: int = MAX_SHOWN_CHARACTERS) -> str:
    """Return text, cut off where it is longer than `longest` characters."""
    return text if len(text) <= max_length else text[: max_length - 3] + "..."


_PATH_PATTERN = re.compile(r" - at `\$([^`]*)`\Z")
_KEY_PATTERN = re.compile(r"[^.\[\]]+|\[\d+\]")
_UNKNOWN_FIELD_PATTERN = re.compile(r"(?s)Object contains unknown field `(.*)`")
_MISSING_FIELD_PATTERN = re.compile(r"Object missing required field `(.*)`")
_MSGSPEC_PATTERN = re.compile(r"Expected|Invalid|Object|not a path")


def explain_error(error: msgspec.ValidationError, raw: Any, shape: inspect.Type) -> ValueMistake:
    """Return msgspec's error in the words of the file: its key, its value, what is expected."""
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
        keys = [*keys, missing[1]]
        key = _dotted_key(keys)
        said = Words(f"{key}: missing", f"{key}：未写")
        return ValueMistake(said, expected_words(_type_at(shape, keys)))
    if not _MSGSPEC_PATTERN.match(
        what
    ):  # a check of a configuration's type: it names the key in its table
        return ValueMistake(same_words(_dotted_key([*keys, what])), same_words(""), "")
    said = same_words(f"{_dotted_key(keys)} = {toml_text(_value_at(raw, keys))}")
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
    """Return the type itself, without its description and without "or nothing"."""
    if isinstance(shape, inspect.Metadata):
        return inner_type(shape.type)
    if isinstance(shape, inspect.UnionType):
        return inner_type(next(t for t in shape.types if not isinstance(t, inspect.NoneType)))
    return shape


def _value_at(raw: Any, keys: Sequence[str]) -> Any:
    for key in keys:
        raw = raw[int(key.strip("[]"))] if key.startswith("[") else raw[key]
    return raw


def expected_words(shape: inspect.Type) -> Words:
    """Say in words what a type takes; a description in its Meta comes before everything.

    The Chinese of a description is `zh` of the Meta's `extra`.
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
        return _bounded_words(noun, shape)
    if isinstance(shape, inspect.TupleType):
        return _fixed_list_words(shape)
    for kind, words in _TYPE_WORDS.items():
        if isinstance(shape, kind):
            return words
    return Words("a value", "值")


def without_none(shape: inspect.Type) -> inspect.Type:
    """Return the only type beside "or nothing", with its description; else the type as it is."""
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
    """Yield the values of a type that has a closed set of them, or of several such types."""
    if isinstance(shape, inspect.LiteralType):
        yield from shape.values
    elif isinstance(shape, inspect.UnionType):
        for kind in shape.types:
            yield from _choices(kind)


def _fixed_list_words(shape: inspect.TupleType) -> Words:
    """Say what a list of fixed length takes; all of its items are alike."""
    count = len(shape.item_types)
    number = {2: "two", 3: "three"}.get(count, str(count))
    item = expected_words(shape.item_types[0])
    if item.en.startswith(_WHOLE_NUMBER.en):
        en = item.en.replace(_WHOLE_NUMBER.en, f"{number} whole numbers", 1)
    else:
        en = f"a list of {number}, each {item.en}"
    return Words(en, f"{count}项的列表，每项为{item.zh}")


def _bounded_words(noun: Words, number: inspect.IntType | inspect.FloatType) -> Words:
    """Say what a number takes, with its bounds."""
    least, most = number.ge, number.le
    if least is not None and most is not None:
        return Words(f"{noun.en} from {least} to {most}", f"{least}至{most}的{noun.zh}")
    if least is not None:
        return Words(f"{noun.en}, {least} or more", f"不小于{least}的{noun.zh}")
    if number.gt is not None:
        return Words(f"{noun.en}, above {number.gt}", f"大于{number.gt}的{noun.zh}")
    return noun
