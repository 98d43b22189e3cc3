"""The files of a program on the disk: what they hash to, and which release they are.

Beside its code a release has its manifest, `controller/manifest.json`, and the signature of it.
A table's state directory remembers the highest serial that ran there (`release.json`): the same
program goes forward, never silently back.
"""

import hashlib
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

import controller
from controller import release
from controller.cli.release_files import read, read_manifest
from controller.faults import fault
from controller.messages import Firmware, Release
from controller.release import BoardKind, Manifest, Serial
from controller.tomlfile import FileError
from drivers.firmware.version import firmware_hash

PACKAGES: Final = ("controller", "drivers")
FIRMWARE: Final = "drivers/firmware"
MANIFEST: Final = "controller/manifest.json"
SIGNATURE: Final = f"{MANIFEST}.sig"
REMEMBERED: Final = "release.json"
"""In the state directory: the highest serial that ran there."""
_COMPILED: Final = "__pycache__"
_VERSION: Final = re.compile(rb"(?m)^FIRMWARE_VERSION = \((\d+), (\d+), (\d+)\)$")
_KINDS: Final[tuple[BoardKind, ...]] = ("dealer", "reader")


class Remembered(msgspec.Struct, frozen=True, kw_only=True):
    """The newest release that a state directory has seen."""

    version: str
    serial: Serial


def own_folder() -> Path:
    """Return the folder that this program's packages lie in."""
    return Path(controller.__file__).parents[1]


def digests(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of every file of the packages in `folder`, by its path there.

    Without the manifest, which cannot name itself, and what Python compiled
    (compiled.py looks at that). Raises FileError.
    """
    return {name: hashlib.sha256(read(path)).hexdigest() for name, path in _files(folder)}


def firmware_in(folder: Path) -> dict[BoardKind, Firmware]:
    """Return what boards report that carry the firmware in `folder`. Raises FileError.

    Boards of both kinds carry the whole package; which of them one is, its flash says.
    """
    files = [(path.name, read(path)) for path in sorted((folder / FIRMWARE).glob("*.py"))]
    firmware = Firmware(
        version=_firmware_version(folder / FIRMWARE / "version.py"),
        hash=firmware_hash(files).hex(),
    )
    return dict.fromkeys(_KINDS, firmware)


def running_release(state_dir: Path, folder: Path | None = None) -> Release | None:
    """Return which release this program says it is, its hash taken over its own files.

    None without a manifest: a program out of a checkout. `state_dir` remembers it. Raises
    FileError for a manifest that cannot be read, and where a newer release ran there, or any
    and this is none: taking the manifest away is no way back.
    """
    folder = folder or own_folder()
    path = folder / MANIFEST
    remembered = read_remembered(state_dir)
    if not path.exists():
        if remembered is not None:
            raise FileError(_older("no manifest", remembered))
        return None
    manifest = read_manifest(path)
    if remembered is not None and manifest.serial < remembered.serial:
        raise FileError(_older(f"{manifest.version} ({manifest.serial})", remembered))
    remember(state_dir, manifest)
    return Release(
        version=manifest.version,
        serial=manifest.serial,
        hash=release.program_hash(digests(folder)),
    )


def read_remembered(state_dir: Path) -> Remembered | None:
    """Return the newest release that a state directory has seen. Raises FileError."""
    path = state_dir / REMEMBERED
    if not path.exists():
        return None
    try:
        return msgspec.json.decode(read(path), type=Remembered)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as wrong:
        raise FileError(f"{path}: {wrong}; it says which release ran here last") from None


def remember(state_dir: Path, manifest: Manifest) -> None:
    """Remember a release, unless a newer one was seen. Raises FileError."""
    before = read_remembered(state_dir)
    if before is not None and before.serial >= manifest.serial:
        return
    seen = Remembered(version=manifest.version, serial=manifest.serial)
    try:
        state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, part = tempfile.mkstemp(dir=state_dir, prefix=".", suffix=".part")
        with os.fdopen(handle, "wb") as file:
            file.write(msgspec.json.encode(seen) + b"\n")
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, state_dir / REMEMBERED)
    except OSError as error:
        raise FileError(f"{state_dir / REMEMBERED}: cannot be written: {error.strerror}") from None


def _older(found: str, remembered: Remembered) -> str:
    """Return the words of the catalogue, in both languages."""
    row = fault("RELEASE_OLDER")
    evidence = {
        "found": found,
        "expected": f"{remembered.version} ({remembered.serial})",
    }
    told = [f"{row.cause(evidence, each)}. {row.action(evidence, each)}" for each in ("en", "zh")]
    return f"{row.name} ({row.code}): {' / '.join(told)}"


def _firmware_version(path: Path) -> str:
    """Return the version that a firmware says it is, without running it. Raises FileError."""
    found = _VERSION.search(read(path))
    if found is None:
        raise FileError(f"{path}: says no FIRMWARE_VERSION = (major, minor, patch)")
    return ".".join(part.decode() for part in found.groups())


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    for package in PACKAGES:
        if not (folder / package).is_dir():
            raise FileError(f"{folder}: holds no {package}/; name the folder of a program")
        for path in sorted((folder / package).rglob("*")):
            inside = path.relative_to(folder)
            name = os.fsencode(inside.as_posix()).decode(errors="backslashreplace")
            aside = _COMPILED in inside.parts or name in (MANIFEST, SIGNATURE)
            if path.is_file() and not aside:
                yield name, path
