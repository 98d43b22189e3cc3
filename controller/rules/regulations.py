"""What an event has to settle beside its rulebook: the 补充规定, as data.

The keys that the text leaves to the event, every provisional value, every human act that
the machine replaces, and what the text does not say at all (REFEREE R14). The rows that no
key holds stand in regulations.toml; those of Big Two in bigtwo/gaps.py.
"""

import tomllib
from functools import cache
from importlib import resources
from typing import Any, Literal

import msgspec

from controller.rules.bigtwo.gaps import GAPS
from controller.rules.keys import Words, idle, value_words
from controller.rules.keys import all_keys as keys_in_words
from controller.rules.profile import Profile, rules_of

Text = Literal["000", "001", "002", "003", "004"]


class Point(msgspec.Struct, frozen=True):
    """A key that the event's regulations are to settle, with the value in force until then.

    `article`: where the rulebook has it, None: provisional. `left_by`: the article that
    leaves it to the event. `settled`: the event's regulations say it.
    """

    key: str
    label: Words
    about: Words
    value: Words
    article: str | None
    left_by: str | None
    settled: bool


class Act(msgspec.Struct, frozen=True):
    """A human act of the text that the machine replaces.

    `article`: where the text asks for it, empty where it is silent. `allowed_by`: the
    article that lets a machine do it; None: only the event's regulations can.
    """

    title: Words
    by: Words
    machine: Words
    article: str
    allowed_by: str | None
    keys: tuple[str, ...]


class Matter(msgspec.Struct, frozen=True):
    """Something that the text leaves open and no key holds, or how unclear words are read."""

    what: Words
    article: str
    keys: tuple[str, ...]


class Regulations(msgspec.Struct, frozen=True):
    """Everything an event's regulations have to say about one profile.

    `cited`: what the articles are of. `changed`: what they say against an article that
    leaves nothing to them.
    """

    cited: Words
    left: tuple[Point, ...]
    provisional: tuple[Point, ...]
    changed: tuple[Point, ...]
    acts: tuple[Act, ...]
    matters: tuple[Matter, ...]
    gaps: tuple[Matter, ...]


def regulations(profile: Profile) -> Regulations:
    """Return what an event that plays by this profile has to settle, or has settled.

    A key without effect in this profile is left out, unless the event names it.
    """
    points = [p for p in _points(profile) if p.settled or not idle(profile, p.key)]
    file = _file()
    return Regulations(
        cited=file.cited[profile.text],
        left=tuple(p for p in points if p.left_by),
        provisional=tuple(p for p in points if not p.left_by and not p.article),
        changed=tuple(p for p in points if not p.left_by and p.article),
        acts=tuple(row.act(profile.text) for row in file.act if profile.text in row.texts),
        matters=_matters(file.matter, profile),
        gaps=_matters(file.gap, profile) + _big_two_gaps(profile),
    )


def _points(profile: Profile) -> list[Point]:
    """Every key that the text leaves to the event, that it settles, or that is provisional."""
    settled = profile.event.settled if profile.event else ()
    instead_of = profile.event.instead_of if profile.event else {}
    words = keys_in_words()
    return [
        Point(
            key=key,
            label=words[key].label,
            about=words[key].about,
            value=value_words(key, value),
            article=instead_of.get(key) if key in settled else profile.article(key),
            left_by=profile.left_to_event.get(key),
            settled=key in settled,
        )
        for key, value in rules_of(profile).items()
        if key in profile.left_to_event or key in settled or key in profile.provisional
    ]


class _ActRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    title: Words
    by: Words
    machine: Words
    keys: tuple[str, ...]
    texts: dict[Text, str]
    allowed: dict[Text, str] = {}

    def act(self, text: Text) -> Act:
        """Return the row as it is for one text."""
        return Act(
            self.title,
            self.by,
            self.machine,
            self.texts[text],
            self.allowed.get(text),
            self.keys,
        )


class _MatterRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    what: Words
    texts: dict[Text, str]
    keys: tuple[str, ...] = ()


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    cited: dict[Text, Words]
    act: tuple[_ActRow, ...]
    matter: tuple[_MatterRow, ...]
    gap: tuple[_MatterRow, ...]


def _matters(rows: tuple[_MatterRow, ...], profile: Profile) -> tuple[Matter, ...]:
    return tuple(
        Matter(row.what, row.texts[profile.text], row.keys)
        for row in rows
        if profile.text in row.texts
    )


def _big_two_gaps(profile: Profile) -> tuple[Matter, ...]:
    """The gaps of the one text that has a table of its own."""
    return tuple(
        Matter(
            Words(gap.en, gap.zh),
            gap.article.removeprefix(f"{profile.text} "),
            (gap.key,) if gap.key else (),
        )
        for gap in GAPS
        if gap.article.startswith(f"{profile.text} ")
    )


@cache
def _file() -> _File:
    folder = resources.files("controller.rules")
    raw: dict[str, Any] = tomllib.loads(
        folder.joinpath("regulations.toml").read_text(encoding="utf-8")
    )
    return msgspec.convert(raw, _File)
