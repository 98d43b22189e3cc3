"""What the kernel tells, from outside, of a running process: its sockets, files and libraries.

A process that is hidden, as the machine is, tells it to root alone.
"""

import os
import re
import stat
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from tests.processes.processes import part
from tests.waiting import until

PROC = Path("/proc")
UNIX = "unix"

# In which column of which table of a process's network the socket's inode stands.
_COLUMNS = dict.fromkeys(
    ("tcp", "tcp6", "udp", "udp6", "udplite", "udplite6", "raw", "raw6", "icmp", "icmp6"), 9
) | {"netlink": 9, "packet": 8, UNIX: 6}
_SOCKET = re.compile(r"socket:\[(\d+)\]")


async def gone(pids: Iterable[int]) -> None:
    """Wait until none of the processes lives."""
    await until(lambda: not any((PROC / str(pid)).exists() for pid in pids))


def mode(path: str | Path) -> int:
    """Return the rights of a file, as chmod has them."""
    return stat.S_IMODE(os.stat(path).st_mode)


def files(pid: int) -> set[str]:
    """Return what a process holds open, in each of its threads, as the links in /proc have it."""
    found = set()
    for task in os.listdir(PROC / str(pid) / "task"):
        folder = PROC / str(pid) / "task" / task / "fd"
        for number in os.listdir(folder):
            with suppress(FileNotFoundError):  # closed meanwhile
                found.add(os.readlink(folder / number))
    return found


def network_sockets(pid: int) -> list[str]:
    """Return a process's sockets that are no Unix sockets, as `family inode`.

    A socket that no table of the kernel has is one, too, unless it is gone at a second look.
    """
    suspects = _strangers(pid)
    if any(name.startswith("unknown") for name in suspects):
        suspects = {name for name in suspects if not name.startswith("unknown")} | _strangers(pid)
    return sorted(suspects)


def listening(pid: int) -> set[str]:
    """Return the paths of the Unix sockets that a process listens at."""
    held = _sockets(pid)
    rows = (row.split() for row in _table(pid, UNIX))
    accepts = 1 << 16
    return {row[7] for row in rows if row[6] in held and int(row[3], 16) & accepts}


def libraries(pid: int) -> set[str]:
    """Return the names of the files that a process has mapped."""
    maps = (PROC / str(pid) / "maps").read_text().splitlines()
    return {Path(line.split(maxsplit=5)[5]).name for line in maps if "/" in line}


def status(pid: int, field: str) -> list[str]:
    """Return the words behind a field of a process's status."""
    for line in (PROC / str(pid) / "status").read_text().splitlines():
        name, _, words = line.partition(":")
        if name == field:
            return words.split()
    raise LookupError(field)


def holds(pid: int, words: Iterable[bytes]) -> set[bytes]:
    """Return those of `words` that lie somewhere in a process's memory."""
    wanted, found = set(words), set()
    longest = max(map(len, wanted))
    with open(PROC / str(pid) / "mem", "rb", buffering=0) as memory:
        for line in (PROC / str(pid) / "maps").read_text().splitlines():
            begin, end = (int(part, 16) for part in line.split()[0].split("-"))
            rest = b""
            while begin < end and line.split()[1].startswith("r"):
                try:
                    memory.seek(begin)
                    piece = memory.read(min(1 << 22, end - begin))
                except (OSError, OverflowError):  # not memory: what the kernel maps for itself
                    break
                if not piece:
                    break
                begin += len(piece)
                found |= {word for word in wanted if word in rest + piece}
                rest = piece[-longest:]
    return found


class Watch:
    """Looks at a part of a table's daemon over and over; `found` is what it held at any time.

    `looks` counts how often each process of that part was looked at.
    """

    def __init__(self, look: Callable[[int], Iterable[str]], daemon: int, name: str) -> None:
        self.found: set[str] = set()
        self.looks: dict[int, int] = {}
        self._look, self._daemon, self._name = look, daemon, name

    def look(self) -> None:
        """Look once; the part must be there."""
        pid = part(self._daemon, self._name)
        self.found |= set(self._look(pid))
        self.looks[pid] = self.looks.get(pid, 0) + 1

    def look_if_there(self) -> None:
        """Look once, unless the part is away, or goes away meanwhile."""
        with suppress(OSError, ValueError):
            self.look()


def _sockets(pid: int) -> set[str]:
    return {match[1] for name in files(pid) if (match := _SOCKET.fullmatch(name))}


def _strangers(pid: int) -> set[str]:
    held = _sockets(pid)
    families = {
        row.split()[column]: family
        for family, column in _COLUMNS.items()
        for row in _table(pid, family)
    }
    named = {inode: families.get(inode, "unknown") for inode in held}
    return {f"{family} {inode}" for inode, family in named.items() if family != UNIX}


def _table(pid: int, family: str) -> list[str]:
    """Return the rows of a table of sockets, padded so that each has a path; none without it."""
    try:
        text = (PROC / str(pid) / "net" / family).read_text()
    except FileNotFoundError:  # a family that this kernel has not
        return []
    return [f"{row} -" for row in text.splitlines()[1:]]
