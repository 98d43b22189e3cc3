"""A process that answers any bytes with one frame. Its time is the floor of the figure `reaction`.

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
"""A READ event, as a reader board sends it."""
ROUTE_FRAME: Final = frames.encode_host_frame(
    protocol.ROUTE, 7, 34, 100, 90, frames.RouteCommand(3, 33, Outlet.S)
)
"""A ROUTE command. Each answer has this length."""
_MAX_READ_BYTES = 4096


def run_echo(path: str) -> None:
    """Write a ROUTE frame whenever bytes arrive at the pty `path`, until the other end closes."""
    end = os.open(path, os.O_RDWR | os.O_NOCTTY)
    tty.setraw(end)
    os.write(end, ROUTE_FRAME)  # shows that the process is ready
    try:
        while os.read(end, _MAX_READ_BYTES):
            os.write(end, ROUTE_FRAME)
    except OSError:
        pass  # the other end was closed


if __name__ == "__main__":
    run_echo(sys.argv[1])
