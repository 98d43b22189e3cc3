"""Serial ports for the link, and the latency timer of USB adapters.

FTDI adapters keep received bytes for up to 16 ms by default. That is more than the whole time
budget of a card.
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
"""The required latency timer of a port, in milliseconds. udev sets it when the adapter is
plugged in.
"""
_SYSFS: Final = Path("/sys")


def read_latency_ms(port: str, sysfs: Path = _SYSFS) -> int | None:
    """Return the latency timer (ms) of the USB adapter at `port`, or None if sysfs has no timer.

    `port` may be a symbolic link, such as udev makes. `sysfs` is the mount point of sysfs.
    """
    name = Path(port).resolve().name
    try:
        return int((sysfs / "class/tty" / name / "device/latency_timer").read_text())
    except (OSError, ValueError):
        return None


# Limit for bytes that wait because the kernel's buffer is full. Normally only one or two frames are
# on the way, so a board that leaves this much unread is absent.
MAX_UNSENT_BYTES = 4096


def open_serial(
    path: str, baud: int, *, timeout: float, write_timeout: float | None = None
) -> serial.Serial:
    """Open and lock a serial port. Raises PortMissing or PortBusy.

    `timeout` and `write_timeout` are pyserial's time limits in seconds.
    """
    try:
        return serial.Serial(
            path, baud, timeout=timeout, write_timeout=write_timeout, exclusive=True
        )
    except (serial.SerialException, OSError, termios.error, ValueError) as error:
        if getattr(error, "errno", None) in (errno.EAGAIN, errno.EBUSY):
            raise PortBusy(path) from error
        raise PortMissing(path, str(error)) from error


class LinkPort(Protocol):
    """The interface to a serial line that a link uses.

    SerialPort implements it, and so does a pipe inside the process.
    """

    def open(self, on_bytes: Callable[[bytes], None], on_lost: Callable[[str], None]) -> None:
        """Open the line, and from then on pass all received bytes to `on_bytes`.

        `on_lost(why)` is called once if the line fails. Neither is called before open() has
        returned or after close(). Raises PortMissing or PortBusy.
        """

    def write(self, data: bytes) -> None:
        """Send complete frames. This method never blocks or raises; on_lost reports a failure."""

    def close(self) -> None:
        """Close the line. It may be called twice, and open() may follow."""


class SerialPort:
    """A pyserial port whose file descriptor is watched by the running event loop.

    pyserial opens the port, locks it and configures it. The lock is flock(), so it works only if
    every other program asks for the lock too. Reading and writing use the descriptor directly. This
    saves a select() for each frame. It also avoids an endless loop in pyserial's own non-blocking
    write when the kernel's buffer is full. Opening discards earlier input.
    """

    def __init__(self, path: str, baud: int) -> None:
        self.path, self.baud = path, baud
        self._serial: serial.Serial | None = None
        self._fd = -1
        self._unsent = bytearray()
        self._lost_report: asyncio.Handle | None = None
        self._on_bytes: Callable[[bytes], None]
        self._on_lost: Callable[[str], None]

    def open(self, on_bytes: Callable[[bytes], None], on_lost: Callable[[str], None]) -> None:
        """Open and lock the port, and watch it in the running loop; see LinkPort.open."""
        self.close()
        self._loop = asyncio.get_running_loop()
        self._on_bytes, self._on_lost = on_bytes, on_lost
        self._serial = open_serial(self.path, self.baud, timeout=0)
        self._fd = self._serial.fileno()
        self._loop.add_reader(self._fd, self._on_readable)

    def write(self, data: bytes) -> None:
        """Write the bytes that the kernel accepts now, and buffer the rest; see LinkPort.write.

        Bytes that the kernel does not accept yet are written later. A frame that no longer fits
        into the buffer of unsent bytes is dropped whole. The link repeats important frames.
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
        """Stop watching the port, and close it; see LinkPort.close."""
        if self._lost_report is not None:
            self._lost_report.cancel()
            self._lost_report = None
        self._release_device()

    def _on_readable(self) -> None:
        try:
            data = os.read(self._fd, 4096)
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
        """Write `data`, and return the number of accepted bytes, or -1 if the port is lost."""
        try:
            return os.write(self._fd, data)
        except BlockingIOError:
            return 0
        except (OSError, termios.error) as error:
            self._on_failure(str(error))
            return -1

    def _on_failure(self, why: str) -> None:
        """Close the port at once, and report its loss in the next turn of the event loop.

        A failed port stays readable, so it must not be watched. The report is postponed because the
        owner may be inside the write() that failed.
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
            self._serial.close()  # The device may already be gone.
        self._serial = None
