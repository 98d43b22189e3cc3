"""One run at a bench at a time: a lock on a file beside the bench file."""

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
    """Somebody else runs scenarios at this bench; one line says who."""


class BenchLock:
    """Holds a bench from `take` to `release`; the kernel lets go of it for a run that died.

    The file says who holds it, and goes with its holder.
    """

    def __init__(self, bench_file: Path) -> None:
        """Name the lock of a bench file; nothing is taken yet."""
        self.path = bench_file.with_name(f"{bench_file.name}.lock")
        self._fd: int | None = None

    def acquire(self, who: str) -> None:
        """Take the bench for `who`. Raises Taken, and OSError where no file can be made."""
        fd = self._open_locked()
        while not self._is_current(fd):  # its holder let go, and removed it, meanwhile
            os.close(fd)
            fd = self._open_locked()
        os.ftruncate(fd, 0)
        os.pwrite(fd, f"{who} (process {os.getpid()})\n".encode(), 0)
        self._fd = fd

    def release(self) -> None:
        """Let the next one in; may be called twice."""
        if self._fd is not None:
            self.path.unlink(missing_ok=True)  # before others can lock it: they look for its name
            os.close(self._fd)
            self._fd = None

    def _open_locked(self) -> int:
        """Return the file's descriptor, locked. Raises Taken."""
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
    return toml_files.read(path, BenchFile, BenchError)
