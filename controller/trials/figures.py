"""The figures of `dealtable bench`, each beside its floor."""

import binascii
import subprocess
import sys

from controller.trials.bench import figure
from drivers.firmware.codec import Decoder, encode

_FRAMES = 1000
_PAYLOAD = bytes(range(40))


def _python_alone() -> None:
    subprocess.run([sys.executable, "-c", "pass"], check=True)


@figure("help", floor=_python_alone, most=8.0)
def show_help() -> None:
    """The command line's help, against an interpreter that does nothing."""
    subprocess.run(
        [sys.executable, "-c", "from controller.cli import main; main(['--help'])"],
        check=True,
        stdout=subprocess.DEVNULL,
    )


def _checksums_alone() -> None:
    for _ in range(2 * _FRAMES):
        binascii.crc32(_PAYLOAD)


@figure("frame", floor=_checksums_alone, most=40.0, per=_FRAMES)
def code_frames() -> None:
    """A frame coded and decoded, against its two checksums."""
    decoder = Decoder()
    for _ in range(_FRAMES):
        decoder.feed(encode(_PAYLOAD))
