"""SerialPort on real pseudo-terminals: what a kernel does to a port."""

import asyncio
import errno
import fcntl
import os
import select
import selectors
import termios
import tty
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import serial
from pytest_mock import MockerFixture

from drivers.errors import LineLost, PortBusy, PortMissing
from drivers.firmware import framing, protocol
from drivers.link import serial_port as port_module
from drivers.link.frames import GetStatusCommand
from drivers.link.link import Link
from drivers.link.serial_port import SerialPort
from tests.waiting import turn

BAUD = 921600


class Pty:
    """A pseudo-terminal; `path` is the port, `master` the board's end."""

    def __init__(self) -> None:
        self.master, slave = os.openpty()
        tty.setraw(self.master)
        tty.setraw(slave)
        self.path = os.ttyname(slave)
        os.close(slave)
        os.set_blocking(self.master, False)

    async def read(self, size: int) -> bytes:
        """Return the next `size` bytes from the port; the kernel brings them in its own time."""
        loop = asyncio.get_running_loop()
        data = b""
        while len(data) < size:
            arrived = loop.create_future()
            loop.add_reader(self.master, arrived.set_result, None)
            await arrived
            loop.remove_reader(self.master)
            data += os.read(self.master, size - len(data))
        return data

    async def read_frames(self, last: bytes) -> list[bytes]:
        """Return every frame up to and including `last`."""
        data = b""
        while not data.endswith(last + b"\x00"):
            data += await self.read(1)
        return data.split(b"\x00")[:-1]

    def close(self) -> None:
        if self.master >= 0:
            os.close(self.master)
            self.master = -1


class Owner:
    """What an owner of a port hears."""

    def __init__(self) -> None:
        self.data = b""
        self.lost: list[str] = []
        self.wake = asyncio.Event()

    def on_bytes(self, data: bytes) -> None:
        self.data += data
        self.wake.set()

    def on_lost(self, why: str) -> None:
        self.lost.append(why)
        self.wake.set()

    async def heard(self, data: bytes) -> None:
        while self.data != data:
            self.wake.clear()
            await self.wake.wait()

    async def told(self) -> None:
        while not self.lost:
            self.wake.clear()
            await self.wake.wait()


@pytest.fixture
async def pty() -> AsyncIterator[Pty]:
    pty = Pty()
    yield pty
    pty.close()


@pytest.fixture
async def port(pty: Pty) -> AsyncIterator[SerialPort]:
    port = SerialPort(pty.path, BAUD)
    yield port
    port.close()


@pytest.fixture
def owner() -> Owner:
    return Owner()


def watched_for(fd: int) -> int:
    """Return what the loop watches a descriptor for: 0, EVENT_READ, EVENT_WRITE or both."""
    loop = asyncio.get_running_loop()
    key = loop._selector.get_map().get(fd)  # type: ignore[attr-defined]
    return 0 if key is None else int(key.events)


async def turns(count: int = 5) -> None:
    """Let the loop go round a few times."""
    for _ in range(count):
        await turn()


async def test_bytes_go_both_ways_as_they_are(pty: Pty, port: SerialPort, owner: Owner) -> None:
    port.open(owner.on_bytes, owner.on_lost)
    every_byte = bytes(range(256))
    port.write(every_byte)
    assert await pty.read(256) == every_byte
    os.write(pty.master, every_byte)
    await owner.heard(every_byte)
    assert owner.lost == []


async def test_what_came_before_the_port_was_opened_is_thrown_away(
    pty: Pty, port: SerialPort, owner: Owner
) -> None:
    os.write(pty.master, b"an old banner")
    slave = os.open(pty.path, os.O_RDWR | os.O_NOCTTY)
    select.select([slave], [], [])  # the kernel has brought it
    os.close(slave)
    port.open(owner.on_bytes, owner.on_lost)
    os.write(pty.master, b"new")
    await owner.heard(b"new")


async def test_a_port_that_is_held_is_busy(pty: Pty, port: SerialPort, owner: Owner) -> None:
    port.open(owner.on_bytes, owner.on_lost)
    with pytest.raises(PortBusy, match=pty.path):
        SerialPort(pty.path, BAUD).open(owner.on_bytes, owner.on_lost)
    port.close()
    port.open(owner.on_bytes, owner.on_lost)


async def test_a_lock_of_another_program_is_respected(
    pty: Pty, port: SerialPort, owner: Owner
) -> None:
    other = os.open(pty.path, os.O_RDWR | os.O_NOCTTY)
    fcntl.flock(other, fcntl.LOCK_EX)
    with pytest.raises(PortBusy):
        port.open(owner.on_bytes, owner.on_lost)
    os.close(other)
    port.open(owner.on_bytes, owner.on_lost)


async def test_a_port_that_is_not_there_is_missing(tmp_path: Path, owner: Owner) -> None:
    absent = tmp_path / "table-dealer"
    with pytest.raises(PortMissing, match="table-dealer"):
        SerialPort(str(absent), BAUD).open(owner.on_bytes, owner.on_lost)
    absent.write_bytes(b"a file, not a port")
    with pytest.raises(PortMissing, match="table-dealer"):
        SerialPort(str(absent), BAUD).open(owner.on_bytes, owner.on_lost)


async def test_a_port_that_cannot_be_configured_is_missing(
    pty: Pty, port: SerialPort, owner: Owner, mocker: MockerFixture
) -> None:
    failure = termios.error(errno.EINVAL, "Invalid argument")
    mocker.patch.object(termios, "tcsetattr", side_effect=failure)
    with pytest.raises(PortMissing, match="Invalid argument"):
        port.open(owner.on_bytes, owner.on_lost)
    mocker.stopall()
    port.open(owner.on_bytes, owner.on_lost)  # nothing of the failed attempt holds it


async def test_a_board_that_goes_away_is_told_once_and_the_loop_does_not_spin(
    pty: Pty, port: SerialPort, owner: Owner, mocker: MockerFixture
) -> None:
    read = mocker.spy(os, "read")
    port.open(owner.on_bytes, owner.on_lost)
    fd = port._fd
    assert watched_for(fd) == selectors.EVENT_READ
    pty.close()
    await owner.told()
    assert not watched_for(fd)
    reads = read.call_count
    await turns(50)
    assert read.call_count == reads
    assert len(owner.lost) == 1
    assert pty.path in owner.lost[0]
    port.write(b"into the void")
    await turns()
    assert len(owner.lost) == 1


async def test_a_port_closed_before_it_could_tell_its_loss_tells_nothing(
    pty: Pty, port: SerialPort, owner: Owner
) -> None:
    port.open(owner.on_bytes, owner.on_lost)
    pty.close()
    port.write(b"raises inside")
    port.close()
    await turns()
    assert owner.lost == []


@pytest.mark.parametrize(
    "failure",
    [
        OSError(errno.EIO, "Input/output error"),
        serial.SerialException("write failed"),
        termios.error(errno.EIO, "Input/output error"),
    ],
    ids=["OSError", "SerialException", "termios.error"],
)
@pytest.mark.parametrize("call", ["read", "write"])
async def test_whatever_a_dead_port_raises_is_a_loss_and_nothing_more(
    pty: Pty, port: SerialPort, owner: Owner, mocker: MockerFixture, failure: Exception, call: str
) -> None:
    port.open(owner.on_bytes, owner.on_lost)
    os.write(pty.master, b"something to read")
    mocker.patch.object(os, call, side_effect=failure)
    if call == "write":
        port.write(b"frame")
        assert owner.lost == []  # never inside the write
    await owner.told()
    mocker.stopall()
    [why] = owner.lost
    assert str(failure) in why


async def test_a_close_that_fails_is_a_close(
    pty: Pty, port: SerialPort, owner: Owner, mocker: MockerFixture
) -> None:
    port.open(owner.on_bytes, owner.on_lost)
    close = serial.Serial.close

    def fail(self: serial.Serial) -> None:
        close(self)
        raise termios.error(errno.EIO, "Input/output error")

    mocker.patch.object(serial.Serial, "close", fail)
    port.close()
    mocker.stopall()
    port.open(owner.on_bytes, owner.on_lost)


async def test_a_full_kernel_buffer_holds_up_nobody_and_loses_no_byte_it_took(
    pty: Pty, port: SerialPort, owner: Owner
) -> None:
    port.open(owner.on_bytes, owner.on_lost)
    frames = [b"%03d" % number + b"." * 96 for number in range(400)]
    for frame in frames:
        port.write(frame + b"\x00")  # nobody reads
    waiting = bytes(port._unsent)
    assert 0 < len(waiting) <= port_module.MAX_UNSENT_BYTES
    last = waiting.split(b"\x00")[-2]
    assert await pty.read_frames(last) == frames[: frames.index(last) + 1]
    assert last != frames[-1]  # what did not fit was dropped, each frame whole
    await turns()
    assert not port._unsent
    assert watched_for(port._fd) == selectors.EVENT_READ
    port.write(b"goes through again\x00")
    assert await pty.read_frames(b"goes through again") == [b"goes through again"]
    assert owner.lost == []


async def test_a_short_write_goes_on_where_it_stopped(
    pty: Pty, port: SerialPort, owner: Owner, mocker: MockerFixture
) -> None:
    port.open(owner.on_bytes, owner.on_lost)
    write = os.write
    mocker.patch.object(os, "write", side_effect=lambda fd, data: write(fd, data[:3]))
    port.write(b"abcdefgh")
    port.write(b"ijk")
    assert await pty.read(11) == b"abcdefghijk"


async def test_close_leaves_nothing_watched_and_open_works_again(
    pty: Pty, port: SerialPort, owner: Owner
) -> None:
    port.open(owner.on_bytes, owner.on_lost)
    fd = port._fd
    port.close()
    port.close()
    assert not watched_for(fd)
    port.write(b"nobody is there")
    port.open(owner.on_bytes, owner.on_lost)
    os.write(pty.master, b"again")
    await owner.heard(b"again")


async def test_a_link_over_a_port_that_dies_says_so_once_and_may_be_opened_again(
    pty: Pty, port: SerialPort
) -> None:
    downs: list[LineLost] = []
    link = Link(port, "dealer", session_ids=lambda: 77, on_down=downs.append)
    opening = asyncio.ensure_future(link.open({}, {}))
    await turn()
    [payload] = framing.Decoder().feed(await pty.read(22))
    assert payload[0] == protocol.HELLO
    pty.close()
    with pytest.raises(LineLost, match=f"port {pty.path}"):
        await opening
    assert downs == []
    with pytest.raises(LineLost):
        await link.request(GetStatusCommand())
    with pytest.raises(PortMissing):
        await link.open({}, {})
