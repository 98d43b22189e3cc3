"""Folders in memory for ptys' links and sockets: short names, gone with whoever made them."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MEMORY = Path("/dev/shm")
ROOT_VARIABLE = "DEALTABLE_RUNTIME_ROOT"
"""Names a folder that is used in place of MEMORY, with a short path: sockets are made below it."""
PREFIX = "dt-"
OWNER = "owner"
"""A file in each: locked as long as its owner lives, however that one ends."""


@contextmanager
def memory_folder(root: Path | None = None) -> Iterator[Path]:
    """Give a fresh folder with a short name below `root`, and remove it at the end.

    Without `root` it is made below the folder that ROOT_VARIABLE names, or else below MEMORY.
    Before that, folders below the same root are removed whose owners were killed.
    """
    root = root or Path(os.environ.get(ROOT_VARIABLE) or MEMORY)
    remove_orphans(root)
    folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=root))
    lock = None
    try:
        lock = _create_owner_lock(folder)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def remove_orphans(root: Path) -> list[Path]:
    """Remove what killed processes of this user left; return what was removed.

    A folder without the owner's file is somebody else's, or not finished yet: it stays.
    """
    removed = []
    for folder in sorted(root.glob(f"{PREFIX}*")):
        try:
            if folder.lstat().st_uid != os.geteuid():
                continue
            lock = os.open(folder / OWNER, os.O_RDONLY | os.O_NOFOLLOW)
        except OSError:
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
            removed.append(folder)
        except BlockingIOError:
            pass  # its owner lives
        finally:
            os.close(lock)
    return removed


def _create_owner_lock(folder: Path) -> int:
    """Lay the owner's file down, locked before it has its name; return its descriptor."""
    part = folder / f".{OWNER}"
    lock = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    os.rename(part, folder / OWNER)
    return lock
