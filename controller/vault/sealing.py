"""Boxes for what the disk may hold but nobody may read yet.

An attempt key closes an attempt's seed and faces (XSalsa20-Poly1305, a fresh
random nonce in front of each box). The key itself goes to the chief in a sealed
box (X25519), the standard form, made here from entropy that was passed in.
"""

from collections.abc import Callable
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
    """A box that this key does not open: another attempt's, or changed."""


class AttemptKey:
    """The key of one attempt; its bytes leave only towards the key file and the chief."""

    def __init__(self, raw: bytes, entropy: Entropy) -> None:
        """Take the key's 32 bytes and the source of nonces."""
        self.raw = raw
        self._box = SecretBox(raw)
        self._entropy = entropy

    @classmethod
    def new(cls, entropy: Entropy) -> "AttemptKey":
        """Make a fresh key."""
        return cls(entropy(KEY_BYTES), entropy)

    def __repr__(self) -> str:
        """Hide the key."""
        return "AttemptKey(…)"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        """Refuse to be copied or pickled."""
        raise TypeError("an attempt's key is not copied")

    def seal(self, plain: bytes) -> bytes:
        """Return a box of `plain`: 40 bytes longer."""
        return bytes(self._box.encrypt(plain, self._entropy(_NONCE_BYTES)))

    def unseal(self, box: bytes) -> bytes:
        """Return what is in a box. Raises CannotUnseal."""
        try:
            return self._box.decrypt(box)
        except (CryptoError, ValueError) as error:
            raise UnsealError("this box was not closed with this attempt's key") from error


def seal_to(public: bytes, plain: bytes, entropy: Entropy) -> bytes:
    """Return `plain` sealed to an X25519 public key of 32 bytes: 48 bytes longer."""
    ephemeral = PrivateKey(entropy(PrivateKey.SIZE))
    to = PublicKey(public)
    sender = bytes(ephemeral.public_key)
    nonce = blake2b(sender + public, digest_size=_NONCE_BYTES, encoder=RawEncoder)
    return sender + bytes(crypto_box(plain, nonce, bytes(to), bytes(ephemeral)))


def unseal_with(secret: bytes, box: bytes) -> bytes:
    """Return what was sealed to the owner of a 32-byte X25519 secret. Raises CannotUnseal."""
    try:
        return SealedBox(PrivateKey(secret)).decrypt(box)
    except (CryptoError, ValueError) as error:
        raise UnsealError("this box was not sealed to this key") from error
