"""Which processes live, as /proc tells it."""

import asyncio
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

PROC = Path("/proc")
LOOK_S = 0.02


def marked(mark: str) -> dict[int, str]:
    """Return the living processes that inherited `NAME=VALUE`, with their command lines."""
    word = mark.encode()
    return {
        pid: _read(pid, "cmdline").replace(b"\0", b" ").decode(errors="replace").strip()
        for pid in _pids()
        if word in _read(pid, "environ").split(b"\0")
    }


def children(parent: int) -> dict[str, int]:
    """Return a process's children by their command lines."""
    found = {}
    for pid in _pids():
        status = _read(pid, "stat").rpartition(b")")[2].split()
        if status and int(status[1]) == parent:
            found[_read(pid, "cmdline").replace(b"\0", b" ").decode(errors="replace")] = pid
    return found


async def left_over(mark: str, limit_s: float) -> dict[int, str]:
    """Wait until no marked process lives; return those that still do at the limit."""
    left = marked(mark)
    with suppress(TimeoutError):
        async with asyncio.timeout(limit_s):
            while left:
                await asyncio.sleep(LOOK_S)
                left = marked(mark)
    return left


def _pids() -> Iterator[int]:
    return (int(entry) for entry in os.listdir(PROC) if entry.isdigit())


def _read(pid: int, name: str) -> bytes:
    """Return a file of a process; nothing for one that has gone, or is not ours."""
    try:
        return (PROC / str(pid) / name).read_bytes()
    except OSError:
        return b""
