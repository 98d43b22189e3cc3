"""A gateway on loopback with CURVE, and a scripted machine behind it on a Unix socket."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import msgspec
import pytest
import zmq
import zmq.asyncio

from controller.client.client import Client, ClientIdentity
from controller.client.connection import CurveKeys, TableConnection
from controller.client.discovery import Endpoints
from controller.config import TableConfig
from controller.gateway.gateway import open_gateway
from controller.gateway_protocol import SOCKET_NAME
from controller.keys.table_keys import create_table_keys
from controller.messages import PublicEvent, PublicMachine, PublicState
from controller.service.wall_clock import read_wall_clock
from tests.gateway.scripted import Connect, MakeState, Raw, ScriptedMachine, Told, identity
from tests.table_doubles import STATE, loopback_config


@pytest.fixture
def make_state() -> MakeState:
    """States of table T01, each with a number of its own; machine=… sets what is asked for."""
    numbers = itertools.count(1)

    def make(machine: PublicMachine | None = None, **more: Any) -> PublicState:
        seq = next(numbers)
        own = {
            "seq": seq,
            "time": f"2026-03-01T12:00:{seq % 60:02}.000Z",
            "simulated": True,
            "mode": "test",
            "machine": machine or STATE.machine,
        }
        return msgspec.structs.replace(STATE, **(own | more))

    return make


@pytest.fixture
def make_event() -> Callable[[int], PublicEvent]:
    """A public journal entry of table T01 with the given number."""

    def make(n: int) -> PublicEvent:
        return PublicEvent(
            table="T01",
            boot="00" * 8,
            n=n,
            time="2026-03-01T12:00:00.000Z",
            simulated=True,
            kind="opened",
            deal=None,
            attempt=None,
            data={},
            prev="00" * 32,
            head="11" * 32,
        )

    return make


@pytest.fixture
def state_dir(tmp_path: Path) -> Path:
    """A state directory with keys."""
    create_table_keys(tmp_path)
    return tmp_path


@pytest.fixture
def config(state_dir: Path, runtime_dir: Path) -> TableConfig:
    """A table whose gateway takes free ports of this computer alone."""
    return loopback_config(state_dir, runtime_dir)


@pytest.fixture
async def machine(runtime_dir: Path, make_state: MakeState) -> AsyncIterator[ScriptedMachine]:
    """A machine that runs already."""
    scripted = ScriptedMachine(runtime_dir / SOCKET_NAME, make_state())
    await scripted.start()
    yield scripted
    await scripted.stop()


ANSWER_S = 30.0


@pytest.fixture
async def endpoints(config: TableConfig, machine: ScriptedMachine) -> AsyncIterator[Endpoints]:
    """Where a running gateway serves; its machine is connected."""
    async with open_gateway(config, read_wall_clock, ANSWER_S) as where:
        await machine.connected.wait()
        yield where


@pytest.fixture
async def connect(state_dir: Path, endpoints: Endpoints) -> AsyncIterator[Connect]:
    """Clients of the running gateway: connect("referee", …) with a client's own options."""
    numbers = itertools.count(1)
    async with AsyncExitStack() as clients:

        def connect(who: str | ClientIdentity, where: Endpoints = endpoints, **more: Any) -> Client:
            me = identity(state_dir, who) if isinstance(who, str) else who
            more.setdefault("new_id", lambda: f"id-{next(numbers)}")
            client = Client(where, me, **more)
            client.boot = "00" * 8  # as if it had seen the table
            clients.push_async_callback(client.close)
            return client

        yield connect


@pytest.fixture
def stranger() -> ClientIdentity:
    """Somebody whose key nobody admitted."""
    public, secret = zmq.curve_keypair()
    return ClientIdentity("stranger", public.decode(), secret.decode(), bytes(range(32)))


@pytest.fixture
async def raw(state_dir: Path, endpoints: Endpoints) -> AsyncIterator[Raw]:
    """A client with an admitted key and without manners."""
    me, told = identity(state_dir, "table"), Told()
    context = zmq.asyncio.Context()
    keys = CurveKeys(endpoints.server_key, me.public, me.secret)
    line = TableConnection(context, zmq.DEALER, endpoints.commands, keys, told.note)
    watching = asyncio.create_task(line.follow_monitor())
    yield Raw(line, told)
    watching.cancel()
    await asyncio.wait([watching])
    line.close()
    context.term()
