"""The gateway of one table: its sockets, its line to the machine, and their end."""

import asyncio
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager, closing
from pathlib import Path
from typing import Final

import structlog
import zmq
import zmq.asyncio

from controller.bridge import SOCKET_NAME, FeedMessage, ReplyMessage
from controller.config import TableConfig
from controller.gateway.allowed import AllowList
from controller.gateway.commands import ANSWER_S, Commands
from controller.gateway.doorkeeper import Doorkeeper
from controller.gateway.endpoints import Endpoints, reachable, remove_endpoints, write_endpoints
from controller.gateway.feed import Feed
from controller.gateway.inlet import Inlet
from controller.roster import KEYS, TABLE, RosterError, read_certificate

_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)
_log = structlog.get_logger("gateway")


class GatewayError(Exception):
    """The gateway cannot serve: one line that says why and what to do."""


class Gateway:
    """Everything between the network and one machine.

    Sockets are bound by the constructor (inside a running loop), served by `serve`
    and closed by `close`. Raises GatewayError when a key or an address is not to be had.
    """

    def __init__(self, config: TableConfig, answer_s: float = ANSWER_S) -> None:
        table, state_dir = config.table.id, config.table.state_dir
        public, secret = _table_keys(state_dir)
        allowed = _allowed(state_dir)
        with ExitStack() as opened:
            context = zmq.asyncio.Context()
            opened.callback(context.destroy)
            self._door = opened.enter_context(closing(Doorkeeper(context, allowed.admits)))
            self._feed = opened.enter_context(closing(Feed(context, table)))
            self._inlet = Inlet(config.table.runtime_dir / SOCKET_NAME, table, self)
            self._commands = opened.enter_context(
                closing(Commands(context, self._inlet.send, allowed.admits, answer_s))
            )
            for socket in (self._feed.socket, self._commands.socket):
                self._door.guard(socket, secret)
            self.endpoints = Endpoints(
                table=table,
                feed=_bind(self._feed.socket, config.gateway.feed, "feed"),
                commands=_bind(self._commands.socket, config.gateway.commands, "commands"),
                server_key=public,
            )
            self._opened = opened.pop_all()

    async def serve(self) -> None:
        """Serve until cancelled."""
        async with asyncio.TaskGroup() as group:
            for part in (self._door, self._feed, self._commands):
                group.create_task(part.serve())
            group.create_task(self._inlet.run())

    def close(self) -> None:
        """Close every socket; leave no timer."""
        self._opened.close()

    def on_feed(self, message: FeedMessage) -> None:
        """Publish what the machine says is public."""
        self._feed.publish(message)

    def on_reply(self, message: ReplyMessage) -> None:
        """Pass the machine's answer on."""
        self._commands.answer(message)

    def on_away(self) -> None:
        """Say nothing in the machine's name any more."""
        self._feed.forget()
        self._commands.machine_away()


@asynccontextmanager
async def open_gateway(config: TableConfig, answer_s: float = ANSWER_S) -> AsyncIterator[Endpoints]:
    """Serve the table of `config` inside the block, and give where.

    endpoints.json stands in the state directory as long. Raises GatewayError.
    """
    state_dir = config.table.state_dir
    with closing(Gateway(config, answer_s)) as gateway:
        try:
            write_endpoints(state_dir, gateway.endpoints)
        except OSError as error:
            raise GatewayError(f"{state_dir}: {error.strerror}; it must be writable") from error
        try:
            async with asyncio.TaskGroup() as group:
                serving = group.create_task(gateway.serve())
                yield gateway.endpoints
                serving.cancel()
        finally:
            remove_endpoints(state_dir)


async def run_gateway(
    config: TableConfig, on_open: Callable[[Endpoints], None] = lambda _: None
) -> None:
    """Serve the table of `config` until SIGTERM, SIGINT or cancellation; then leave nothing.

    `on_open` is called when the sockets are bound. Raises GatewayError.
    """
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in _SIGNALS:
        loop.add_signal_handler(number, stop.set)
    try:
        async with open_gateway(config) as endpoints:
            _log.info(
                "gateway open",
                table=endpoints.table,
                feed=endpoints.feed,
                commands=endpoints.commands,
            )
            on_open(endpoints)
            await stop.wait()
    finally:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)


def _table_keys(state_dir: Path) -> tuple[str, str]:
    """The table's public and secret CURVE key."""
    file = state_dir / KEYS / f"{TABLE}.key_secret"
    try:
        certificate = read_certificate(file)
    except RosterError as error:
        raise GatewayError(f"{error}; `dealtable keys` makes a table's keys") from error
    if certificate.curve_secret is None:
        raise GatewayError(f"{file}: holds no secret-key; put the table's secret file there")
    return certificate.curve, certificate.curve_secret


def _allowed(state_dir: Path) -> AllowList:
    try:
        return AllowList(state_dir)
    except RosterError as error:
        raise GatewayError(str(error)) from error


def _bind(socket: zmq.asyncio.Socket, address: str, key: str) -> str:
    """Bind and return the address at which this computer reaches the socket."""
    try:
        socket.bind(address)
    except zmq.ZMQError as error:
        raise GatewayError(
            f'[gateway] {key} = "{address}": {error.strerror}; '
            "stop what listens there or choose another port"
        ) from error
    return reachable(socket.getsockopt_string(zmq.LAST_ENDPOINT))
