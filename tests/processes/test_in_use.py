"""A table in use, and people who start something on it once more: it goes on untouched."""

import os
import signal
from pathlib import Path

from controller.client.discovery import ENDPOINTS_FILE
from controller.messages import Role
from sim.tables.table_processes import TableProcess
from tests.processes.program import Dealtable


def what_lies_there(state_dir: Path) -> dict[str, bytes]:
    """Return the files that say where the table is and how it is set up."""
    return {name: (state_dir / name).read_bytes() for name in (ENDPOINTS_FILE, "table.toml")}


async def answers(table: TableProcess) -> bool:
    async with table.client(Role.OBSERVER) as client:
        return (await client.ask("snapshot")).ok


async def test_a_demo_on_a_table_in_use_is_refused_and_touches_nothing(
    table: TableProcess, dealtable: Dealtable
) -> None:
    before = what_lies_there(table.state_dir)

    done = await dealtable("demo", "--once", "--speed", 20, "--state-dir", table.state_dir)

    assert done.code == 1
    assert done.out == ""
    (line,) = done.err.splitlines()
    assert line.startswith("Error: ")
    assert "another daemon (process" in line
    assert line.endswith("stop it first")
    assert what_lies_there(table.state_dir) == before
    assert await answers(table)


async def test_a_second_daemon_of_a_table_says_one_line(
    table: TableProcess, dealtable: Dealtable
) -> None:
    before = what_lies_there(table.state_dir)

    done = await dealtable("run", "--config", table.config)

    assert done.code == 1
    (line,) = done.err.splitlines()
    assert "another daemon (process" in line
    assert what_lies_there(table.state_dir) == before
    assert await answers(table)


async def test_a_second_gateway_is_refused_and_the_first_one_serves_on(
    table: TableProcess, dealtable: Dealtable
) -> None:
    before = what_lies_there(table.state_dir)

    done = await dealtable("run", "gateway", "--config", table.config)

    assert done.code == 2
    (line,) = done.err.splitlines()
    assert line.startswith("Error: another gateway serves table T01 ")
    assert what_lies_there(table.state_dir) == before
    assert await answers(table)


async def test_the_gateway_of_a_killed_one_is_let_in(table: TableProcess) -> None:
    assert table.daemon is not None
    os.kill(table.daemon.pid, signal.SIGKILL)
    await table.daemon.wait()

    await table.start_daemon()

    assert await answers(table)
