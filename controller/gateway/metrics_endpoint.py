"""An HTTP server for the metrics of one table: those of its gateway and of its machine."""

import asyncio
import re
import socket
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from typing import Final

import msgspec

from controller.gateway.admission import AdmittedKeys, Authenticator
from controller.gateway.client_sockets import ClientSockets
from controller.gateway.command_socket import CommandSocket
from controller.gateway.feed_socket import FeedSocket
from controller.gateway.machine_connection import MachineConnection
from controller.gateway_protocol import MetricSample, MetricsMessage
from controller.messages import PublicState

METRICS_TIMEOUT_S: Final = 1.0
"""Seconds to wait for the machine's metrics. After that, the gateway's are sent alone."""
MAX_METRICS_AGE_S: Final = 1.0
"""Maximum age of the machine's metrics. Older metrics are requested again."""


class MetricsSource:
    """The source of all metrics of a table. All have the labels `table` and `simulated`."""

    def __init__(
        self,
        table: str,
        simulated: bool,
        *,
        admitted: AdmittedKeys,
        authenticator: Authenticator,
        sockets: ClientSockets,
        feed: FeedSocket,
        commands: CommandSocket,
        machine: MachineConnection,
    ) -> None:
        self._table, self._simulated = table, "true" if simulated else "false"
        self._admitted, self._authenticator, self._sockets = admitted, authenticator, sockets
        self._feed, self._commands, self._machine = feed, commands, machine
        self._machine_metrics: MetricsMessage | None = None
        self._received_s = 0.0
        self._request: asyncio.Future[MetricsMessage] | None = None

    def accept(self, message: MetricsMessage) -> None:
        """Store the metrics that the machine has sent, and pass them to all waiting requests."""
        self._machine_metrics, self._received_s = message, asyncio.get_running_loop().time()
        if self._request is not None and not self._request.done():
            self._request.set_result(message)
        self._request = None

    def forget_machine(self) -> None:
        """Delete the machine's metrics, because the machine is gone."""
        self._machine_metrics = None
        if self._request is not None:
            self._request.cancel()
            self._request = None

    async def render(self) -> tuple[bytes, str]:
        """Return all available metrics in Prometheus' text format, and their HTTP content type."""
        # The library costs 14 MB, so it is imported only at the first request.
        from controller.gateway.metric_families import CONTENT_TYPE_PLAIN_0_0_4, render_metrics

        machine = await self._ask_machine()
        samples = list(self._gateway_samples())
        distributions = [self._commands.reply_times.distribution("command_reply_seconds")]
        if machine is not None:
            samples.extend(machine.samples)
            distributions.extend(machine.distributions)
        written = render_metrics(self._table, self._simulated, samples, distributions)
        return written, CONTENT_TYPE_PLAIN_0_0_4

    async def _ask_machine(self) -> MetricsMessage | None:
        loop = asyncio.get_running_loop()
        if self._machine_metrics is not None and loop.time() - self._received_s < MAX_METRICS_AGE_S:
            return self._machine_metrics
        if self._request is None:
            if not self._machine.ask_metrics():
                return None
            self._request = loop.create_future()
        with suppress(TimeoutError, asyncio.CancelledError):
            async with asyncio.timeout(METRICS_TIMEOUT_S):
                return await asyncio.shield(self._request)
        return None

    def _gateway_samples(self) -> Iterator[MetricSample]:
        yield MetricSample("machine_up", (), int(self._machine.is_up))
        for why, count in self._authenticator.refused_by_reason.items():
            yield MetricSample("keys_refused", (why,), count)
        yield MetricSample("keys_expiring", (), self._admitted.count_expiring())
        yield MetricSample("connections_cut", (), self._sockets.reconnect_count)
        yield MetricSample("commands_waiting", (), self._commands.pending_count)
        for topic, count in self._feed.sent_by_kind.items():
            yield MetricSample("feed_messages", (topic,), count)
        for labels, count in self._commands.reply_counts.items():
            yield MetricSample("commands", labels, count)
        with suppress(msgspec.MsgspecError):  # There is no state, or one of another version.
            state = msgspec.json.decode(self._feed.state or b"", type=PublicState)
            yield MetricSample("phase", (state.machine.phase.value,), 1)
            yield MetricSample("calls_waiting", (), len(state.calls))
            for name in sorted({alert.name for alert in state.alerts}):
                yield MetricSample("alert", (name,), 1)


METRICS_PATH: Final = "/metrics"
MAX_REQUEST_BYTES: Final = 8192
SCRAPE_TIMEOUT_S: Final = 5.0
"""Seconds in which a client must send its request and receive the answer."""
MAX_CLIENTS: Final = 8
_ADDRESS: Final = re.compile(r"tcp://(.+):(\*|\d+)")
_PLAIN_TEXT: Final = "text/plain; charset=utf-8"


def bind_metrics_socket(address: str) -> socket.socket:
    """Return a socket that listens at `tcp://HOST:PORT`. Port * is any free one. Raises OSError."""
    fits = _ADDRESS.fullmatch(address)
    assert fits is not None  # The configuration's type guarantees the format.
    host, port = fits[1].strip("[]"), 0 if fits[2] == "*" else int(fits[2])
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family)


def metrics_url(bound: socket.socket) -> str:
    """Return the URL at which the socket `bound` serves the metrics."""
    host, port, *_ = bound.getsockname()
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}{METRICS_PATH}"


class MetricsEndpoint:
    """A small HTTP server for metrics. `render` returns the metrics and their content type."""

    def __init__(
        self, bound: socket.socket, render: Callable[[], Awaitable[tuple[bytes, str]]]
    ) -> None:
        self._socket, self._render = bound, render
        self._clients: set[asyncio.StreamWriter] = set()

    async def serve(self) -> None:
        """Answer HTTP requests until this task is cancelled."""
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
        """Close the listening socket."""
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
                request = None
                with suppress(asyncio.IncompleteReadError, asyncio.LimitOverrunError):
                    head = await reader.readuntil(b"\r\n\r\n")
                    request = head.split(b"\r\n", 1)[0].decode("ascii", "replace")
                writer.write(await self._answer(request))
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


def _encode_response(status: str, body: bytes, more: str = "", kind: str = _PLAIN_TEXT) -> bytes:
    head = (
        f"HTTP/1.0 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
        f"{more}Connection: close\r\n\r\n"
    )
    return head.encode() + body
