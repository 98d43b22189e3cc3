"""The announcement of a table's addresses and keys on the local network (multicast DNS).

With it, a console finds the table without configuration. A table is announced only with `[gateway]
announce = true`, and only at the addresses at which the feed listens. A failure is logged, and the
table runs without an announcement.
"""

import asyncio
import ipaddress
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import ifaddr
from zeroconf import Error, IPVersion
from zeroconf.asyncio import AsyncServiceInfo, AsyncZeroconf

from controller.client.discovery import SERVICE_TYPE, Endpoints, service_fields
from controller.config import TableConfig
from controller.host.loggers import structlog
from controller.roster import KEYS_FOLDER, TABLE_NAME, RosterError, fingerprint, read_certificate

ADDRESS_CHECK_INTERVAL_S: Final = 15.0
"""Seconds between two checks whether the addresses of this computer have changed."""
_log = structlog.get_logger("gateway")


async def announce(
    config: TableConfig, endpoints: Endpoints, check_interval_s: float = ADDRESS_CHECK_INTERVAL_S
) -> None:
    """Announce the table until cancelled. If this computer's addresses change, announce it again.

    A computer that is starting has no address yet, and the address may change later.
    """
    failed = False
    while True:
        addresses = _addresses(config, endpoints)
        try:
            async with _registered_service(config.gateway_dir, endpoints, addresses):
                _log.info("announced", table=endpoints.table, addresses=addresses)
                failed = False
                while True:  # No event reports that the addresses have changed.
                    await asyncio.sleep(check_interval_s)
                    if _addresses(config, endpoints) != addresses:
                        break
        except (OSError, Error, RosterError) as error:
            if not failed:
                why = getattr(error, "strerror", None) or str(error) or type(error).__name__
                _log.warning("not announced on the network", why=why, addresses=addresses)
            failed = True
            await asyncio.sleep(check_interval_s)


@asynccontextmanager
async def _registered_service(
    folder: Path, endpoints: Endpoints, addresses: list[str]
) -> AsyncIterator[None]:
    """Announce the table at `addresses` during the block. Raises OSError, Error, RosterError."""
    if not addresses:
        yield
        return
    own = read_certificate(folder / KEYS_FOLDER / f"{TABLE_NAME}.key")
    feed, commands = _port(endpoints.feed), _port(endpoints.commands)
    name = f"{endpoints.table}-{fingerprint(own)}"  # Two tables with one name are two services.
    info = AsyncServiceInfo(
        SERVICE_TYPE,
        f"{name}.{SERVICE_TYPE}",
        port=feed,
        properties=service_fields(endpoints.table, own, feed, commands),
        server=f"dealtable-{fingerprint(own)}.local.",
        addresses=[socket.inet_aton(address) for address in addresses],
    )
    zeroconf = AsyncZeroconf(interfaces=addresses, ip_version=IPVersion.V4Only)
    try:
        await (await zeroconf.async_register_service(info))
        yield
    finally:
        await zeroconf.async_unregister_all_services()
        await zeroconf.async_close()


def _addresses(config: TableConfig, endpoints: Endpoints) -> list[str]:
    """Return the addresses of this computer at which clients can reach the feed.

    If the feed is bound to `*`, these are all IPv4 addresses except loopback addresses.
    """
    if _host(config.gateway.feed) not in {"*", "0.0.0.0"}:
        return [_host(endpoints.feed)]
    found = {
        ipaddress.IPv4Address(one.ip)
        for adapter in ifaddr.get_adapters()
        for one in adapter.ips
        if isinstance(one.ip, str)  # An IPv6 address is a tuple. The sockets use IPv4.
    }
    return [str(address) for address in sorted(found) if not address.is_loopback]


def _host(address: str) -> str:
    return address.removeprefix("tcp://").rpartition(":")[0]


def _port(address: str) -> int:
    return int(address.rpartition(":")[2])
