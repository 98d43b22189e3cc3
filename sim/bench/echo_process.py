"""The floor of `bench reaction`: bytes in, bytes out, by a process that does nothing else.

python -m sim.bench.echo_process PTY
"""

import os
import struct
import sys
import tty
from typing import Final

from drivers.board_events import Outlet
from drivers.firmware import framing, protocol
from drivers.link import frames

_READ_LAYOUT = struct.Struct(
    protocol.BOARD_HEADER + protocol.BODIES[protocol.EVENT][1:] + protocol.READ_BODY[1:]
)
READ_FRAME: Final = framing.encode(
    _READ_LAYOUT.pack(protocol.EVENT, 7, 5, 100, 3, protocol.READ, 33, 33, 33, 0, 12, 0, 0, 250)
)
"""A READ, as a reader board says it."""
ROUTE_FRAME: Final = frames.encode_host_frame(
    protocol.ROUTE, 7, 34, 100, 90, frames.RouteCommand(3, 33, Outlet.S)
)
"""A ROUTE; what comes back is as long as this."""
_MAX_READ_BYTES = 4096


def run_echo(path: str) -> None:
    """Answer every read with an answer, until the line is gone."""
    end = os.open(path, os.O_RDWR | os.O_NOCTTY)
    tty.setraw(end)
    os.write(end, ROUTE_FRAME)  # it is there
    try:
        while os.read(end, _MAX_READ_BYTES):
            os.write(end, ROUTE_FRAME)
    except OSError:
        pass  # the other end was closed


if __name__ == "__main__":
    run_echo(sys.argv[1])
