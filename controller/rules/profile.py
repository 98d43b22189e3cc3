"""A profile: one rulebook as data, as rulebooks.py reads it from profiles/NAME.toml.

Each rule is a key, dotted where it stands in a table; each key has its article in
`sources` or stands in `provisional`, because the rulebook is silent and the value is a
proposal.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from controller.cards import SEATS
from controller.messages import Seat
from controller.rules import guandan_tables
from controller.rules.big_two import BigTwoRules
from controller.rules.guandan_tables import Count
from controller.words import Words

KEYS_ABOUT_PROFILE = frozenset(
    (
        *("name", "game", "text", "like", "title_en", "title_zh", "source", "event"),
        *("provisional", "sources", "left_to_event", "departs"),
    )
)
"""Keys about a profile itself; all others are rules."""

RulebookNumber = Literal["000", "001", "002", "003", "004"]
"""The number that a rulebook is cited by: of its seed."""


class EventRegulations(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """An event whose regulations are in force.

    `settled`: the keys they fix. `instead_of`: the articles of the rulebook that they
    replace, by key; none for a key that was provisional. `before`: the values that were in
    force without them, by key.
    """

    title_en: str
    title_zh: str
    organizer: str
    settled: tuple[str, ...]
    instead_of: dict[str, str]
    before: dict[str, Any]


class Profile(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """What every rulebook has, as far as a dealing table needs it.

    `hand`: cards a seat. `cut_margin`: a cut takes more cards than that from either
    end. `cutter_first` cuts the first deal, `cutter_later` the others. `shuffles_*`:
    least and most passes. `hands_opened`: when the record of a deal that was played is
    published. Every rule's dotted key stands in `sources`, with its article
    or the event that settled it, or in `provisional`. `left_to_event`: the article that
    leaves a key to the event's regulations. `departs`: the article that a provisional
    value departs from, though it says something else. `like`: the profile that everything is from
    which its own file does not hold. `text`: the number its rulebook is cited by.
    """

    name: str
    text: RulebookNumber
    title_en: str
    title_zh: str
    source: str
    direction: guandan_tables.DirectionRules
    deck: guandan_tables.DeckRules
    hand: Count
    cut_margin: Annotated[int, Meta(ge=0, le=50)]
    cutter_first: Seat
    cutter_later: Literal["UP"]
    shuffles_first: tuple[Count, Count]
    shuffles_later: tuple[Count, Count]
    hands_opened: Literal["deal_end", "match_end", "never"]
    turnup: guandan_tables.TurnupRules
    provisional: tuple[str, ...]
    sources: dict[str, str]
    left_to_event: dict[str, str]
    departs: dict[str, str]
    like: str | None
    event: EventRegulations | None

    def __post_init__(self) -> None:
        """Refuse hands that do not add up to the set, and a cut that leaves nothing."""
        if self.hand * len(SEATS) != self.deck.cards:
            raise ValueError(f"hand = {self.hand}: expected {self.deck.cards // len(SEATS)}")
        if not self.cuts():
            raise ValueError(
                f"cut_margin = {self.cut_margin}: expected one that leaves a legal cut"
            )
        for key in ("shuffles_first", "shuffles_later"):
            least, most = getattr(self, key)
            if least > most:
                raise ValueError(f"{key} = [{least}, {most}]: expected least before most")

    @property
    def title(self) -> Words:
        """What people call the rulebook, in both languages; `name` is for programs."""
        return Words(self.title_en, self.title_zh)

    def cuts(self) -> range:
        """Return the legal cuts: how many cards the packet taken off may have."""
        return range(self.cut_margin + 1, self.deck.cards - self.cut_margin)

    def shuffles(self, deal: int) -> int:
        """Return how often the shuffler passes before deal `deal` (1, 2, …): the least."""
        return self.shuffles_first[0] if deal == 1 else self.shuffles_later[0]

    def article(self, key: str) -> str | None:
        """Return where the value of a dotted key is from; None where it is provisional."""
        return self.sources.get(key)

    def is_settled(self, key: str) -> bool:
        """Tell whether the event's regulations say what a dotted key is."""
        return self.event is not None and key in self.event.settled


class GuandanProfile(Profile, frozen=True):
    """A rulebook of Guandan."""

    game: Literal["guandan"]
    ceremony: guandan_tables.CeremonyRules
    counting: guandan_tables.CountingRules
    levels: guandan_tables.LevelRules
    tribute: guandan_tables.TributeRules
    conduct: guandan_tables.ConductRules
    ending: guandan_tables.EndingRules
    score: guandan_tables.ScoreRules
    clocks: guandan_tables.ClockRules
    penalties: guandan_tables.PenaltyRules
    roles: guandan_tables.SheetRoles


class BigTwoProfile(Profile, frozen=True):
    """A rulebook of Big Two: a practice profile (seed 002 A13 wants duplicated deals).

    `deals`: of a match.
    """

    game: Literal["bigtwo"]
    deals: Annotated[int, Meta(ge=1, le=99)]
    bigtwo: BigTwoRules


def rules_by_key(profile: Profile) -> dict[str, Any]:
    """Return all rules of a profile by dotted key, in the order of its tables."""
    raw = msgspec.to_builtins(profile)
    return dict(
        flatten_tables({key: value for key, value in raw.items() if key not in KEYS_ABOUT_PROFILE})
    )


def flatten_tables(rules: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every value of nested tables with its dotted key; a list is one value."""
    for key, value in rules.items():
        if isinstance(value, Mapping):
            yield from flatten_tables(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value
