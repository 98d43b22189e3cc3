"""Ports for tables that must be found in the same place again after a restart."""

import socket
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

BLOCK_PORTS = 64
FIRST_PORT, LAST_PORT = 1024, 65535


def free_ports(count: int) -> int:
    """Return the first of `count` ports in a row, which no other process takes before the caller.

    They are outside the range from which the kernel chooses ports, so no other socket gets one of
    them by chance. They belong to a block that this process has reserved, so no other run of
    these tests uses them. The process uses its block from the beginning again when it is used up.
    """
    block = _reserved_block()
    while True:
        first = block.next_ports(count)
        if all(map(_is_free, range(first, first + count))):
            return first


class Block:
    """A block of ports that this process has reserved until it ends.

    The reservation is an abstract Unix socket. Its name exists once in the network's namespace,
    as the ports do.
    """

    def __init__(self, first: int) -> None:
        """Reserve the block that begins at `first`. Raises OSError if another process has it."""
        self._reservation = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            self._reservation.bind(f"\0dealtable-test-ports-{first}")
        except OSError:
            self._reservation.close()
            raise
        self._first = self._next = first

    def next_ports(self, count: int) -> int:
        """Return the first of the next `count` ports of the block."""
        if self._next + count > self._first + BLOCK_PORTS:
            self._next = self._first
        first = self._next
        self._next += count
        return first


@cache
def _reserved_block() -> Block:
    for first in _blocks():
        with suppress(OSError):
            return Block(first)
    raise RuntimeError("other processes have reserved all blocks of ports")


def _blocks() -> Iterator[int]:
    """Yield the first ports of all blocks outside the kernel's own range, the highest first."""
    chosen = Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()
    low, high = map(int, chosen)
    last = LAST_PORT + 1 - BLOCK_PORTS
    for first in range(last - last % BLOCK_PORTS, FIRST_PORT - 1, -BLOCK_PORTS):
        if first + BLOCK_PORTS <= low or first > high:
            yield first


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
