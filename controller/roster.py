"""Who may give orders at a table: the admitted clients, out of their certificates.

A certificate is a file in pyzmq's format (ZPL: `section`, then `    key = value`).
It is read here without ZeroMQ, because the machine, which checks orders, has no
network. Metadata: `name`, `role`, `verify` (Ed25519, hex), a chief's `seal`
(X25519, hex); the secret file has `sign` and `unseal` besides.
"""

import re
from pathlib import Path
from typing import Self

import msgspec

from controller.messages import Role
from controller.tomlwords import LONGEST, printable, short

ADMITTED = "admitted"
CLIENTS = "clients"
KEYS = "keys"
TABLE = "table"

_KEY_BYTES = 32
_Z85 = re.compile(r"[0-9a-zA-Z.\-:+=^!/*?&<>()\[\]{}@%$#]{40}")


class RosterError(Exception):
    """A certificate that cannot be used; one line names the file and what is wrong."""


class Certificate(msgspec.Struct, frozen=True, kw_only=True):
    """One certificate. The table's own has no role; a public one no secrets.

    `curve` and `curve_secret` are Z85 text, the other keys 32 raw bytes: `verify`
    and `sign` for signatures, `seal` and `unseal` for sealed answers.
    """

    name: str
    role: Role | None
    curve: str
    verify: bytes
    seal: bytes | None
    curve_secret: str | None = None
    sign: bytes | None = None
    unseal: bytes | None = None

    def __repr__(self) -> str:
        """Say whose it is; keys stay out of logs."""
        return f"Certificate({self.name!r}, role={self.role})"

    def __rich_repr__(self) -> list[tuple[str, object]]:
        """Say the same to rich, which asks every Struct field by field."""
        return [("name", self.name), ("role", self.role)]


class Roster(msgspec.Struct, frozen=True):
    """The clients admitted to a table."""

    clients: tuple[Certificate, ...]

    @classmethod
    def load(cls, state_dir: Path) -> Self:
        """Read `state_dir`/admitted/*.key. Raises RosterError for a file that does not say
        who may do what: wrong form, no role, a secret in it, or a key twice."""
        clients = [_admitted(path) for path in sorted((state_dir / ADMITTED).glob("*.key"))]
        for kind in ("name", "verify", "curve"):
            values = [getattr(client, kind) for client in clients]
            twice = {client.name for client in clients if values.count(getattr(client, kind)) > 1}
            if twice:
                raise RosterError(
                    f"{state_dir / ADMITTED}: {' and '.join(sorted(twice))} have the same {kind}: "
                    "remove one of the files"
                )
        return cls(tuple(clients))

    def client(self, verify: bytes | str | None) -> Certificate | None:
        """Return whose signing key this is (raw or hex); None for a stranger's."""
        raw = _raw(verify)
        return next((client for client in self.clients if client.verify == raw), None)

    def chief_seals(self) -> tuple[bytes, ...]:
        """Return the chiefs' sealing keys, 32 bytes each, by name."""
        return tuple(
            client.seal for client in self.clients if client.role is Role.CHIEF and client.seal
        )


def read_certificate(path: Path) -> Certificate:
    """Read a certificate file, public or secret. Raises RosterError."""
    try:
        sections = _parse(path.read_text(encoding="utf-8"))
        metadata, curve = sections.get("metadata", {}), sections.get("curve", {})
        return Certificate(
            name=metadata["name"],
            role=Role(metadata["role"]) if "role" in metadata else None,
            curve=_z85(curve["public-key"]),
            verify=_key(metadata["verify"]),
            seal=_optional_key(metadata, "seal"),
            curve_secret=_z85(curve["secret-key"]) if "secret-key" in curve else None,
            sign=_optional_key(metadata, "sign"),
            unseal=_optional_key(metadata, "unseal"),
        )
    except KeyError as error:
        raise RosterError(f"{path}: {error.args[0]} is missing; is it a dealtable key?") from None
    except (OSError, ValueError) as error:
        raise RosterError(f"{path}: {printable(short(str(error), 3 * LONGEST))}") from error


def _admitted(path: Path) -> Certificate:
    certificate = read_certificate(path)
    if certificate.role is None:
        raise RosterError(f"{path}: role is missing: a client needs one of {', '.join(Role)}")
    if certificate.curve_secret or certificate.sign or certificate.unseal:
        raise RosterError(f"{path}: holds a secret key: admit the public file, and make a new pair")
    return certificate


def _parse(text: str) -> dict[str, dict[str, str]]:
    """Read ZPL: a name alone opens a section, indented `key = value` lines fill it."""
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
    return _key(metadata[name]) if name in metadata else None


def _key(text: str) -> bytes:
    raw = _raw(text)
    if raw is None:
        raise ValueError("a key is 64 lower-case hex digits")
    return raw


def _raw(key: bytes | str | None) -> bytes | None:
    """One spelling alone: 32 bytes, or 64 lower-case hex digits."""
    if not isinstance(key, str):
        return key
    try:
        raw = bytes.fromhex(key)
    except ValueError:
        return None
    return raw if len(raw) == _KEY_BYTES and raw.hex() == key else None


def _z85(text: str) -> str:
    if not _Z85.fullmatch(text):
        raise ValueError("a CURVE key is 40 characters of Z85")
    return text
