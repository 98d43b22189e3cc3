"""Encryption of secrets that a table stores on its disk before people may read the secrets.

An attempt key encrypts an attempt's seed and faces (XSalsa20-Poly1305, with a fresh random nonce
before each box). The key itself is sealed to the chief (X25519 sealed box). The source of random
bytes is passed in.
"""

import contextlib
import os
import stat
from collections.abc import Callable, Set
from pathlib import Path
from typing import NoReturn

from nacl.bindings import crypto_box
from nacl.encoding import RawEncoder
from nacl.exceptions import CryptoError
from nacl.hash import blake2b
from nacl.public import PrivateKey, PublicKey, SealedBox
from nacl.secret import SecretBox

Entropy = Callable[[int], bytes]

KEY_BYTES = SecretBox.KEY_SIZE
_NONCE_BYTES = SecretBox.NONCE_SIZE


class UnsealError(Exception):
    """The error for data that cannot be decrypted: the key is wrong, or the data were changed."""


class AttemptKey:
    """The secret key that encrypts the data of one attempt.

    Its bytes go only to the key file and to the chief.
    """

    def __init__(self, raw: bytes, entropy: Entropy) -> None:
        """Store the key `raw` (32 bytes) and `entropy`, the source of random nonces."""
        self.raw = raw
        self._box = SecretBox(raw)
        self._entropy = entropy

    @classmethod
    def new(cls, entropy: Entropy) -> "AttemptKey":
        """Return a new random key."""
        return cls(entropy(KEY_BYTES), entropy)

    def __repr__(self) -> str:
        """Return a text without the key, because the text may be logged."""
        return "AttemptKey(…)"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        """Raise TypeError, so that the key cannot be copied or pickled."""
        raise TypeError("an attempt's key is not copied")

    def seal(self, plain: bytes) -> bytes:
        """Return `plain`, encrypted with this key. The result is 40 bytes longer than `plain`."""
        return bytes(self._box.encrypt(plain, self._entropy(_NONCE_BYTES)))

    def unseal(self, box: bytes) -> bytes:
        """Return the decrypted content of `box`, which this key encrypted.

        Raises UnsealError if another key encrypted `box`, or if `box` was changed.
        """
        try:
            return self._box.decrypt(box)
        except (CryptoError, ValueError) as error:
            raise UnsealError("this box was not closed with this attempt's key") from error


def seal_to(public: bytes, plain: bytes, entropy: Entropy) -> bytes:
    """Return `plain`, encrypted for the owner of the X25519 public key `public` (32 bytes).

    The result is 48 bytes longer than `plain`.
    """
    ephemeral = PrivateKey(entropy(PrivateKey.SIZE))
    to = PublicKey(public)
    sender = bytes(ephemeral.public_key)
    nonce = blake2b(sender + public, digest_size=_NONCE_BYTES, encoder=RawEncoder)
    return sender + bytes(crypto_box(plain, nonce, bytes(to), bytes(ephemeral)))


def unseal_with(secret: bytes, box: bytes) -> bytes:
    """Return the decrypted content of `box`, which `seal_to` made for the owner of `secret`.

    `secret` is an X25519 secret key of 32 bytes. Raises UnsealError if `box` is not for this key.
    """
    try:
        return SealedBox(PrivateKey(secret)).decrypt(box)
    except (CryptoError, ValueError) as error:
        raise UnsealError("this box was not sealed to this key") from error


_MOUNTS = Path("/proc/self/mountinfo")
_MEMORY_FILESYSTEMS = ("tmpfs", "ramfs")


class RuntimeDirError(Exception):
    """The error for a configured `runtime_dir` in which keys must not be stored.

    The text is one line with cause and action.
    """


def check_runtime_dir(runtime_dir: Path, state_dir: Path, mounts: Path = _MOUNTS) -> None:
    """Raise RuntimeDirError unless `runtime_dir` is a safe folder for keys: private and in memory.

    The folder must be open only to this user, and outside `state_dir`. `mounts` lists the mounted
    filesystems.
    """
    where = runtime_dir.resolve()
    if not where.is_dir():
        raise RuntimeDirError(f"runtime_dir {runtime_dir} is not there: create it with mode 0700")
    if where.is_relative_to(state_dir.resolve()):
        raise RuntimeDirError(
            f"runtime_dir {runtime_dir} is in state_dir: keys would be stored beside the data that "
            "they seal; use a folder under /run"
        )
    status = where.stat()
    kind = _filesystem_type(status.st_dev, mounts)
    if kind not in _MEMORY_FILESYSTEMS:
        raise RuntimeDirError(
            f"runtime_dir {runtime_dir} is on {kind or 'an unknown filesystem'}, not in memory "
            "(tmpfs): use a folder under /run or /dev/shm"
        )
    if status.st_uid != os.getuid() or stat.S_IMODE(status.st_mode) & 0o077:
        raise RuntimeDirError(f"runtime_dir {runtime_dir} is open to others: chmod 0700 it")


class AttemptKeyFiles:
    """The key files of one table's attempts, in the folder `runtime_dir`."""

    def __init__(self, runtime_dir: Path, state_dir: Path, mounts: Path = _MOUNTS) -> None:
        """Use the folder `runtime_dir`, or raise RuntimeDirError as `check_runtime_dir` does."""
        check_runtime_dir(runtime_dir, state_dir, mounts)
        self._folder = runtime_dir

    def write(self, attempt: int, key: bytes) -> None:
        """Write the key file of an attempt, either completely or not at all. Raises OSError."""
        part = self._folder / f".attempt-{attempt}.key"
        with contextlib.suppress(FileNotFoundError):
            part.unlink()  # A crash in the middle of this function left it.
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(key)
        part.rename(self._path(attempt))

    def read(self, attempt: int) -> bytes | None:
        """Return the key of an attempt, or None if there is no complete key file.

        The file is missing after a power cut and after the attempt's end.
        """
        try:
            key = self._path(attempt).read_bytes()
        except FileNotFoundError:
            return None
        return key if len(key) == KEY_BYTES else None

    def remove(self, attempt: int) -> None:
        """Delete the key file of an attempt, if there is one."""
        self._path(attempt).unlink(missing_ok=True)

    def keep_only(self, attempts: Set[int]) -> None:
        """Delete the key files of attempts not in `attempts`, and files unfinished by `write`."""
        kept = {self._path(attempt) for attempt in attempts}
        for path in (*self._folder.glob("attempt-*.key"), *self._folder.glob(".attempt-*.key")):
            if path not in kept:
                path.unlink(missing_ok=True)

    def _path(self, attempt: int) -> Path:
        return self._folder / f"attempt-{attempt}.key"


def _filesystem_type(device: int, mounts: Path) -> str | None:
    """Return the filesystem type of `device`, or None if `mounts` does not list the device.

    `mounts` has the format of /proc/self/mountinfo. A line is `id parent major:minor root
    mountpoint options … - type source options`.
    """
    wanted = f"{os.major(device)}:{os.minor(device)}"
    for line in mounts.read_text().splitlines():
        fields, _, after = line.partition(" - ")
        if fields.split()[2] == wanted:
            return after.split()[0]
    return None
