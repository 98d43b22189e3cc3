"""The multicast group in which tables announce themselves: one for all tests of this computer."""

import fcntl
import functools
import os
import socket
from collections.abc import Awaitable, Callable
from typing import ParamSpec

import pytest

from tests.waiting import until

Arguments = ParamSpec("Arguments")


def _has_multicast() -> bool:
    """Return True where this computer's loopback carries multicast between two sockets."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as ear:
        ear.settimeout(1)
        try:
            ear.bind(("", 0))
            group = socket.inet_aton("224.0.0.251") + socket.inet_aton("127.0.0.1")
            ear.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, group)
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as mouth:
                here = socket.inet_aton("127.0.0.1")
                mouth.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, here)
                mouth.sendto(b"there", ("224.0.0.251", ear.getsockname()[1]))
                return ear.recv(16) == b"there"
        except OSError:
            return False


def needs_multicast(
    test: Callable[Arguments, Awaitable[None]],
) -> Callable[Arguments, Awaitable[None]]:
    """Run `test` while no other worker uses the group; skip it where there is no multicast.

    Every worker receives what the table of another one announces, and all tables are T01.
    """

    @functools.wraps(test)
    async def run_alone(*args: Arguments.args, **kwargs: Arguments.kwargs) -> None:
        lock = os.open(__file__, os.O_RDONLY)
        try:
            await until(lambda: _is_locked(lock))
            await test(*args, **kwargs)
        finally:
            os.close(lock)

    return pytest.mark.skipif(
        not _has_multicast(), reason="this computer's loopback carries no multicast"
    )(run_alone)


def _is_locked(file: int) -> bool:
    """Lock `file` for this process; return False where another process has the lock."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
