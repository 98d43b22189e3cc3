"""Which firmware this is."""

import hashlib

FIRMWARE_VERSION = (0, 1, 0)


def firmware_hash(files: list[tuple[str, bytes]]) -> bytes:
    """Return the eight bytes by which a board reports its own files.

    `files` are the names and contents of the package's .py files, in any order;
    the hash is SHA-256 over name, a zero byte and content of each, by name.
    """
    digest = hashlib.sha256()
    for name, content in sorted(files):
        digest.update(name.encode() + b"\x00" + content)
    return digest.digest()[:8]
