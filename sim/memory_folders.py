"""Temporary folders in memory (`memory_folder`) for sockets and for links to ptys.

The paths of the folders are short. Each folder is removed when its owner process ends.
"""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MEMORY = Path("/dev/shm")
ROOT_VARIABLE = "DEALTABLE_RUNTIME_ROOT"
"""The environment variable for a folder that replaces MEMORY.

Its path must be short, because sockets are created below it.
"""
PREFIX = "dt-"
OWNER = "owner"
"""A lock file in each folder.

It stays locked as long as the owner process lives, however that process ends.
"""


@contextmanager
def memory_folder(root: Path | None = None) -> Iterator[Path]:
    """Yield the path of a new folder in `root`, and remove the folder after the `with` block.

    Without `root` the new folder is in the folder that ROOT_VARIABLE names, or else in MEMORY.
    First the folders that killed processes left in the same root are removed.
    """
    root = root or Path(os.environ.get(ROOT_VARIABLE) or MEMORY)
    remove_orphans(root)
    folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=root))
    lock = None
    try:
        # the file is locked before it gets its final name
        part = folder / f".{OWNER}"
        lock = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        os.rename(part, folder / OWNER)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def remove_orphans(root: Path) -> list[Path]:
    """Remove this user's folders in `root` that killed processes left. Return the removed paths.

    A folder without the lock file belongs to another program or is not finished yet. It is kept.
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
