"""The shell around a board's core: on the chip, and as a process of CPython or MicroPython.

As a process: `python -m drivers.firmware.main dealer|reader UID BOOT`, or
`micropython -m firmware.main …` with MICROPYPATH=drivers. UID is 16 hex digits,
BOOT a number never used before. The line is stdin and stdout (a raw pty), the pins are
descriptor 3; the process ends with them.

On the chip drivers/flash/chip/main.py calls `chip`.
"""

import binascii
import os
import select
import sys
import time

from .board import BoardCore
from .dealer import DealerCore
from .hal_lines import PinsClosed, TextPins
from .reader import ReaderCore
from .streams import Stream, open_stream
from .version import firmware_hash

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MICROPYTHON = sys.implementation.name == "micropython"
BOARD_CORES = {"dealer": DealerCore, "reader": ReaderCore}
PINS_FD = 3
# The longest wait where every event is a descriptor's, and where the line is unplugged.
MAX_WAIT_MS = 1000
UNPLUGGED_WAIT_MS = 20


class BoardClock:
    """Whole milliseconds since it was made; they do not wrap as the chip's do."""

    def __init__(self) -> None:
        self._now = 0
        self._last = self._ticks()

    def now_ms(self) -> int:
        """Return the present moment; call it at least once an hour."""
        ticks = self._ticks()
        if MICROPYTHON:
            clock: Any = time
            self._now += clock.ticks_diff(ticks, self._last)
        else:
            self._now += ticks - self._last
        self._last = ticks
        return self._now

    def _ticks(self) -> int:
        clock: Any = time  # the two interpreters' clocks differ
        if MICROPYTHON:
            return int(clock.ticks_ms())
        return int(clock.monotonic_ns() // 1_000_000)


def run(board: BoardCore, hal: TextPins, line: Stream, pins: Stream) -> None:
    """Run a board's core on a line and a stream of pins. Raises Gone when the pins end.

    A line that nobody has open is no reason to end: it is looked at again and again.
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
    """Return the firmware hash of the files this program runs from.

    A folder or a compiled file beside them counts as an empty file: it may be imported in
    the place of one of them, and no right firmware has any.
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
    """Return a file's content, b"" when there is none."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def save_file(path: str, content: bytes) -> None:
    """Write a file so that a cut of the power leaves the old one or the new one."""
    with open(path + ".new", "wb") as file:
        file.write(content)
    os.rename(path + ".new", path)


def run_process(arguments: list[str]) -> None:
    """Be the board that the arguments say, until the pins end."""
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
    """Be the board that the file `board` on the chip says (dealer or reader), for ever.

    `trial`: this firmware was not found right yet.
    """
    import micropython

    from . import hal_rp2, rp2_loop

    if hasattr(micropython, "alloc_emergency_exception_buf"):  # the unix port has its own
        micropython.alloc_emergency_exception_buf(100)  # for what an interrupt's handler raises
    kind = load_file("board").decode().strip()
    boot = int(load_file("boot") or b"0") + 1
    save_file("boot", b"%d" % boot)
    hal: Any = hal_rp2.HALS[kind]()
    board = BOARD_CORES[kind](hal, boot, hal.reset_cause(), own_source_hash(), load_file("store"))
    line = Stream(sys.stdin.buffer, sys.stdout.buffer)
    micropython.kbd_intr(-1)  # the line is binary: a 3 is a byte, not Control-C
    rp2_loop.run(rp2_loop.ChipLoop(board, hal, line, BoardClock(), save_file, trial))


if __name__ == "__main__":
    run_process(sys.argv[1:])
