"""The signatures of clients' commands, and a table's signature of a match that is transferred.

A client signs with the Ed25519 key of its certificate. Only the machine checks signatures, because
it also has the signer's role (controller/roster/). The signature covers every field except `key`
and `sig`, and also the table's public CURVE key. A command for one table is therefore invalid at
another table and in another run of the daemon.

A match that is transferred to another table is also signed, by the table (`sign_document`):

    L("dealtable/transfer/1") ‖ L(digest, 32 bytes)
"""

import msgspec
from nacl.exceptions import BadSignatureError
from nacl.signing import SigningKey, VerifyKey

from controller.messages import ClientCommand
from controller.signing import canonical_json, length_prefixed

_COMMAND_CONTEXT = "dealtable/command/2"
_DOCUMENT_CONTEXT = "dealtable/transfer/1"
_DIGEST_BYTES = 32
_KEY_BYTES = 32
_SIG_BYTES = 64


class BadSignature(Exception):
    """The error for a command or document that has no signature or a wrong signature."""


def command_signed_bytes(table_key: str, command: ClientCommand) -> bytes:
    """Return the bytes that the signature of `command` for the table `table_key` covers.

    `table_key` is the table's public CURVE key in Z85, as in endpoints.json and keys/table.key. A
    null field counts as empty text. Raises ValueError for a negative number or a field longer than
    65535 bytes.
    """
    fields: tuple[bytes | str | int, ...] = (
        _COMMAND_CONTEXT,
        table_key,
        _or_empty(command.boot),
        command.id,
        _or_empty(command.deal),
        _or_empty(command.attempt),
        command.cmd,
        _or_empty(command.person),
        canonical_json(command.args),
    )
    return b"".join(length_prefixed(field) for field in fields)


def sign_command(command: ClientCommand, table_key: str, seed: bytes) -> ClientCommand:
    """Return a copy of `command` with its signature (`sig`) and the sender's public key (`key`).

    `seed` is the sender's 32-byte Ed25519 secret, not the seed of an attempt.
    """
    key = SigningKey(seed)
    signature = key.sign(command_signed_bytes(table_key, command)).signature
    return msgspec.structs.replace(command, key=key.verify_key.encode().hex(), sig=signature.hex())


def check_command(command: ClientCommand, table_key: str) -> None:
    """Raise BadSignature unless `command.key` verifies the signature of `command` for this table.

    The roster checks separately whether the owner of this key may give the command.
    """
    if command.key is None or command.sig is None:
        raise BadSignature(f"{command.cmd} is not signed")
    try:
        key = VerifyKey(from_hex(command.key, _KEY_BYTES))
        key.verify(command_signed_bytes(table_key, command), from_hex(command.sig, _SIG_BYTES))
    except (ValueError, BadSignatureError) as wrong:
        raise BadSignature(f"the signature of {command.cmd} does not fit: {wrong}") from wrong


def sign_document(digest: str, secret: bytes) -> str:
    """Return the table's signature (hex) of the document whose digest is `digest`.

    The document is the data of a match that is transferred. `digest` is in hex.
    `secret` is the table's 32-byte Ed25519 secret (keys/table.sign). The same document always has
    the same signature. Raises ValueError for a text that is not a digest.
    """
    return SigningKey(secret).sign(_document_signed_bytes(digest)).signature.hex()


def check_document(digest: str, verify: str, sig: str) -> None:
    """Raise BadSignature unless the public key `verify` verifies `sig` as a document's signature.

    `digest` is the document's digest, `verify` the table's public key. All three are in hex.
    """
    try:
        key = VerifyKey(from_hex(verify, _KEY_BYTES))
        key.verify(_document_signed_bytes(digest), from_hex(sig, _SIG_BYTES))
    except (ValueError, BadSignatureError) as wrong:
        raise BadSignature(f"the signature of the document does not fit: {wrong}") from wrong


def _document_signed_bytes(digest: str) -> bytes:
    return length_prefixed(_DOCUMENT_CONTEXT) + length_prefixed(from_hex(digest, _DIGEST_BYTES))


def from_hex(text: str, size: int) -> bytes:
    """Return the `size` bytes (key, hash or signature) that `text` contains in lower-case hex.

    Raises ValueError if `text` has another length, upper case or spaces, so that a signature has
    only one spelling.
    """
    raw = bytes.fromhex(text)
    if len(raw) != size or raw.hex() != text:
        raise ValueError(f"expected {2 * size} lower-case hex digits")
    return raw


def _or_empty(field: int | str | None) -> int | str:
    return "" if field is None else field
