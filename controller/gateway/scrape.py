"""`GET /metrics` over HTTP on loopback: one small text, no more of the web than that."""

import asyncio
import re
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final

METRICS_PATH: Final = "/metrics"
MAX_REQUEST_BYTES: Final = 8192
SCRAPE_TIMEOUT_S: Final = 5.0
"""How long a client has to ask and to take its answer."""
MAX_CLIENTS: Final = 8
_ADDRESS: Final = re.compile(r"tcp://(.+):(\*|\d+)")
_PLAIN_TEXT: Final = "text/plain; charset=utf-8"


def bind_metrics_socket(address: str) -> socket.socket:
    """Return a socket that listens at `tcp://HOST:PORT`, port * for a free one. Raises OSError."""
    fits = _ADDRESS.fullmatch(address)
    assert fits is not None  # the configuration's type has it so
    host, port = fits[1].strip("[]"), 0 if fits[2] == "*" else int(fits[2])
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family)


def metrics_url(bound: socket.socket) -> str:
    """Return where a bound socket is asked."""
    host, port, *_ = bound.getsockname()
    return (
        f"http://[{host}]:{port}{METRICS_PATH}"
        if ":" in host
        else f"http://{host}:{port}{METRICS_PATH}"
    )


class MetricsEndpoint:
    """Answers whoever asks for the metrics. `text` gives them, and their content type."""

    def __init__(
        self, bound: socket.socket, render: Callable[[], Awaitable[tuple[bytes, str]]]
    ) -> None:
        self._socket = bound
        self._render = render
        self._clients: set[asyncio.StreamWriter] = set()

    async def serve(self) -> None:
        """Answer until cancelled."""
        server = await asyncio.start_server(
            self._serve_client, sock=self._socket, limit=MAX_REQUEST_BYTES
        )
        try:
            await server.serve_forever()
        finally:
            server.close()
            for writer in list(self._clients):
                writer.transport.abort()

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()

    async def _serve_client(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        if len(self._clients) >= MAX_CLIENTS:
            writer.transport.abort()
            return
        self._clients.add(writer)
        try:
            async with asyncio.timeout(SCRAPE_TIMEOUT_S):
                writer.write(await self._answer(await _read_request_line(reader)))
                await writer.drain()
        except (TimeoutError, OSError):
            pass
        finally:
            self._clients.discard(writer)
            writer.close()

    async def _answer(self, request: str | None) -> bytes:
        if request is None:
            return _encode_response("400 Bad Request", b"no request\n")
        method, _, rest = request.partition(" ")
        if method != "GET":
            return _encode_response("405 Method Not Allowed", b"GET alone\n", "Allow: GET\r\n")
        if rest.split(" ")[0].partition("?")[0] != METRICS_PATH:
            return _encode_response("404 Not Found", f"only {METRICS_PATH} is here\n".encode())
        body, kind = await self._render()
        return _encode_response("200 OK", body, kind=kind)


async def _read_request_line(reader: asyncio.StreamReader) -> str | None:
    """Return the first line of a request, read to its end; None for what is none."""
    with suppress(asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        head = await reader.readuntil(b"\r\n\r\n")
        return head.split(b"\r\n", 1)[0].decode("ascii", "replace")
    return None


def _encode_response(status: str, body: bytes, more: str = "", kind: str = _PLAIN_TEXT) -> bytes:
    head = (
        f"HTTP/1.0 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
        f"{more}Connection: close\r\n\r\n"
    )
    return head.encode() + body
