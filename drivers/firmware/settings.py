"""The settings of a board, which CONFIGURE changes, and the CRC over all of them.

A host can require a CRC, so that it uses only boards with the settings that it expects.
"""

import binascii
import struct

from . import protocol

_PACKED = ">BI"
_SIZE = struct.calcsize(_PACKED)


class BoardSettings:
    """The settings of one board by their names. Each value is within the bounds of SETTINGS."""

    def __init__(self, kind: int) -> None:
        self._table = protocol.SETTINGS[kind]
        self._values = {name: default for name, default, _, _ in self._table.values()}
        self.change_count = 0  # How often a value was changed.

    def __getitem__(self, name: str) -> int:
        return self._values[name]

    def change(self, setting: int, value: int) -> bool:
        """Change the setting with id `setting` to `value`, or return False if either is invalid."""
        if setting not in self._table:
            return False
        name, _, least, most = self._table[setting]
        if not least <= value <= most:
            return False
        if value != self._values[name]:
            self._values[name] = value
            self.change_count += 1
        return True

    def pack(self) -> bytes:
        """Return the ids and values of all settings as bytes, sorted by id."""
        rows = [
            struct.pack(_PACKED, setting, self._values[self._table[setting][0]])
            for setting in sorted(self._table)
        ]
        return b"".join(rows)

    def restore(self, packed: bytes) -> None:
        """Restore settings from `packed` (see `pack`). Ignore unknown ids and invalid values."""
        for at in range(0, len(packed) - _SIZE + 1, _SIZE):
            setting, value = struct.unpack(_PACKED, packed[at : at + _SIZE])
            self.change(setting, value)

    def crc(self) -> int:
        """Return the CRC-32 of the bytes that `pack` returns."""
        return binascii.crc32(self.pack())
