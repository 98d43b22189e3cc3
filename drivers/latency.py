"""How long a USB adapter may keep bytes back before it hands them to the computer.

FTDI's keep them for 16 ms unless they are told otherwise: more than a card's whole budget.
"""

from pathlib import Path
from typing import Final

USB_LATENCY_MS: Final = 1
"""What it is to be; udev sets it when the adapter is plugged in."""
_SYSFS: Final = Path("/sys")


def read_latency_ms(port: str, sysfs: Path = _SYSFS) -> int | None:
    """Return the latency timer behind a serial port, in ms; None where it has none, or is away.

    `port` may be a link, such as udev makes. `sys` is where the kernel tells of its devices.
    """
    name = Path(port).resolve().name
    try:
        return int((sysfs / "class/tty" / name / "device/latency_timer").read_text())
    except (OSError, ValueError):
        return None
