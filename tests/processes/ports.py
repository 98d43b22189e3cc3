"""Ports for tables that must be found in the same place again after a restart."""

import socket
from contextlib import ExitStack, suppress


def free_ports(count: int) -> int:
    """Return the first of so many free ports in a row."""
    while True:
        with ExitStack() as held, suppress(OSError):
            one = held.enter_context(socket.create_server(("127.0.0.1", 0)))
            first: int = one.getsockname()[1]
            for port in range(first + 1, first + count):
                held.enter_context(socket.create_server(("127.0.0.1", port)))
            return first
