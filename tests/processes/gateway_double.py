"""A gateway that a test plays: it has a table's keys, and publishes what the test gives it."""

import itertools
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
import zmq
import zmq.asyncio

from controller.keys.table_keys import create_table_keys
from controller.roster import read_certificate
from tests.table_doubles import STATE


class Gateway:
    """A gateway with a table's keys that publishes what it is given: feed and commands."""

    def __init__(self, state_dir: Path, table: str, context: zmq.asyncio.Context) -> None:
        create_table_keys(state_dir)
        self.state_dir, self.table = state_dir, table
        self._seq = itertools.count(1)
        secret = read_certificate(state_dir / "keys" / "table.key_secret")
        assert secret.curve_secret is not None
        self.key = secret.curve
        self.feed = self._bound(context, zmq.XPUB, secret.curve_secret)
        self.commands = self._bound(context, zmq.ROUTER, secret.curve_secret)
        self.tell()

    def tell(self, **more: object) -> None:
        """Write endpoints.json."""
        addresses = {
            "feed": self.feed.getsockopt_string(zmq.LAST_ENDPOINT),
            "commands": self.commands.getsockopt_string(zmq.LAST_ENDPOINT),
        }
        told = {"table": self.table, "server_key": self.key, **addresses, **more}
        (self.state_dir / "endpoints.json").write_text(json.dumps(told))

    async def say(self, *frames: bytes) -> None:
        await self.feed.send_multipart(frames)

    async def state(self, **more: Any) -> None:
        """Say a state, with what is asked for in it; numbers tell one from the next."""
        state = msgspec.structs.replace(STATE, table=self.table, seq=next(self._seq), **more)
        await self.say(f"state/{self.table}".encode(), msgspec.json.encode(state))

    async def subscribed(self) -> None:
        await self.feed.recv_multipart()

    async def answer(self, *bodies: Callable[[str], bytes]) -> None:
        """Answer the next command with one reply or more; each is made out of the command's id."""
        who, asked = await self.commands.recv_multipart()
        for body in bodies:
            await self.commands.send_multipart([who, body(json.loads(asked)["id"])])

    @staticmethod
    def _bound(
        context: zmq.asyncio.Context, kind: zmq.SocketType, secret: str
    ) -> zmq.asyncio.Socket:
        socket = context.socket(kind)
        socket.linger, socket.curve_server = 0, True
        socket.curve_secretkey = secret.encode()
        socket.bind("tcp://127.0.0.1:*")
        return socket


@pytest.fixture
async def gateways(tmp_path: Path) -> AsyncIterator[tuple[Gateway, Gateway]]:
    """Give an honest one, of T01, and one in other hands, of T02."""
    context = zmq.asyncio.Context()
    yield Gateway(tmp_path / "T01", "T01", context), Gateway(tmp_path / "T02", "T02", context)
    context.destroy()


@pytest.fixture
def honest(gateways: tuple[Gateway, Gateway]) -> Gateway:
    return gateways[0]


@pytest.fixture
def other(gateways: tuple[Gateway, Gateway]) -> Gateway:
    return gateways[1]
