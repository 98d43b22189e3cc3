"""A serial barcode engine, and one look with it.

The engine speaks lines of ASCII at its own pace and cannot say which trigger a line answers.
So each look is one trigger, its lines are believed only between that trigger and the look's end,
and no new trigger goes out while an older answer may still come.
"""

import os
import select
import termios
from collections.abc import Mapping
from contextlib import suppress
from typing import Literal, Protocol

import serial
from msgspec import Struct

from drivers.adapters.adapter_board import NEVER_MS

Parity = Literal["none", "even", "odd"]

RETRY_MS = 1000
"""How long an engine that is not there is left alone before it is looked for again."""
MAX_LINE_BYTES = 256
"""Bytes behind which a line without an end is noise."""
_READ_SIZE = 4096
_PARITIES: Mapping[Parity, str] = {
    "none": serial.PARITY_NONE,
    "even": serial.PARITY_EVEN,
    "odd": serial.PARITY_ODD,
}


class BarcodeEngine(Struct, frozen=True, kw_only=True):
    """A barcode engine: its port, and what it says and is told.

    `trigger` starts a look, `trigger_off` ends one (b"": nothing does). A line ends with
    `end_of_line`; `no_read` is the line that says that it saw no code (b"": it says nothing).
    `timeout_ms` is how long a look may take; for `late_ms` behind a look that ended unanswered
    an answer may still come; `settle_ms` is the silence behind a line that makes it the only one.
    `confidence` (0…255) is what each right code is worth.
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
        """How long a look may take that first waits for what was asked before it."""
        return self.late_ms + self.timeout_ms


class EngineLost(Exception):
    """The engine's port cannot be opened, or is gone; its text says why."""


class EnginePort(Protocol):
    """The line to an engine; SerialEngine below."""

    def open(self) -> int:
        """Open it; return the descriptor that says when there is something. Raises EngineLost."""

    def read(self) -> bytes:
        """Return what has come, perhaps b"". Raises EngineLost."""

    def write(self, data: bytes) -> None:
        """Send bytes. Raises EngineLost."""

    def close(self) -> None:
        """Let go of it; may be called twice."""


class SerialEnginePort:
    """An engine's line behind pyserial, held exclusively."""

    def __init__(self, engine: BarcodeEngine) -> None:
        self._engine = engine
        self._serial: serial.Serial | None = None

    def open(self) -> int:
        """See EnginePort."""
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
        """See EnginePort."""
        try:
            fd = self._fd()
            ready = select.select([fd], [], [], 0)[0]
            data = os.read(fd, _READ_SIZE) if ready else b""
        except BlockingIOError:
            return b""
        except (serial.SerialException, OSError, termios.error) as error:
            raise EngineLost(f"{self._engine.port}: {_error_text(error)}") from None
        if ready and not data:
            raise EngineLost(f"{self._engine.port}: the device is gone")
        return data

    def write(self, data: bytes) -> None:
        """See EnginePort."""
        try:
            sent = os.write(self._fd(), data) if data else 0
        except (serial.SerialException, OSError, termios.error) as error:
            raise EngineLost(f"{self._engine.port}: {_error_text(error)}") from None
        if sent < len(data):
            raise EngineLost(f"{self._engine.port}: it takes no bytes")

    def close(self) -> None:
        """See EnginePort."""
        if self._serial is not None:
            with suppress(serial.SerialException, OSError, termios.error):
                self._serial.close()  # the device may have gone first
        self._serial = None

    def _fd(self) -> int:
        if self._serial is None:
            raise EngineLost(f"{self._engine.port}: it is not open")
        return int(self._serial.fileno())


class BarcodeScan:
    """Looks by one engine, one after the other; pure but for the port it was given.

    `begin` asks for a look and `step` carries it on; `seen` gives the one line that answered it,
    None where there was none or not just one. `away` is why the engine is not there, or None.
    """

    def __init__(self, engine: BarcodeEngine, port: EnginePort) -> None:
        self._engine, self._port = engine, port
        self._fd: int | None = None
        self._retry_ms = 0
        self._buffer = b""
        self._is_line_too_long = False
        self._lines: list[bytes] = []
        self._received_ms = 0
        self._quiet_ms = 0  # from when on no older answer can come
        self._until_ms: int | None = None  # when the look that was asked for is over
        self._is_triggered = False
        self._finished: list[bytes | None] = []
        self.away_reason: str | None = "it was not opened yet"

    @property
    def source(self) -> int | None:
        """The descriptor that says when the engine has said something; None while it is away."""
        return self._fd

    def begin(self, now_ms: int) -> None:
        """Ask for a look; one that still goes on is given up, unanswered."""
        if self._until_ms is not None:
            self._abandon(now_ms)
        self._until_ms = now_ms + self._engine.limit_ms
        self._advance(now_ms)

    def step(self, now_ms: int) -> list[bytes | None]:
        """Take what came and do what is due; return the looks that have ended since."""
        self._read_port(now_ms)
        self._advance(now_ms)
        done, self._finished = self._finished, []
        return done

    def due_ms(self) -> int:
        """Return when `step` is due at the latest, or NEVER_MS."""
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
        """End a look that goes on, and let go of the port."""
        if self._is_triggered and self._fd is not None:
            with suppress(EngineLost):
                self._port.write(self._engine.trigger_off)
        self._until_ms, self._is_triggered = None, False
        self._fd = None
        self._port.close()

    # The line.

    def _read_port(self, now_ms: int) -> None:
        if self._fd is None and now_ms >= self._retry_ms:
            try:
                self._fd = self._port.open()
            except EngineLost as error:
                self._on_engine_lost(str(error), now_ms)
            else:
                self.away_reason, self._buffer = None, b""
                self._quiet_ms = now_ms + self._engine.settle_ms
        if self._fd is None:
            return
        try:
            data = self._port.read()
        except EngineLost as error:
            self._on_engine_lost(str(error), now_ms)
            return
        if data:
            self._received_ms = now_ms
            self._quiet_ms = max(self._quiet_ms, now_ms + self._engine.settle_ms)
            self._split_lines(data)

    def _split_lines(self, data: bytes) -> None:
        """Cut what came into lines; outside of a look they answer nothing that was asked."""
        *lines, self._buffer = (self._buffer + data).split(self._engine.end_of_line)
        if lines and self._is_line_too_long:
            lines[0], self._is_line_too_long = b"", False
            self._lines.append(b"")  # noise in a look: it has no answer that could be believed
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

    # A look.

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
        """Return the line of this look; the same one twice is one, two are none."""
        different = set(self._lines)
        line = different.pop()
        return None if different or line == self._engine.no_read else line

    def _abandon(self, now_ms: int) -> None:
        """End a look that was not answered: the engine may still have something to say."""
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
