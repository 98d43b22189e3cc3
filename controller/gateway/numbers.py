"""All numbers of one table: the gateway's own, and its machine's, which it asks for them."""

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

import msgspec

from controller.bridge import MetricsMessage
from controller.counting import Sample
from controller.gateway.allowed import AdmittedKeys
from controller.gateway.commands import Commands
from controller.gateway.doorkeeper import Authenticator
from controller.gateway.feed import Feed
from controller.gateway.inlet import MachineConnection
from controller.gateway.renewal import Front
from controller.messages import State

ANSWER_S: Final = 1.0
"""How long the machine has to say its numbers; the gateway's go out without them."""
MAX_METRICS_AGE_S: Final = 1.0
"""Numbers of the machine so new are not asked for again, however often somebody scrapes."""


class Numbers:
    """Gathers what there is to be counted. `table` and `simulated` stand on each number."""

    def __init__(
        self,
        table: str,
        simulated: bool,
        *,
        allowed: AdmittedKeys,
        door: Authenticator,
        front: Front,
        feed: Feed,
        commands: Commands,
        inlet: MachineConnection,
    ) -> None:
        self._table, self._simulated = table, "true" if simulated else "false"
        self._admitted, self._authenticator, self._sockets = allowed, door, front
        self._feed, self._commands, self._machine = feed, commands, inlet
        self._told: MetricsMessage | None = None
        self._received_s = 0.0
        self._asked: asyncio.Future[MetricsMessage] | None = None

    def take(self, message: MetricsMessage) -> None:
        """Take what the machine says."""
        self._told, self._received_s = message, asyncio.get_running_loop().time()
        if self._asked is not None and not self._asked.done():
            self._asked.set_result(message)
        self._asked = None

    def forget(self) -> None:
        """The machine is gone, and its numbers with it."""
        self._told = None
        if self._asked is not None:
            self._asked.cancel()
            self._asked = None

    async def text(self) -> tuple[bytes, str]:
        """Return all of it in Prometheus' text format, and its content type."""
        # Not before somebody asks: the library costs every gateway 14 MB.
        from controller.gateway.metrics import CONTENT_TYPE_PLAIN_0_0_4, text

        machine = await self._ask_machine()
        samples, distributions = (
            list(self._gateway_samples()),
            [self._commands.reply_times.read("command_reply_seconds")],
        )
        if machine is not None:
            samples.extend(machine.samples)
            distributions.extend(machine.distributions)
        written = text(self._table, self._simulated, samples, distributions)
        return written, CONTENT_TYPE_PLAIN_0_0_4

    async def _ask_machine(self) -> MetricsMessage | None:
        loop = asyncio.get_running_loop()
        if self._told is not None and loop.time() - self._received_s < MAX_METRICS_AGE_S:
            return self._told
        if self._asked is None:
            if not self._machine.ask_metrics():
                return None
            self._asked = loop.create_future()
        with suppress(TimeoutError, asyncio.CancelledError):
            async with asyncio.timeout(ANSWER_S):
                return await asyncio.shield(self._asked)
        return None

    def _gateway_samples(self) -> Iterator[Sample]:
        yield Sample("machine_up", (), int(self._machine.is_up))
        for why, count in self._authenticator.refused.items():
            yield Sample("keys_refused", (why,), count)
        yield Sample("keys_expiring", (), self._admitted.expiring())
        yield Sample("connections_cut", (), self._sockets.renewed)
        yield Sample("commands_waiting", (), self._commands.waiting)
        for topic, count in self._feed.sent.items():
            yield Sample("feed_messages", (topic,), count)
        for labels, count in self._commands.answers.items():
            yield Sample("commands", labels, count)
        state = self._decode_state()
        if state is not None:
            yield Sample("phase", (state.machine.phase.value,), 1)
            yield Sample("calls_waiting", (), len(state.calls))
            for name in sorted({alert.name for alert in state.alerts}):
                yield Sample("alert", (name,), 1)

    def _decode_state(self) -> State | None:
        body = self._feed.state
        with suppress(msgspec.MsgspecError):  # of a machine of another version
            return None if body is None else msgspec.json.decode(body, type=State)
        return None
