"""A real console over a real table: orders act once, whatever happens to either of them."""

import asyncio
import itertools
import os
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import zmq
import zmq.asyncio
from httpx import AsyncClient

from controller.cli.table_access import read_client_identity
from controller.client.discovery import NoEndpoints, read_endpoints
from controller.messages import Role
from sim.tables.console_process import ConsoleProcess, run_console
from sim.tables.table_processes import HallPlan, TableProcess, run_simulator
from tests.console.fake import QUICK
from tests.console.web import Events, listening, visitor
from tests.processes.people import FAST
from tests.processes.ports import free_ports
from tests.processes.processes import no_process_is_left, part_of
from tests.processes.program import Dealtable, Start
from tests.waiting import until

PIN = "4711"
PEOPLE = [("Li Na", Role.REFEREE, PIN), ("Chen", Role.CHIEF, PIN)]
HOLD: dict[str, Any] = {"id": "order-0001", "cmd": "hold", "args": {"reason": "smoke"}}


@pytest.fixture
async def running(table: TableProcess, tmp_path: Path) -> AsyncIterator[ConsoleProcess]:
    """A console over the table."""
    async with run_console([table], tmp_path / "console", people=PEOPLE, hasher=QUICK) as running:
        yield running


@asynccontextmanager
async def referee(running: ConsoleProcess, table: TableProcess) -> AsyncIterator[AsyncClient]:
    """Give the browser of a referee, once the table is heard."""
    async with visitor(running.url, "Li Na", PIN) as client:
        async with listening(client, f"/stream/table/{table.id}") as events:
            await live(events)
        yield client


async def live(events: Events) -> None:
    await events.part("table", lambda table: table["standing"] == "live")


async def commands(client: AsyncClient, table: TableProcess, order: str) -> list[str]:
    """Return what the archive says of an order by now."""
    said = (await client.get(f"/api/tables/{table.id}/told")).json()["told"]
    return [one["en"] for one in said if one["order"] == order]


async def do(client: AsyncClient, table: TableProcess, wish: dict[str, Any] = HOLD) -> Any:
    return (await client.post(f"/api/tables/{table.id}/do", json=wish)).json()


async def test_a_persons_order_acts_once_and_bears_his_name(
    running: ConsoleProcess, table: TableProcess
) -> None:
    async with (
        referee(running, table) as client,
        listening(client, f"/stream/table/{table.id}") as events,
    ):
        assert (await do(client, table))["reply"]["ok"]
        assert (await do(client, table))["reply"]["ok"]
        await events.part(
            "orders",
            lambda orders: [(one["fate"], bool(one["seen"])) for one in orders] == [("done", True)],
        )
        (told,) = await commands(client, table, HOLD["id"])
        assert told.startswith("referee Li Na (")


@pytest.mark.parametrize("name", ["observer", "watch"])
async def test_a_key_of_the_tables_own_computer_that_floods_it_does_not_bar_the_console(
    running: ConsoleProcess, table: TableProcess, name: str
) -> None:
    async with referee(running, table) as client:
        await flood(table, name)
        assert "key barred" in (table.state_dir / "daemon.log").read_text()
        async with listening(client, f"/stream/table/{table.id}") as events:
            await live(events)
            assert (await do(client, table))["reply"]["ok"]
            await events.part("orders", lambda orders: bool(orders and orders[0]["seen"]))


async def flood(table: TableProcess, name: str) -> None:
    """Subscribe to ever new topics with the key of a client until the table bars it."""
    me, context = read_client_identity(table.state_dir, name), zmq.asyncio.Context()
    socket = context.socket(zmq.XSUB)
    socket.linger, socket.sndhwm = 0, 100
    socket.curve_serverkey = table.endpoints.server_key.encode()
    socket.curve_publickey, socket.curve_secretkey = me.public.encode(), me.secret.encode()
    socket.connect(table.endpoints.feed)
    topics = (f"{number:0400}".encode() for number in itertools.count())
    try:
        while "key barred" not in (table.state_dir / "daemon.log").read_text():
            for topic in itertools.islice(topics, 20):
                await socket.send_multipart([b"\x01" + topic])
            await asyncio.sleep(0)
    finally:
        context.destroy()


async def test_what_the_table_refuses_is_told_in_its_words(
    running: ConsoleProcess, table: TableProcess
) -> None:
    async with referee(running, table) as client:
        said = await do(client, table, {"id": "order-0002", "cmd": "release"})
        error = said["reply"]["error"]
        assert error["code"] == "WRONG_PHASE"
        assert error["message_zh"]


@pytest.mark.slow
async def test_an_order_into_silence_is_unknown_until_somebody_asks_again(
    running: ConsoleProcess, table: TableProcess
) -> None:
    async with referee(running, table) as client:
        os.kill(part_of(table, "gateway"), signal.SIGSTOP)
        assert (await do(client, table))["unknown"]
        await running.kill()
        os.kill(part_of(table, "gateway"), signal.SIGCONT)
        await running.start()
    async with (
        referee(running, table) as client,
        listening(client, f"/stream/table/{table.id}") as events,
    ):
        (order,) = await events.part("orders")
        assert (order["id"], order["fate"]) == (HOLD["id"], "unknown")
        assert (await do(client, table))["reply"]["ok"]
        await events.part("orders", lambda orders: orders[0]["seen"])
        assert len(await commands(client, table, HOLD["id"])) == 1


@pytest.mark.slow
async def test_an_order_that_never_arrived_does_not_act_in_another_run_of_the_table(
    tmp_path: Path, runtime_dir: Path
) -> None:
    plan = HallPlan(tmp_path / "state", speed=FAST, port=free_ports(2))
    async with run_simulator(plan, runtime_dir) as (table,), AsyncExitStack() as stack:
        stack.push_async_callback(table.stop_daemon)
        await table.start_daemon()
        opening = run_console([table], tmp_path / "console", people=PEOPLE, hasher=QUICK)
        running = await stack.enter_async_context(opening)
        async with referee(running, table) as client:
            async with listening(client, f"/stream/table/{table.id}") as events:
                boot = (await events.part("state"))["boot"]
            assert table.daemon is not None
            table.daemon.kill()
            await table.daemon.wait()
            assert (await do(client, table))["unknown"]
            await table.start_daemon()
            async with listening(client, f"/stream/table/{table.id}") as events:
                await events.part("state", lambda state: state["boot"] != boot)
            assert (await do(client, table))["reply"]["error"]["code"] == "OTHER_RUN"
            assert await commands(client, table, HOLD["id"]) == []
            anew = HOLD | {"id": "order-0003"}
            assert (await do(client, table, anew))["reply"]["ok"]


async def test_it_ends_by_a_signal_with_its_pages_open_and_leaves_nothing(
    running: ConsoleProcess, table: TableProcess
) -> None:
    async with referee(running, table) as client, listening(client, "/stream/hall") as events:
        await events.next()
        assert running.process is not None
        running.process.send_signal(signal.SIGINT)
        await events.end()
        assert await running.process.wait() == 0
    said = running.log.read_text()
    assert "Traceback" not in said
    assert '"error"' not in said


async def test_the_first_start_invites_a_chief_and_a_technician(
    start: Start, dealtable: Dealtable, tmp_path: Path
) -> None:
    config = tmp_path / "console.toml"
    config.write_text('[console]\nname = "Hall 1"\nlisten = "127.0.0.1:0"\n')
    program = await start("console", "--config", config)
    url = (await program.line("Hall 1: http")).split()[2]
    assert "observer, table, referee" in await program.line("new keys")
    codes = {}
    for name in ("chief", "technician"):
        line = await program.line(f'invitation of "{name}"')
        codes[name] = line.partition(": ")[2].split()[0]
    async with AsyncClient(base_url=url, headers={"X-Dealtable": "1"}) as client:
        said = {"code": codes["chief"], "pin": PIN}
        assert (await client.post("/api/accept", json=said)).json()["role"] == "chief"
    invited = await dealtable(
        "console", "--config", config, "--invite", "李娜", "--role", "referee"
    )
    assert invited.code == 0
    assert (await program.end(signal.SIGINT)).code == 0
    again = await start("console", "--config", config)
    await again.line("Hall 1: http")
    assert (await again.end(signal.SIGTERM)).code == 0
    assert not {word for line in again.said for word in ("invitation", "new keys") if word in line}
    assert (tmp_path / "console.db").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[console]\nport = 1\n", "port"),
        ('[console]\nlisten = "here"\n', "listen"),
        ('[console]\nstore = "sqlite:////nowhere/at/all.db"\n', "unable to open"),
        ('[console]\nlisten = "203.0.113.1:80"\n', "choose another port"),
        ('[console]\ntls_cert = "a"\n', "both or neither"),
        ('[console]\nlisten = "127.0.0.1:0"\ntls_cert = "a"\ntls_key = "b"\n', "tls_cert"),
    ],
)
async def test_a_configuration_that_cannot_be_used_is_one_line(
    dealtable: Dealtable, tmp_path: Path, text: str, said: str
) -> None:
    config = tmp_path / "console.toml"
    config.write_text(text)
    done = await dealtable("console", "--config", config, "--log-level", "error")
    assert done.code == 2
    assert said in done.err
    assert len(done.err.strip().splitlines()) == 1


def console_of(folder: Path) -> str:
    """Return where the console of a demo is, or nothing before it is there."""
    try:
        return read_endpoints(folder).console or ""
    except NoEndpoints:
        return ""


@pytest.mark.slow
async def test_a_demo_opens_a_console_over_its_tables(
    start: Start, tmp_path: Path, mark: str
) -> None:
    folder = tmp_path / "demo"
    program = await start("demo", "--speed", "20", "--state-dir", folder)
    async with (
        visitor(await until(lambda: console_of(folder)), "referee", "1111") as client,
        listening(client, "/stream/hall") as events,
    ):
        await events.part("row/T01", lambda row: row["standing"] == "live" and row["deal"])
    assert (await program.end(signal.SIGINT)).code == 0
    await no_process_is_left(mark)


@pytest.mark.slow
async def test_a_demo_without_a_console_opens_none(dealtable: Dealtable, tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    words = ("demo", "--deals", 1, "--speed", 20, "--no-console", "--state-dir", folder)
    assert (await dealtable(*words)).code == 0
    assert not (folder / "console.toml").exists()
