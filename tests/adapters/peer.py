"""A barcode engine as one buys it, for the adapter to talk to. It shares no code with it.

A card's code is drawn by one library as the picture that a camera would see, and read by another
one out of that picture's pixels. `python peer.py CONTROL LINK` is an engine on a pty of its own,
found under LINK, that looks at the window of a simulated table, by its control socket.
"""

import json
import os
import pty
import select
import socket
import sys
import tty
from functools import cache

import numpy
import zxingcpp
from barcode import get_barcode_class
from barcode.writer import ImageWriter

TRIGGER, TRIGGER_OFF, END_OF_LINE = b"\x16T\r", b"\x16U\r", b"\r"


def printed(face: int, back: int) -> str:
    """What is printed on a card: seven digits that say nothing of it to a person."""
    return f"{(face * 7919 + back * 104729 + 1234567) % 10_000_000:07d}"


@cache
def picture(
    code: str, kind: str = "code128"
) -> "numpy.ndarray[tuple[int, ...], numpy.dtype[numpy.uint8]]":
    """A card's margin as a camera sees it: grey, and the bars not quite black."""
    drawn = get_barcode_class(kind)(code, writer=ImageWriter())
    look = drawn.render({"write_text": False, "module_height": 4, "quiet_zone": 3})
    return (numpy.asarray(look.convert("L")) // 2 + 60).astype(numpy.uint8)


def read(seen: "numpy.ndarray[tuple[int, ...], numpy.dtype[numpy.uint8]]") -> bytes | None:
    """The text of the one barcode in a picture, None where there is none."""
    found = zxingcpp.read_barcodes(seen)
    return found[0].text.encode() if len(found) == 1 else None


class Commands:
    """Cuts what an engine is told into commands."""

    def __init__(self) -> None:
        self._rest = b""

    def take(self, data: bytes) -> list[bytes]:
        *whole, self._rest = (self._rest + data).split(b"\r")
        return [command + b"\r" for command in whole]


class Window:
    """What lies in the window of a simulated table, asked over its control socket."""

    def __init__(self, path: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(path)
        self._lines = self._socket.makefile("rwb")

    def look(self) -> bytes | None:
        self._lines.write(b'{"id": 1, "do": "truth", "with": {}}\n')
        self._lines.flush()
        cards = json.loads(self._lines.readline())["result"]["window"]
        return read(picture(printed(cards[0]["face"], cards[0]["back"]))) if cards else None


def main(control: str, link: str) -> None:
    """Be an engine until the process is ended."""
    window, commands = Window(control), Commands()
    ours, theirs = pty.openpty()
    for end in (ours, theirs):
        tty.setraw(end)
    os.symlink(os.ttyname(theirs), link)
    os.write(1, b"ready\n")
    while True:
        select.select([ours], [], [])
        for command in commands.take(os.read(ours, 4096)):
            code = window.look() if command == TRIGGER else None
            if code is not None:
                os.write(ours, code + END_OF_LINE)


if __name__ == "__main__":
    main(*sys.argv[1:])
