"""The computer that tells: its /proc, /sys and /run, under a root that tests make up."""

import ctypes
import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

_TIMEX_INTS: Final = 64
_TIMEX_STATUS_LONG: Final = 5
"""The word of the kernel's struct timex that has its status, in machines of 64 bits."""
_STATUS_UNSYNCHRONIZED: Final = 0x40
RUN_TIMEOUT_S: Final = 5.0

RunProgram = Callable[[Sequence[str]], str | None]


class Computer:
    """Answers for files under `root`, the kernel's clock, and programs that are asked.

    `run` returns what a program printed, None where there is none or it fails; `synchronized`
    whether the kernel's clock is kept by somebody, None where it does not say.
    """

    def __init__(
        self,
        root: Path = Path("/"),
        run: RunProgram | None = None,
        synchronized: Callable[[], bool | None] | None = None,
    ) -> None:
        self.root = root
        self.run = run or _run_program
        self.is_synchronized = synchronized or _is_clock_synchronized

    def path_of(self, path: str) -> Path:
        """Return where a path of this computer lies."""
        return self.root / path.lstrip("/")

    def read_text(self, path: str) -> str | None:
        """Return what a file says, stripped; None where it is not there or says nothing to us."""
        try:
            return self.path_of(path).read_text(encoding="utf-8", errors="replace").strip("\0 \n")
        except OSError:
            return None

    def read_number(self, path: str, base: int = 10) -> int | None:
        """Return the whole number in a file; None where there is none."""
        try:
            return int(self.read_text(path) or "", base)
        except ValueError:
            return None

    def find_paths(self, pattern: str) -> list[str]:
        """Return the paths that fit a pattern, in order."""
        found = self.root.glob(pattern.lstrip("/"))
        return sorted(f"/{path.relative_to(self.root)}" for path in found)

    def list_locks(self) -> Iterator[tuple[int, str]]:
        """Yield who locks which file: a process, and "MAJOR:MINOR:INODE" as the kernel says it."""
        for line in (self.read_text("/proc/locks") or "").splitlines():
            words = line.split()
            if len(words) > 5 and words[1] == "FLOCK" and words[4].isdigit():
                yield int(words[4]), words[5]

    def process_name(self, pid: int) -> str:
        """Return what a process is called."""
        return self.read_text(f"/proc/{pid}/comm") or "?"


def lock_name(status: os.stat_result) -> str:
    """Return a file as the kernel's list of locks names it."""
    major, minor = os.major(status.st_dev), os.minor(status.st_dev)
    return f"{major:02x}:{minor:02x}:{status.st_ino}"


def _run_program(words: Sequence[str]) -> str | None:
    try:
        done = subprocess.run(
            words,
            capture_output=True,
            text=True,
            timeout=RUN_TIMEOUT_S,
            check=False,
            errors="replace",
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def _is_clock_synchronized() -> bool | None:
    """Ask the kernel, changing nothing: adjtimex with no mode."""
    if ctypes.sizeof(ctypes.c_void_p) != 8:
        return None
    words = (ctypes.c_int * _TIMEX_INTS)()
    try:
        answer = ctypes.CDLL(None, use_errno=True).adjtimex(ctypes.byref(words))
    except (AttributeError, OSError):
        return None
    # modes (with its gap), offset, freq, maxerror, esterror: two ints each, then the status
    status = words[2 * _TIMEX_STATUS_LONG]
    return None if answer < 0 else not status & _STATUS_UNSYNCHRONIZED
