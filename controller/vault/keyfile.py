"""The attempt key's file: in memory alone, for this user alone, gone when its attempt is open.

With it a killed process takes its attempt up again, and shows hands that were played once
their match is over; without it the disk holds nothing that anybody but the chief could read.
"""

import contextlib
import os
import stat
from collections.abc import Set
from pathlib import Path

from controller.vault.sealing import KEY_BYTES

_MOUNTS = Path("/proc/self/mountinfo")
_MEMORY_FILESYSTEMS = ("tmpfs", "ramfs")


class RuntimeDirError(Exception):
    """A runtime_dir where no key may lie; one line says why and what to do."""


def check_runtime_dir(runtime_dir: Path, state_dir: Path, mounts: Path = _MOUNTS) -> None:
    """Return if keys may lie in `runtime_dir`: in memory, this user's alone, not in `state_dir`.

    Raises RuntimeDirError.
    """
    where = runtime_dir.resolve()
    if not where.is_dir():
        raise RuntimeDirError(f"runtime_dir {runtime_dir} is not there: create it with mode 0700")
    if where.is_relative_to(state_dir.resolve()):
        raise RuntimeDirError(
            f"runtime_dir {runtime_dir} lies in state_dir: keys would be kept beside what they "
            "close; use a folder under /run"
        )
    status = where.stat()
    kind = _filesystem_type(status.st_dev, mounts)
    if kind not in _MEMORY_FILESYSTEMS:
        raise RuntimeDirError(
            f"runtime_dir {runtime_dir} is on {kind or 'an unknown filesystem'}, not in memory "
            "(tmpfs): use a folder under /run or /dev/shm"
        )
    if status.st_uid != os.getuid() or stat.S_IMODE(status.st_mode) & 0o077:
        raise RuntimeDirError(f"runtime_dir {runtime_dir} is open to others: chmod 0700 it")


class AttemptKeyFiles:
    """The key files of one table's attempts, in its runtime directory."""

    def __init__(self, runtime_dir: Path, state_dir: Path, mounts: Path = _MOUNTS) -> None:
        """Check the folder. Raises RuntimeDirError."""
        check_runtime_dir(runtime_dir, state_dir, mounts)
        self._folder = runtime_dir

    def write(self, attempt: int, key: bytes) -> None:
        """Put an attempt's key there, whole or not at all. Raises OSError."""
        part = self._folder / f".attempt-{attempt}.key"
        with contextlib.suppress(FileNotFoundError):
            part.unlink()  # left by a crash in the middle of this function
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(key)
        part.rename(self._path(attempt))

    def read(self, attempt: int) -> bytes | None:
        """Return an attempt's key; None where there is none (a power cut, or its end)."""
        try:
            key = self._path(attempt).read_bytes()
        except FileNotFoundError:
            return None
        return key if len(key) == KEY_BYTES else None

    def remove(self, attempt: int) -> None:
        """Remove an attempt's key, if there is one."""
        self._path(attempt).unlink(missing_ok=True)

    def keep_only(self, attempts: Set[int]) -> None:
        """Remove every key but those of these attempts, and what a crash left half written."""
        kept = {self._path(attempt) for attempt in attempts}
        for path in (*self._folder.glob("attempt-*.key"), *self._folder.glob(".attempt-*.key")):
            if path not in kept:
                path.unlink(missing_ok=True)

    def _path(self, attempt: int) -> Path:
        return self._folder / f"attempt-{attempt}.key"


def _filesystem_type(device: int, mounts: Path) -> str | None:
    """Return the type of the filesystem on a device number, as /proc/self/mountinfo lists it.

    A line is `id parent major:minor root mountpoint options … - type source options`.
    """
    wanted = f"{os.major(device)}:{os.minor(device)}"
    for line in mounts.read_text().splitlines():
        fields, _, after = line.partition(" - ")
        if fields.split()[2] == wanted:
            return after.split()[0]
    return None
