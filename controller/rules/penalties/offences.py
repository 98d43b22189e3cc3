"""The catalogue of offences and of their penalties. It is read from offences.toml.

The rulebooks punish different offences. `penalties.catalogue` of a profile selects the rulebook,
which this package calls the text. If a text does not mention an offence, the penalties of seed 000
are proposed instead.
"""

from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Literal

import msgspec

from controller.host import toml_files
from controller.rules.guandan_tables import CatalogueNumber, ProfileTable
from controller.rules.penalties.penalty_record import CountedParty, CountScope, Penalty
from controller.rules.profile import GuandanProfile
from controller.words import Words

ArticleByCatalogue = dict[CatalogueNumber, str]
TurnLoss = Literal["turn", "trick"]
TurnLossKey = Literal["out_of_turn_skips", "delay_skips"]
OffenceTrait = Literal["out_of_turn", "hidden", "disturbance", "late"]


class OffencesError(toml_files.FileError):
    """The error for a catalogue file that is not valid. Its text is one line."""


class PenaltyOption(ProfileTable, frozen=True):
    """One penalty that may be given for an offence.

    `articles` or the profile's `key` names its source. Without either, the source is that of the
    offence's own penalty. `loses`: the right to play, once ("turn"), in the whole trick ("trick"),
    or as the key of that name in the profile's `penalties` defines. `dead_hand`: the offender's
    remaining cards are dead. `chief`: only the chief may give the penalty, although it is no foul.
    """

    penalty: Penalty
    articles: ArticleByCatalogue | None = None
    key: str | None = None
    loses: TurnLoss | TurnLossKey | None = None
    dead_hand: bool = False
    chief: bool = False


OffenceStep = tuple[PenaltyOption, ...]
"""The options for the first, second … time: the ladder's penalty, then the other legal ones."""


class OffenceLadder(ProfileTable, frozen=True):
    """The penalties that one rulebook has for the first, second … time of an offence.

    They replace the penalties of seed 000.
    """

    steps: tuple[OffenceStep, ...]
    counted: CountedParty
    scope: CountScope
    remedy: Words
    counted_at: tuple[CountedParty, ...] = ()

    def counted_for_step(self, step: int) -> CountedParty:
        """Return the party for which step `step` (from 0) counts offences: player, pair or side."""
        return self.counted_at[step] if self.counted_at else self.counted


class OffenceKind(ProfileTable, frozen=True):
    """One way to commit an offence. People select it from a list."""

    id: str
    en: str
    zh: str
    articles: ArticleByCatalogue = msgspec.field(default_factory=dict)


class Offence(ProfileTable, frozen=True):
    """One offence of the catalogue, with its penalties.

    `articles`: the articles of the penalty. `scope_articles`: the articles about the scope of the
    count. A text that is not among them does not define the scope. `counted_at`: the party whose
    offences each step counts, if the steps differ. `remedy`: the procedure for the cards.
    `direct_foul`: a foul at once if the offence harmed the other side (seed 000 A15.3.3 ②).
    `trait`: the name by which a key of the profile refers to the offence.
    """

    id: str
    en: str
    zh: str
    counted: CountedParty
    scope: CountScope
    steps: tuple[OffenceStep, ...]
    remedy: Words
    counted_at: tuple[CountedParty, ...] = ()
    articles: ArticleByCatalogue = msgspec.field(default_factory=dict)
    scope_articles: ArticleByCatalogue = msgspec.field(default_factory=dict)
    kinds: tuple[OffenceKind, ...] = ()
    own: dict[CatalogueNumber, OffenceLadder] = msgspec.field(default_factory=dict)
    direct_foul: bool = False
    trait: OffenceTrait | None = None

    def __post_init__(self) -> None:
        """Refuse a ladder with no step, an empty step, or a step that has a penalty twice.

        `scope` and `counted_at` must also fit the number of steps.
        """
        own = [(f"own.{text}.", ladder) for text, ladder in self.own.items()]
        for where, ladder in (("", self._common_ladder()), *own):
            steps, owners = ladder.steps, ladder.counted_at
            if not steps or not all(steps):
                raise ValueError(f"{where}steps: expected at least one option in each step")
            for step in steps:
                if len({option.penalty for option in step}) < len(step):
                    raise ValueError(f"{where}steps: expected each penalty once in a step")
            if ladder.scope != "occasion" and len(steps) == 1 and not self.trait:
                raise ValueError(f'{where}scope: a single step goes with scope = "occasion"')
            if owners and (len(owners) != len(steps) or owners[-1] != ladder.counted):
                raise ValueError(
                    f"{where}counted_at: expected one for each of {len(steps)} steps, "
                    f'the last "{ladder.counted}" as counted has it'
                )

    def _common_ladder(self) -> OffenceLadder:
        return OffenceLadder(self.steps, self.counted, self.scope, self.remedy, self.counted_at)

    def ladder(self, text: CatalogueNumber) -> OffenceLadder:
        """Return the offence's own ladder for rulebook `text`, or else the ladder of seed 000."""
        return self.own.get(text) or self._common_ladder()


@cache
def offence_catalogue() -> Mapping[str, Offence]:
    """Return every offence by its id, in the order of the file. Raises OffencesError."""
    return {row.id: row for row in _offences_file().offence}


def find_offence(name: str) -> Offence:
    """Return the offence whose id is `name`. Raises LookupError if there is none."""
    try:
        return offence_catalogue()[name]
    except KeyError:
        raise LookupError(f'no offence is called "{name}"') from None


def remedy_words(profile: GuandanProfile, name: str) -> Words:
    """Return the text about what happens to the cards after the offence with the id `name`.

    The text does not depend on the ruling.
    """
    return find_offence(name).ladder(profile.penalties.catalogue).remedy


def catalogue_words(kind: str, name: str) -> Words:
    """Return the words for `name` from the table of words `kind` in offences.toml.

    Kinds are, for example, "penalty", "why" and "effect". Raises LookupError without such words.
    """
    return _offences_file().words[kind][name]


class OffencesFile(ProfileTable, frozen=True):
    """The contents of offences.toml: the offences, and words for penalties, reasons and effects."""

    offence: list[Offence]
    words: dict[str, dict[str, Words]]


def read_offences(text: str, name: str) -> OffencesFile:
    """Return the catalogue that a TOML text contains.

    `name`: the name of the file, for messages. Raises OffencesError, one line.
    """
    raw = toml_files.parse_tables(text, OffencesError, name=name)
    file = toml_files.convert_tables(raw, OffencesFile, OffencesError, name=name)
    for number, row in enumerate(file.offence):
        if any(row.id == before.id for before in file.offence[:number]):
            raise OffencesError(f'{name}: offence[{number}].id = "{row.id}": there is one already')
    return file


@cache
def _offences_file() -> OffencesFile:
    name = "offences.toml"
    text = resources.files("controller.rules.penalties").joinpath(name).read_text(encoding="utf-8")
    return read_offences(text, name)
