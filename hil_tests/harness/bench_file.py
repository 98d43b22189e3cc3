"""The bench file, and the lock file beside it, which permits only one run at a time."""

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
    """Another run uses this bench. The text is one line that names its operator."""


class BenchLock:
    """The lock with which one run uses a bench alone, from `acquire` to `release`.

    The kernel releases the lock of a dead run. The lock file names the holder, and is removed at
    the release.
    """

    def __init__(self, bench_file: Path) -> None:
        """Prepare the lock of the bench that the file `bench_file` describes.

        The lock is not acquired yet.
        """
        self.path = bench_file.with_name(f"{bench_file.name}.lock")
        self._fd: int | None = None

    def acquire(self, who: str) -> None:
        """Lock the bench for `who`. Raises BenchInUse, or OSError if no file can be made."""
        fd = self._open_locked()
        while not self._is_current(fd):  # Meanwhile its holder released and removed it.
            os.close(fd)
            fd = self._open_locked()
        os.ftruncate(fd, 0)
        os.pwrite(fd, f"{who} (process {os.getpid()})\n".encode(), 0)
        self._fd = fd

    def release(self) -> None:
        """Release the lock. It may be called twice."""
        if self._fd is not None:
            # Remove it while still locked: other runs look for its name.
            self.path.unlink(missing_ok=True)
            os.close(self._fd)
            self._fd = None

    def _open_locked(self) -> int:
        """Open and lock the lock file, and return its descriptor. Raises BenchInUse."""
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
    """A bench file that cannot be used. The text is one line with the reason."""


class BenchSection(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The section of a bench file about the bench: name, operator, features and rulebook.

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
        """Refuse features that no bench has, and unknown rulebooks."""
        for feature in self.features:
            if feature not in BENCH_FEATURES:
                raise ValueError(f"features: {feature} is a simulator's, no bench has it")
        try:
            load_profile(self.profile)
        except ProfileError as error:
            raise ValueError(f"profile: {error}") from None


class BenchFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The contents of a bench file: the bench, its boards, panel and sets of cards, and limits."""

    bench: BenchSection
    dealer: BoardSection
    reader: BoardSection
    panel: PanelSection = field(default_factory=lambda: PanelSection(pins="mock"))
    card_sets: CardSetSections = field(
        name="card_set", default=(CardSetSection(id="S1", back="A"),)
    )
    limits: MeasurementLimits = field(default_factory=MeasurementLimits)

    def __post_init__(self) -> None:
        """Refuse two boards with the same port or id, and features that need more equipment."""
        for key in ("port", "id"):
            if getattr(self.dealer, key) == getattr(self.reader, key):
                raise ValueError(f"reader.{key}: expected another one than dealer.{key}")
        if "buttons" in self.bench.features and self.panel.pins == "mock":
            raise ValueError('panel.pins: expected "lgpio" or "unix:PATH" for buttons')
        if "two_sets" in self.bench.features and len(self.card_sets) < 2:
            raise ValueError("card_set: expected two of them for two_sets")


def load_bench(path: Path) -> BenchFile:
    """Return the contents of a bench file. Raises BenchError with one line."""
    return toml_files.read(path, BenchFile, BenchError)
