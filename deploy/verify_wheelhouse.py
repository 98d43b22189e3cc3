#!/usr/bin/env python3
"""Check a wheelhouse before anything of it is run: is it all that was signed, and by whom.

    python3 verify_wheelhouse.py DIR --key release.key
        exit 0: it is; 1: it is not, one line says why
    python3 verify_wheelhouse.py DIR --unsigned
        every file is as its manifest says, whoever made that

Needs nothing but Python and openssl: on a blank computer there is no `dealtable` yet. The same
words are signed as `dealtable release sign` signs (controller/signing/releases.py). Prints
version, serial and the SHA-256 of the manifest, with blanks between.
"""

import argparse
import hashlib
import json
import struct
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

MANIFEST: Final = "manifest.json"
SIGNATURE: Final = "manifest.json.sig"
_CONTEXT: Final = b"dealtable/release/1"
_ED25519: Final = bytes.fromhex("302a300506032b6570032100")
"""What stands before the 32 bytes of a public key, for openssl (RFC 8410)."""


class WheelhouseRejected(Exception):
    """This wheelhouse is not to be used; its text is one line that says why."""


def verify(folder: Path, key: Path | None) -> str:
    """Return version, serial and hash of a wheelhouse that is whole, and signed by `key`.

    None: whoever made it. Raises Wrong, OSError.
    """
    raw = (folder / MANIFEST).read_bytes()
    if key is not None:
        _check_signature(raw, folder / SIGNATURE, key)
    try:
        manifest = json.loads(raw)
        files, version, serial = manifest["files"], manifest["version"], manifest["serial"]
        known = {str(name): str(digest) for name, digest in files.items()}
    except (ValueError, KeyError, TypeError, AttributeError) as wrong:
        raise WheelhouseRejected(f"{folder / MANIFEST}: this is no manifest: {wrong!r}") from None
    if not isinstance(serial, int) or not _is_plain_version(version):
        raise WheelhouseRejected(f"{folder / MANIFEST}: its version or serial cannot be used")
    found = {
        path.relative_to(folder).as_posix(): path
        for path in folder.rglob("*")
        if path.is_symlink() or not path.is_dir()
    }
    for name in sorted({*known, *found} - {MANIFEST, SIGNATURE}):
        if name not in found or found[name].is_symlink():
            raise WheelhouseRejected(f"{folder / name}: is missing")
        if name not in known:
            raise WheelhouseRejected(f"{folder / name}: is not of this release")
        if hashlib.sha256(found[name].read_bytes()).hexdigest() != known[name]:
            raise WheelhouseRejected(f"{folder / name}: is not as it was released")
    return f"{version} {serial} {hashlib.sha256(raw).hexdigest()}"


def _check_signature(raw: bytes, signature: Path, key: Path) -> None:
    """Return if a manifest's bytes are signed by the public key in a file. Raises Wrong."""
    public = _read_hex(key, 32)
    signed = b"".join(
        struct.pack(">H", len(part)) + part for part in (_CONTEXT, hashlib.sha256(raw).digest())
    )
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "key").write_bytes(_ED25519 + public)
        (place / "sig").write_bytes(_read_hex(signature, 64))
        (place / "message").write_bytes(signed)
        done = subprocess.run(
            [
                *("openssl", "pkeyutl", "-verify", "-rawin", "-pubin", "-keyform", "DER"),
                *("-inkey", str(place / "key"), "-sigfile", str(place / "sig")),
                *("-in", str(place / "message")),
            ],
            capture_output=True,
            check=False,
        )
    if done.returncode != 0:
        raise WheelhouseRejected(f"{signature}: is no signature of this manifest by {key}")


def _read_hex(path: Path, size: int) -> bytes:
    """Return so many bytes that stand in a file in hex; lines with # are words. Raises Wrong."""
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    try:
        found = bytes.fromhex("".join(lines))
    except ValueError:
        found = b""
    if len(found) != size:
        raise WheelhouseRejected(f"{path}: expected {size} bytes in hex")
    return found


def _is_plain_version(version: object) -> bool:
    """Tell whether a version may be the name of a folder."""
    letters = str(version).replace(".", "").replace("+", "").replace("_", "")
    return isinstance(version, str) and letters.isalnum() and letters.isascii()


def main() -> int:
    """Check what the command line names."""
    parser = argparse.ArgumentParser(description="Check a wheelhouse.")
    parser.add_argument("house", type=Path)
    who = parser.add_mutually_exclusive_group(required=True)
    who.add_argument("--key", type=Path, help="the release's public .key")
    who.add_argument("--unsigned", action="store_true", help="whoever made it")
    asked = parser.parse_args()
    try:
        sys.stdout.write(verify(asked.house, None if asked.unsigned else asked.key) + "\n")
    except WheelhouseRejected as wrong:
        sys.stderr.write(f"{wrong}\n")
        return 1
    except OSError as error:
        sys.stderr.write(f"{error.filename}: {error.strerror}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
