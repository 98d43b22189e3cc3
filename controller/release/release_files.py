"""The files of a release: its keys, its manifest, and the manifest's signature."""

import hashlib
import os
from pathlib import Path
from typing import Final

from nacl.signing import SigningKey

from controller.host.toml_files import FileError
from controller.signing import releases as release
from controller.signing.releases import BadRelease, Manifest
from controller.signing.signed_commands import from_hex

SIGNATURE_SUFFIX: Final = ".sig"
FOLDER_MANIFEST: Final = "manifest.json"
"""Name of the manifest in a folder of files."""
_KEY_BYTES: Final = 32
_PUBLIC_BANNER: Final = "# The public key of releases: who has it knows what was released\n"
_SECRET_BANNER: Final = (
    "# The SECRET key of releases: who has it can release; keep it off every table\n"
)


def make_release_keys(name: Path) -> tuple[Path, Path]:
    """Create a key pair for releases, and return the paths of the public and the secret file.

    The files are NAME.key and NAME.key_secret. No file is overwritten, and no secret is written
    into a repository. Raises FileError.
    """
    public, secret = name.with_name(f"{name.name}.key"), name.with_name(f"{name.name}.key_secret")
    here = secret.absolute()
    if any((folder / ".git").exists() for folder in here.parents):
        raise FileError(f"{secret}: is in a repository; keep a secret key out of it")
    pair = SigningKey.generate()
    _write_new(secret, f"{_SECRET_BANNER}{bytes(pair).hex()}\n", 0o600)
    _write_new(public, f"{_PUBLIC_BANNER}{bytes(pair.verify_key).hex()}\n", 0o644)
    return public, secret


def read_release_key(path: Path, *, secret: bool = False) -> bytes:
    """Return the 32 bytes of the key in a public key file, or in a secret key file if `secret` is
    True. Raises FileError.
    """
    banner, other = (_SECRET_BANNER, _PUBLIC_BANNER) if secret else (_PUBLIC_BANNER, _SECRET_BANNER)
    try:
        text = read_file(path).decode(errors="replace")
    except FileError as error:
        wanted = "NAME.key_secret" if secret else "NAME.key"
        raise FileError(f"{error}; `dealtable release key NAME` makes {wanted}") from None
    if text.startswith(other):
        wanted = "secret, the .key_secret" if secret else "public, the .key"
        raise FileError(f"{path}: is the other key of the pair; name the {wanted}")
    try:
        return from_hex(text.removeprefix(banner).strip(), _KEY_BYTES)
    except ValueError:
        raise FileError(f"{path}: holds no key; `dealtable release key` makes a pair") from None


def read_manifest(path: Path) -> Manifest:
    """Return the manifest in a file. Its signature is not checked. Raises FileError."""
    return decode_manifest(read_file(path), path)


def read_signed_manifest(path: Path, verify: bytes) -> Manifest:
    """Check the signature of a manifest file with the public key `verify`, and return the manifest.

    Raises BadRelease if the signature does not match, and FileError if a file cannot be read or is
    not a manifest.
    """
    raw, sig = read_file(path), read_file(signature_path(path))
    release.check_manifest_signature(raw, sig.decode(errors="replace").strip(), verify)
    return decode_manifest(raw, path)


def read_expected_manifest(path: Path, key: Path | None) -> Manifest:
    """Return the manifest in a file, after a check of its signature if a key file `key` is given.

    If `key` is None, the signature is not checked. Raises FileError, also for a wrong signature.
    """
    if key is None:
        return read_manifest(path)
    try:
        return read_signed_manifest(path, read_release_key(key))
    except BadRelease as wrong:
        raise FileError(f"{path}: {wrong}") from None


def decode_manifest(raw: bytes, path: Path) -> Manifest:
    """Return the manifest in `raw`. `path` names its file in errors. Raises FileError."""
    try:
        return release.decode_manifest(raw)
    except BadRelease as wrong:
        raise FileError(f"{path}: {wrong}") from None


def hash_folder_files(folder: Path) -> dict[str, str]:
    """Return a mapping from the path of every file in a folder to its SHA-256.

    The folder's own manifest is left out. Raises FileError, also for a link or anything else that
    is not a file or a folder.
    """
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink() or not (path.is_file() or path.is_dir()):
            raise FileError(f"{path}: expected files and folders alone")
        if path.is_file() and name not in (FOLDER_MANIFEST, f"{FOLDER_MANIFEST}{SIGNATURE_SUFFIX}"):
            found[name] = hashlib.sha256(read_file(path)).hexdigest()
    if not found:
        raise FileError(f"{folder}: holds no file")
    return found


def signature_path(path: Path) -> Path:
    """Return the path of the signature file that belongs to the manifest file `path`."""
    return path.with_name(path.name + SIGNATURE_SUFFIX)


def write_file(path: Path, content: bytes) -> None:
    """Write `content` to a file. Raises FileError."""
    try:
        path.write_bytes(content)
    except OSError as error:
        raise FileError(f"{path}: cannot be written: {error.strerror}") from None


def read_file(path: Path) -> bytes:
    """Return the content of a file. Raises FileError."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror}") from None


def _write_new(path: Path, text: str, mode: int) -> None:
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    except OSError as error:
        raise FileError(f"{path}: cannot be made: {error.strerror}") from None
    with os.fdopen(handle, "w") as file:
        file.write(text)
