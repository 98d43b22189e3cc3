"""What a table says of itself on the network, so that a console finds it: names and public keys.

A service of multicast DNS (DNS-SD). Anybody may say such things, so that nothing of it is
believed before people have compared the fingerprint of its keys with what the table itself
prints; it holds no secret.
"""

import ipaddress
import re
from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from controller.roster import TABLE_NAME, Certificate, fingerprint
from controller.roster.certificate import parse_key

SERVICE_TYPE: Final = "_dealtable._tcp.local."
ANNOUNCEMENT_VERSION: Final = "1"
_PORTS: Final = range(1, 65_536)
_Z85_PATTERN: Final = re.compile(r"[0-9a-zA-Z.\-:+=^!/*?&<>()\[\]{}@%$#]{40}")


_TABLE_NAME_PATTERN: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,23}")
"""What a table can be called: any other name is there to be read for something else."""
_MAX_ADDRESSES: Final = 8


class BadAnnouncement(Exception):
    """An announcement that is none of a table: one line says why."""


class TableAnnouncement(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A table as the network says. `addresses`: IPv4, in the order in which it said them.

    `key` is its CURVE key (Z85), `verify` its Ed25519 key (hex), as TOML and endpoints have them.
    """

    table: str
    key: str
    verify: str
    feed: int
    commands: int
    addresses: tuple[str, ...]

    @property
    def fingerprint(self) -> str:
        """What people compare: of these keys, whatever the announcement says it is."""
        return table_fingerprint(self.key, self.verify)


def table_fingerprint(key: str, verify: str) -> str:
    """Return the fingerprint of a table's keys. Raises ValueError for what are none."""
    if not _Z85_PATTERN.fullmatch(key):
        raise ValueError("a CURVE key is 40 characters of Z85")
    own = Certificate(name=TABLE_NAME, role=None, curve=key, verify=parse_key(verify), seal=None)
    return fingerprint(own)


def service_fields(table: str, own: Certificate, feed: int, commands: int) -> dict[str, str]:
    """Return what a table with these ports says of itself, field by field."""
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
    """Return the table behind what was heard. Raises NoTable."""
    fields = _decode_fields(properties)
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


def _decode_fields(properties: Mapping[bytes, bytes | None]) -> dict[str, str]:
    try:
        return {
            name.decode("ascii"): (value or b"").decode("ascii")
            for name, value in properties.items()
        }
    except UnicodeDecodeError:
        raise BadAnnouncement("it says something that is no ASCII text") from None


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 6 and int(text) in _PORTS):
        raise ValueError(f"{text}: expected a port")
    return int(text)


def _is_ipv4(address: str) -> bool:
    try:
        ipaddress.IPv4Address(address)
    except ValueError:
        return False
    return True
