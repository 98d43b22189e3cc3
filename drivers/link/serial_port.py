"""How long a USB adapter may keep bytes back before it hands them to the computer.

FTDI's keep them for 16 ms unless they are told otherwise: more than a card's whole budget.
"""

import asyncio
import errno
import os
import termios
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final, Protocol

import serial

from drivers.errors import PortBusy, PortMissing

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


# Bytes that may wait for a kernel whose buffer is full. At any moment a frame or
# two are on the way, so a board that leaves this much unread is not there.
MAX_UNSENT_BYTES = 4096

_READ_SIZE = 4096


class LinkPort(Protocol):
    """What a link needs of a line; SerialPort below, or a pipe in process."""

    def open(self, on_bytes: Callable[[bytes], None], on_lost: Callable[[str], None]) -> None:
        """Start: `on_bytes` gets what arrives, `on_lost(why)` is called once if the line dies.

        Neither is called before open() has returned or after close(). Raises
        PortMissing or PortBusy.
        """

    def write(self, data: bytes) -> None:
        """Send whole frames; never waits, never raises: a dead line is reported by on_lost."""

    def close(self) -> None:
        """Stop; may be called twice, and open() again afterwards."""


class SerialPort:
    """A pyserial port whose descriptor the running loop watches.

    pyserial opens, locks (flock; every other program must ask for the lock too)
    and sets the line; reading and writing go to its descriptor directly, which
    spares a select() for each frame and, where the kernel's buffer is full, an
    endless loop in pyserial's own non-blocking write. Opening throws away what
    arrived before.
    """

    def __init__(self, path: str, baud: int) -> None:
        self.path = path
        self.baud = baud
        self._serial: serial.Serial | None = None
        self._fd = -1
        self._unsent = bytearray()
        self._lost_report: asyncio.Handle | None = None
        self._on_bytes: Callable[[bytes], None]
        self._on_lost: Callable[[str], None]

    def open(self, on_bytes: Callable[[bytes], None], on_lost: Callable[[str], None]) -> None:
        """Open, lock and watch the port; see Port.open."""
        self.close()
        self._loop = asyncio.get_running_loop()
        self._on_bytes = on_bytes
        self._on_lost = on_lost
        try:
            self._serial = serial.Serial(self.path, self.baud, timeout=0, exclusive=True)
        except (serial.SerialException, OSError, termios.error, ValueError) as error:
            if getattr(error, "errno", None) in (errno.EAGAIN, errno.EBUSY):
                raise PortBusy(self.path) from error
            raise PortMissing(self.path, str(error)) from error
        self._fd = self._serial.fileno()
        self._loop.add_reader(self._fd, self._on_readable)

    def write(self, data: bytes) -> None:
        """Write at once, or keep what the kernel does not take; see Port.write.

        A frame that no longer fits among the waiting bytes is dropped whole: the
        link repeats what matters.
        """
        if self._fd < 0:
            return
        if self._unsent:
            if len(self._unsent) + len(data) <= MAX_UNSENT_BYTES:
                self._unsent += data
            return
        sent = self._write_now(data)
        if 0 <= sent < len(data):
            self._unsent += data[sent:]
            self._loop.add_writer(self._fd, self._on_writable)

    def close(self) -> None:
        """Unwatch and close the port; see Port.close."""
        if self._lost_report is not None:
            self._lost_report.cancel()
            self._lost_report = None
        self._release_device()

    def _on_readable(self) -> None:
        try:
            data = os.read(self._fd, _READ_SIZE)
        except BlockingIOError:
            return
        except (OSError, termios.error) as error:
            self._on_failure(str(error))
            return
        if data:
            self._on_bytes(data)
        else:
            self._on_failure("the device is gone")

    def _on_writable(self) -> None:
        sent = self._write_now(self._unsent)
        if sent > 0:
            del self._unsent[:sent]
            if not self._unsent:
                self._loop.remove_writer(self._fd)

    def _write_now(self, data: bytes | bytearray) -> int:
        """Return how many bytes the kernel took; -1 where the port is lost."""
        try:
            return os.write(self._fd, data)
        except BlockingIOError:
            return 0
        except (OSError, termios.error) as error:
            self._on_failure(str(error))
            return -1

    def _on_failure(self, why: str) -> None:
        """Stop watching at once (a dead port stays readable), tell the owner in a moment.

        The owner may be in the middle of the very write that failed.
        """
        self._release_device()
        self._lost_report = self._loop.call_soon(self._report_lost, why)

    def _report_lost(self, why: str) -> None:
        self._lost_report = None
        self._on_lost(f"port {self.path}: {why}")

    def _release_device(self) -> None:
        if self._serial is None:
            return
        self._loop.remove_reader(self._fd)
        self._loop.remove_writer(self._fd)
        self._unsent.clear()
        self._fd = -1
        with suppress(serial.SerialException, OSError, termios.error):
            self._serial.close()  # the device may have gone first
        self._serial = None
