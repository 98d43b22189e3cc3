"""Releases: the manifest, its signature, and the comparison with an installed program. No I/O.

A manifest lists every file of `controller/` and `drivers/` with its SHA-256, and the firmware with
the hash that the boards report. It is signed with the release's Ed25519 key. The signature is in a
file beside the manifest and covers

    L("dealtable/release/1") ‖ L(SHA-256 of the manifest's bytes)

A table reports `hash` over the files that it runs from:

    SHA-256( L("dealtable/program/1") ‖ L(path) ‖ L(SHA-256 of the file, 32 bytes) ‖ … by path )

Comparing the reported hash finds a wrong file. It does not detect a malicious program, which can
report any hash.
"""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

import msgspec
from msgspec import Meta
from nacl.exceptions import BadSignatureError
from nacl.signing import SigningKey, VerifyKey

from controller.host.printable_text import escape_unprintable
from controller.messages import Firmware, ProgramRelease, ReportedBoards
from controller.signing import canonical_json, length_prefixed
from controller.signing.signed_commands import from_hex

_RELEASE_CONTEXT, _PROGRAM_CONTEXT = "dealtable/release/1", "dealtable/program/1"
_SIG_BYTES = 64
BoardKind = Literal["dealer", "reader"]
Likeness = Literal["same", "other", "unknown"]
Serial = Annotated[int, Meta(ge=1, le=2**53)]
Sha256 = Annotated[str, Meta(pattern="^[0-9a-f]{64}$", description="64 hex digits")]
Digests = Mapping[str, str]
"""SHA-256 in hex by path. Paths use `/` and start at the folder that contains the packages."""


class BadRelease(Exception):
    """The error for a manifest that is invalid or has a wrong signature. Its text is one line."""


class Manifest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The manifest of a release, which lists its files and its firmware.

    `serial` grows from each release to the next, `released` is its UTC date. `files` has the
    SHA-256 of each installed file, by path. `firmware` is what a board of each kind reports.
    """

    schema: Literal[1] = 1
    version: str
    released: Annotated[str, Meta(pattern=r"^\d{4}-\d\d-\d\d$", description="a date: YYYY-MM-DD")]
    serial: Serial
    files: dict[str, Sha256]
    firmware: dict[BoardKind, Firmware]

    @property
    def release(self) -> ProgramRelease:
        """Return the release that a table reports if its program has exactly these files."""
        found = program_hash(self.files)
        return ProgramRelease(version=self.version, serial=self.serial, hash=found)


def encode_manifest(manifest: Manifest) -> bytes:
    """Return `manifest` as JSON that people can read, which is the content of its file.

    The same manifest always has the same bytes.
    """
    return msgspec.json.format(canonical_json(manifest), indent=1) + b"\n"


def decode_manifest(raw: bytes) -> Manifest:
    """Return the manifest from `raw`, its file's content. Raises BadRelease if `raw` is invalid."""
    try:
        return msgspec.json.decode(raw, type=Manifest)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as wrong:
        raise BadRelease(f"this is no manifest of a release: {wrong}") from None


def program_hash(files: Digests) -> str:
    """Return the hash (hex) that a table reports if its program consists of `files`."""
    digest = hashlib.sha256(length_prefixed(_PROGRAM_CONTEXT))
    for path in sorted(files):
        digest.update(length_prefixed(path) + length_prefixed(bytes.fromhex(files[path])))
    return digest.hexdigest()


def sign_manifest(raw: bytes, secret: bytes) -> str:
    """Return the signature (hex) of the manifest `raw` with the Ed25519 key `secret` (32 bytes)."""
    return SigningKey(secret).sign(_manifest_signed_bytes(raw)).signature.hex()


def check_manifest_signature(raw: bytes, sig: str, verify: bytes) -> None:
    """Raise BadRelease unless the public key `verify` verifies `sig` as the signature of `raw`.

    `raw` contains a manifest's bytes, `sig` is in hex, and `verify` has 32 bytes.
    """
    try:
        VerifyKey(verify).verify(_manifest_signed_bytes(raw), from_hex(sig, _SIG_BYTES))
    except (ValueError, BadSignatureError):
        raise BadRelease("its signature does not fit that key") from None


class FileDifference(msgspec.Struct, frozen=True, gc=False):
    """One file that differs between a release and an installation."""

    path: str
    what: Literal["changed", "missing", "not of this release"]

    def __str__(self) -> str:
        """Return the difference as one line. Characters that cannot be printed are escaped."""
        return f"{escape_unprintable(self.path)}: {self.what}"


def file_differences(files: Digests, installed: Digests) -> Iterator[FileDifference]:
    """Yield each difference between a release's files and the installed files, sorted by path."""
    for path in sorted({*files, *installed}):
        if path not in installed:
            yield FileDifference(path, "missing")
        elif path not in files:
            yield FileDifference(path, "not of this release")
        elif files[path] != installed[path]:
            yield FileDifference(path, "changed")


class ReleaseComparison(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The result of comparing a table's program and boards with the manifest of a release.

    `same`: the report matches the release. `other`: it differs. `unknown`: there is no report,
    because the program has no manifest or the board is missing.
    """

    program: Likeness
    dealer: Likeness
    reader: Likeness


def compare_release(
    manifest: Manifest, reported: ProgramRelease | None, boards: ReportedBoards
) -> ReleaseComparison:
    """Return the comparison of `manifest` with the program and boards that a table reports.

    `reported` is None if the table's program has no manifest.
    """
    return ReleaseComparison(
        program=_likeness(manifest.release, reported),
        dealer=_likeness(manifest.firmware.get("dealer"), boards.dealer),
        reader=_likeness(manifest.firmware.get("reader"), boards.reader),
    )


def _likeness(released: object, reported: object) -> Likeness:
    if isinstance(reported, Firmware):  # a release contains only the firmware of a board
        reported = Firmware(version=reported.version, hash=reported.hash)
    if released is None or reported is None:
        return "unknown"
    return "same" if released == reported else "other"


def _manifest_signed_bytes(raw: bytes) -> bytes:
    return length_prefixed(_RELEASE_CONTEXT) + length_prefixed(hashlib.sha256(raw).digest())
