"""The files of the installed program, and their comparison with the release.

The list of files is complete. Python imports a folder that is a link like any other folder, and
such a folder can replace a module of its name. Therefore links are not followed, and everything
that is neither a folder nor a plain file is listed with its kind.
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
from controller.signing import length_prefixed, releases
from controller.signing.releases import BoardKind, FileDifference, Manifest, Serial
from drivers.firmware.version import firmware_hash

PACKAGES: Final = ("controller", "drivers")
MANIFEST: Final = "controller/manifest.json"
SIGNATURE: Final = f"{MANIFEST}.sig"
CACHE: Final = "__pycache__"
OPTIMIZATION_LEVELS: Final = {"": 0, "opt-1": 1, "opt-2": 2}
"""Optimization levels of compiled files, by the mark in the file's name."""


class ProgramFileKind(Enum):
    """The kind of a file in the program's folders. No release contains the last three kinds."""

    FILE = "a file"
    MANIFEST = "the manifest, or its signature"
    COMPILED = "compiled by this Python"
    LINK = "a link"
    DEVICE = "neither a file nor a folder"
    CACHED = "in a cache, and nothing that this Python compiles"


ODD_KINDS: Final = frozenset({ProgramFileKind.LINK, ProgramFileKind.DEVICE, ProgramFileKind.CACHED})


class ProgramFile(NamedTuple):
    """One file of the program.

    `name`: its path from the folder that contains the packages, as text. `path`: its path on the
    disk.
    """

    name: str
    path: Path
    kind: ProgramFileKind

    @property
    def digest(self) -> str:
        """Return the SHA-256 (hex) of the file's bytes, or of a link's kind and target.

        The digest of a link or a device cannot equal that of any file. Raises FileError.
        """
        if self.kind is ProgramFileKind.LINK:
            return _hash_odd(self.kind, os.fsencode(os.readlink(self.path)))
        if self.kind is ProgramFileKind.DEVICE:
            return _hash_odd(self.kind, b"")
        return hashlib.sha256(read_file(self.path)).hexdigest()


def list_program_files(folder: Path) -> Iterator[ProgramFile]:
    """Yield every file in the packages of `folder`. Within each folder, the order is by name.

    Links, devices and compiled files are included. Raises FileError.
    """
    for package in PACKAGES:
        if not (folder / package).is_dir():
            raise FileError(f"{folder}: holds no {package}/; name the folder of a program")
        yield from _walk(folder, folder / package, cached=False)


def _walk(root: Path, path: Path, *, cached: bool) -> Iterator[ProgramFile]:
    """Yield the file at `path`, or every file below `path` if it is a folder.

    `root` is the folder that contains the packages. `cached`: `path` is inside a cache folder.
    """
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
        *_, folder, file = name.split("/")
        # whether this Python could write a cached compiled file with this name
        if folder == CACHE and file.endswith(".pyc") and parse_compiled_name(file)[1] is not None:
            return ProgramFileKind.COMPILED
        return ProgramFileKind.CACHED
    return ProgramFileKind.MANIFEST if name in (MANIFEST, SIGNATURE) else ProgramFileKind.FILE


def parse_compiled_name(file: str) -> tuple[str, int | None]:
    """Return the module name and the optimization level in a compiled file's name.

    The level is None if this Python does not compile files of such a name.
    """
    stem, tag, level = file.removesuffix(".pyc").partition(f".{sys.implementation.cache_tag}")
    return stem, OPTIMIZATION_LEVELS.get(level.removeprefix(".")) if tag else None


def _hash_odd(kind: ProgramFileKind, what: bytes) -> str:
    return hashlib.sha256(
        length_prefixed("dealtable/odd/1") + length_prefixed(kind.value) + length_prefixed(what)
    ).hexdigest()


_HEADER_BYTES: Final = 16


def find_wrong_bytecode(folder: Path) -> Iterator[FileDifference]:
    """Yield the compiled files that Python would run here although they do not match their source.

    Raises FileError.
    """
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
    """Return True if the compiled file `path` matches its source or if Python would not run it.

    Python does not run a file of another version or one that is out of date.
    """
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
    """Return True if `there` is equal to the code `fresh`, and the stack sizes are equal, too.

    The stack sizes are compared here because `==` ignores them.
    """
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
    """Return True if the compiled bytes `raw` record another time or size than `source` has."""
    flags, time_s, size = (int.from_bytes(raw[at : at + 4], "little") for at in (4, 8, 12))
    stat = source.stat()
    mask = 0xFFFF_FFFF
    return flags == 0 and (time_s, size) != (int(stat.st_mtime) & mask, stat.st_size & mask)


FIRMWARE_FOLDER: Final = "drivers/firmware"
REMEMBERED_FILE: Final = "release.json"
"""File in the state directory with the highest serial that ran there."""
_VERSION: Final = re.compile(rb"(?m)^FIRMWARE_VERSION = \((\d+), (\d+), (\d+)\)$")


class RememberedRelease(msgspec.Struct, frozen=True, kw_only=True):
    """The newest release that has ever used a state directory. That directory stores it."""

    version: str
    serial: Serial


def find_program_folder() -> Path:
    """Return the folder that contains this program's packages."""
    return Path(__file__).parents[2]


def hash_program_files(folder: Path) -> dict[str, str]:
    """Return a mapping from the path of every file in the packages of `folder` to its SHA-256.

    The manifest, which cannot list itself, and compiled files (see `find_wrong_bytecode`) are left
    out. A link or device has a digest that no file has. Raises FileError.
    """
    aside = (ProgramFileKind.MANIFEST, ProgramFileKind.COMPILED)
    return {one.name: one.digest for one in list_program_files(folder) if one.kind not in aside}


def find_odd_files(folder: Path) -> dict[str, str]:
    """Return {path: reason} for each file that no release can contain. Raises FileError."""
    return {one.name: one.kind.value for one in list_program_files(folder) if one.kind in ODD_KINDS}


def find_differences(manifest: Manifest, folder: Path, firmware_text: str) -> Iterator[str]:
    """Yield one line of text for each file that differs from the release, compiled files last.

    `firmware_text`: the line to yield if the boards' firmware differs from the released one. Raises
    FileError.
    """
    odd = find_odd_files(folder)
    for one in releases.file_differences(manifest.files, hash_program_files(folder)):
        yield f"{one}: {odd[one.path]}" if one.path in odd else f"{one}"
    if read_program_firmware(folder) != manifest.firmware:
        yield firmware_text
    yield from map(str, find_wrong_bytecode(folder))


def read_program_firmware(folder: Path) -> dict[BoardKind, Firmware]:
    """Return the version and hash that a board reports if it runs the firmware in `folder`.

    Boards of both kinds have the whole package. The kind of a board is stored in its flash. Raises
    FileError.
    """
    files = [
        (one.path.name, read_file(one.path))
        for one in list_program_files(folder)
        if one.kind is ProgramFileKind.FILE
        and one.path.parent == folder / FIRMWARE_FOLDER
        and one.path.suffix == ".py"
    ]
    path = folder / FIRMWARE_FOLDER / "version.py"
    found = _VERSION.search(read_file(path))  # read without running it
    if found is None:
        raise FileError(f"{path}: has no FIRMWARE_VERSION = (major, minor, patch)")
    version = ".".join(part.decode() for part in found.groups())
    firmware = Firmware(version=version, hash=firmware_hash(files).hex())
    return dict.fromkeys(("dealer", "reader"), firmware)


def read_running_release(state_dir: Path, folder: Path | None = None) -> ProgramRelease | None:
    """Return the release of this program, or None if this program has no manifest.

    The release has a hash of the program's files. A program from a checkout has no manifest.
    `state_dir` stores the newest release. Raises FileError for a manifest that cannot be read, and
    if a newer release ran with this state directory. A program without a manifest is refused if any
    release ran there, so that deleting the manifest does not allow a downgrade.
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
        found = f"{manifest.version} ({manifest.serial})"
        raise FileError(_format_older_release(found, remembered))
    remember_release(state_dir, manifest)
    return measure_release(manifest, folder)


def measure_release(manifest: Manifest, folder: Path) -> ProgramRelease:
    """Return the version and serial number in a manifest, with a hash of the files in `folder`.

    Raises FileError.
    """
    found = releases.program_hash(hash_program_files(folder))
    return ProgramRelease(version=manifest.version, serial=manifest.serial, hash=found)


def read_remembered_release(state_dir: Path) -> RememberedRelease | None:
    """Return the newest release that used `state_dir`, or None if none did. Raises FileError."""
    path = state_dir / REMEMBERED_FILE
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):  # such as a pipe
                raise OSError(errno.EINVAL, "no plain file")
            return msgspec.json.decode(file.read(), type=RememberedRelease)
    except FileNotFoundError:
        return None
    except PermissionError:
        raise FileError(
            f"{path}: cannot be read: give it to the owner of its folder (chown)"
        ) from None
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror}") from None
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as wrong:
        raise FileError(f"{path}: {wrong}; it names the release that ran here last") from None


def remember_release(state_dir: Path, manifest: Manifest) -> None:
    """Store a release as the newest in the state directory, unless a newer one is stored.

    The file gets the owner of the folder: root may write it, and the machine must read it. Raises
    FileError.
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


def _format_older_release(found: str, remembered: RememberedRelease) -> str:
    """Return the error message that the program, `found`, is older than the release `remembered`.

    The message is in both languages, from the fault catalogue.
    """
    row = fault("RELEASE_OLDER")
    evidence = {"found": found, "expected": f"{remembered.version} ({remembered.serial})"}
    told = [f"{row.cause(evidence, each)}. {row.action(evidence, each)}" for each in ("en", "zh")]
    return f"{row.name} ({row.code}): {' / '.join(told)}"
