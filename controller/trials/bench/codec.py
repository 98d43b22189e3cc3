"""What a frame costs on its way in and out of a line."""

import binascii

from controller.trials.bench.registry import figure
from drivers.firmware.codec import Decoder, encode

_FRAMES = 1000
_PAYLOAD = bytes(range(40))


def _checksums_alone() -> None:
    for _ in range(2 * _FRAMES):
        binascii.crc32(_PAYLOAD)


@figure("frame", floor=_checksums_alone, documented=13.0, per=_FRAMES)
def code_frames() -> None:
    """A frame coded and decoded, against its two checksums."""
    decoder = Decoder()
    for _ in range(_FRAMES):
        decoder.feed(encode(_PAYLOAD))
