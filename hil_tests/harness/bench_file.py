"""A bench file, which describes a table for tests, and a lock that reserves it for one test run."""

import fcntl
import os
from pathlib import Path

import msgspec
from msgspec import field

from controller.config import (
    BoardSection,
    CardSetSection,
    CardSetSections,
    NonEmptyText,
    PanelSection,
    ShortName,
)
from controller.host import toml_files
from controller.rules.profile_files import ProfileError, load_profile
from hil_tests.harness.features import BENCH_FEATURES, Feature
from hil_tests.harness.measurements import MeasurementLimits


class BenchInUse(Exception):
    """An error: another test run uses this bench. The text is one line that names its operator."""


class BenchLock:
    """A lock that reserves a bench for one test run, from `acquire` to `release`.

    The kernel releases the lock of a dead run. The lock file names the holder, and is removed at
    the release.
    """

    def __init__(self, bench_file: Path) -> None:
        """Prepare the lock of the bench that `bench_file` describes, but do not lock it yet."""
        self.path = bench_file.with_name(f"{bench_file.name}.lock")
        self._fd: int | None = None

    def acquire(self, who: str) -> None:
        """Lock the bench, and write `who` (the user) into the lock file.

        Raises BenchInUse if another run has locked the bench, or OSError.
        """
        fd = self._open_locked()
        while not self._is_current(fd):  # Its holder has just removed this file.
            os.close(fd)
            fd = self._open_locked()
        os.ftruncate(fd, 0)
        os.pwrite(fd, f"{who} (process {os.getpid()})\n".encode(), 0)
        self._fd = fd

    def release(self) -> None:
        """Release the lock and remove the lock file. Do nothing if the lock is not held."""
        if self._fd is not None:
            # Remove the file before its lock ends: other runs open the file by its name.
            self.path.unlink(missing_ok=True)
            os.close(self._fd)
            self._fd = None

    def _open_locked(self) -> int:
        """Open and lock the lock file, and return its descriptor. Raises BenchInUse if locked."""
        fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(fd, 200, 0).decode(errors="replace").strip() or "somebody"
            os.close(fd)
            raise BenchInUse(
                f"{self.path}: the bench is taken by {holder}; wait until it ends"
            ) from None
        return fd

    def _is_current(self, fd: int) -> bool:
        try:
            return os.path.samestat(os.fstat(fd), os.stat(self.path))
        except FileNotFoundError:
            return False


class BenchError(toml_files.FileError):
    """An error: a bench file cannot be used. The text is one line with the reason."""


class BenchSection(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The section `bench` of a bench file: name, operator, features and rulebook.

    `simulated`: its ports lead to simulated boards. `terminal` is the path of the terminal at which
    the operator reads questions and answers them.
    """

    id: ShortName
    operator: NonEmptyText
    features: tuple[Feature, ...] = ()
    profile: NonEmptyText = "international-000"
    simulated: bool = False
    terminal: Path = Path("/dev/tty")

    def __post_init__(self) -> None:
        """Raise ValueError for a feature that no bench has, or for an unknown rulebook."""
        for feature in self.features:
            if feature not in BENCH_FEATURES:
                raise ValueError(f"features: {feature} is a simulator's, no bench has it")
        try:
            load_profile(self.profile)
        except ProfileError as error:
            raise ValueError(f"profile: {error}") from None


class BenchFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The contents of a bench file: the bench, its boards, panel, card sets and limits."""

    bench: BenchSection
    dealer: BoardSection
    reader: BoardSection
    panel: PanelSection = field(default_factory=lambda: PanelSection(pins="mock"))
    card_sets: CardSetSections = field(
        name="card_set", default=(CardSetSection(id="S1", back="A"),)
    )
    limits: MeasurementLimits = field(default_factory=MeasurementLimits)

    def __post_init__(self) -> None:
        """Raise ValueError if the two boards have the same port or the same id.

        Also raise it if a listed feature needs a panel or a second set that the file does not have.
        """
        for key in ("port", "id"):
            if getattr(self.dealer, key) == getattr(self.reader, key):
                raise ValueError(f"reader.{key}: expected another one than dealer.{key}")
        if "buttons" in self.bench.features and self.panel.pins == "mock":
            raise ValueError('panel.pins: expected "lgpio" or "unix:PATH" for buttons')
        if "two_sets" in self.bench.features and len(self.card_sets) < 2:
            raise ValueError("card_set: expected two of them for two_sets")


def load_bench(path: Path) -> BenchFile:
    """Read the bench file at `path`, and return its contents. Raises BenchError with one line."""
    return toml_files.read(path, BenchFile, BenchError)
