"""One Modbus RTU line: one request at a time, its answer, its time, and what it is asked again.

Frames are pymodbus'. Nothing here waits: who owns it calls `take` when bytes came or when a
moment is due. Times are whole milliseconds of one clock.
"""

import math
import select
import termios
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

import serial
from msgspec import Struct
from pymodbus.framer import FramerRTU
from pymodbus.pdu import DecodePDU, ModbusPDU
from pymodbus.pdu.bit_message import (
    ReadCoilsRequest,
    ReadDiscreteInputsRequest,
    WriteMultipleCoilsRequest,
    WriteSingleCoilRequest,
)
from pymodbus.pdu.register_message import (
    ReadHoldingRegistersRequest,
    ReadInputRegistersRequest,
    WriteMultipleRegistersRequest,
    WriteSingleRegisterRequest,
)

from drivers.adapters.modbus_map import MappedLine as LineMap
from drivers.adapters.modbus_map import Table

NEVER_MS = 1 << 62
_READS: dict[Table, type[ModbusPDU]] = {
    "coil": ReadCoilsRequest,
    "discrete": ReadDiscreteInputsRequest,
    "input": ReadInputRegistersRequest,
    "holding": ReadHoldingRegistersRequest,
}
_BITS = ("coil", "discrete")
EXCEPTION_TEXTS = {
    1: "illegal function",
    2: "illegal data address",
    3: "illegal data value",
    4: "device failure",
    5: "acknowledge",
    6: "device busy",
    7: "negative acknowledge",
    8: "memory parity error",
    10: "gateway path unavailable",
    11: "gateway target does not answer",
}
"""What a unit says with an exception code."""
ACKNOWLEDGE, BUSY = 5, 6
# The longest frame, and a bound of what noise may pile up.
_MAX_FRAME = 256
_MAX_READ = 4096
_WRITE_S = 0.1
_PARITIES = {
    "none": serial.PARITY_NONE,
    "even": serial.PARITY_EVEN,
    "odd": serial.PARITY_ODD,
}
# pyserial raises OSErrors, its own among them, and lets the terminal's pass.
_PORT_ERRORS = (OSError, ValueError, termios.error)


class ModbusPortLost(Exception):
    """The port is not there, or not any more; its text says why."""


class ModbusPort(Protocol):
    """A serial line. Each raises Gone."""

    def write(self, data: bytes) -> None:
        """Send a frame."""

    def read(self) -> bytes:
        """Return what has arrived, without waiting."""

    def source(self) -> int | None:
        """Return the descriptor that says when something has arrived; None: there is none."""

    def wait(self, wait_ms: int) -> None:
        """Wait until something has arrived, but no longer than that."""

    def close(self) -> None:
        """Let go of it."""


class ModbusRequest(Struct, frozen=True):
    """A request: `count` places of a unit are read, or `values` written from `address` on.

    One that is not to be `repeated` is said once, whatever becomes of its answer.
    """

    unit: int
    table: Table
    address: int
    count: int = 1
    values: tuple[int, ...] = ()
    is_repeatable: bool = True

    def __str__(self) -> str:
        """Say what it is about, for people."""
        return f"{self.table} {self.address}"


class ModbusReply(Struct, frozen=True):
    """What became of a request: values (none for a write), an exception code, or silence."""

    values: tuple[int, ...] = ()
    exception_code: int | None = None
    silence_reason: str | None = None


class ModbusLine:
    """The line's present request, and the line's bookkeeping.

    `now_ms` of its methods is one clock's, and never goes back.
    """

    def __init__(self, port: ModbusPort, line: LineMap) -> None:
        self.port = port
        self.frames_sent = 0  # frames sent
        self.frames_repeated = (
            0  # frames sent again, because their answer did not come or was spoilt
        )
        self._char_ms = (10 + (line.parity != "none" or line.stop_bits == 2)) / line.baud * 1000
        gap_ms = max(1.75, 3.5 * self._char_ms)
        # A millisecond more: the clock is in whole ones.
        self._gap_ms = line.gap_ms if line.gap_ms is not None else math.ceil(gap_ms) + 1
        self._timeout_ms = line.timeout_ms
        self._retries = line.retries
        self._framer = FramerRTU(DecodePDU(is_server=False))
        self._request: ModbusRequest | None = None
        self._frame = b""
        self._tries = 0
        self._rx = b""
        self._is_sent = False
        self._free_at = 0
        self._until_ms = NEVER_MS

    @property
    def is_idle(self) -> bool:
        """Whether nothing is under way."""
        return self._request is None

    @property
    def free_at(self) -> int:
        """From when the next frame may be sent."""
        return self._free_at

    def begin_request(self, request: ModbusRequest) -> None:
        """Begin a request, once the line is free; only while it is idle."""
        self._request, self._tries, self._is_sent = request, 0, False
        self._frame = self._framer.buildFrame(_build_pdu(request))

    def due_ms(self) -> int:
        """Return when `take` has something to do, though nothing arrives."""
        if self._request is None:
            return NEVER_MS
        return self._until_ms if self._is_sent else self._free_at

    def update(self, now_ms: int) -> ModbusReply | None:
        """Send, receive or give up, whatever is due; return an answer once there is one."""
        if self._request is None:
            return None
        try:
            if not self._is_sent:
                return self._send(now_ms) if now_ms >= self._free_at else None
            return self._receive(now_ms)
        except ModbusPortLost as gone:
            return self._finish(now_ms, ModbusReply(silence_reason=str(gone)))

    def _send(self, now_ms: int) -> ModbusReply | None:
        assert self._request is not None
        self.port.read()  # what comes late is nobody's
        self.port.write(self._frame)
        self.frames_sent += 1
        self._rx, self._is_sent = b"", True
        wire_ms = (len(self._frame) + _reply_size(self._request)) * self._char_ms
        self._until_ms = now_ms + math.ceil(wire_ms) + self._timeout_ms
        return None

    def _receive(self, now_ms: int) -> ModbusReply | None:
        assert self._request is not None
        self._rx = (self._rx + self.port.read())[-_MAX_FRAME:]
        used, unit, _, pdu = self._framer.decode(self._rx)
        if used and pdu and unit == self._request.unit:
            answer = self._decode_reply(pdu)
            if answer is not None:
                return self._finish(now_ms, answer)
        if used:
            self._rx = b""  # spoilt, or not for us
        return self._retry(now_ms) if now_ms >= self._until_ms else None

    def _decode_reply(self, pdu: bytes) -> ModbusReply | None:
        """Return what an answer says to the present request; None: it does not answer it."""
        assert self._request is not None
        ask, request = self._request, _build_pdu(self._request)
        answer = self._framer.decoder.decode(pdu)
        if answer is None or answer.function_code & 0x7F != request.function_code:
            return None
        if answer.isError():
            return ModbusReply(exception_code=answer.exception_code)
        if ask.values:
            return ModbusReply() if answer.address == ask.address else None
        values = answer.bits if ask.table in _BITS else answer.registers
        if not ask.count <= len(values) < ask.count + 8:
            return None
        return ModbusReply(values=tuple(map(int, values[: ask.count])))

    def _retry(self, now_ms: int) -> ModbusReply | None:
        assert self._request is not None
        self._tries += 1
        if self._tries > self._retries or not self._request.is_repeatable:
            return self._finish(now_ms, ModbusReply(silence_reason="it does not answer"))
        self.frames_repeated += 1
        self._is_sent, self._free_at = False, now_ms + self._gap_ms
        return None

    def _finish(self, now_ms: int, answer: ModbusReply) -> ModbusReply:
        self._request, self._until_ms = None, NEVER_MS
        # Behind one that was said twice a second answer may still come: it is waited out.
        self._free_at = now_ms + (self._timeout_ms if self._tries else self._gap_ms)
        return answer


def request_and_wait(
    line: ModbusLine, request: ModbusRequest, clock: Callable[[], int]
) -> ModbusReply:
    """Return what becomes of one request, waiting for it; the line is nobody else's meanwhile."""
    line.begin_request(request)
    while True:
        answer = line.update(clock())
        if answer is not None:
            return answer
        line.port.wait(max(1, line.due_ms() - clock()))


class ModbusSerialPort:
    """A serial port of this computer, held exclusively; opened when it is first needed."""

    def __init__(self, line: LineMap) -> None:
        self._line = line
        self._serial: serial.Serial | None = None

    def write(self, data: bytes) -> None:
        """Send a frame. Raises Gone."""
        try:
            self._open_port().write(data)
        except _PORT_ERRORS as error:
            raise self._port_lost(error) from None

    def read(self) -> bytes:
        """Return what has arrived. Raises Gone."""
        try:
            return bytes(self._open_port().read(_MAX_READ))
        except _PORT_ERRORS as error:
            raise self._port_lost(error) from None

    def source(self) -> int | None:
        """Return its descriptor; None while it is not open."""
        return None if self._serial is None else int(self._serial.fileno())

    def wait(self, wait_ms: int) -> None:
        """Wait until something has arrived, but no longer than that."""
        source = self.source()
        select.select([] if source is None else [source], [], [], wait_ms / 1000)

    def close(self) -> None:
        """Close it; the next word opens it again."""
        port, self._serial = self._serial, None
        if port is not None:
            with suppress(*_PORT_ERRORS):
                port.close()

    def _open_port(self) -> serial.Serial:
        if self._serial is None:
            line = self._line
            self._serial = serial.Serial(
                line.port,
                line.baud,
                parity=_PARITIES[line.parity],
                stopbits=line.stop_bits,
                timeout=0,
                write_timeout=_WRITE_S,
                exclusive=True,
            )
        return self._serial

    def _port_lost(self, error: Exception) -> ModbusPortLost:
        self.close()
        return ModbusPortLost(f"the port {self._line.port} cannot be used: {error}")


def _reply_size(request: ModbusRequest) -> int:
    """Return how many bytes the answer has, where it is no exception."""
    if request.values:
        return 8
    return 5 + (math.ceil(request.count / 8) if request.table in _BITS else 2 * request.count)


def _build_pdu(request: ModbusRequest) -> ModbusPDU:
    """Return a request as pymodbus has it."""
    unit, at = request.unit, request.address
    if not request.values:
        return _READS[request.table](dev_id=unit, address=at, count=request.count)
    single = len(request.values) == 1
    if request.table == "coil":
        bits = [bool(value) for value in request.values]
        of_coils = WriteSingleCoilRequest if single else WriteMultipleCoilsRequest
        return of_coils(dev_id=unit, address=at, bits=bits)
    registers = list(request.values)
    of_registers = WriteSingleRegisterRequest if single else WriteMultipleRegistersRequest
    return of_registers(dev_id=unit, address=at, registers=registers)
