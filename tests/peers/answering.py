"""What every peer of `bench reaction` does with a card's event, whatever brings it the bytes.

A peer is a program `python -m tests.peers.NAME PTY`: another way to a serial port, between the
same codec and the same small decision. Without a PTY it prints its name with the versions of what
it is made of. It fails where that is not installed, and is left out then.
"""

import struct
import sys
from collections.abc import Callable
from importlib.metadata import version

from drivers.board_events import Outlet
from drivers.firmware import protocol
from drivers.firmware.framing import Decoder
from drivers.link import frames

BAUD = 921_600
_EVENT = struct.Struct(protocol.BOARD_HEADER + protocol.BODIES[protocol.EVENT][1:])
_OUTLETS = [Outlet(number % 4) for number in range(256)]


class Answering:
    """Takes bytes from the line and returns those for it: a ROUTE for each event."""

    def __init__(self) -> None:
        self._decoder = Decoder()
        self._number = 0

    def hello(self) -> bytes:
        """Return what says that somebody is there: as long as an answer."""
        return self._route(1, 1, 1)

    def __call__(self, data: bytes) -> bytes:
        """Return the answers to the events that these bytes complete."""
        return b"".join(self._answer(payload) for payload in self._decoder.feed(data))

    def _answer(self, payload: bytes) -> bytes:
        _, session, _, event, attempt, _, _, _, index, _ = _EVENT.unpack_from(payload)
        self._number = protocol.next_number(self._number)
        return self._route(session, attempt, index, event)

    def _route(self, session: int, attempt: int, index: int, seen: int = 1) -> bytes:
        route = frames.RouteCommand(attempt, index, _OUTLETS[index])
        return frames.encode_host_frame(protocol.ROUTE, session, self._number or 1, seen, 0, route)


def main(what: str, libraries: list[str], run: Callable[[str], None]) -> None:
    """Run a peer at the PTY that the command line names; without one, print what it is."""
    if len(sys.argv) == 1:
        made_of = ", ".join(f"{library} {version(library)}" for library in libraries)
        sys.stdout.write(f"{what} ({made_of})\n")
    else:
        run(sys.argv[1])
