"""Which processes live, as /proc shows it to every user."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from sim.tables.table_processes import TableProcess
from tests.waiting import until

PROC = Path("/proc")


def marked(mark: str) -> dict[int, str]:
    """Return the living processes of a test by their ids, with their command lines.

    `mark` is `NAME=FOLDER`. A process is the test's if it inherited that variable, or if its
    command line names a path in FOLDER. The machine process hides its environment from its own
    user, so an ordinary user finds it by its command line.
    """
    variable = mark.encode()
    below = re.compile(re.escape(mark.partition("=")[2]) + r"(/|\0|$)")
    return {
        pid: line.replace("\0", " ").strip()
        for pid in _pids()
        if (line := _read(pid, "cmdline").decode(errors="replace"))
        if below.search(line) or variable in _read(pid, "environ").split(b"\0")
    }


def children(parent: int) -> dict[str, int]:
    """Return a process's children by their command lines."""
    found = {}
    for pid in _pids():
        status = _read(pid, "stat").rpartition(b")")[2].split()
        if status and int(status[1]) == parent:
            found[_read(pid, "cmdline").replace(b"\0", b" ").decode(errors="replace")] = pid
    return found


def part(daemon: int, name: str) -> int:
    """Return the process of a part of a table's daemon: `machine` or `gateway`."""
    (pid,) = [pid for words, pid in children(daemon).items() if f"run {name}" in words]
    return pid


def part_of(table: TableProcess, name: str) -> int:
    """Return the process of a part of the daemon that runs at `table`."""
    assert table.daemon is not None
    return part(table.daemon.pid, name)


async def no_process_is_left(mark: str) -> None:
    """Wait until no process of a test lives."""
    await until(lambda: not marked(mark))


def _pids() -> Iterator[int]:
    return (int(entry) for entry in os.listdir(PROC) if entry.isdigit())


def _read(pid: int, name: str) -> bytes:
    """Return a file of a process, or nothing if it has gone or this user may not read it."""
    try:
        return (PROC / str(pid) / name).read_bytes()
    except OSError:
        return b""
