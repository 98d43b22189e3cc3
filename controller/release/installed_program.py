"""What lies in a program's folders, every bit of it: files, what Python compiled, what is odd.

A folder that is a link is imported like any other, and shadows a module of its name. So nothing
is passed over here: no link is followed, and whatever is neither a folder nor a plain file is
named for what it is.
"""

import errno
import hashlib
import importlib.util
import marshal
import os
import re
import stat
import sys
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from types import CodeType
from typing import Final, NamedTuple

import msgspec

from controller.faults import fault
from controller.host.atomic_files import replace_file
from controller.host.toml_files import FileError
from controller.messages import Firmware, ProgramRelease
from controller.release.release_files import read_file, read_manifest
from controller.signing import releases
from controller.signing.encoding import length_prefixed
from controller.signing.releases import BoardKind, FileDifference, Manifest, Serial
from drivers.firmware.version import firmware_hash

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


FIRMWARE_FOLDER: Final = "drivers/firmware"
REMEMBERED_FILE: Final = "release.json"
"""In the state directory: the highest serial that ran there."""
_VERSION: Final = re.compile(rb"(?m)^FIRMWARE_VERSION = \((\d+), (\d+), (\d+)\)$")
_BOARD_KINDS: Final[tuple[BoardKind, ...]] = ("dealer", "reader")


class RememberedRelease(msgspec.Struct, frozen=True, kw_only=True):
    """The newest release that a state directory has seen."""

    version: str
    serial: Serial


def find_program_folder() -> Path:
    """Return the folder that this program's packages lie in."""
    return Path(__file__).parents[2]


def hash_program_files(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of all that lies in the packages in `folder`, by its path there.

    Without the manifest, which cannot name itself, and what this Python compiled
    (compiled.py looks at that). What is odd has a digest that no file has. Raises FileError.
    """
    aside = (ProgramFileKind.MANIFEST, ProgramFileKind.COMPILED)
    return {one.name: one.digest for one in list_program_files(folder) if one.kind not in aside}


def find_odd_files(folder: Path) -> dict[str, str]:
    """Return what of `folder` can be no part of a release, and why, by path. Raises FileError."""
    return {one.name: one.kind.value for one in list_program_files(folder) if one.kind in ODD_KINDS}


def read_program_firmware(folder: Path) -> dict[BoardKind, Firmware]:
    """Return what boards report that carry the firmware in `folder`. Raises FileError.

    Boards of both kinds carry the whole package; which of them one is, its flash says.
    """
    files = [
        (one.path.name, read_file(one.path))
        for one in list_program_files(folder)
        if one.kind is ProgramFileKind.FILE
        and one.path.parent == folder / FIRMWARE_FOLDER
        and one.path.suffix == ".py"
    ]
    firmware = Firmware(
        version=_read_firmware_version(folder / FIRMWARE_FOLDER / "version.py"),
        hash=firmware_hash(files).hex(),
    )
    return dict.fromkeys(_BOARD_KINDS, firmware)


def read_running_release(state_dir: Path, folder: Path | None = None) -> ProgramRelease | None:
    """Return which release this program says it is, its hash taken over its own files.

    None without a manifest: a program out of a checkout. `state_dir` remembers it. Raises
    FileError for a manifest that cannot be read, and where a newer release ran there, or any
    and this is none: taking the manifest away is no way back.
    """
    folder = folder or find_program_folder()
    path = folder / MANIFEST
    remembered = read_remembered_release(state_dir)
    if not path.exists():
        if remembered is not None:
            raise FileError(_format_older_release("no manifest", remembered))
        return None
    manifest = read_manifest(path)
    if remembered is not None and manifest.serial < remembered.serial:
        raise FileError(
            _format_older_release(f"{manifest.version} ({manifest.serial})", remembered)
        )
    remember_release(state_dir, manifest)
    return ProgramRelease(
        version=manifest.version,
        serial=manifest.serial,
        hash=releases.program_hash(hash_program_files(folder)),
    )


def read_remembered_release(state_dir: Path) -> RememberedRelease | None:
    """Return the newest release that a state directory has seen. Raises FileError."""
    path = state_dir / REMEMBERED_FILE
    try:
        return msgspec.json.decode(_read_plain(path), type=RememberedRelease)
    except FileNotFoundError:
        return None
    except PermissionError:
        raise FileError(
            f"{path}: cannot be read: give it to whom its folder belongs (chown)"
        ) from None
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror}") from None
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as wrong:
        raise FileError(f"{path}: {wrong}; it says which release ran here last") from None


def remember_release(state_dir: Path, manifest: Manifest) -> None:
    """Remember a release, unless a newer one was seen. Raises FileError.

    The file is the folder's owner's, whoever writes it: root may, and the machine reads it.
    """
    before = read_remembered_release(state_dir)
    if before is not None and before.serial >= manifest.serial:
        return
    seen = RememberedRelease(version=manifest.version, serial=manifest.serial)
    try:
        replace_file(state_dir / REMEMBERED_FILE, msgspec.json.encode(seen) + b"\n", 0o600)
    except OSError as error:
        raise FileError(
            f"{state_dir / REMEMBERED_FILE}: cannot be written: {error.strerror}"
        ) from None


def _read_plain(path: Path) -> bytes:
    """Return what a file holds: the file itself, no link's target, no pipe. Raises OSError."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "no plain file")
        return file.read()


def _format_older_release(found: str, remembered: RememberedRelease) -> str:
    """Return the words of the catalogue, in both languages."""
    row = fault("RELEASE_OLDER")
    evidence = {
        "found": found,
        "expected": f"{remembered.version} ({remembered.serial})",
    }
    told = [f"{row.cause(evidence, each)}. {row.action(evidence, each)}" for each in ("en", "zh")]
    return f"{row.name} ({row.code}): {' / '.join(told)}"


def _read_firmware_version(path: Path) -> str:
    """Return the version that a firmware says it is, without running it. Raises FileError."""
    found = _VERSION.search(read_file(path))
    if found is None:
        raise FileError(f"{path}: says no FIRMWARE_VERSION = (major, minor, patch)")
    return ".".join(part.decode() for part in found.groups())
