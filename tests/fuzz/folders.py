"""Files that a target needs on a disk: in memory, under short names, gone with the process."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

IN_MEMORY = Path("/dev/shm")


@contextmanager
def folder() -> Iterator[Path]:
    """A fresh folder in memory for this user alone."""
    path = Path(tempfile.mkdtemp(prefix="dt-", dir=IN_MEMORY))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


@contextmanager
def file(name: str, data: bytes) -> Iterator[Path]:
    """A file of that name with these bytes."""
    with folder() as at:
        path = at / name
        path.write_bytes(data)
        yield path
