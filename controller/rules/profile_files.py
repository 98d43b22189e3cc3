"""The available profiles, which are read from profiles/NAME.toml, completed and checked.

A file contains the rules of its rulebook, and proposed values for rules that the rulebook lacks.
`like` names the profile that provides all other values. They count as proposals, or they keep their
articles if both profiles have the same text. The file of an event overrides single rules.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import msgspec

from controller.host import toml_files
from controller.host.printable_text import toml_text
from controller.host.toml_files import unknown_key_mistake
from controller.rules.profile import (
    KEYS_ABOUT_PROFILE,
    BigTwoProfile,
    EventRegulations,
    GuandanProfile,
    Profile,
    flatten_tables,
    rules_by_key,
)
from controller.rules.regulations_page import profile_hash
from controller.words import Words

FIXED_KEYS = ("deck", "hand")
"""Rules that no event may override, because a machine is built for them."""

_KEYS_NO_EVENT_MAY_SET = (*FIXED_KEYS, *sorted(KEYS_ABOUT_PROFILE))
"""Keys of a profile that the file of an event cannot name."""

_PROFILE_TYPES: dict[str, type[Profile]] = {"guandan": GuandanProfile, "bigtwo": BigTwoProfile}


class ProfileError(toml_files.FileError):
    """The error for a profile that does not exist or is not valid. Its text is one line."""


class UnknownProfile(ProfileError):
    """The error for a name that no profile has, or that is the beginning of several names.

    `words` is one line.
    """

    def __init__(self, en: str, zh: str) -> None:
        """Store the message in English and Chinese."""
        super().__init__(en)
        self.words = Words(en, zh)


class _EventHeading(msgspec.Struct, frozen=True):
    """The fields of a tournament's file that are no rules: profile, titles and organizer."""

    profile: str
    title_en: str
    title_zh: str
    organizer: str


def profile_names() -> list[str]:
    """Return the names of all profiles, sorted."""
    return sorted(
        entry.name.removesuffix(".toml")
        for entry in _folder().iterdir()
        if entry.name.endswith(".toml")
    )


def find_profile(text: str, event: Path | None = None) -> Profile:
    """Return the profile with a name that begins with `text`, for example "inter" or "bcta".

    The rules that the file `event` settles are applied. Raises ProfileError, one line.
    """
    begun = [name for name in profile_names() if name.startswith(text)] if text else []
    exact = text in begun
    if len(begun) > 1 and not exact:
        raise UnknownProfile(
            f"profile {toml_text(text)}: {' or '.join(begun)}?",
            f"规则 {toml_text(text)}：是 {'，还是 '.join(begun)}？",
        )
    return load_profile(text if exact or not begun else begun[0], event)


def load_profile(name: str, event: Path | None = None) -> Profile:
    """Return the profile `name`, changed by the tournament's file `event`. Raises ProfileError."""
    profile = _load_once(name)
    return profile if event is None else apply_event_file(profile, event)


@cache
def _load_once(name: str) -> Profile:
    """Return the profile called `name`, which is read from its file only once.

    A table, a console and a simulator of a hall request it many times.
    """
    if name not in profile_names():
        known = profile_names()
        raise UnknownProfile(
            f"profile {toml_text(name)}: expected one of {', '.join(known)}",
            f"没有规则 {toml_text(name)}：应为 {'、'.join(known)} 之一",
        )
    return read_profile(
        _folder().joinpath(f"{name}.toml").read_text(encoding="utf-8"), f"{name}.toml"
    )


def read_profile(text: str, name: str) -> Profile:
    """Return the profile in a TOML text. `name` is the name of its file. Raises ProfileError."""
    raw = toml_files.parse_tables(text, ProfileError, name=name)
    if f"{raw.get('name')}.toml" != name:
        named = toml_text(raw.get("name"))
        raise ProfileError(f"{name}: name = {named}: expected the name of its file")
    toml_files.refuse_unprintable_text(raw, ProfileError, name=name)
    return _complete_profile(raw, name)


def apply_event_file(profile: Profile, event: Path) -> Profile:
    """Return `profile` with the rules that the event's file `event` sets. Raises ProfileError."""
    name = str(event)
    raw = toml_files.parse_tables(
        toml_files.read_text(event, ProfileError), ProfileError, name=name
    )
    about = _take_event_heading(raw, name)
    if about.profile != profile.name:
        told = toml_text(about.profile)
        raise ProfileError(f'{name}: profile = {told}: expected "{profile.name}"')
    allowed = [key for key in type(profile).__struct_fields__ if key not in _KEYS_NO_EVENT_MAY_SET]
    for key in raw:
        if key in _KEYS_NO_EVENT_MAY_SET:
            raise ProfileError(f"{name}: {key}: no event can change it")
        if key not in allowed:
            known = [*_EventHeading.__struct_fields__, *allowed]
            mistake = unknown_key_mistake(toml_text(key)[1:-1], key, known)
            raise ProfileError(f"{name}: {mistake.text}")
    settled = tuple(key for key, _ in flatten_tables(raw))
    rules = rules_by_key(profile)
    whole = _merge_tables(msgspec.to_builtins(profile), raw)
    whole["event"] = msgspec.to_builtins(
        EventRegulations(
            about.title_en,
            about.title_zh,
            about.organizer,
            settled,
            instead_of={key: profile.sources[key] for key in settled if key in profile.sources},
            before={key: rules[key] for key in settled if key in rules},
        )
    )
    whole["sources"] = profile.sources | dict.fromkeys(settled, about.title_en)
    whole["provisional"] = [key for key in profile.provisional if key not in settled]
    return toml_files.convert_tables(whole, type(profile), ProfileError, name=name)


def _take_event_heading(raw: dict[str, Any], name: str) -> _EventHeading:
    """Remove from `raw` the fields that describe the tournament, and return them."""
    toml_files.refuse_unprintable_text(raw, ProfileError, name=name)
    said = {key: raw.pop(key) for key in _EventHeading.__struct_fields__ if key in raw}
    about = toml_files.convert_tables(said, _EventHeading, ProfileError, name=name)
    clean = {}
    for key in _EventHeading.__struct_fields__:
        clean[key] = re.sub(r"\s{2,}", " ", getattr(about, key)).strip()
        if not clean[key]:
            raise ProfileError(f"{name}: {key}: empty, expected text")
    return _EventHeading(**clean)


def _complete_profile(raw: dict[str, Any], name: str) -> Profile:
    """Return the profile in `raw`, completed from its base profile, with each rule's source."""
    same_text = raw.pop("same_text", False)
    told, proposed = raw.pop("sources", {}), raw.pop("provisional", [])
    own = [key for key, _ in flatten_tables(_without_keys_about_profile(raw))]
    other = _base_profile(raw, name)
    whole = _merge_tables(
        _without_keys_about_profile(msgspec.to_builtins(other)) if other else {}, raw
    )
    keys = [key for key, _ in flatten_tables(_without_keys_about_profile(whole))]
    sources, provisional, unsaid = {}, [], []
    known = {key for key in [*told, *proposed] if isinstance(key, str)}
    for key in keys:
        match = next((name for name in _key_and_its_tables(key) if name in known), None)
        if match in told:
            sources[key] = told[match]
        elif match is not None:
            provisional.append(key)
        elif key in own or other is None:
            unsaid.append(key)
        elif same_text and key in other.sources:
            sources[key] = other.sources[key]
        else:
            provisional.append(key)
    whole |= {"sources": sources, "provisional": provisional, "event": None}
    whole.setdefault("like", None)
    for said in ("left_to_event", "departs"):
        whole.setdefault(said, getattr(other, said) if other and same_text else {})
    game = raw.get("game")
    if not isinstance(game, str) or game not in _PROFILE_TYPES:
        games = ", ".join(_PROFILE_TYPES)
        raise ProfileError(f"{name}: game = {toml_text(game)}: expected one of {games}")
    profile = toml_files.convert_tables(whole, _PROFILE_TYPES[game], ProfileError, name=name)
    named = [*told, *proposed, *profile.left_to_event, *profile.departs]
    _require_source_for_each_key(name, unsaid, named, keys)
    for key in profile.departs:
        if key not in provisional:
            raise ProfileError(f"{name}: {key}: departs from the text, name it in provisional")
    return profile


def _base_profile(raw: dict[str, Any], name: str) -> Profile | None:
    if "like" not in raw:
        return None
    if raw["like"] not in profile_names() or f"{raw['like']}.toml" == name:
        told = toml_text(raw["like"])
        raise ProfileError(f"{name}: like = {told}: expected the name of another profile")
    other = load_profile(raw["like"])
    game = next(name for name, shape in _PROFILE_TYPES.items() if isinstance(other, shape))
    raw.setdefault("game", game)
    return other


def _require_source_for_each_key(
    name: str, unsaid: Iterable[str], named: Iterable[str], keys: Iterable[str]
) -> None:
    for key in unsaid:
        raise ProfileError(
            f"{name}: {key}: give its article under [sources], or name it in provisional"
        )
    ruled = {part for rule in keys for part in _key_and_its_tables(rule)}
    for key in named:
        if not isinstance(key, str) or key not in ruled:
            raise ProfileError(f"{name}: {key}: there is no such rule to give a source")


def _without_keys_about_profile(raw: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in raw.items() if key not in KEYS_ABOUT_PROFILE}


def _merge_tables(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    """Return a new nested table: all values of `above`, and the others from `below`."""
    both = {
        key: _merge_tables(below[key], value)
        if isinstance(value, dict) and isinstance(below.get(key), dict)
        else value
        for key, value in above.items()
    }
    return {**below, **both}


def _key_and_its_tables(key: str) -> Iterator[str]:
    """Yield the key itself, then the names of the tables that contain it, innermost first."""
    while key:
        yield key
        key = key.rpartition(".")[0]


def _folder() -> resources.abc.Traversable:
    return resources.files("controller.rules") / "profiles"


class ProfilesByHash:
    """All profiles of this program and of the tournament files `events`, with a search by hash.

    The constructor raises ProfileError, one line, for a file that is no tournament's file.
    """

    def __init__(self, events: Sequence[Path] = ()) -> None:
        self._event_profiles: dict[bytes, Profile] = {}
        for event in events:
            text = toml_files.read_text(event, ProfileError)
            raw = toml_files.parse_tables(text, ProfileError, name=str(event))
            profile = load_profile(str(raw.get("profile", "")), event)
            self._event_profiles[profile_hash(profile)] = profile

    def find(self, hashed: bytes) -> Profile | None:
        """Return the profile with the hash `hashed`, or None if no profile has this hash.

        The name of the profile does not matter, because the commitment covers the hash alone.
        """
        settled = self._event_profiles.get(hashed)
        return _own_profiles_by_hash().get(hashed) if settled is None else settled


@cache
def _own_profiles_by_hash() -> dict[bytes, Profile]:
    """Return the profiles of this program by their hashes. This takes a while."""
    return {profile_hash(profile): profile for profile in map(load_profile, profile_names())}
