"""What all the table's ZeroMQ sockets have in common."""

import asyncio
import resource
from typing import Final

import zmq
import zmq.asyncio

HEARTBEAT_INTERVAL_MS: Final = 1_000
HEARTBEAT_TIMEOUT_MS: Final = 3_000
HANDSHAKE_TIMEOUT_MS: Final = 3_000

SOCKET_OPTIONS: Final = {
    zmq.LINGER: 0,
    zmq.HEARTBEAT_IVL: HEARTBEAT_INTERVAL_MS,
    zmq.HEARTBEAT_TIMEOUT: HEARTBEAT_TIMEOUT_MS,
    zmq.HEARTBEAT_TTL: HEARTBEAT_TIMEOUT_MS,
    zmq.HANDSHAKE_IVL: HANDSHAKE_TIMEOUT_MS,
}

SUBSCRIBER_OPTIONS: Final[dict[int, int]] = {zmq.IMMEDIATE: 1}
"""Of a SUB socket that connects: what waits in it goes with its connection, not on to the next.

Where nobody reads until it is full, a heartbeat is missed; libzmq 4.3.5 aborts the process that
then reads on behind a new connection (https://github.com/zeromq/libzmq/issues/3937).
"""


def raise_open_file_limit() -> None:
    """Let this process have as many open files as the system lets it have at most.

    A process begins with leave for some thousand, as a rule; a line to a table takes four, and
    libzmq aborts the process that has none left.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def open_socket(
    context: zmq.asyncio.Context, kind: zmq.SocketType, extra_options: dict[int, int] | None = None
) -> zmq.asyncio.Socket:
    """Return a socket that drops dead peers within `DEAD_AFTER_MS` and never lingers."""
    socket = context.socket(kind)
    for option, value in (SOCKET_OPTIONS | (extra_options or {})).items():
        socket.setsockopt(option, value)
    return socket


def send_or_drop(socket: zmq.asyncio.Socket, frames: list[bytes]) -> None:
    """Send at once or not at all: a peer that does not take its messages loses them."""
    sent = socket.send_multipart(frames, flags=zmq.NOBLOCK)
    assert isinstance(sent, asyncio.Future)  # and done: that is what NOBLOCK means
    if isinstance(sent.exception(), zmq.Again):
        return
    sent.result()
