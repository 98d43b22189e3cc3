"""What this process costs, as the kernel tells it."""

import os
import resource
from pathlib import Path

from controller.counting import MetricSample

_STAT, _STATM, _KERNEL_STAT = Path("/proc/self/stat"), Path("/proc/self/statm"), Path("/proc/stat")
_START_TICKS_FIELD = 19
"""Where a process's start stands in its stat, counted behind the closing bracket of its name."""


def process_samples() -> list[MetricSample]:
    """Return when this process began (seconds of Unix time), its CPU seconds and its memory."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    pages = int(_STATM.read_text().split()[1])
    return [
        MetricSample("machine_start_time_seconds", (), _start_time_s()),
        MetricSample("machine_cpu_seconds", (), used.ru_utime + used.ru_stime),
        MetricSample("machine_resident_memory_bytes", (), pages * resource.getpagesize()),
    ]


def _start_time_s() -> float:
    ticks = int(_STAT.read_text().rpartition(")")[2].split()[_START_TICKS_FIELD])
    lines = _KERNEL_STAT.read_text().splitlines()
    boot_s = next(int(line.split()[1]) for line in lines if line.startswith("btime"))
    return boot_s + ticks / os.sysconf("SC_CLK_TCK")
