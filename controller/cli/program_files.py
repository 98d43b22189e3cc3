"""What lies in a program's folders, every bit of it: files, what Python compiled, what is odd.

A folder that is a link is imported like any other, and shadows a module of its name. So nothing
is passed over here: no link is followed, and whatever is neither a folder nor a plain file is
named for what it is.
"""

import hashlib
import os
import stat
import sys
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Final, NamedTuple

from controller.cli.release_files import read_file
from controller.framing import length_prefixed
from controller.tomlfile import FileError

PACKAGES: Final = ("controller", "drivers")
MANIFEST: Final = "controller/manifest.json"
SIGNATURE: Final = f"{MANIFEST}.sig"
CACHE: Final = "__pycache__"
OPTIMIZATION_LEVELS: Final = {"": 0, "opt-1": 1, "opt-2": 2}
"""How this Python may have optimized what it compiled, by the mark in the file's name."""
_ODD_TAG: Final = "dealtable/odd/1"


class ProgramFileKind(Enum):
    """What something in a program's folders is. Of the last three a release has none."""

    FILE = "a file"
    MANIFEST = "the manifest, or its signature"
    COMPILED = "compiled by this Python"
    LINK = "a link"
    DEVICE = "neither a file nor a folder"
    CACHED = "in a cache, and nothing that this Python compiles"


ODD_KINDS: Final = frozenset({ProgramFileKind.LINK, ProgramFileKind.DEVICE, ProgramFileKind.CACHED})


class ProgramFile(NamedTuple):
    """One thing: its path from the folder that holds the packages, in text, and on the disk."""

    name: str
    path: Path
    kind: ProgramFileKind

    @property
    def digest(self) -> str:
        """SHA-256 in hex: of a file's bytes, of a link's target; raises FileError.

        That of a link or a device is of no file's bytes, so that it never passes for one.
        """
        if self.kind is ProgramFileKind.LINK:
            return _hash_odd(self.kind, os.fsencode(os.readlink(self.path)))
        if self.kind is ProgramFileKind.DEVICE:
            return _hash_odd(self.kind, b"")
        return hashlib.sha256(read_file(self.path)).hexdigest()


def list_program_files(folder: Path) -> Iterator[ProgramFile]:
    """Yield all that lies in the packages of `folder`, by name. Raises FileError."""
    for package in PACKAGES:
        if not (folder / package).is_dir():
            raise FileError(f"{folder}: holds no {package}/; name the folder of a program")
        yield from _walk(folder, folder / package, cached=False)


def _walk(root: Path, path: Path, *, cached: bool) -> Iterator[ProgramFile]:
    """Yield what `path` is, or what lies in it where it is a folder."""
    try:
        mode = path.lstat().st_mode
        inside = sorted(os.listdir(path)) if stat.S_ISDIR(mode) else None
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror}") from None
    if inside is None:
        name = os.fsencode(path.relative_to(root).as_posix()).decode(errors="backslashreplace")
        yield ProgramFile(name, path, _find_kind(mode, name, cached=cached))
        return
    cached = cached or path.name == CACHE
    for one in inside:
        yield from _walk(root, path / one, cached=cached)


def _find_kind(mode: int, name: str, *, cached: bool) -> ProgramFileKind:
    if stat.S_ISLNK(mode):
        return ProgramFileKind.LINK
    if not stat.S_ISREG(mode):
        return ProgramFileKind.DEVICE
    if cached:
        return ProgramFileKind.COMPILED if _is_compiled(name) else ProgramFileKind.CACHED
    return ProgramFileKind.MANIFEST if name in (MANIFEST, SIGNATURE) else ProgramFileKind.FILE


def _is_compiled(name: str) -> bool:
    """Tell whether this Python gives what it compiles such a name, and right in the cache."""
    *_, folder, file = name.split("/")
    return folder == CACHE and file.endswith(".pyc") and parse_compiled_name(file)[1] is not None


def parse_compiled_name(file: str) -> tuple[str, int | None]:
    """Return a compiled file's stem, and how it was optimized; None for no way known here."""
    stem, tag, level = file.removesuffix(".pyc").partition(f".{sys.implementation.cache_tag}")
    return stem, OPTIMIZATION_LEVELS.get(level.removeprefix(".")) if tag else None


def _hash_odd(kind: ProgramFileKind, what: bytes) -> str:
    return hashlib.sha256(
        length_prefixed(_ODD_TAG) + length_prefixed(kind.value) + length_prefixed(what)
    ).hexdigest()
