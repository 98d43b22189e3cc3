"""What is to lie on a chip: the firmware's files, and what they hash to. Pure but for `own`."""

import hashlib
from collections.abc import Iterator, Mapping
from importlib import resources

from msgspec import Struct

from drivers.firmware.version import FIRMWARE_VERSION as FIRMWARE_VERSION
from drivers.firmware.version import firmware_hash
from drivers.flash.chip.main import SLOTS


class FirmwareImage(Struct, frozen=True, gc=False):
    """A firmware: its files by name, and /main.py, which starts it."""

    files: Mapping[str, bytes]
    main: bytes

    @property
    def hash(self) -> str:
        """What a board reports that runs it: 16 hex digits."""
        return firmware_hash(list(self.files.items())).hex()

    @property
    def size(self) -> int:
        """How many bytes its files have."""
        return sum(map(len, self.files.values()))

    def digests(self) -> Iterator[tuple[str, bytes]]:
        """Yield each file's name and SHA-256, by name."""
        for name in sorted(self.files):
            yield name, hashlib.sha256(self.files[name]).digest()


def own_image() -> FirmwareImage:
    """Return the firmware of this very program. Raises OSError."""
    folder = resources.files("drivers.firmware")
    files = {each.name: each.read_bytes() for each in folder.iterdir() if each.name.endswith(".py")}
    main = resources.files("drivers.flash.chip").joinpath("main.py").read_bytes()
    return FirmwareImage(files, main)


class Slot:
    """Slot `a` or `b` of a chip of ours, as chip/main.py finds it."""

    def __init__(self, name: str) -> None:
        assert name in SLOTS
        self.name = name

    def path(self, name: str) -> str:
        """Return where the file of that name lies."""
        return f"{self.name}/firmware/{name}"

    def folders(self) -> tuple[str, ...]:
        """Return the folders that must be there, the outer ones first."""
        return self.name, f"{self.name}/firmware"

    def other(self) -> "Slot":
        """Return the other one."""
        first, second = SLOTS
        return Slot(second if self.name == first else first)


class FlashError(Exception):
    """A board cannot be flashed, or was not; what it runs now is said."""


class NoBoardFound(FlashError):
    """Neither a firmware of ours nor MicroPython's prompt answers."""


class FlashRefused(FlashError):
    """A board of ours says no, or is another one than was named."""


class WrongHash(FlashError):
    """What was read back is not what was written."""


class FirmwareRolledBack(FlashError):
    """The new firmware did not answer rightly; the board runs the one before."""
