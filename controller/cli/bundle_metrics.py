"""The metrics of a gateway, asked for by `bundle`: from this computer alone, and not many."""

import asyncio
import ipaddress
import re
import socket
from typing import Final
from urllib.parse import urlsplit

from controller.gateway.scrape import METRICS_PATH

METRICS_TIMEOUT_S: Final = 3.0
"""How long the gateway has for all of its metrics."""
MAX_METRICS_BYTES: Final = 1 << 20
"""Bytes of an answer."""
_STATUS_OK: Final = re.compile(rb"HTTP/1\.[01] 200 ")


def fetch_metrics(address: str) -> bytes:
    """Return the metrics at `http://HOST:PORT/metrics`, an address that a gateway says of itself.

    Nobody else is asked for its word. Raises ValueError or OSError, in words for people.
    """
    where = urlsplit(address)
    host, port = where.hostname or "", where.port or 0
    if (
        (where.scheme, where.path) != ("http", METRICS_PATH)
        or not port
        or not _is_own_address(host)
    ):
        raise ValueError("its gateway names no address of this computer for its metrics")
    try:
        answer = asyncio.run(_get_metrics(host, port))
    except TimeoutError:
        raise ValueError(f"no metrics in {METRICS_TIMEOUT_S:g} s") from None
    if len(answer) > MAX_METRICS_BYTES:
        raise ValueError(f"more than {MAX_METRICS_BYTES} bytes of metrics")
    head, end, body = answer.partition(b"\r\n\r\n")
    if not end or not _STATUS_OK.match(head):
        raise ValueError("what answers there has no metrics")
    return body


def _is_own_address(host: str) -> bool:
    """Tell whether a host is written as an address, and as one of this computer's own."""
    try:
        address = ipaddress.ip_address(host)
        family = socket.AF_INET6 if address.version == 6 else socket.AF_INET
        with socket.socket(family) as probe:
            probe.bind((host, 0))  # which only one's own can be
    except (ValueError, OSError):
        return False
    return not address.is_multicast


async def _get_metrics(host: str, port: int) -> bytes:
    """Return all that is answered, or a little more than may be. Raises OSError."""
    async with asyncio.timeout(METRICS_TIMEOUT_S):
        reader, writer = await asyncio.open_connection(host, port)
        try:
            writer.write(f"GET {METRICS_PATH} HTTP/1.0\r\n\r\n".encode())
            answer = b""
            while len(answer) <= MAX_METRICS_BYTES and (more := await reader.read(1 << 16)):
                answer += more
            return answer
        finally:
            writer.close()
