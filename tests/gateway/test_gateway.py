"""The gateway as a whole: how it starts, what keeps it from starting, how it ends."""

import asyncio
import os
import signal

import msgspec
import pytest

from controller.client.discovery import Endpoints
from controller.config import TableConfig
from controller.gateway.gateway import GatewayError, open_gateway, run_gateway
from controller.roster import ADMITTED_FOLDER
from controller.service.wall_clock import read_wall_clock
from tests.gateway.scripted import ScriptedMachine


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_it_and_leaves_nothing(
    config: TableConfig, machine: ScriptedMachine, number: signal.Signals
) -> None:
    opened: asyncio.Future[Endpoints] = asyncio.get_running_loop().create_future()
    running = asyncio.ensure_future(run_gateway(config, read_wall_clock, opened.set_result))
    await opened
    await machine.connected.wait()
    assert (config.table.state_dir / "endpoints.json").exists()

    os.kill(os.getpid(), number)
    await running

    assert not (config.table.state_dir / "endpoints.json").exists()
    await machine.left.wait()
    await open_and_close(config)


async def test_the_same_addresses_are_free_again_at_once(config: TableConfig) -> None:
    async with open_gateway(config, read_wall_clock) as first:
        fixed = at(config, first.feed, first.commands)

    await open_and_close(fixed)


async def test_an_address_in_use_is_named(config: TableConfig) -> None:
    async with open_gateway(config, read_wall_clock) as first:
        with pytest.raises(GatewayError, match=rf'commands = "{first.feed}": Address already'):
            await open_and_close(at(config, "tcp://127.0.0.1:*", first.feed))


async def test_a_missing_key_is_named(config: TableConfig) -> None:
    (config.table.state_dir / "keys" / "table.key_secret").unlink()

    with pytest.raises(GatewayError, match=r"table\.key_secret.*dealtable keys"):
        await open_and_close(config)


async def test_an_admitted_file_that_is_no_certificate_is_named(config: TableConfig) -> None:
    (config.table.state_dir / ADMITTED_FOLDER / "odd.key").write_text("odd")

    with pytest.raises(GatewayError, match=r"odd\.key"):
        await open_and_close(config)


async def test_all_interfaces_are_reached_by_this_computer_under_its_own(
    config: TableConfig,
) -> None:
    async with open_gateway(
        at(config, "tcp://*:*", "tcp://0.0.0.0:0"), read_wall_clock
    ) as endpoints:
        assert endpoints.feed.startswith("tcp://127.0.0.1:")
        assert endpoints.commands.startswith("tcp://127.0.0.1:")


def at(config: TableConfig, feed: str, commands: str) -> TableConfig:
    where = msgspec.structs.replace(config.gateway, feed=feed, commands=commands)
    return msgspec.structs.replace(config, gateway=where)


async def open_and_close(config: TableConfig) -> None:
    async with open_gateway(config, read_wall_clock):
        pass
