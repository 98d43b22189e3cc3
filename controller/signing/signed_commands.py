"""Signed commands: who asked, for which table, run, deal and attempt, with which arguments.

A client signs with the Ed25519 key of its certificate; the machine alone checks
(it also knows the signer's role, controller/roster/). The signature covers
every field but `key` and `sig` themselves, and the table's public CURVE key, so
that an order given to one table is worth nothing at another, nor in another run of its daemon.

A match that leaves for another table is signed, too, by the table itself (`sign_document`):

    L("dealtable/transfer/1") ‖ L(digest, 32 bytes)
"""

import msgspec
from nacl.exceptions import BadSignatureError
from nacl.signing import SigningKey, VerifyKey

from controller.messages import ClientCommand
from controller.signing.encoding import canonical_json, length_prefixed

_COMMAND_CONTEXT = "dealtable/command/2"
_DOCUMENT_CONTEXT = "dealtable/transfer/1"
_DIGEST_BYTES = 32
_KEY_BYTES = 32
_SIG_BYTES = 64


class BadSignature(Exception):
    """A command or a document without a signature, or with one that does not belong to it."""


def command_signed_bytes(table_key: str, command: ClientCommand) -> bytes:
    """Return the bytes a signature stands for.

    `table_key` is the table's public CURVE key in Z85, as endpoints.json and
    keys/table.key give it. What is null counts as empty text. Raises
    ValueError for a negative number or a field longer than 65535 bytes.
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
    """Return `command` with `key` and `sig` of the signer whose 32-byte Ed25519 seed is given."""
    key = SigningKey(seed)
    signature = key.sign(command_signed_bytes(table_key, command)).signature
    return msgspec.structs.replace(command, key=key.verify_key.encode().hex(), sig=signature.hex())


def check_command(command: ClientCommand, table_key: str) -> None:
    """Return if `command.sig` is the signature of `command.key` over this command at this table.

    Whether that key may do so is the roster's question. Raises BadSignature.
    """
    if command.key is None or command.sig is None:
        raise BadSignature(f"{command.cmd} is not signed")
    try:
        key = VerifyKey(from_hex(command.key, _KEY_BYTES))
        key.verify(command_signed_bytes(table_key, command), from_hex(command.sig, _SIG_BYTES))
    except (ValueError, BadSignatureError) as wrong:
        raise BadSignature(f"the signature of {command.cmd} does not fit: {wrong}") from wrong


def sign_document(digest: str, secret: bytes) -> str:
    """Return the signature (hex) with which a table lets a match go whose document `digest` names.

    `secret` is the table's 32-byte Ed25519 secret (keys/table.sign). The same words have the same
    signature. Raises ValueError for what is no digest.
    """
    return SigningKey(secret).sign(_document_signed_bytes(digest)).signature.hex()


def check_document(digest: str, verify: str, sig: str) -> None:
    """Return if `sig` is over the document of this digest, by the table whose key `verify` is.

    All in hex. Raises BadSignature.
    """
    try:
        key = VerifyKey(from_hex(verify, _KEY_BYTES))
        key.verify(_document_signed_bytes(digest), from_hex(sig, _SIG_BYTES))
    except (ValueError, BadSignatureError) as wrong:
        raise BadSignature(f"the signature of the document does not fit: {wrong}") from wrong


def _document_signed_bytes(digest: str) -> bytes:
    return length_prefixed(_DOCUMENT_CONTEXT) + length_prefixed(from_hex(digest, _DIGEST_BYTES))


def from_hex(text: str, size: int) -> bytes:
    """Return the bytes of a key or signature; raises ValueError unless there are `size`.

    One spelling alone: lower case without spaces, so that a signature has one form.
    """
    raw = bytes.fromhex(text)
    if len(raw) != size or raw.hex() != text:
        raise ValueError(f"expected {2 * size} lower-case hex digits")
    return raw


def _or_empty(field: int | str | None) -> int | str:
    return "" if field is None else field
