"""What a hall costs: processor time and memory of its processes, by kind, from /proc."""

import os
import resource
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

_PROC = Path("/proc")
_MIB = 1024.0


class ProcessCost(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of process: how many there are, and what all of them together take.

    `cpu_s`: processor time since they began; `rss_mib`: what lies in memory, shared pages
    counted in each; `pss_mib`: shared pages divided among those that share them.
    """

    processes: int
    cpu_s: float
    rss_mib: float
    pss_mib: float


def measure_costs(root: int) -> dict[str, ProcessCost]:
    """Return what the process `root` and all that it started cost so far, by kind.

    Kinds are the words after `dealtable`: `demo`, `sim`, `run`, `run machine`, `run gateway`;
    a board's process is a `board`. One that ends meanwhile is left out.
    """
    found: dict[str, list[tuple[float, float, float]]] = defaultdict(list)
    for pid in _process_tree(root):
        try:
            found[_process_kind(pid)].append((_cpu_s(pid), *_memory_mib(pid)))
        except (OSError, IndexError, KeyError):
            continue
    return {
        kind: ProcessCost(
            processes=len(rows),
            cpu_s=round(sum(row[0] for row in rows), 3),
            rss_mib=round(sum(row[1] for row in rows), 1),
            pss_mib=round(sum(row[2] for row in rows), 1),
        )
        for kind, rows in sorted(found.items())
    }


def find_processes(root: int) -> dict[str, int]:
    """Return the pid of what the process `root` started, by kind: the last one of each."""
    found: dict[str, int] = {}
    for pid in _process_tree(root):
        with suppress(OSError, IndexError):  # it ended meanwhile
            found[_process_kind(pid)] = int(pid)
    return found


def resident_mib(pid: int) -> float:
    """Return what of a process lies in memory, shared pages counted."""
    return _memory_mib(pid)[0]


def written_kib(pid: int) -> float:
    """Return what a process has had written to disks since it began."""
    rows = (_PROC / str(pid) / "io").read_text().splitlines()
    return int(dict(row.split(": ") for row in rows)["write_bytes"]) / _MIB


def costs_since(
    before: Mapping[str, ProcessCost], now: Mapping[str, ProcessCost]
) -> dict[str, ProcessCost]:
    """Return `now` with the processor time alone that was used since `before`."""
    return {
        kind: msgspec.structs.replace(
            cost, cpu_s=round(cost.cpu_s - (before[kind].cpu_s if kind in before else 0.0), 3)
        )
        for kind, cost in now.items()
    }


def _process_tree(pid: int) -> Iterator[int]:
    yield pid
    try:
        tasks = list((_PROC / str(pid) / "task").iterdir())
        children = [child for task in tasks for child in (task / "children").read_text().split()]
    except OSError:
        return
    for child in children:
        yield from _process_tree(int(child))


def _process_kind(pid: int) -> str:
    words = (_PROC / str(pid) / "cmdline").read_text().split("\0")
    if "controller.cli" not in words and not words[1].endswith("dealtable"):
        return "board" if any("firmware.main" in word for word in words) else "other"
    command = words.index("controller.cli") + 1 if "controller.cli" in words else 2
    part = words[command + 1]
    return f"run {part}" if words[command] == "run" and part[:1] != "-" else words[command]


def _cpu_s(pid: int) -> float:
    """Return processor time to the nanosecond, as the scheduler counts it."""
    tasks = (_PROC / str(pid) / "task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9


def _memory_mib(pid: int) -> tuple[float, float]:
    """Return RSS and PSS; where a machine hides from its own user, RSS twice."""
    try:
        rows = (_PROC / str(pid) / "smaps_rollup").read_text().splitlines()
    except PermissionError:
        resident = int((_PROC / str(pid) / "statm").read_text().split()[1])
        return (resident * resource.getpagesize() / _MIB / 1024,) * 2
    kib = {row.split()[0]: float(row.split()[1]) for row in rows[1:]}
    return kib["Rss:"] / _MIB, kib["Pss:"] / _MIB


def count_cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0))
