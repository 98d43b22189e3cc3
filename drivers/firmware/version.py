"""The version of the firmware, and the hash of its files."""

import hashlib

FIRMWARE_VERSION = (0, 1, 0)


def firmware_hash(files: list[tuple[str, bytes]]) -> bytes:
    """Return the eight-byte hash of a firmware's files. A board reports this hash in its WELCOME.

    `files` are the names and contents of the package's .py files, in any order. The hash is the
    beginning of SHA-256 over each file by name: length (2 bytes, high first) and name, length (4
    bytes) and content. The lengths make the file boundaries unambiguous.
    """
    digest = hashlib.sha256()
    for name, content in sorted(files):
        called = name.encode()
        digest.update(len(called).to_bytes(2, "big") + called)
        digest.update(len(content).to_bytes(4, "big") + content)
    return digest.digest()[:8]
