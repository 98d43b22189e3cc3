"""The files of a program on the disk: what they hash to, and which release they are.

Beside its code a release has its manifest, `controller/manifest.json`, and the signature of it.
A table's state directory remembers the highest serial that ran there (`release.json`): the same
program goes forward, never silently back.
"""

import errno
import os
import re
import stat
from pathlib import Path
from typing import Final

import msgspec

import controller
from controller import release
from controller.cli.program_files import MANIFEST, ODD_KINDS, ProgramFileKind, list_program_files
from controller.cli.release_files import read_file, read_manifest
from controller.faults import fault
from controller.messages import Firmware, ProgramRelease
from controller.release import BoardKind, Manifest, Serial
from controller.tomlfile import FileError
from controller.whole_files import replace_file
from drivers.firmware.version import firmware_hash

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
    return Path(controller.__file__).parents[1]


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
        hash=release.program_hash(hash_program_files(folder)),
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
