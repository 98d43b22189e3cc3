"""A profile: one rulebook as data, read by profile_files.py from profiles/NAME.toml.

Each rule is a key, dotted if it belongs to a table. Each key has its article in `sources`. If the
rulebook does not state the rule, the value is a proposal, and the key is in `provisional`.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from controller.messages import Seat
from controller.rules import guandan_tables
from controller.rules.big_two import BigTwoRules
from controller.rules.guandan_tables import Count
from controller.seats import SEATS
from controller.words import Words

KEYS_ABOUT_PROFILE = frozenset(
    (
        *("name", "game", "text", "like", "title_en", "title_zh", "source", "event"),
        *("provisional", "sources", "left_to_event", "departs"),
    )
)
"""Keys about a profile itself. All other keys are rules."""

RulebookNumber = Literal["000", "001", "002", "003", "004"]
"""The number that cites a rulebook: the number of its seed."""


class EventRegulations(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """The regulations by which a tournament changes some rules of a profile.

    `settled`: the keys that the regulations fix. `instead_of`: the replaced articles of the
    rulebook, by key (none for a key that was provisional). `before`: the values that were in force
    without the regulations, by key.
    """

    title_en: str
    title_zh: str
    organizer: str
    settled: tuple[str, ...]
    instead_of: dict[str, str]
    before: dict[str, Any]


class Profile(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """The rules that every dealing table needs, for any card game.

    `hand`: the number of cards for each seat. `cut_margin`: a cut takes more cards than this number
    from either end. `cutter_first` cuts the first deal, `cutter_later` the others. `shuffles_*`:
    the least and the greatest number of shuffles. `hands_opened`: the time when the record of a
    played deal is published. The dotted key of every rule is in `sources`, with its article or the
    event that settled it, or in `provisional`. `left_to_event`: the article that leaves a key to
    the regulations of the event. `departs`: the article that contradicts a provisional value.
    `like`: the profile that provides every value which the profile's own file lacks. `text`: the
    number that cites its rulebook.
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
        """Refuse a `hand` that does not use all cards, and a `cut_margin` that allows no cut.

        Ranges of shuffles in the wrong order are refused too.
        """
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
        """Return the rulebook's name for people, in both languages. `name` is for programs."""
        return Words(self.title_en, self.title_zh)

    def cuts(self) -> range:
        """Return the legal cuts, as a range of the number of cards that a player takes off."""
        return range(self.cut_margin + 1, self.deck.cards - self.cut_margin)

    def shuffles(self, deal: int) -> int:
        """Return the least number of shuffles before deal number `deal` (1, 2, …) of a match."""
        return self.shuffles_first[0] if deal == 1 else self.shuffles_later[0]

    def article(self, key: str) -> str | None:
        """Return the article or tournament that sets a key's value; None if it is provisional."""
        return self.sources.get(key)

    def is_settled(self, key: str) -> bool:
        """Return True if the regulations of the tournament fix the value of a dotted key."""
        return self.event is not None and key in self.event.settled


class GuandanProfile(Profile, frozen=True):
    """A profile of Guandan, with the tables that only Guandan has."""

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
    """A profile of Big Two, for practice only.

    Seed 002 A13 requires duplicated deals. `deals`: number of deals in a match.
    """

    game: Literal["bigtwo"]
    deals: Annotated[int, Meta(ge=1, le=99)]
    bigtwo: BigTwoRules


def rules_by_key(profile: Profile) -> dict[str, Any]:
    """Return a mapping from every dotted key to its value, in the order of the profile's tables."""
    raw = msgspec.to_builtins(profile)
    return dict(
        flatten_tables({key: value for key, value in raw.items() if key not in KEYS_ABOUT_PROFILE})
    )


def flatten_tables(rules: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every value of nested tables with its dotted key. A list is one value."""
    for key, value in rules.items():
        if isinstance(value, Mapping):
            yield from flatten_tables(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value
