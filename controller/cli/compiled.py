"""What Python compiled beside a program's files, and runs instead of them.

A file in `__pycache__` that bears its source's time and size is run unread. So whoever checks
the sources alone has checked nothing: each is compiled again here, and compared.
"""

import importlib.util
import marshal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from controller.release import Difference

_HEADER_BYTES: Final = 16
_LEVELS: Final = {"": 0, "opt-1": 1, "opt-2": 2}


def untrue(folder: Path, package: str) -> Iterator[Difference]:
    """Yield the compiled files of a package that this Python would run, and that say something
    else than their sources."""
    for path in sorted(
        (folder / package).rglob(f"__pycache__/*.{sys.implementation.cache_tag}*.pyc")
    ):
        source, level = _source(path)
        if level is not None and source.is_file() and not _says(path, source, level):
            yield Difference(path.relative_to(folder).as_posix(), "not of this release")


def _source(path: Path) -> tuple[Path, int | None]:
    """Return the source of a compiled file, and how it was optimized; None for no known way."""
    stem, _, tags = path.name.removesuffix(".pyc").partition(f".{sys.implementation.cache_tag}")
    return path.parents[1] / f"{stem}.py", _LEVELS.get(tags.removeprefix("."))


def _says(path: Path, source: Path, level: int) -> bool:
    """Tell whether a compiled file says what its source does, or is never run because it is old."""
    raw, text = path.read_bytes(), source.read_bytes()
    if raw[:4] != importlib.util.MAGIC_NUMBER or _is_old(raw, source):
        return True
    try:
        there = marshal.loads(raw[_HEADER_BYTES:])
        fresh = compile(text, str(source), "exec", dont_inherit=True, optimize=level)
    except (ValueError, EOFError, TypeError, SyntaxError):
        return False
    return bool(there == fresh)


def _is_old(raw: bytes, source: Path) -> bool:
    """Tell whether the source was written since: Python compiles it again, then."""
    flags, time_s, size = (int.from_bytes(raw[at : at + 4], "little") for at in (4, 8, 12))
    stat = source.stat()
    mask = 0xFFFF_FFFF
    return flags == 0 and (time_s, size) != (int(stat.st_mtime) & mask, stat.st_size & mask)
