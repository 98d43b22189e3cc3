"""The line to a barcode engine, as pyserial has it: what can go wrong there is one error."""

import os
import pty
import termios
import tty
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec
import pytest
import serial
from pytest_mock import MockerFixture

from drivers.adapters.barcode_engine import BarcodeScan, EngineLost, Parity, SerialEnginePort
from tests.adapters.peer import TRIGGER
from tests.adapters.rig import ENGINE


class Device:
    """The engine's end of a pty, under a link that comes and goes with it."""

    def __init__(self, link: Path) -> None:
        self.link = link
        self.fd = -1
        self.plug()

    def plug(self) -> None:
        self.fd, theirs = pty.openpty()
        for end in (self.fd, theirs):
            tty.setraw(end)
        self.link.unlink(missing_ok=True)
        self.link.symlink_to(os.ttyname(theirs))
        os.close(theirs)

    def unplug(self) -> None:
        with suppress(OSError):
            os.close(self.fd)
        self.fd = -1


@pytest.fixture
def device(tmp_path: Path) -> Iterator[Device]:
    device = Device(tmp_path / "engine")
    yield device
    device.unplug()


def line_to(device: Device, parity: Parity = "none") -> SerialEnginePort:
    return SerialEnginePort(msgspec.structs.replace(ENGINE, port=str(device.link), parity=parity))


def test_an_engine_is_told_and_heard(device: Device) -> None:
    engine = line_to(device)
    engine.open()
    engine.write(TRIGGER)
    assert os.read(device.fd, 100) == TRIGGER
    assert engine.read() == b""
    os.write(device.fd, b"0117\r")
    assert engine.read() == b"0117\r"
    engine.close()
    engine.close()


def test_an_engine_that_is_not_there_is_named(tmp_path: Path) -> None:
    engine = SerialEnginePort(msgspec.structs.replace(ENGINE, port=str(tmp_path / "none")))
    with pytest.raises(EngineLost, match=r"none: .*No such file"):
        engine.open()


@pytest.mark.parametrize(
    "error",
    [
        serial.SerialException("could not open"),
        OSError(5, "Input/output error"),
        termios.error(22, "Invalid argument"),
        ValueError("Not a valid baudrate"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_whatever_keeps_a_port_from_opening_is_one_error(
    device: Device, mocker: MockerFixture, error: Exception
) -> None:
    mocker.patch("serial.Serial", side_effect=error)
    with pytest.raises(EngineLost):
        line_to(device, "even").open()


def test_an_engine_that_another_program_has_is_left_alone(device: Device) -> None:
    first, second = line_to(device), line_to(device)
    first.open()
    with pytest.raises(EngineLost):
        second.open()
    first.close()
    second.open()
    second.close()


def test_an_engine_that_is_unplugged_and_back_is_found_under_its_name(device: Device) -> None:
    looking = BarcodeScan(msgspec.structs.replace(ENGINE, port=str(device.link)), line_to(device))
    looking.step(0)
    assert looking.away_reason is None
    device.unplug()
    looking.begin(20)
    looking.step(21)
    away = looking.away_reason
    assert away is not None
    device.plug()
    looking.step(2000)
    looking.begin(2020)
    assert looking.away_reason is None
    assert os.read(device.fd, 100) == TRIGGER
    os.write(device.fd, b"0117\r")
    looking.step(2030)
    assert looking.step(2050) == [b"0117"]
    looking.close()


def test_reading_and_writing_a_line_that_is_closed_is_the_same_error(device: Device) -> None:
    engine = line_to(device)
    with pytest.raises(EngineLost):
        engine.read()
    with pytest.raises(EngineLost):
        engine.write(b"x")
    engine.open()
    device.unplug()
    with pytest.raises(EngineLost):
        engine.read()
    engine.close()
