"""A bench file: which boards, cards and people a bench has, and what is right there."""

from pathlib import Path

import msgspec
from msgspec import field

from controller import tomlfile
from controller.config import (
    BoardSection,
    CardSetSection,
    CardSetSections,
    NonEmptyText,
    PanelSection,
    ShortName,
)
from controller.rules.rulebooks import ProfileError, load_profile
from hil_tests.features import BENCH_FEATURES, Feature
from hil_tests.measuring import MeasurementLimits


class BenchError(tomlfile.FileError):
    """A bench file cannot be used; its text is one line that says why."""


class BenchSection(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The bench itself: its name, who works at it, what it has.

    `simulated`: its ports lead to simulated boards. `terminal` is where the operator is
    asked, and answers.
    """

    id: ShortName
    operator: NonEmptyText
    features: tuple[Feature, ...] = ()
    profile: NonEmptyText = "international-000"
    simulated: bool = False
    terminal: Path = Path("/dev/tty")

    def __post_init__(self) -> None:
        """Refuse features that no bench has, and rulebooks that nobody wrote."""
        for feature in self.features:
            if feature not in BENCH_FEATURES:
                raise ValueError(f"features: {feature} is a simulator's, no bench has it")
        try:
            load_profile(self.profile)
        except ProfileError as error:
            raise ValueError(f"profile: {error}") from None


class BenchFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A whole bench file."""

    bench: BenchSection
    dealer: BoardSection
    reader: BoardSection
    panel: PanelSection = field(default_factory=lambda: PanelSection(pins="mock"))
    card_sets: CardSetSections = field(
        name="card_set", default=(CardSetSection(id="S1", back="A"),)
    )
    limits: MeasurementLimits = field(default_factory=MeasurementLimits)

    def __post_init__(self) -> None:
        """Refuse boards that are said to be one, and features that the rest contradicts."""
        for key in ("port", "id"):
            if getattr(self.dealer, key) == getattr(self.reader, key):
                raise ValueError(f"reader.{key}: expected another one than dealer.{key}")
        if "buttons" in self.bench.features and self.panel.pins == "mock":
            raise ValueError('panel.pins: expected "lgpio" or "unix:PATH" for buttons')
        if "two_sets" in self.bench.features and len(self.card_sets) < 2:
            raise ValueError("card_set: expected two of them for two_sets")


def load_bench(path: Path) -> BenchFile:
    """Return the bench in a file. Raises BenchError, one line."""
    return tomlfile.read(path, BenchFile, BenchError)
