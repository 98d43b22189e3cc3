"""An adapter as the table finds it: a board behind a pty under a fixed name."""

import os
import pty
import select
import stat
import struct
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pytest_mock import MockerFixture

from drivers.adapters.adapter_board import (
    STORE_DELAY_MS,
    AdapterBoard,
    AdapterError,
    AdapterStorage,
)
from drivers.adapters.barcode_reader import BarcodeHal, make_barcode_reader
from drivers.firmware import protocol
from drivers.firmware.framing import Decoder, encode
from tests.adapters.rig import CODES, ENGINE, UID, ScriptedPort

SESSION = 9
Serve = Callable[[], AdapterBoard]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    started: list[AdapterBoard] = []

    def serve() -> AdapterBoard:
        hal = BarcodeHal(bytes.fromhex(UID), ENGINE, CODES, ScriptedPort())
        board = make_barcode_reader(hal, ENGINE, 7, bytes(8), b"")
        started.append(AdapterBoard(board, hal, tmp_path / "reader"))
        return started[-1]

    yield serve
    for served in started:
        served.close()


def hello(served: AdapterBoard, line: int) -> tuple[object, ...]:
    """Say HELLO, and return the WELCOME's fields."""
    os.write(line, b"\x00" + encode(protocol.pack_host_frame(protocol.HELLO, SESSION, 0, 0, 0)))
    decoder = Decoder()
    for _ in range(50):
        served.run_once(max_wait_ms=20)
        heard = decoder.feed(os.read(line, 4096)) if select.select([line], [], [], 0)[0] else []
        for payload in heard:
            if payload[0] == protocol.WELCOME:
                return struct.unpack(
                    protocol.BODIES[protocol.WELCOME], payload[protocol.BOARD_HEADER_SIZE :]
                )
    raise AssertionError("no WELCOME")


def test_who_opens_the_link_finds_a_raw_line_and_the_board_behind_it(serve: Serve) -> None:
    served = serve()
    line = os.open(served.pty, os.O_RDWR | os.O_NOCTTY)
    said = hello(served, line)
    assert said[:3] == (protocol.KIND_READER, protocol.HAL_ADAPTER, bytes.fromhex(UID))
    assert said[5:7] == (protocol.PROTOCOL_HASH, 7)
    assert said[-1] == 1
    os.close(line)


def test_a_host_that_went_finds_the_board_again(serve: Serve, tmp_path: Path) -> None:
    served = serve()
    for _ in range(2):
        line = os.open(tmp_path / "reader", os.O_RDWR | os.O_NOCTTY)
        assert hello(served, line)[6] == 7
        os.close(line)
        served.run_once(max_wait_ms=1)


def test_its_line_is_for_its_own_user_alone(serve: Serve, mocker: MockerFixture) -> None:
    openpty = pty.openpty

    def open_to_all() -> tuple[int, int]:
        ours, theirs = openpty()
        os.fchmod(theirs, 0o666)
        return ours, theirs

    mocker.patch("pty.openpty", open_to_all)
    assert stat.S_IMODE(os.stat(serve().pty).st_mode) == 0o600


def test_the_link_goes_with_the_adapter_unless_it_is_anothers_by_then(
    serve: Serve, tmp_path: Path
) -> None:
    link = tmp_path / "reader"
    first = serve()
    second = serve()
    assert os.readlink(link) == second.pty
    first.close()
    assert os.readlink(link) == second.pty
    second.close()
    assert not link.is_symlink()


@pytest.mark.parametrize("there", ["a file", "no folder"])
def test_a_link_that_cannot_be_made_is_said_in_a_line(tmp_path: Path, there: str) -> None:
    link = tmp_path / "reader" if there == "a file" else tmp_path / "none" / "reader"
    if there == "a file":
        link.write_text("a person's notes", encoding="utf-8")
    hal = BarcodeHal(bytes.fromhex(UID), ENGINE, CODES, ScriptedPort())
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(AdapterError, match="cannot be made"):
        AdapterBoard(make_barcode_reader(hal, ENGINE, 7, bytes(8), b""), hal, link)
    assert len(os.listdir("/proc/self/fd")) == before


def test_an_adapter_is_another_board_run_at_each_start(tmp_path: Path) -> None:
    assert [AdapterStorage(tmp_path / "own").next_boot() for _ in range(3)] == [1, 2, 3]
    assert stat.S_IMODE((tmp_path / "own").stat().st_mode) == 0o700


def test_what_its_board_stores_is_there_at_the_next_start(tmp_path: Path) -> None:
    assert AdapterStorage(tmp_path).load() == b""
    AdapterStorage(tmp_path).store(b"settings")
    assert AdapterStorage(tmp_path).load() == b"settings"


@pytest.mark.parametrize("content", [b"ten", b"-1", b"99999999999", b"\xff"])
def test_a_spoilt_counter_of_starts_is_never_guessed(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "boot").write_bytes(content)
    with pytest.raises(AdapterError, match="higher than every one before"):
        AdapterStorage(tmp_path).next_boot()


class Disk:
    """A disk that is full for a while."""

    def __init__(self, full: int = 0) -> None:
        self.full = full
        self.kept: list[bytes] = []

    def store(self, content: bytes) -> None:
        if self.full:
            self.full -= 1
            raise AdapterError("no space left")
        self.kept.append(content)


@pytest.mark.parametrize("full", [0, 1])
def test_what_a_board_stores_is_written_once_it_stands_still(tmp_path: Path, full: int) -> None:
    disk, said = Disk(full), list[str]()
    hal = BarcodeHal(bytes.fromhex(UID), ENGINE, CODES, ScriptedPort())
    board = make_barcode_reader(hal, ENGINE, 7, bytes(8), b"")
    with AdapterBoard(board, hal, tmp_path / "reader", disk.store, said.append) as served:
        served.step()
        wrote_at_first = list(disk.kept)
        served._store_at_rest(STORE_DELAY_MS * 10)
        assert len(disk.kept) == 1 - full
        assert len(said) == full
    assert wrote_at_first == []
    assert disk.kept == [board.pack_stored()]
