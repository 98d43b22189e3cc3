"""What is to lie on a chip: the firmware's files, and what they hash to. Pure but for `own`."""

import hashlib
from collections.abc import Iterator, Mapping
from importlib import resources

from msgspec import Struct

from drivers.firmware.version import FIRMWARE_VERSION as FIRMWARE_VERSION
from drivers.firmware.version import firmware_hash


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
