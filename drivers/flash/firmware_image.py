"""The firmware's files for a chip, and their hashes. Pure except for `own_image`."""

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
        """The hash that a board with this firmware reports, as 16 hex digits."""
        return firmware_hash(list(self.files.items())).hex()

    @property
    def size(self) -> int:
        """The total size of the files in bytes."""
        return sum(map(len, self.files.values()))

    def digests(self) -> Iterator[tuple[str, bytes]]:
        """Yield the name and the SHA-256 of each file, sorted by name."""
        for name in sorted(self.files):
            yield name, hashlib.sha256(self.files[name]).digest()


def own_image() -> FirmwareImage:
    """Return the firmware that is part of this program's package. Raises OSError."""
    folder = resources.files("drivers.firmware")
    files = {each.name: each.read_bytes() for each in folder.iterdir() if each.name.endswith(".py")}
    main = resources.files("drivers.flash.chip").joinpath("main.py").read_bytes()
    return FirmwareImage(files, main)


class Slot:
    """One of the two folders of a chip that hold a firmware, `a` or `b`.

    `chip/main.py` selects the slot to run.
    """

    def __init__(self, name: str) -> None:
        assert name in SLOTS
        self.name = name

    def path(self, name: str) -> str:
        """Return the path of the firmware file `name` in this slot."""
        return f"{self.name}/firmware/{name}"

    def folders(self) -> tuple[str, ...]:
        """Return the paths of the slot's folder and of its subfolder `firmware`, in this order."""
        return self.name, f"{self.name}/firmware"

    def other(self) -> "Slot":
        """Return the other slot of the chip."""
        first, second = SLOTS
        return Slot(second if self.name == first else first)


class FlashError(Exception):
    """A board cannot be flashed, or was not flashed. The text gives the reason."""


class NoBoardFound(FlashError):
    """Neither this project's firmware nor MicroPython's prompt answers at the port."""


class FlashRefused(FlashError):
    """The board refuses a request, has no setting of the given name, or is of the wrong kind."""


class WrongHash(FlashError):
    """The files on the board, read back, differ from the files that were written."""


class FirmwareRolledBack(FlashError):
    """The new firmware does not answer after the flash, or another firmware answers."""
