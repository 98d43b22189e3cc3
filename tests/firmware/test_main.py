"""A board as a process of its own: line on a pty, pins on descriptor 3."""

import os
import pty
import shutil
import socket
import struct
import subprocess
import sys
import tty
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import drivers.firmware
from drivers.firmware import main, protocol
from drivers.firmware.framing import Decoder, encode
from drivers.firmware.main import own_source_hash
from drivers.firmware.version import firmware_hash

FIRMWARE = Path(drivers.firmware.__file__).parent
ROOT = FIRMWARE.parent.parent
UID = "e660a4931754432f"
BOOT = 77
SESSION = 9
# Whatever descriptor the pins have here, the board has them as 3.
LAUNCH = "import os, sys; os.dup2(int(sys.argv[1]), 3); os.execvp(sys.argv[2], sys.argv[2:])"


class BoardProcess:
    """A board process, its line from the outside, and its pins."""

    def __init__(self, command: list[str], environment: dict[str, str]) -> None:
        master, slave = pty.openpty()
        tty.setraw(master)
        tty.setraw(slave)
        self.pins, inside = socket.socketpair()
        self.process = subprocess.Popen(
            [sys.executable, "-c", LAUNCH, str(inside.fileno()), *command],
            stdin=master,
            stdout=master,
            pass_fds=[inside.fileno()],
            cwd=ROOT,
            env={**os.environ, **environment},
        )
        os.close(master)
        inside.close()
        self.path = os.ttyname(slave)
        self.line = slave
        self._decoder = Decoder()
        self._said: list[bytes] = []

    def unplug(self) -> None:
        os.close(self.line)
        self.line = -1

    def plug(self) -> None:
        self.line = os.open(self.path, os.O_RDWR | os.O_NOCTTY)
        tty.setraw(self.line)

    def say(self, kind: int, *fields: int, number: int = 0) -> None:
        os.write(
            self.line,
            b"\x00" + encode(protocol.pack_host_frame(kind, SESSION, number, 0, 0, *fields)),
        )

    def hear(self, kind: int) -> bytes:
        """Return the next payload of this kind; the ones before it are dropped."""
        while True:
            while self._said:
                payload = self._said.pop(0)
                if payload[0] == kind:
                    return payload
            self._said += self._decoder.feed(os.read(self.line, 4096))

    def pins_say(self, line: str) -> None:
        """Wait until the board has set a pin as `line` says."""
        said = b""
        while line.encode() not in said.split(b"\n"):
            said += self.pins.recv(4096)

    def close(self) -> None:
        self.pins.close()
        if self.line >= 0:
            os.close(self.line)
        self.process.kill()
        self.process.wait()


Start = Callable[[str], BoardProcess]


@pytest.fixture(params=["cpython", pytest.param("micropython", marks=pytest.mark.micropython)])
def start(request: pytest.FixtureRequest) -> Iterator[Start]:
    """Start a board: `start("dealer")`."""
    started: list[BoardProcess] = []
    if request.param == "cpython":
        command, environment = [sys.executable, "-m", "drivers.firmware.main"], {}
    else:
        interpreter: str = request.getfixturevalue("micropython")
        command = [interpreter, "-m", "firmware.main"]
        environment = {"MICROPYPATH": str(FIRMWARE.parent)}

    def run(kind: str) -> BoardProcess:
        started.append(BoardProcess([*command, kind, UID, str(BOOT)], environment))
        return started[-1]

    yield run
    for board in started:
        board.close()


KINDS = {"dealer": protocol.KIND_DEALER, "reader": protocol.KIND_READER}


@pytest.mark.parametrize("kind", KINDS)
def test_a_board_answers_hello_on_its_pty(start: Start, kind: str) -> None:
    board = start(kind)
    board.say(protocol.HELLO)
    payload = board.hear(protocol.WELCOME)[protocol.BOARD_HEADER_SIZE :]
    fields = struct.unpack(protocol.BODIES[protocol.WELCOME], payload)
    assert fields[:3] == (KINDS[kind], protocol.HAL_SIM, bytes.fromhex(UID))
    assert fields[4:7] == (own_source_hash(), protocol.PROTOCOL_HASH, BOOT)


def test_a_board_of_no_kind_says_how_it_is_called() -> None:
    command = [sys.executable, "-m", "drivers.firmware.main", "toaster"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("usage: ")


def test_a_card_moves_by_lines_of_text(start: Start) -> None:
    board = start("dealer")
    board.pins.sendall(b"at hopper 1\nat lift_down 1\nat window 0\nat gate_at 0\n")
    board.say(protocol.HELLO)
    board.say(protocol.BEGIN, 7, 8, 2, number=1)
    board.say(protocol.FEED, 7, protocol.HOPPER, 8, number=2)
    board.pins_say("set feed 1")
    board.pins.sendall(b"at window 1\nat hop")
    board.pins_say("set feed 0")
    board.hear(protocol.EVENT)
    board.pins.sendall(b"per 0\n")
    board.say(protocol.ROUTE, 7, 1, protocol.SOUTH, number=3)
    board.pins_say("set gate 2")
    board.pins.sendall(b"at gate_at 2\n")
    board.pins_say("set pass 1")


def test_an_engine_answers_in_a_line(start: Start) -> None:
    board = start("reader")
    board.pins.sendall(b"at pulse 0\n")
    board.say(protocol.HELLO)
    board.say(protocol.BEGIN, 7, 8, 2, number=1)
    board.hear(protocol.ACK)
    board.pins.sendall(b"at pulse 1\nat pulse 0\n")
    board.pins_say("set shoot 1")
    board.pins.sendall(b"read 12 0 0 250\n")
    assert board.hear(protocol.EVENT)[-4:] == bytes((12, 0, 0, 250))


def test_a_board_outlives_the_daemon_that_closes_its_line(start: Start) -> None:
    board = start("dealer")
    board.say(protocol.HELLO)
    board.hear(protocol.WELCOME)
    for _ in range(3):
        board.unplug()
        board.plug()
        board.say(protocol.HELLO)
        board.hear(protocol.WELCOME)
    assert board.process.poll() is None


def test_a_board_ends_with_its_pins(start: Start) -> None:
    board = start("reader")
    board.say(protocol.HELLO)
    board.hear(protocol.WELCOME)
    board.pins.close()
    assert board.process.wait() == 0


def test_a_board_without_a_line_ends_with_its_pins_too(start: Start) -> None:
    board = start("reader")
    board.unplug()
    board.pins.close()
    assert board.process.wait() == 0


@pytest.mark.parametrize("beside", ["lock/__init__.py", "lock.mpy", "another.py"])
def test_what_may_be_imported_in_the_place_of_a_file_changes_the_hash(
    beside: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "firmware"
    shutil.copytree(FIRMWARE, folder)
    monkeypatch.setattr(main, "__file__", str(folder / "main.py"))
    shipped = own_source_hash()
    (folder / beside).parent.mkdir(exist_ok=True)
    (folder / beside).write_bytes(b"")
    assert own_source_hash() != shipped


def test_one_file_does_not_pass_for_two() -> None:
    two = [("a.py", b"1"), ("b.py", b"2")]
    one = [("a.py", b"1" + b"b.py" + b"\0" + b"2")]
    assert firmware_hash(two) == firmware_hash(two[::-1]) != firmware_hash(one)
