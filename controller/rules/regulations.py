"""The matters that a tournament must settle in its own regulations (补充规定), as data.

These are the keys that the rulebook leaves to the event, every provisional value, every human act
that the machine replaces, and every question that the rulebook does not answer. Rows without a key
are in regulations.toml.
"""

from functools import cache

import msgspec

from controller.host import toml_files
from controller.rules.key_text import all_keys as keys_in_words
from controller.rules.key_text import has_no_effect, is_unset, remark_on_key, value_words
from controller.rules.profile import Profile, RulebookNumber, rules_by_key
from controller.words import Words


class RegulationPoint(msgspec.Struct, frozen=True):
    """A rule (a key of the profile) that a tournament must settle or has settled, with its value.

    `remark`: a remark on the key for this text. `unset`: the value settles nothing, and a person
    must fill it in. `article`: the article of the rulebook, None if there is none. `left_by`: the
    article that leaves the key to the event. `departs`: the article that the provisional value
    contradicts. `settled`: the event's regulations settle the key. Then `before` is the replaced
    value, and the key is no longer `provisional`.
    """

    key: str
    label: Words
    about: Words
    remark: Words | None
    value: Words
    unset: bool
    article: str | None
    left_by: str | None
    departs: str | None
    settled: bool
    provisional: bool
    before: Words | None


class ReplacedAct(msgspec.Struct, frozen=True):
    """An act that the rulebook requires of people and that the machine does instead.

    `article`: the article that requires the act, empty if the text does not mention it.
    `allowed_by`: the article that allows a machine to do it. None means that only the event's
    regulations can allow it.
    """

    title: Words
    by: Words
    machine: Words
    article: str
    allowed_by: str | None
    keys: tuple[str, ...]


class OpenMatter(msgspec.Struct, frozen=True):
    """A question that the rulebook leaves open, or unclear words that the program interprets.

    No key of the profile decides it.
    """

    what: Words
    article: str
    keys: tuple[str, ...]


class Regulations(msgspec.Struct, frozen=True):
    """All points that the regulations of a tournament must cover for one profile.

    `cited`: the document of the cited articles. `departs`: provisional values that differ from an
    article. `changed`: values that the event sets although an article leaves nothing open.
    """

    cited: Words
    left: tuple[RegulationPoint, ...]
    provisional: tuple[RegulationPoint, ...]
    departs: tuple[RegulationPoint, ...]
    changed: tuple[RegulationPoint, ...]
    acts: tuple[ReplacedAct, ...]
    matters: tuple[OpenMatter, ...]
    gaps: tuple[OpenMatter, ...]


def regulations_to_settle(profile: Profile) -> Regulations:
    """Return the points that a tournament with this profile must settle or has settled.

    A key without effect in this profile is left out, unless the event names it.
    """
    named = [
        _point(profile, key, value)
        for key, value in rules_by_key(profile).items()
        if key in profile.left_to_event or profile.is_settled(key) or key in profile.provisional
    ]
    points = [p for p in named if p.settled or not has_no_effect(profile, p.key)]
    own = [p for p in points if p.left_by is None and p.departs is None]
    file, text = _regulations_file(), profile.text
    return Regulations(
        cited=file.cited[text],
        left=tuple(p for p in points if p.left_by is not None),
        provisional=tuple(p for p in own if p.article is None),
        departs=tuple(p for p in points if p.left_by is None and p.departs is not None),
        changed=tuple(p for p in own if p.article is not None),
        acts=tuple(
            ReplacedAct(row.title, row.by, row.machine, article, row.allowed.get(text), row.keys)
            for row in file.act
            if (article := row.texts.get(text)) is not None
        ),
        matters=_open_matters(file.matter, profile),
        gaps=_open_matters(file.gap, profile),
    )


def _point(profile: Profile, key: str, value: object) -> RegulationPoint:
    words = keys_in_words()[key]
    event = profile.event if profile.is_settled(key) else None
    return RegulationPoint(
        key=key,
        label=words.label,
        about=words.about,
        remark=remark_on_key(profile, key),
        value=value_words(key, value),
        unset=is_unset(key, value),
        article=event.instead_of.get(key) if event else profile.article(key),
        left_by=profile.left_to_event.get(key),
        departs=profile.departs.get(key),
        settled=event is not None,
        provisional=key in profile.provisional,
        before=value_words(key, event.before[key]) if event else None,
    )


class _ReplacedActRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    title: Words
    by: Words
    machine: Words
    keys: tuple[str, ...]
    texts: dict[RulebookNumber, str]
    allowed: dict[RulebookNumber, str] = {}


class _OpenMatterRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    what: Words
    texts: dict[RulebookNumber, str]
    keys: tuple[str, ...] = ()


class _RegulationsFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    cited: dict[RulebookNumber, Words]
    act: tuple[_ReplacedActRow, ...]
    matter: tuple[_OpenMatterRow, ...]
    gap: tuple[_OpenMatterRow, ...]


def _open_matters(rows: tuple[_OpenMatterRow, ...], profile: Profile) -> tuple[OpenMatter, ...]:
    return tuple(
        OpenMatter(row.what, row.texts[profile.text], row.keys)
        for row in rows
        if profile.text in row.texts
    )


@cache
def _regulations_file() -> _RegulationsFile:
    return toml_files.read_resource("controller.rules", "regulations.toml", _RegulationsFile)
