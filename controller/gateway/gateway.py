"""The gateway of one table: its sockets, its connection to the machine, and its shutdown."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager, closing
from pathlib import Path
from typing import Final

import zmq
import zmq.asyncio

from controller.client.discovery import (
    Endpoints,
    reachable_address,
    remove_endpoints,
    write_endpoints,
)
from controller.config import METRICS_OFF, TableConfig
from controller.gateway.admission import AdmittedKeys, Authenticator
from controller.gateway.client_sockets import ClientSockets, wait_for_revocation
from controller.gateway.command_socket import MACHINE_REPLY_TIMEOUT_S, CommandSocket
from controller.gateway.feed_socket import FeedSocket
from controller.gateway.machine_connection import MachineConnection
from controller.gateway.metrics_endpoint import (
    MetricsEndpoint,
    MetricsSource,
    bind_metrics_socket,
    metrics_url,
)
from controller.gateway_protocol import (
    FeedMessage,
    HelloMessage,
    MachineMessage,
    MetricsMessage,
    ReplyMessage,
)
from controller.host.loggers import structlog
from controller.host.users import UserError, allowed_peer_uids
from controller.roster import KEYS_FOLDER, TABLE_NAME, RosterError, read_certificate

_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)
_log = structlog.get_logger("gateway")


class GatewayError(Exception):
    """An error that prevents the start of the gateway: one line with the reason and the remedy."""


class Gateway:
    """The gateway between the network and the machine of one table.

    The constructor binds the sockets (inside a running loop), `serve` serves them and `close`
    closes them. `wall` returns the time stamp of the wall clock, for keys that expire. `on_machine`
    is called with the first message of each machine. Raises GatewayError if a key or an address is
    not available.
    """

    def __init__(
        self,
        config: TableConfig,
        wall: Callable[[], str],
        reply_timeout_s: float = MACHINE_REPLY_TIMEOUT_S,
        on_machine: Callable[[HelloMessage], None] = lambda hello: None,
    ) -> None:
        table = config.table.id
        public, secret = _table_keys(config.gateway_dir)
        try:
            self._admitted_keys = allowed = AdmittedKeys(config.gateway_dir, wall)
            machine_uids = allowed_peer_uids(config.table.user)
        except (RosterError, UserError) as error:
            raise GatewayError(str(error)) from error
        with ExitStack() as opened:
            context = zmq.asyncio.Context()
            opened.callback(context.destroy)
            self._authenticator = Authenticator(context, allowed.refusal_of_peer)
            opened.callback(self._authenticator.close)
            self._feed = FeedSocket(context, table, allowed.ban)
            opened.callback(self._feed.close)
            self._machine = MachineConnection(
                config.socket, table, machine_uids, self._on_message, self._on_lost
            )
            self._commands = CommandSocket(
                context, self._machine.send, allowed.refusal_of_peer, reply_timeout_s
            )
            opened.callback(self._commands.close)
            self._on_machine = on_machine
            self._client_sockets = ClientSockets(
                self._authenticator, secret, self._feed, self._commands
            )
            self._metrics_source = MetricsSource(
                table,
                config.table.backend == "sim",
                admitted=allowed,
                authenticator=self._authenticator,
                sockets=self._client_sockets,
                feed=self._feed,
                commands=self._commands,
                machine=self._machine,
            )
            self._metrics_endpoint, asked_at = _open_metrics_endpoint(
                config.gateway.metrics, self._metrics_source
            )
            if self._metrics_endpoint is not None:
                opened.callback(self._metrics_endpoint.close)
            feed, commands = self._bind(config.gateway.feed, config.gateway.commands)
            self.endpoints = Endpoints(
                table=table, feed=feed, commands=commands, server_key=public, metrics=asked_at
            )
            self._exit_stack = opened.pop_all()

    async def serve(self) -> None:
        """Serve clients and the machine until this task is cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._authenticator.serve())
            group.create_task(self._serve_clients())
            group.create_task(self._machine.run())
            if self._metrics_endpoint is not None:
                group.create_task(self._metrics_endpoint.serve())

    async def _serve_clients(self) -> None:
        """Serve both client sockets. Reconnect all clients when one is no longer admitted."""
        while True:
            async with self._client_sockets.serving():
                gone = await wait_for_revocation(self._admitted_keys, self._authenticator)
                _log.warning("keys revoked or expired, all clients connect again", whose=gone)
                await self._client_sockets.drain()
            await self._client_sockets.reconnect_all()

    def _bind(self, *addresses: str) -> list[str]:
        """Bind each client socket to its own address. Return the addresses for local clients."""
        bound = []
        for part, name, address in zip(
            self._client_sockets.sockets, ("feed", "commands"), addresses, strict=True
        ):
            try:
                bound.append(reachable_address(self._client_sockets.bind(part, address)))
            except zmq.ZMQError as error:
                raise GatewayError(_bind_error_text(name, address, error.strerror)) from error
        return bound

    def close(self) -> None:
        """Close every socket and cancel every timer."""
        self._exit_stack.close()

    def _on_message(self, message: MachineMessage) -> None:
        """Pass a message of the machine to the part of the gateway that handles such messages."""
        match message:
            case FeedMessage():
                self._feed.publish(message)
            case ReplyMessage():
                self._commands.deliver_reply(message)
            case MetricsMessage():
                self._metrics_source.accept(message)
            case HelloMessage():
                self._on_machine(message)

    def _on_lost(self) -> None:
        """Delete the state and metrics of the lost machine, and refuse all pending commands."""
        self._feed.forget_state()
        self._metrics_source.forget_machine()
        self._commands.refuse_all_pending()


@asynccontextmanager
async def open_gateway(
    config: TableConfig,
    wall: Callable[[], str],
    reply_timeout_s: float = MACHINE_REPLY_TIMEOUT_S,
    on_machine: Callable[[HelloMessage], None] = lambda hello: None,
) -> AsyncIterator[Endpoints]:
    """Run the gateway of the table in `config` during the block, and yield its addresses.

    `wall` returns the time stamp of the wall clock. The file endpoints.json exists in the gateway's
    directory during the block. Raises GatewayError.
    """
    folder = config.gateway_dir
    with closing(Gateway(config, wall, reply_timeout_s, on_machine)) as gateway:
        try:
            write_endpoints(folder, gateway.endpoints)
        except OSError as error:
            raise GatewayError(f"{folder}: {error.strerror}; it must be writable") from error
        try:
            async with asyncio.TaskGroup() as group:
                serving = [group.create_task(gateway.serve())]
                if config.gateway.announce:
                    serving.append(group.create_task(_announce(config, gateway.endpoints)))
                yield gateway.endpoints
                for task in serving:
                    task.cancel()
        finally:
            remove_endpoints(folder)


async def run_gateway(
    config: TableConfig,
    wall: Callable[[], str],
    on_open: Callable[[Endpoints], None] = lambda _: None,
    on_machine: Callable[[HelloMessage], None] = lambda _: None,
) -> None:
    """Run the gateway of the table in `config` until SIGTERM, SIGINT or cancellation.

    `wall` returns the time stamp of the wall clock. `on_open` is called when the sockets are bound,
    `on_machine` at each first message of a machine. Raises GatewayError.
    """
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in _SIGNALS:
        loop.add_signal_handler(number, stop.set)
    try:
        async with open_gateway(config, wall, on_machine=on_machine) as endpoints:
            _log.info(
                "gateway open",
                table=endpoints.table,
                feed=endpoints.feed,
                commands=endpoints.commands,
                metrics=endpoints.metrics,
            )
            on_open(endpoints)
            await stop.wait()
    finally:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)


async def _announce(config: TableConfig, endpoints: Endpoints) -> None:
    """Announce the table on the network. If the library for it is missing, only log this."""
    try:
        from controller.gateway.announcement import announce
    except ImportError as missing:
        _log.warning(
            "not announced on the network: a library is missing",
            library=missing.name,
            mend="pip install 'dealtable[console]', or [gateway] announce = false",
        )
        return
    await announce(config, endpoints)


def _table_keys(folder: Path) -> tuple[str, str]:
    """Return the table's public and secret CURVE key. Raises GatewayError if one is missing."""
    file = folder / KEYS_FOLDER / f"{TABLE_NAME}.key_secret"
    try:
        certificate = read_certificate(file)
    except RosterError as error:
        raise GatewayError(f"{error}; `dealtable keys` makes a table's keys") from error
    if certificate.curve_secret is None:
        raise GatewayError(f"{file}: holds no secret-key; put the table's secret file there")
    return certificate.curve, certificate.curve_secret


def _open_metrics_endpoint(
    address: str, source: MetricsSource
) -> tuple[MetricsEndpoint | None, str | None]:
    """Open the metrics endpoint and return it with its URL, or (None, None) if metrics are off."""
    if address == METRICS_OFF:
        return None, None
    try:
        bound = bind_metrics_socket(address)
    except OSError as error:
        why = os.strerror(error.errno or 0)  # The error's own text repeats the address.
        raise GatewayError(_bind_error_text("metrics", address, why)) from error
    return MetricsEndpoint(bound, source.render), metrics_url(bound)


def _bind_error_text(key: str, address: str, why: str | None) -> str:
    return f'[gateway] {key} = "{address}": {why}; stop what listens there or choose another port'
