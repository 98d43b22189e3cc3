"""What a release consists of, who signed it, and whether a table runs it. Pure.

A manifest names every file of `controller/` and `drivers/` with its SHA-256, and the firmware
by the hash that the boards report. It is signed with the release's Ed25519 key; the signature
lies beside it and covers

    L("dealtable/release/1") ‖ L(SHA-256 of the manifest's bytes)

A table reports `hash` over the files that it runs from:

    SHA-256( L("dealtable/program/1") ‖ L(path) ‖ L(SHA-256 of the file, 32 bytes) ‖ … by path )

Reported, compared: that finds the wrong file. A program that lies reports what it likes.
"""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

import msgspec
from msgspec import Meta
from nacl.exceptions import BadSignatureError
from nacl.signing import SigningKey, VerifyKey

from controller.host.printable_text import escape_unprintable
from controller.messages import Firmware, ProgramRelease, PublicState, ReportedBoards
from controller.signing.encoding import canonical_json, length_prefixed
from controller.signing.signed_commands import from_hex

_RELEASE_CONTEXT, _PROGRAM_CONTEXT = "dealtable/release/1", "dealtable/program/1"
_SIG_BYTES = 64
BoardKind = Literal["dealer", "reader"]
Likeness = Literal["same", "other", "unknown"]
Serial = Annotated[int, Meta(ge=1, le=2**53)]
Sha256 = Annotated[str, Meta(pattern="^[0-9a-f]{64}$", description="64 hex digits")]
Digests = Mapping[str, str]
"""SHA-256 in hex by path, `/` between its parts, from the folder that holds the packages."""


class BadRelease(Exception):
    """A manifest that cannot be used, or is not what was signed; its text is one line."""


class Manifest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A release: `serial` only grows from one to the next, `released` is its UTC date.

    `files`: all that is installed, by path. `firmware`: what a board of each kind reports.
    """

    schema: Literal[1] = 1
    version: str
    released: Annotated[str, Meta(pattern=r"^\d{4}-\d\d-\d\d$", description="a date: YYYY-MM-DD")]
    serial: Serial
    files: dict[str, Sha256]
    firmware: dict[BoardKind, Firmware]

    @property
    def release(self) -> ProgramRelease:
        """What a table reports that runs just these files."""
        return ProgramRelease(
            version=self.version, serial=self.serial, hash=program_hash(self.files)
        )


def encode_manifest(manifest: Manifest) -> bytes:
    """Return a manifest as it lies in its file: JSON for people, always the same bytes."""
    return msgspec.json.format(canonical_json(manifest), indent=1) + b"\n"


def decode_manifest(raw: bytes) -> Manifest:
    """Return the manifest in a file's bytes. Raises BadRelease."""
    try:
        return msgspec.json.decode(raw, type=Manifest)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as wrong:
        raise BadRelease(f"this is no manifest of a release: {wrong}") from None


def program_hash(files: Digests) -> str:
    """Return the hash that a program made of these files reports, in hex."""
    digest = hashlib.sha256(length_prefixed(_PROGRAM_CONTEXT))
    for path in sorted(files):
        digest.update(length_prefixed(path) + length_prefixed(bytes.fromhex(files[path])))
    return digest.hexdigest()


def sign_manifest(raw: bytes, secret: bytes) -> str:
    """Return the signature of a manifest's bytes, in hex; `secret` is a 32-byte Ed25519 one."""
    return SigningKey(secret).sign(_manifest_signed_bytes(raw)).signature.hex()


def check_manifest_signature(raw: bytes, sig: str, verify: bytes) -> None:
    """Return if `sig` is the signature of a manifest's bytes by the key `verify` (32 bytes).

    Raises BadRelease.
    """
    try:
        VerifyKey(verify).verify(_manifest_signed_bytes(raw), from_hex(sig, _SIG_BYTES))
    except (ValueError, BadSignatureError):
        raise BadRelease("its signature does not fit that key") from None


class FileDifference(msgspec.Struct, frozen=True, gc=False):
    """A file that is not as it was released."""

    path: str
    what: Literal["changed", "missing", "not of this release"]

    def __str__(self) -> str:
        """Return the line that people read; a path cannot break it."""
        return f"{escape_unprintable(self.path)}: {self.what}"


def file_differences(files: Digests, installed: Digests) -> Iterator[FileDifference]:
    """Yield in what the installed files are not those of a release, by path."""
    for path in sorted({*files, *installed}):
        if path not in installed:
            yield FileDifference(path, "missing")
        elif path not in files:
            yield FileDifference(path, "not of this release")
        elif files[path] != installed[path]:
            yield FileDifference(path, "changed")


class ReleaseComparison(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What a table reports beside a manifest, part by part.

    `same`: it reports what was released. `other`: something else. `unknown`: nothing: a program
    without a manifest, a board that is not there.
    """

    program: Likeness
    dealer: Likeness
    reader: Likeness


def compare_release(
    manifest: Manifest, reported: ProgramRelease | None, boards: ReportedBoards
) -> ReleaseComparison:
    """Return how what a table reports of itself and of its boards is like a manifest."""
    return ReleaseComparison(
        program=_likeness(manifest.release, reported),
        dealer=_likeness(manifest.firmware.get("dealer"), boards.dealer),
        reader=_likeness(manifest.firmware.get("reader"), boards.reader),
    )


def compare_state(manifest: Manifest, state: PublicState) -> ReleaseComparison:
    """Return how what a table's state reports is like a manifest."""
    return compare_release(manifest, state.release, state.boards)


def _likeness(released: object, reported: object) -> Likeness:
    if isinstance(reported, Firmware):  # what else a board is, is no matter of its release
        reported = Firmware(version=reported.version, hash=reported.hash)
    if released is None or reported is None:
        return "unknown"
    return "same" if released == reported else "other"


def _manifest_signed_bytes(raw: bytes) -> bytes:
    return length_prefixed(_RELEASE_CONTEXT) + length_prefixed(hashlib.sha256(raw).digest())
