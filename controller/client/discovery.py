"""The addresses of a table, in the file `endpoints.json` and in announcements on the network.

The gateway writes `endpoints.json` into its folder (by default state_dir) when the sockets are
bound, with the real ports. Therefore `watch`, `send` and a console on the same computer need no
configuration.

A gateway with its own user may write only this one file in that folder, which was created for it
beforehand. In that case the file is filled and emptied in place, and never removed.
"""

import ipaddress
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

import msgspec

from controller.roster import TABLE_NAME, Certificate, fingerprint
from controller.roster.certificate import parse_key

ENDPOINTS_FILE = "endpoints.json"
_LENT_FILE_BYTES = 4096
"""The size of a file that was created beforehand. A single write replaces its content."""


class NoEndpoints(Exception):
    """The error for a state directory without a valid `endpoints.json` of a running gateway."""


class Endpoints(msgspec.Struct, frozen=True, kw_only=True):
    """The ZeroMQ addresses of a table, and the table's public CURVE key in Z85.

    `console` and `metrics` are web addresses.
    """

    table: str
    feed: str
    commands: str
    server_key: str
    console: str | None = None
    metrics: str | None = None


def write_endpoints(state_dir: Path, endpoints: Endpoints) -> None:
    """Write `endpoints.json` into `state_dir`, completely or not at all. Raises OSError."""
    path = state_dir / ENDPOINTS_FILE
    text = msgspec.json.format(msgspec.json.encode(endpoints)) + b"\n"
    if _is_created_for_gateway(path):
        with path.open("r+b", buffering=0) as file:
            file.write(text.rjust(_LENT_FILE_BYTES))
            file.truncate()
        return
    part = path.with_suffix(".part")
    part.write_bytes(text)
    os.replace(part, path)


def read_endpoints(state_dir: Path) -> Endpoints:
    """Return the content of `state_dir`/endpoints.json. Raises NoEndpoints, with what to do."""
    path = state_dir / ENDPOINTS_FILE
    try:
        text = path.read_bytes()
        if not text:
            raise NoEndpoints(f"{path}: empty; is the gateway of this table running?")
        return msgspec.json.decode(text, type=Endpoints)
    except OSError as missing:
        raise NoEndpoints(
            f"{path}: {missing.strerror}; is the gateway of this table running?"
        ) from missing
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as wrong:
        raise NoEndpoints(f"{path}: {wrong}; restart the gateway") from wrong


def remove_endpoints(state_dir: Path) -> None:
    """Remove `endpoints.json`. If it was created for the gateway beforehand, empty it instead."""
    path = state_dir / ENDPOINTS_FILE
    if _is_created_for_gateway(path):
        os.truncate(path, 0)
    else:
        path.unlink(missing_ok=True)


def _is_created_for_gateway(path: Path) -> bool:
    """Return whether the file was created in advance, so that the gateway can write it.

    Such a file is a link, or its owner is not the owner of its folder.
    """
    try:
        return path.is_symlink() or path.stat().st_uid != path.parent.stat().st_uid
    except FileNotFoundError:
        return False


def reachable_address(bound: str) -> str:
    """Return the address at which this computer can reach a socket that is bound to `bound`."""
    return bound.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:")


SERVICE_TYPE: Final = "_dealtable._tcp.local."
ANNOUNCEMENT_VERSION: Final = "1"
_Z85_PATTERN: Final = re.compile(r"[0-9a-zA-Z.\-:+=^!/*?&<>()\[\]{}@%$#]{40}")

_TABLE_NAME_PATTERN: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,23}")
"""The pattern of a table's name. People could misread other names, so these are refused."""
_MAX_ADDRESSES: Final = 8


class BadAnnouncement(Exception):
    """The error for an announcement that is not valid. Its text is one line with the reason."""


class TableAnnouncement(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """The name, keys, ports and addresses of a table, as announced on the network.

    `key` is the CURVE key (Z85), `verify` the Ed25519 key (hex), as in TOML files and endpoints.
    `addresses` are IPv4, in the announced order.
    """

    table: str
    key: str
    verify: str
    feed: int
    commands: int
    addresses: tuple[str, ...]

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the announced keys.

        It is computed from the keys, not taken from the announcement.
        """
        return table_fingerprint(self.key, self.verify)


def table_fingerprint(key: str, verify: str) -> str:
    """Return the fingerprint of a table's two public keys. People compare fingerprints.

    `key` is the CURVE key, `verify` the Ed25519 key. Raises ValueError for invalid keys.
    """
    if not _Z85_PATTERN.fullmatch(key):
        raise ValueError("a CURVE key is 40 characters of Z85")
    own = Certificate(name=TABLE_NAME, role=None, curve=key, verify=parse_key(verify), seal=None)
    return fingerprint(own)


def service_fields(table: str, own: Certificate, feed: int, commands: int) -> dict[str, str]:
    """Return the fields of a table's announcement. `own` is the table's certificate."""
    return {
        "v": ANNOUNCEMENT_VERSION,
        "table": table,
        "fingerprint": fingerprint(own),
        "key": own.curve,
        "verify": own.verify.hex(),
        "feed": str(feed),
        "commands": str(commands),
    }


def parse_service(
    properties: Mapping[bytes, bytes | None], addresses: Iterable[str]
) -> TableAnnouncement:
    """Check a received announcement of a table, and return its data. Raises BadAnnouncement."""
    try:
        fields = {
            name.decode("ascii"): (value or b"").decode("ascii")
            for name, value in properties.items()
        }
    except UnicodeDecodeError:
        raise BadAnnouncement("it has text that is not ASCII") from None
    if fields.get("v") != ANNOUNCEMENT_VERSION:
        raise BadAnnouncement(f"version {fields.get('v')}, expected {ANNOUNCEMENT_VERSION}")
    try:
        found = TableAnnouncement(
            table=fields["table"],
            key=fields["key"],
            verify=fields["verify"],
            feed=_port(fields["feed"]),
            commands=_port(fields["commands"]),
            addresses=tuple(one for one in addresses if _is_ipv4(one))[:_MAX_ADDRESSES],
        )
        own = found.fingerprint
    except KeyError as missing:
        raise BadAnnouncement(f"{missing.args[0]} is missing") from None
    except ValueError as wrong:
        raise BadAnnouncement(str(wrong)) from None
    if fields.get("fingerprint") != own:
        raise BadAnnouncement("its fingerprint is not that of its keys")
    if not _TABLE_NAME_PATTERN.fullmatch(found.table):
        raise BadAnnouncement("its name is none that a table can have")
    if not found.addresses:
        raise BadAnnouncement("it has no address")
    return found


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 6 and 0 < int(text) < 65_536):
        raise ValueError(f"{text}: expected a port")
    return int(text)


def _is_ipv4(address: str) -> bool:
    try:
        ipaddress.IPv4Address(address)
    except ValueError:
        return False
    return True
