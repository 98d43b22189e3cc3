"""The processor time and memory of a simulated hall, for each kind of process, from /proc."""

import os
import resource
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

_PROC = Path("/proc")
_KIBI = 1024.0


class ProcessCost(msgspec.Struct, frozen=True, kw_only=True):
    """The number of processes of one kind, and their total costs.

    `cpu_s`: processor time since their start. `rss_mib`: resident memory, with shared pages counted
    in each process. `pss_mib`: resident memory, with shared pages divided among the processes that
    share them.
    """

    processes: int
    cpu_s: float
    rss_mib: float
    pss_mib: float


def measure_costs(root: int) -> dict[str, ProcessCost]:
    """Return the processor time and memory of process `root` and its descendants, by kind.

    Kinds are the words after `dealtable`: `demo`, `sim`, `run`, `run machine`, `run gateway`. A
    board's process has the kind `board`. A process that ends meanwhile is left out.
    """
    found: dict[str, list[tuple[float, float, float]]] = defaultdict(list)
    for pid in _process_tree(root):
        try:
            tasks = (_PROC / str(pid) / "task").iterdir()
            # The scheduler counts in nanoseconds.
            times_ns = [int((task / "schedstat").read_text().split()[0]) for task in tasks]
            found[_process_kind(pid)].append((sum(times_ns) / 1e9, *_memory_mib(pid)))
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
    """Return by kind the pid of the last process found among `root` and its descendants."""
    found: dict[str, int] = {}
    for pid in _process_tree(root):
        with suppress(OSError, IndexError):  # the process ended meanwhile
            found[_process_kind(pid)] = int(pid)
    return found


def resident_mib(pid: int) -> float:
    """Return the resident memory of a process in MiB. Memory shared with others counts fully."""
    return _memory_mib(pid)[0]


def tree_cpu_s(pid: int) -> float:
    """Return the processor seconds of process `pid` and of those descendants that still run."""
    return sum(cost.cpu_s for cost in measure_costs(pid).values())


def written_kib(pid: int) -> float:
    """Return the data that a process has written to disks since its start, in KiB."""
    rows = (_PROC / str(pid) / "io").read_text().splitlines()
    return int(dict(row.split(": ") for row in rows)["write_bytes"]) / _KIBI


def costs_since(
    before: Mapping[str, ProcessCost], now: Mapping[str, ProcessCost]
) -> dict[str, ProcessCost]:
    """Return the costs `now`, with each kind's processor time reduced by its time in `before`."""
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


def _memory_mib(pid: int) -> tuple[float, float]:
    """Return (RSS, PSS) of a process in MiB, or (RSS, RSS) if this process may not read the PSS."""
    try:
        rows = (_PROC / str(pid) / "smaps_rollup").read_text().splitlines()
    except PermissionError:
        resident = int((_PROC / str(pid) / "statm").read_text().split()[1])
        return (resident * resource.getpagesize() / _KIBI / 1024,) * 2
    kib = {row.split()[0]: float(row.split()[1]) for row in rows[1:]}
    return kib["Rss:"] / _KIBI, kib["Pss:"] / _KIBI


def count_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0))
