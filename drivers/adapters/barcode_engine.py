"""Control of a serial barcode engine (a scanner without a case), one scan at a time.

The engine sends lines of ASCII at its own pace, and no line shows which trigger it answers. Each
scan is therefore one trigger, and lines count only between that trigger and the end of the scan. No
new trigger is sent while an older answer may still come.
"""

import os
import select
import termios
from collections.abc import Mapping
from contextlib import suppress
from typing import Literal

import serial
from msgspec import Struct

from drivers.adapters.adapter_board import NEVER_MS

Parity = Literal["none", "even", "odd"]

RETRY_MS = 1000
"""Interval at which the adapter tries to open the port of an absent engine."""
MAX_LINE_BYTES = 256
"""Length of the longest valid line. A longer line is noise."""
_PARITIES: Mapping[Parity, str] = {
    "none": serial.PARITY_NONE,
    "even": serial.PARITY_EVEN,
    "odd": serial.PARITY_ODD,
}


class BarcodeEngine(Struct, frozen=True, kw_only=True):
    """Settings of a barcode engine: its port, its commands and its answers.

    `trigger` starts a scan, `trigger_off` ends a scan (b"": no such command). A line ends with
    `end_of_line`. `no_read` is the line for "no code found" (b"": the engine sends nothing).
    `timeout_ms` is the limit of a scan. For `late_ms` after a scan without an answer, an answer may
    still come. `settle_ms` is the silence after a line which shows that no other line follows.
    `confidence` (0…255) is the value for each correctly read code.
    """

    port: str
    baud: int
    parity: Parity
    data_bits: int
    stop_bits: int
    trigger: bytes
    trigger_off: bytes
    end_of_line: bytes
    no_read: bytes
    timeout_ms: int
    late_ms: int
    settle_ms: int
    confidence: int

    @property
    def limit_ms(self) -> int:
        """Return the time limit of a scan: `late_ms` for an older answer, then `timeout_ms`."""
        return self.late_ms + self.timeout_ms


class EngineLost(Exception):
    """The error for an engine's port that cannot be opened or used. Its text has the reason."""


class SerialEnginePort:
    """The serial line to a barcode engine, opened and locked by pyserial."""

    def __init__(self, engine: BarcodeEngine) -> None:
        self._engine = engine
        self._serial: serial.Serial | None = None

    def open(self) -> int:
        """Open the port, and return its file descriptor for polling. Raises EngineLost."""
        of = self._engine
        try:
            self._serial = serial.Serial(
                of.port,
                of.baud,
                bytesize=of.data_bits,
                parity=_PARITIES[of.parity],
                stopbits=of.stop_bits,
                timeout=0,
                write_timeout=0,
                exclusive=True,
            )
            return int(self._serial.fileno())
        except (serial.SerialException, OSError, termios.error, ValueError) as error:
            self.close()
            raise EngineLost(f"{of.port}: {_error_text(error)}") from None

    def read(self) -> bytes:
        """Return the bytes received since the last call, or b"" if there are none.

        Raises EngineLost.
        """
        try:
            fd = self._fd()
            ready = select.select([fd], [], [], 0)[0]
            data = os.read(fd, 4096) if ready else b""
        except BlockingIOError:
            return b""
        except (serial.SerialException, OSError, termios.error) as error:
            raise EngineLost(f"{self._engine.port}: {_error_text(error)}") from None
        if ready and not data:
            raise EngineLost(f"{self._engine.port}: the device is gone")
        return data

    def write(self, data: bytes) -> None:
        """Send bytes to the engine. Raises EngineLost."""
        try:
            sent = os.write(self._fd(), data) if data else 0
        except (serial.SerialException, OSError, termios.error) as error:
            raise EngineLost(f"{self._engine.port}: {_error_text(error)}") from None
        if sent < len(data):
            raise EngineLost(f"{self._engine.port}: it takes no bytes")

    def close(self) -> None:
        """Close the port. May be called twice."""
        if self._serial is not None:
            with suppress(serial.SerialException, OSError, termios.error):
                self._serial.close()  # The device may already be gone.
        self._serial = None

    def _fd(self) -> int:
        if self._serial is None:
            raise EngineLost(f"{self._engine.port}: it is not open")
        return int(self._serial.fileno())


class BarcodeScan:
    """Control of one barcode engine: it requests one scan at a time and collects the results.

    The class has no clock of its own. `begin` requests a scan and `step` continues it. `step`
    returns the result of each finished scan: the line with its code. The result is None if no code
    came, or different lines. `away_reason` is the reason why the engine is absent, or None.
    """

    def __init__(self, engine: BarcodeEngine, port: SerialEnginePort) -> None:
        self._engine, self._port = engine, port
        self._fd: int | None = None
        self._retry_ms = 0
        self._buffer = b""
        self._is_line_too_long = False
        self._lines: list[bytes] = []
        self._received_ms = 0
        self._quiet_ms = 0  # From this time no older answer can come.
        self._until_ms: int | None = None  # End of the requested scan.
        self._is_triggered = False
        self._finished: list[bytes | None] = []
        self.away_reason: str | None = "it was not opened yet"

    @property
    def source(self) -> int | None:
        """Return the file descriptor of the engine's port, or None while the engine is absent."""
        return self._fd

    def begin(self, now_ms: int) -> None:
        """Request a scan from the engine. A scan that is still unfinished gives no result."""
        if self._until_ms is not None:
            self._abandon(now_ms)
        self._until_ms = now_ms + self._engine.limit_ms
        self._advance(now_ms)

    def step(self, now_ms: int) -> list[bytes | None]:
        """Read the engine's bytes, and return a result for each scan that ended since the last
        call. A result is the line with the code, or None if the scan read no reliable code.
        """
        self._read_port(now_ms)
        self._advance(now_ms)
        done, self._finished = self._finished, []
        return done

    def due_ms(self) -> int:
        """Return the deadline of the next `step`; NEVER_MS if none is needed before new input."""
        if self._finished:
            return 0
        due = [NEVER_MS] if self.away_reason is None else [self._retry_ms]
        if self._until_ms is not None:
            due.append(self._until_ms)
            if not self._is_triggered:
                due.append(self._quiet_ms)
            elif self._lines:
                due.append(self._received_ms + self._engine.settle_ms)
        return min(due)

    def close(self) -> None:
        """End an unfinished scan and close the port."""
        if self._is_triggered and self._fd is not None:
            with suppress(EngineLost):
                self._port.write(self._engine.trigger_off)
        self._until_ms, self._is_triggered = None, False
        self._fd = None
        self._port.close()

    # The line.

    def _read_port(self, now_ms: int) -> None:
        if self._fd is None and now_ms < self._retry_ms:
            return
        try:
            if self._fd is None:
                self._fd = self._port.open()
                self.away_reason, self._buffer = None, b""
                self._quiet_ms = now_ms + self._engine.settle_ms
            data = self._port.read()
        except EngineLost as error:
            self._on_engine_lost(str(error), now_ms)
            return
        if data:
            self._received_ms = now_ms
            self._quiet_ms = max(self._quiet_ms, now_ms + self._engine.settle_ms)
            self._split_lines(data)

    def _split_lines(self, data: bytes) -> None:
        """Split received bytes into lines, and add complete lines to the present scan, if any."""
        *lines, self._buffer = (self._buffer + data).split(self._engine.end_of_line)
        if lines and self._is_line_too_long:
            lines[0], self._is_line_too_long = b"", False
            self._lines.append(b"")  # Noise in a scan: the scan has no reliable answer.
        if len(self._buffer) > MAX_LINE_BYTES:
            self._buffer, self._is_line_too_long = b"", True
        if self._is_triggered:
            self._lines += [line for line in lines if line]

    def _on_engine_lost(self, why: str, now_ms: int) -> None:
        self._port.close()
        self._fd, self.away_reason = None, why
        self._retry_ms = now_ms + RETRY_MS
        if self._until_ms is not None:
            self._finish(None)

    # A scan.

    def _advance(self, now_ms: int) -> None:
        if self._until_ms is None:
            return
        if self._fd is None:
            self._finish(None)
        elif not self._is_triggered:
            self._trigger(now_ms)
        elif self._lines and now_ms >= self._received_ms + self._engine.settle_ms:
            self._finish(self._answer_line())
        elif now_ms >= self._until_ms:
            self._abandon(now_ms)
            self._finished.append(None)

    def _trigger(self, now_ms: int) -> None:
        assert self._until_ms is not None
        if now_ms >= self._until_ms:
            self._finish(None)
        elif now_ms >= self._quiet_ms:
            self._buffer, self._is_line_too_long, self._lines = b"", False, []
            try:
                self._port.write(self._engine.trigger)
                self._is_triggered = True
                self._until_ms = now_ms + self._engine.timeout_ms
            except EngineLost as error:
                self._on_engine_lost(str(error), now_ms)

    def _answer_line(self) -> bytes | None:
        """Return the line with the scanned code; None if the engine sent none or different lines.

        Equal lines count once.
        """
        different = set(self._lines)
        line = different.pop()
        return None if different or line == self._engine.no_read else line

    def _abandon(self, now_ms: int) -> None:
        """End the present scan without an answer. An answer that comes later is ignored."""
        if self._is_triggered:
            self._quiet_ms = now_ms + self._engine.late_ms
            try:
                self._port.write(self._engine.trigger_off)
            except EngineLost as error:
                self._on_engine_lost(str(error), now_ms)
        self._until_ms, self._is_triggered, self._lines = None, False, []

    def _finish(self, line: bytes | None) -> None:
        self._until_ms, self._is_triggered, self._lines = None, False, []
        self._finished.append(line)


def _error_text(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
