"""Words for people about the keys and values of profiles, in English and Chinese (keys.toml)."""

from collections.abc import Mapping, Sequence
from functools import cache

import msgspec
from msgspec.structs import replace

from controller.host import toml_files
from controller.rules.profile import Profile, rules_by_key
from controller.words import Words

_MINUTE_S = 60


class UnitForm(msgspec.Struct, frozen=True, array_like=True):
    """One unit, as texts that show a number with it. `one` is the English text for the number 1."""

    en: str
    zh: str
    one: str


class KeyText(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The words that explain one key of the profiles. keys.toml explains each field."""

    label: Words
    about: Words
    remarks: dict[str, Words] = {}
    choices: dict[str, Words] = {}
    unit: str | None = None
    joined: str = ", "
    unset: list[str | int] = []
    idle: dict[str, list[str | int]] = {}


class _KeysFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    tables: dict[str, Words]
    units: dict[str, UnitForm]
    words: dict[str, Words]
    keys: dict[str, KeyText]


def all_keys() -> Mapping[str, KeyText]:
    """Return a mapping from every key of the profiles to its words, in the order of keys.toml."""
    return _keys_file().keys


def table_title(key: str) -> Words:
    """Return the title of the profile's table that contains a key, such as "clocks.play_s"."""
    table, dot, _ = key.partition(".")
    return _keys_file().tables[table if dot else "general"]


def value_words(key: str, value: object) -> Words:
    """Return `value`, the value of a profile's key, as text for people. Raises KeyError."""
    words = _keys_file().keys[key]
    if _value_name(value) in words.choices:
        return words.choices[_value_name(value)]
    if isinstance(value, Sequence) and not isinstance(value, str):
        if not value:
            return _common_words(value)
        items = [words.choices.get(_value_name(one)) or _common_words(one) for one in value]
        en = words.joined.join(item.en for item in items)
        zh = words.joined.replace(", ", "、").join(item.zh for item in items)
        text = Words(en.replace("−0", "0"), zh.replace("−0", "0"))  # Zero has no sign.
        return text if words.unit is None else _with_unit(words.unit, text)
    if isinstance(value, int) and not isinstance(value, bool):
        return _number_words(words, value)
    return _common_words(value)


def remark_on_key(profile: Profile, key: str) -> Words | None:
    """Return the remark in keys.toml on `key` for the rulebook, or None if there is no remark."""
    return _keys_file().keys[key].remarks.get(profile.text)


def is_unset(key: str, value: object) -> bool:
    """Return True if `value` means "not decided" for a key, so that a person must set the key."""
    return value in _keys_file().keys[key].unset and not isinstance(value, bool)


def has_no_effect(profile: Profile, key: str) -> bool:
    """Return True if the fixed values of other keys make the rule `key` meaningless.

    While an event may still change one of those other keys, the key may have an effect.
    """
    rules = rules_by_key(profile)
    deciding = _keys_file().keys[key].idle
    return bool(deciding) and all(
        rules[other] in values
        and other in profile.sources
        and (other not in profile.left_to_event or profile.is_settled(other))
        for other, values in deciding.items()
    )


def _number_words(words: KeyText, value: int) -> Words:
    text = Words(str(value), str(value))
    if words.unit == "s" and value > _MINUTE_S and value % _MINUTE_S == 0:
        return _number_words(replace(words, unit="min"), value // _MINUTE_S)
    return text if words.unit is None else _with_unit(words.unit, text)


def _with_unit(unit: str, text: Words) -> Words:
    """Return `text`, which is one number or several numbers, followed by the unit."""
    form = _keys_file().units[unit]
    en = form.one if text.en == "1" else form.en
    return Words(en.format(text.en), form.zh.format(text.zh))


def _common_words(value: object) -> Words:
    text = _value_name(value)
    return _keys_file().words.get(text, Words(text, text))


def _value_name(value: object) -> str:
    """Return the plain text of `value`, under which keys.toml lists the words for people.

    A pair of numbers is written as "2:1", and a range with its factor as "8–9: ×2".
    """
    match value:
        case bool():
            return "true" if value else "false"
        case {"least": least, "most": most, "times": times}:
            return f"{least}–{most}: ×{times}" if least != most else f"{least}: ×{times}"
        case (int(first), int(second)):
            return f"{first}:{second}"
        case list() | tuple() if not value:
            return "[]"
    return str(value)


@cache
def _keys_file() -> _KeysFile:
    return toml_files.read_resource("controller.rules", "keys.toml", _KeysFile)
