"""All numbers of one table: the gateway's own, and its machine's, which it asks for them."""

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

import msgspec

from controller.bridge import MetricsMessage
from controller.counting import MetricSample
from controller.gateway.allowed import AdmittedKeys
from controller.gateway.commands import CommandSocket
from controller.gateway.doorkeeper import Authenticator
from controller.gateway.feed import FeedSocket
from controller.gateway.inlet import MachineConnection
from controller.gateway.renewal import ClientSockets
from controller.messages import PublicState

METRICS_TIMEOUT_S: Final = 1.0
"""How long the machine has to say its numbers; the gateway's go out without them."""
MAX_METRICS_AGE_S: Final = 1.0
"""Numbers of the machine so new are not asked for again, however often somebody scrapes."""


class MetricsSource:
    """Gathers what there is to be counted. `table` and `simulated` stand on each number."""

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
        """Take what the machine says."""
        self._machine_metrics, self._received_s = message, asyncio.get_running_loop().time()
        if self._request is not None and not self._request.done():
            self._request.set_result(message)
        self._request = None

    def forget_machine(self) -> None:
        """The machine is gone, and its numbers with it."""
        self._machine_metrics = None
        if self._request is not None:
            self._request.cancel()
            self._request = None

    async def render(self) -> tuple[bytes, str]:
        """Return all of it in Prometheus' text format, and its content type."""
        # Not before somebody asks: the library costs every gateway 14 MB.
        from controller.gateway.metrics import CONTENT_TYPE_PLAIN_0_0_4, render_metrics

        machine = await self._ask_machine()
        samples, distributions = (
            list(self._gateway_samples()),
            [self._commands.reply_times.distribution("command_reply_seconds")],
        )
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
        state = self._decode_state()
        if state is not None:
            yield MetricSample("phase", (state.machine.phase.value,), 1)
            yield MetricSample("calls_waiting", (), len(state.calls))
            for name in sorted({alert.name for alert in state.alerts}):
                yield MetricSample("alert", (name,), 1)

    def _decode_state(self) -> PublicState | None:
        body = self._feed.state
        with suppress(msgspec.MsgspecError):  # of a machine of another version
            return None if body is None else msgspec.json.decode(body, type=PublicState)
        return None
