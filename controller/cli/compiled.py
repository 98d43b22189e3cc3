"""What Python compiled beside a program's files, and runs instead of them.

A file in `__pycache__` that bears its source's time and size is run unread. So whoever checks
the sources alone has checked nothing: each is compiled again here, and compared.
"""

import importlib.util
import marshal
from collections.abc import Iterator
from pathlib import Path
from types import CodeType
from typing import Final

from controller.cli.program_files import ProgramFileKind, list_program_files, parse_compiled_name
from controller.release import FileDifference

_HEADER_BYTES: Final = 16


def find_wrong_bytecode(folder: Path) -> Iterator[FileDifference]:
    """Yield the compiled files of a program that this Python would run, and that say something
    else than their sources. Raises FileError."""
    for one in list_program_files(folder):
        if one.kind is ProgramFileKind.COMPILED:
            stem, level = parse_compiled_name(one.path.name)
            source = one.path.parents[1] / f"{stem}.py"
            if (
                level is not None
                and source.is_file()
                and not _matches_source(one.path, source, level)
            ):
                yield FileDifference(one.name, "not of this release")


def _matches_source(path: Path, source: Path, level: int) -> bool:
    """Tell whether a compiled file says what its source does, or is never run because it is old."""
    raw, text = path.read_bytes(), source.read_bytes()
    if raw[:4] != importlib.util.MAGIC_NUMBER or _is_old(raw, source):
        return True
    try:
        there = marshal.loads(raw[_HEADER_BYTES:])
        fresh = compile(text, str(source), "exec", dont_inherit=True, optimize=level)
    except (ValueError, EOFError, TypeError, SyntaxError):
        return False
    return _is_same_code(there, fresh)


def _is_same_code(there: object, fresh: CodeType) -> bool:
    """Tell whether two codes are one; `==` alone passes over the room that they claim."""
    return (
        isinstance(there, CodeType)
        and there == fresh
        and there.co_stacksize == fresh.co_stacksize
        and all(
            _is_same_code(one, other)
            for one, other in zip(there.co_consts, fresh.co_consts, strict=True)
            if isinstance(other, CodeType)
        )
    )


def _is_old(raw: bytes, source: Path) -> bool:
    """Tell whether the source was written since: Python compiles it again, then."""
    flags, time_s, size = (int.from_bytes(raw[at : at + 4], "little") for at in (4, 8, 12))
    stat = source.stat()
    mask = 0xFFFF_FFFF
    return flags == 0 and (time_s, size) != (int(stat.st_mtime) & mask, stat.st_size & mask)
