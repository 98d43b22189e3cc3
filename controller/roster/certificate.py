"""A certificate: a file with the name, role and keys of one client, and its fingerprint.

Metadata: `name`, `role`, `verify` (Ed25519, hex), a chief's `seal` (X25519, hex). The secret file
also has `sign` and `unseal`. `expires` is a day (UTC, the last day on which the certificate is
valid) or a moment. A certificate in revoked/ has `revoked` (a moment) and `reason`. A public file
that is carried to a table has `proof`: its owner's signature of name, role, keys and end. People
compare the fingerprint. It covers the keys, so the proof binds the other fields to the fingerprint.

The table's own secrets are in separate files. keys/table.key_secret has the CURVE secret of the
gateway. keys/table.sign has the Ed25519 secret of the machine.
"""

import hashlib
import re
import textwrap
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import msgspec
from nacl.bindings import crypto_scalarmult
from nacl.exceptions import BadSignatureError
from nacl.signing import SigningKey, VerifyKey

from controller.host.printable_text import MAX_SHOWN_CHARACTERS, escape_unprintable, shorten
from controller.messages import Role
from controller.signing import length_prefixed

KEYS_FOLDER: Final = "keys"
TABLE_NAME: Final = "table"
SIGN_FILE: Final = f"{TABLE_NAME}.sign"

_KEY_BYTES: Final = 32
_FINGERPRINT_DIGITS, _DIGITS_PER_GROUP = 16, 4
_DATE_LENGTH: Final = 10
"""Characters of a day, YYYY-MM-DD."""
_PROOF_BYTES: Final = 64
_ANY_SCALAR: Final = b"\x01" * _KEY_BYTES
_Z85_PATTERN: Final = re.compile(r"[0-9a-zA-Z.\-:+=^!/*?&<>()\[\]{}@%$#]{40}")
_NAME_PATTERN: Final = re.compile(r"\w[\w.-]{0,39}")
"""The form of a name: letters of any script, digits, _ . - because it is used in files and logs."""


class RosterError(Exception):
    """The error for a certificate that cannot be used. One line names the file and the error."""


class Certificate(msgspec.Struct, frozen=True, kw_only=True):
    """The name, role and keys of one client, or of the table itself.

    The table's own certificate has no role, and a public one has no secrets. `curve` and
    `curve_secret` are Z85 text, the other keys 32 raw bytes: `verify` and `sign` for signatures,
    `seal` and `unseal` for sealed answers. `expires` is the first moment (UTC) at which the
    certificate is no longer valid.
    """

    name: str
    role: Role | None
    curve: str
    verify: bytes
    seal: bytes | None
    curve_secret: str | None = None
    sign: bytes | None = None
    unseal: bytes | None = None
    expires: datetime | None = None
    revoked: datetime | None = None
    reason: str = ""
    proof: bytes | None = None

    def __repr__(self) -> str:
        """Return the name and the role only, so that logs contain no keys."""
        return f"Certificate({self.name!r}, role={self.role})"

    def __rich_repr__(self) -> list[tuple[str, object]]:
        """Return name and role for the library rich, which otherwise prints every field."""
        return [("name", self.name), ("role", self.role)]

    @property
    def has_secrets(self) -> bool:
        """Return True if the certificate contains a secret key."""
        return any((self.curve_secret, self.sign, self.unseal))


def fingerprint(certificate: Certificate) -> str:
    """Return sixteen hex digits, in groups of four, that identify a certificate's public keys."""
    keys = (certificate.curve, certificate.verify, certificate.seal or b"")
    digits = hashlib.sha256(
        b"".join(length_prefixed(key) for key in ("dealtable/fingerprint/1", *keys))
    ).hexdigest()
    return "-".join(textwrap.wrap(digits[:_FINGERPRINT_DIGITS], _DIGITS_PER_GROUP))


def sign_certificate(certificate: Certificate) -> bytes:
    """Sign a certificate with the secret key `sign` that it contains, and return the signature."""
    assert certificate.sign is not None
    return SigningKey(certificate.sign).sign(_certificate_signed_bytes(certificate)).signature


def has_valid_proof(certificate: Certificate) -> bool:
    """Return True if `proof` is the owner's valid signature of the certificate's other data."""
    if certificate.proof is None:
        return False
    try:
        signed = _certificate_signed_bytes(certificate)
        VerifyKey(certificate.verify).verify(signed, certificate.proof)
    except BadSignatureError:
        return False
    return True


def parse_moment(text: str) -> datetime:
    """Return the moment (UTC) that `text` contains: a date, or a date with time and time zone.

    A date alone means the end of that day. Raises ValueError for any other text, or for a time
    without a time zone.
    """
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{text}: a date is YYYY-MM-DD or YYYY-MM-DDTHH:MM:SSZ") from None
    if len(text) == _DATE_LENGTH:
        return when.replace(tzinfo=UTC) + timedelta(days=1)
    if when.tzinfo is None:
        raise ValueError(f"{text}: which time zone? Z for UTC")
    return when.astimezone(UTC)


def read_certificate(path: Path) -> Certificate:
    """Return the certificate in a file, which may be public or secret. Raises RosterError."""
    try:
        return parse_certificate(path.read_text(encoding="utf-8"))
    except KeyError as error:
        raise RosterError(f"{path}: {error.args[0]} is missing; is it a dealtable key?") from None
    except (OSError, ValueError, OverflowError) as error:
        raise RosterError(
            f"{path}: {escape_unprintable(shorten(str(error), 3 * MAX_SHOWN_CHARACTERS))}"
        ) from error


def parse_certificate(text: str) -> Certificate:
    """Return the certificate in a file's text. Raises KeyError, ValueError, OverflowError."""
    sections = _parse_sections(text)
    metadata, curve = sections.get("metadata", {}), sections.get("curve", {})
    return Certificate(
        name=_checked_name(metadata["name"]),
        role=Role(metadata["role"]) if "role" in metadata else None,
        curve=_checked_curve_key(curve["public-key"]),
        verify=parse_key(metadata["verify"]),
        seal=_seal_key(metadata),
        curve_secret=_checked_curve_key(curve["secret-key"]) if "secret-key" in curve else None,
        sign=_optional_key(metadata, "sign"),
        unseal=_optional_key(metadata, "unseal"),
        expires=parse_moment(metadata["expires"]) if "expires" in metadata else None,
        revoked=parse_moment(metadata["revoked"]) if "revoked" in metadata else None,
        reason=escape_unprintable(metadata.get("reason", "")),
        proof=_parse_proof(metadata["proof"]) if "proof" in metadata else None,
    )


def read_sign_secret(folder: Path) -> bytes:
    """Return the table's secret signing key (Ed25519) from the file keys/table.sign in `folder`.

    It has 32 bytes. Raises RosterError if the file is missing, or if the secret does not belong to
    keys/table.key.
    """
    path = folder / KEYS_FOLDER / SIGN_FILE
    secret = read_sign_file(path)
    public = folder / KEYS_FOLDER / f"{TABLE_NAME}.key"
    if read_certificate(public).verify != bytes(SigningKey(secret).verify_key):
        raise RosterError(
            f"{path}: its verify is not that of {public}; `dealtable keys create` mends it"
        )
    return secret


def read_sign_file(path: Path) -> bytes:
    """Return the 32-byte Ed25519 secret in the file table.sign at `path`. Raises RosterError."""
    try:
        sections = _parse_sections(path.read_text(encoding="utf-8"))
        return parse_key(sections.get("metadata", {})["sign"])
    except KeyError:
        raise RosterError(f"{path}: sign is missing; is it a dealtable key?") from None
    except OSError as error:
        raise RosterError(f"{path}: {error.strerror}; `dealtable keys create` makes it") from error
    except ValueError as error:
        raise RosterError(
            f"{path}: {escape_unprintable(shorten(str(error), 3 * MAX_SHOWN_CHARACTERS))}"
        ) from error


def _parse_sections(text: str) -> dict[str, dict[str, str]]:
    """Return the sections of a certificate file (format ZPL) as {section: {name: value}}.

    A name alone opens a section. Indented `key = value` lines fill it.
    """
    sections: dict[str, dict[str, str]] = {}
    section: dict[str, str] | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        content = line.partition(" #")[0] if '"' not in line else line
        if not content.strip() or content.lstrip().startswith("#"):
            continue
        key, equals, value = (part.strip() for part in content.partition("="))
        if not content[0].isspace() and not equals:
            section = sections.setdefault(key, {})
        elif section is not None and equals and key not in section:
            section[key] = value.removeprefix('"').removesuffix('"')
        else:
            raise ValueError(f"line {number} is no line of a certificate")
    return sections


def _optional_key(metadata: dict[str, str], name: str) -> bytes | None:
    return parse_key(metadata[name]) if name in metadata else None


def _seal_key(metadata: dict[str, str]) -> bytes | None:
    """Return the public key `seal`, which encrypts secrets for a client, or None if there is none.

    Raises ValueError for a key that cannot be used. Unusable keys are the points of small order.
    With such a key every secret gives the same result, and the sealing would fail at the moment
    when an attempt begins.
    """
    seal = _optional_key(metadata, "seal")
    if seal is not None:
        try:
            crypto_scalarmult(_ANY_SCALAR, seal)
        except RuntimeError:
            raise ValueError("seal: nothing can be sealed to this key") from None
    return seal


def _parse_proof(text: str) -> bytes:
    raw = bytes.fromhex(text)
    if len(raw) != _PROOF_BYTES:
        raise ValueError("a proof is 128 hex digits")
    return raw


def _certificate_signed_bytes(certificate: Certificate) -> bytes:
    """Return the bytes that the owner's signature covers."""
    role, end = certificate.role, certificate.expires
    keys = (certificate.curve, certificate.verify, certificate.seal or b"")
    said = (certificate.name, role.value if role else "", *keys, end.isoformat() if end else "")
    return b"".join(length_prefixed(each) for each in ("dealtable/certificate/1", *said))


def _checked_name(text: str) -> str:
    if not _NAME_PATTERN.fullmatch(text):
        raise ValueError(f"{shorten(text)}: a name is at most 40 letters, digits, _ . - in a row")
    return text


def parse_key(text: str) -> bytes:
    """Return the 32 bytes of a key that is written in hex. Raises ValueError for any other text."""
    raw = key_bytes(text)
    if raw is None:
        raise ValueError("a key is 64 lower-case hex digits")
    return raw


def key_bytes(key: bytes | str | None) -> bytes | None:
    """Return a key as bytes, or None if `key` is None or a text that is not a key.

    A text must be 64 lower-case hex digits. Bytes are returned unchanged.
    """
    if not isinstance(key, str):
        return key
    try:
        raw = bytes.fromhex(key)
    except ValueError:
        return None
    return raw if len(raw) == _KEY_BYTES and raw.hex() == key else None


def _checked_curve_key(text: str) -> str:
    if not _Z85_PATTERN.fullmatch(text):
        raise ValueError("a CURVE key is 40 characters of Z85")
    return text
