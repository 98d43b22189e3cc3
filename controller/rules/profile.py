"""A profile: one rulebook as data, read from profiles/NAME.toml.

A value that its rulebook does not give is named in `provisional`; all others have
their article in `sources`. Keys are added here as parts of the controller ask for
them; a rulebook that is new is a new file.
"""

import hashlib
from importlib import resources
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from controller import tomlfile
from controller.cards import SEATS, Face, composition, parse_face
from controller.framing import canonical

Count = Annotated[int, Meta(ge=1, le=255)]


class ProfileError(tomlfile.FileError):
    """A profile that does not exist or is not one; its text is one line."""


class Deck(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """What a set is made of: `cards` is all of them together."""

    packs: Annotated[int, Meta(ge=1, le=4)]
    jokers: bool
    cards: Count

    def __post_init__(self) -> None:
        """Refuse a number of cards that the packs do not have."""
        if self.cards != sum(self.composition()):
            raise ValueError(f"cards = {self.cards}: expected {sum(self.composition())}")

    def composition(self) -> tuple[int, ...]:
        """Return how many of each of the 54 faces a set has."""
        return composition(self.packs, self.jokers)


class Turnup(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """The card that is turned up: in the first deal or not, and which ones do not count."""

    deal1: bool
    redo_on: list[str] = []

    def __post_init__(self) -> None:
        """Refuse what is no card."""
        try:
            self.faces()
        except ValueError as mistake:
            raise ValueError(f"redo_on: {mistake}") from None

    def faces(self) -> frozenset[Face]:
        """Return the faces after which another card is turned up."""
        return frozenset(map(parse_face, self.redo_on))


class Profile(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """One rulebook, as far as a dealing table needs it.

    `hand`: cards a seat. `cut_margin`: a cut takes more cards than that from either
    end. `cutter_first` cuts the first deal, `cutter_later` the others. `shuffles_*`:
    passes of the shuffler. `provisional` and the keys of `sources` are dotted keys.
    """

    name: str
    title_en: str
    title_zh: str
    source: str
    deck: Deck
    hand: Count
    cut_margin: Annotated[int, Meta(ge=0, le=50)]
    cutter_first: Literal["N", "W", "S", "E"]
    cutter_later: Literal["UP"]
    shuffles_first: Annotated[int, Meta(ge=1, le=20)]
    shuffles_later: Annotated[int, Meta(ge=1, le=20)]
    turnup: Turnup
    provisional: list[str]
    sources: dict[str, str]

    def __post_init__(self) -> None:
        """Refuse hands that do not add up to the set, and a cut that leaves nothing."""
        if self.hand * len(SEATS) != self.deck.cards:
            raise ValueError(f"hand = {self.hand}: expected {self.deck.cards // len(SEATS)}")
        if not self.cuts():
            raise ValueError(
                f"cut_margin = {self.cut_margin}: expected one that leaves a legal cut"
            )

    def cuts(self) -> range:
        """Return the legal cuts: how many cards the packet taken off may have."""
        return range(self.cut_margin + 1, self.deck.cards - self.cut_margin)

    def shuffles(self, deal: int) -> int:
        """Return how often the shuffler passes before deal `deal` (1, 2, …)."""
        return self.shuffles_first if deal == 1 else self.shuffles_later


def profile_names() -> list[str]:
    """Return the names of all profiles there are, sorted."""
    return sorted(
        entry.name.removesuffix(".toml")
        for entry in _folder().iterdir()
        if entry.name.endswith(".toml")
    )


def load_profile(name: str) -> Profile:
    """Return the profile of that name. Raises ProfileError, one line."""
    if name not in profile_names():
        raise ProfileError(f'profile "{name}": expected one of {", ".join(profile_names())}')
    file = _folder().joinpath(f"{name}.toml")
    return read_profile(file.read_text(encoding="utf-8"), f"{name}.toml")


def read_profile(text: str, name: str) -> Profile:
    """Return a profile from TOML text; `name` stands for its file. Raises ProfileError."""
    profile = tomlfile.parse(text, Profile, ProfileError, name=name)
    if f"{profile.name}.toml" != name:
        raise ProfileError(f'{name}: name = "{profile.name}": expected the name of its file')
    return profile


def profile_hash(profile: Profile) -> bytes:
    """Return SHA-256 over the profile as canonical JSON: what commitments name it by."""
    return hashlib.sha256(canonical(profile)).digest()


def _folder() -> resources.abc.Traversable:
    return resources.files("controller.rules") / "profiles"
