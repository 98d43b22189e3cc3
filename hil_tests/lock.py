"""One run at a bench at a time: a lock on a file beside the bench file."""

import fcntl
import os
from pathlib import Path


class BenchInUse(Exception):
    """Somebody else runs scenarios at this bench; one line says who."""


class BenchLock:
    """Holds a bench from `take` to `release`; the kernel lets go of it for a run that died.

    The file says who holds it, and goes with its holder.
    """

    def __init__(self, bench_file: Path) -> None:
        """Name the lock of a bench file; nothing is taken yet."""
        self.path = bench_file.with_name(f"{bench_file.name}.lock")
        self._fd: int | None = None

    def acquire(self, who: str) -> None:
        """Take the bench for `who`. Raises Taken, and OSError where no file can be made."""
        fd = self._open_locked()
        while not self._is_current(fd):  # its holder let go, and removed it, meanwhile
            os.close(fd)
            fd = self._open_locked()
        os.ftruncate(fd, 0)
        os.pwrite(fd, f"{who} (process {os.getpid()})\n".encode(), 0)
        self._fd = fd

    def release(self) -> None:
        """Let the next one in; may be called twice."""
        if self._fd is not None:
            self.path.unlink(missing_ok=True)  # before others can lock it: they look for its name
            os.close(self._fd)
            self._fd = None

    def _open_locked(self) -> int:
        """Return the file's descriptor, locked. Raises Taken."""
        fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(fd, 200, 0).decode(errors="replace").strip() or "somebody"
            os.close(fd)
            raise BenchInUse(
                f"{self.path}: the bench is taken by {holder}; wait until it ends"
            ) from None
        return fd

    def _is_current(self, fd: int) -> bool:
        try:
            return os.path.samestat(os.fstat(fd), os.stat(self.path))
        except FileNotFoundError:
            return False
