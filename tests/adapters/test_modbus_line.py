"""One request at a time: its frames, its time, and what is asked again."""

import pytest
from modbus_tk.modbus_rtu import RtuQuery

from drivers.adapters.modbus_rtu import ModbusLine, ModbusReply, ModbusRequest
from tests.adapters.modbus_rig import example

READ = ModbusRequest(1, "discrete", 0, 3)
TIMEOUT_MS, GAP_MS = 30, 3


class Scripted:
    """A port in memory: what is sent is kept, what is put there is read."""

    def __init__(self) -> None:
        self.sent: list[bytes] = []
        self.rx = b""

    def write(self, data: bytes) -> None:
        self.sent.append(data)

    def read(self) -> bytes:
        rx, self.rx = self.rx, b""
        return rx

    def source(self) -> int | None:
        return None

    def wait(self, wait_ms: int) -> None:
        raise AssertionError

    def close(self) -> None:
        raise AssertionError


def reply(unit: int, pdu: bytes) -> bytes:
    """Return an answer as another implementation frames it."""
    return bytes(RtuQuery().build_request(pdu, unit))


BITS = reply(1, b"\x02\x01\x05")


@pytest.fixture
def port() -> Scripted:
    return Scripted()


@pytest.fixture
def line(port: Scripted) -> ModbusLine:
    return ModbusLine(port, example(timeout_ms=TIMEOUT_MS, retries=2, gap_ms=GAP_MS).line)


@pytest.mark.parametrize(
    ("ask", "pdu"),
    [
        (READ, b"\x02\0\0\0\x03"),
        (ModbusRequest(1, "coil", 7), b"\x01\0\x07\0\x01"),
        (ModbusRequest(1, "input", 9, 2), b"\x04\0\x09\0\x02"),
        (ModbusRequest(1, "holding", 9, 2), b"\x03\0\x09\0\x02"),
        (ModbusRequest(1, "coil", 7, 0, (1,)), b"\x05\0\x07\xff\0"),
        (ModbusRequest(1, "coil", 7, 0, (1, 0)), b"\x0f\0\x07\0\x02\x01\x01"),
        (ModbusRequest(1, "holding", 7, 0, (0xFFFF,)), b"\x06\0\x07\xff\xff"),
        (ModbusRequest(1, "holding", 7, 0, (1, 1760)), b"\x10\0\x07\0\x02\x04\0\x01\x06\xe0"),
    ],
)
def test_requests_are_on_the_wire_as_the_standard_has_them(
    port: Scripted, line: ModbusLine, ask: ModbusRequest, pdu: bytes
) -> None:
    line.begin_request(ask)
    line.update(0)
    assert port.sent == [reply(1, pdu)]


def test_an_answer_is_heard_in_pieces(port: Scripted, line: ModbusLine) -> None:
    line.begin_request(READ)
    line.update(0)
    port.rx = BITS[:2]
    assert line.update(1) is None
    port.rx = BITS[2:]
    assert line.update(2) == ModbusReply(values=(1, 0, 1))
    assert line.is_idle
    assert line.free_at == 2 + GAP_MS


def test_silence_is_asked_three_times_and_then_told(port: Scripted, line: ModbusLine) -> None:
    line.begin_request(READ)
    now, answer = 0, None
    while answer is None:
        answer = line.update(now)
        now = max(now + 1, line.due_ms()) if answer is None else now
    assert answer.silence_reason == "it does not answer"
    assert len(port.sent) == 3
    assert 3 * TIMEOUT_MS <= now <= 3 * (TIMEOUT_MS + GAP_MS + 5)


@pytest.mark.parametrize(
    "spoilt",
    [
        BITS[:-1] + b"\0",
        reply(2, b"\x02\x01\x05"),
        reply(1, b"\x03\x02\0\x05"),
        reply(1, b"\x02\x02\x05\0"),
        b"\xff" * 20,
    ],
    ids=["crc", "another unit", "another function", "too long", "noise"],
)
def test_what_is_no_answer_is_not_taken_for_one(
    port: Scripted, line: ModbusLine, spoilt: bytes
) -> None:
    line.begin_request(READ)
    line.update(0)
    port.rx = spoilt
    assert line.update(1) is None
    line.update(line.due_ms())
    line.update(line.due_ms())
    assert len(port.sent) == 2
    port.rx = BITS
    assert line.update(line.free_at + 5) == ModbusReply(values=(1, 0, 1))


def test_an_answer_that_names_another_place_is_none(port: Scripted, line: ModbusLine) -> None:
    line.begin_request(ModbusRequest(1, "holding", 7, 0, (1,)))
    line.update(0)
    port.rx = reply(1, b"\x06\0\x08\0\x01")
    assert line.update(1) is None
    port.rx = reply(1, b"\x06\0\x07\0\x01")
    assert line.update(2) == ModbusReply()


def test_behind_an_answer_to_a_second_try_a_late_first_one_is_waited_out(
    port: Scripted, line: ModbusLine
) -> None:
    line.begin_request(READ)
    line.update(0)
    line.update(line.due_ms())
    line.update(line.due_ms())
    port.rx = BITS
    assert line.update(60) is not None
    assert line.free_at == 60 + TIMEOUT_MS
    port.rx = BITS  # the other one
    line.begin_request(READ)
    line.update(line.free_at)
    assert line.update(line.free_at + 1) is None


def test_an_exception_is_told_by_its_code(port: Scripted, line: ModbusLine) -> None:
    line.begin_request(ModbusRequest(1, "holding", 7, 0, (1,)))
    line.update(0)
    port.rx = reply(1, b"\x86\x04")
    assert line.update(1) == ModbusReply(exception_code=4)


def test_an_order_that_is_not_to_be_repeated_is_said_once(port: Scripted, line: ModbusLine) -> None:
    line.begin_request(ModbusRequest(1, "holding", 7, 0, (1,), is_repeatable=False))
    line.update(0)
    answer = line.update(line.due_ms())
    assert answer is not None
    assert answer.silence_reason
    assert len(port.sent) == 1
