"""Entry points of the firmware, and a simulated HAL that exchanges pin levels as lines of text.

From the machine: `at NAME VALUE` (level of an input) and `read FACE BACK UP CONF` (the engine's
answer; an optional fifth number is its shot). To the machine: `set NAME VALUE`. At the start the
machine sends the level of every input: an input's first line is no edge.
"""

import binascii
import os
import select
import sys

from . import protocol
from .board import BoardCore
from .dealer import DealerCore
from .reader import ReaderCore
from .runtime import BoardClock, Stream, open_stream
from .version import firmware_hash


class PinsClosed(Exception):
    """The error after the simulated machine closed the stream of pin levels. The board must end."""


class TextPins:
    """The HAL of one simulated board, which exchanges pin levels as lines of text on a stream.

    `uid` is the board's unique id of eight bytes.
    """

    kind = protocol.HAL_SIM

    def __init__(self, uid: bytes, pins: Stream) -> None:
        self.uid = uid
        self._pins = pins
        self._levels: dict[str, int] = {}
        self._edges: list[tuple[int, str, int]] = []
        self._answers: list[tuple[int, ...]] = []
        self._unparsed = b""

    def update(self, now_ms: int) -> None:
        """Read the received lines of text. Their edges get the time `now_ms`. Raises PinsClosed."""
        data = self._pins.read()
        if data is None:
            raise PinsClosed
        lines = (self._unparsed + data).split(b"\n")
        self._unparsed = lines.pop()
        for line in lines:
            self._parse_line(line.decode().split(), now_ms)

    def read(self, name: str) -> int:
        """Return the last level of the input `name`, or 0 if no level was received yet."""
        return self._levels.get(name, 0)

    def set(self, name: str, value: int) -> None:
        """Send the level `value` of the output `name` to the machine. Raises PinsClosed."""
        try:
            self._pins.write_all(("set %s %d\n" % (name, value)).encode())
        except OSError:
            raise PinsClosed from None

    def edges(self) -> list[tuple[int, str, int]]:
        """Return (t_ms, name, value) of each input's changes since the last call, oldest first."""
        edges, self._edges = self._edges, []
        return edges

    def answers(self) -> list[tuple[int, ...]]:
        """Return the engine's new answers: (face, back, face_up, confidence), some with a shot."""
        answers, self._answers = self._answers, []
        return answers

    def _parse_line(self, words: list[str], now_ms: int) -> None:
        if words[:1] == ["at"] and len(words) == 3:
            name, value = words[1], int(words[2])
            if self._levels.get(name, value) != value:
                self._edges.append((now_ms, name, value))
            self._levels[name] = value
        elif words[:1] == ["read"] and len(words) in (5, 6):
            self._answers.append(tuple([int(word) for word in words[1:]]))


TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

BOARD_CORES = {"dealer": DealerCore, "reader": ReaderCore}
PINS_FD = 3
# The longest wait if every event wakes poll, and while the line is unplugged.
MAX_WAIT_MS = 1000
UNPLUGGED_WAIT_MS = 20


def run(board: BoardCore, hal: TextPins, line: Stream, pins: Stream) -> None:
    """Run a board's core on a serial line and a stream of pins, until PinsClosed is raised.

    If no program has the line open, the line is polled again and again.
    """
    clock = BoardClock()
    plugged, alone = select.poll(), select.poll()
    plugged.register(line.source, select.POLLIN)
    plugged.register(pins.source, select.POLLIN)
    alone.register(pins.source, select.POLLIN)
    while True:
        rx = line.read()
        now = clock.now_ms()
        hal.update(now)
        tx = board.step(now, rx or b"")
        if tx and rx is not None:
            line.write(tx)
        longest = UNPLUGGED_WAIT_MS if rx is None else MAX_WAIT_MS
        wait = max(0, min(board.deadline() - clock.now_ms(), longest))
        (alone if rx is None else plugged).poll(wait)


def own_source_hash() -> bytes:
    """Return the hash of this firmware, computed over the files in this folder.

    A folder or a compiled file beside them counts as an empty file: it could be imported in place
    of one of them, and no correct firmware has any.
    """
    folder = __file__[: __file__.rfind("/")] if "/" in __file__ else "."
    files = []
    for name in os.listdir(folder):
        if name.endswith(".py"):
            files.append((name, load_file(folder + "/" + name)))
        elif name.endswith(".mpy") or ("." not in name and name != "__pycache__"):
            files.append((name, b""))
    return firmware_hash(files)


def load_file(path: str) -> bytes:
    """Return the content of a file, or b"" if the file cannot be read."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def save_file(path: str, content: bytes) -> None:
    """Write `content` to the file `path`. After a power cut it has the old or new content."""
    with open(path + ".new", "wb") as file:
        file.write(content)
    os.rename(path + ".new", path)


def run_process(arguments: list[str]) -> None:
    """Run the simulated board that `arguments` name, until the stream of pins ends."""
    if len(arguments) != 3 or arguments[0] not in BOARD_CORES:
        sys.stderr.write("usage: main dealer|reader UID BOOT (UID: 16 hex digits)\n")
        sys.exit(2)
    kind, uid, boot = arguments
    line, pins = open_stream(0, 1), open_stream(PINS_FD, PINS_FD)
    hal = TextPins(binascii.unhexlify(uid), pins)
    board = BOARD_CORES[kind](hal, int(boot), 0, own_source_hash())
    try:
        run(board, hal, line, pins)
    except PinsClosed:
        return


def chip(trial: bool = False) -> None:
    """Run the board that the chip's file `board` names (dealer or reader), forever.

    With `trial`, the firmware is new, and the chip restarts if no host opens a session in time.
    """
    import micropython

    from . import rp2_hal, rp2_loop

    if hasattr(micropython, "alloc_emergency_exception_buf"):  # The unix port has its own.
        micropython.alloc_emergency_exception_buf(100)  # For exceptions in interrupt handlers.
    kind = load_file("board").decode().strip()
    boot = int(load_file("boot") or b"0") + 1
    save_file("boot", b"%d" % boot)
    hal: Any = rp2_hal.HALS[kind]()
    board = BOARD_CORES[kind](hal, boot, hal.reset_cause(), own_source_hash(), load_file("store"))
    line = Stream(sys.stdin.buffer, sys.stdout.buffer)
    micropython.kbd_intr(-1)  # the line is binary: a 3 is a byte, not Control-C
    rp2_loop.run(rp2_loop.ChipLoop(board, hal, line, BoardClock(), save_file, trial))


if __name__ == "__main__":
    run_process(sys.argv[1:])
