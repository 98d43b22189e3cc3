"""The worked examples of the rulebooks as data: examples.toml, and one case after another."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import msgspec

from controller.host import toml_files
from controller.rules.profile import Profile
from controller.rules.profile_files import load_profile

FILE = Path(__file__).with_name("examples.toml")

Letter = Literal["I", "H", "N", "B", "T"]

PROFILES: dict[Letter, str] = {
    "I": "international-000",
    "H": "huaian-2017-001",
    "N": "huainan-2013-003",
    "B": "bcta-004",
    "T": "bigtwo-2017-002",
}


class Case(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One question to the code. What it leaves out is as its example has it.

    `event`: regulations over the rulebook, in the words of an event's file.
    """

    check: str
    given: dict[str, Any] = {}
    expect: dict[str, Any]
    profiles: tuple[Letter, ...] = ()
    event: str = ""
    source: str = ""
    rests_on: tuple[str, ...] | None = None


class Example(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A worked example. `source`: S stated, D derived, P proposed, and its article.

    `rests_on`: the keys of the profile that are provisional and without which it would
    come out differently.
    """

    id: str
    says: str
    source: str
    profiles: tuple[Letter, ...]
    case: tuple[Case, ...]
    rests_on: tuple[str, ...] = ()


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    example: tuple[Example, ...]


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """A case under one rulebook."""

    name: str
    example: Example
    case: Case
    letter: Letter
    source: str
    rests_on: tuple[str, ...]

    @property
    def provisional(self) -> bool:
        return self.source.startswith("P ")

    def profile(self, folder: Path) -> Profile:
        """Its rulebook; `folder` is where the event's file may lie."""
        name = PROFILES[self.letter]
        if not self.case.event:
            return load_profile(name)
        path = folder / "event.toml"
        about = f'profile = "{name}"\ntitle_en = "Cup"\ntitle_zh = "杯赛"\norganizer = "O"\n'
        path.write_text(about + self.case.event, "utf-8")
        return load_profile(name, path)


def examples() -> tuple[Example, ...]:
    return toml_files.read(FILE, _File).example


def runs() -> Iterator[Run]:
    """Every case of every example under every rulebook it is about."""
    for example in examples():
        asked = [
            (case, letter) for case in example.case for letter in case.profiles or example.profiles
        ]
        for number, (case, letter) in enumerate(asked, start=1):
            source = case.source or example.source
            rests_on = example.rests_on if case.rests_on is None else case.rests_on
            name = example.id if len(asked) == 1 else f"{example.id}-{number}"
            yield Run(
                name=f"{name}-provisional" if source.startswith("P ") else name,
                example=example,
                case=case,
                letter=letter,
                source=source,
                rests_on=rests_on,
            )
