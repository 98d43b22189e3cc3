"""The machine process has no network socket: looked at from outside while it runs.

In two ways. /proc shows what sockets a process has at a moment, and is asked at many. And a
machine that the kernel kills for asking for a network socket, however briefly, lives through
all the same.
"""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from functools import partial
from typing import Any

import pytest

from controller.config import load_table
from controller.messages import MachinePhase, Role
from controller.service.sandbox import KILL, deny_network
from sim.tables.table_processes import TableProcess
from tests.isolation.looking import Watch, libraries, listening, network_sockets
from tests.processes.people import People, held_after_all
from tests.processes.processes import part
from tests.processes.program import Program, Start
from tests.processes.units import Units

pytestmark = pytest.mark.slow

READY = "ready\n"

# What nothing in the machine's process may be; `http` and its like would bring the network in.
NETWORK = (
    *("zmq", "controller.gateway", "controller.console", "http.client", "http.server"),
    *("urllib.request", "socketserver", "ftplib", "smtplib", "xmlrpc", "uvicorn", "starlette"),
)


def belongs_to(name: str, packages: tuple[str, ...]) -> bool:
    """Tell whether a module is one of the packages, or is in one."""
    return any(f"{name}.".startswith(f"{package}.") for package in packages)


PLANTED = {
    "tcp": "s = socket.create_server(('127.0.0.1', 0))",
    "tcp6": "s = socket.create_server(('::1', 0), family=socket.AF_INET6)",
    "udp": "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(('127.0.0.1', 0))",
    "udp6": "s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM); s.bind(('::1', 0))",
    "raw": "s = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_UDP)",
    "raw6": "s = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_UDP)",
    "netlink": "s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0); s.bind((0, 0))",
    "packet": "s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)",
    "unknown": "s = socket.socket(socket.AF_INET, socket.SOCK_STREAM)",  # not bound: in no table
    "unix": "s = socket.socketpair()",
}
PLANT = """
import socket, sys, threading
kept = []
def plant():
    {made}
    kept.append(s)
{begin}
print("ready", flush=True)
sys.stdin.read()
"""
BEGIN = {"itself": "plant()", "thread": "t = threading.Thread(target=plant); t.start(); t.join()"}


def found_in(pid: int) -> list[str]:
    """Return the families of the network sockets of a process."""
    return [name.split()[0] for name in network_sockets(pid)]


@pytest.mark.parametrize("begin", BEGIN)
@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_socket_is_found_and_a_unix_socket_is_none(name: str, begin: str) -> None:
    if name in ("raw", "raw6", "packet") and os.getuid() != 0:
        pytest.skip("only root makes such a socket")
    if "6" in name and not socket.has_ipv6:
        pytest.skip("no IPv6 here")
    source = PLANT.format(made=PLANTED[name], begin=BEGIN[begin])
    with subprocess.Popen(
        [sys.executable, "-c", source], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == READY
        found = found_in(process.pid)
        process.communicate()
    assert found == ([] if name == "unix" else [name])


async def test_a_machine_has_no_network_socket_at_any_moment_of_deals_faults_and_restarts(
    table: TableProcess, sees_all: bool
) -> None:
    assert table.daemon is not None
    first = part(table.daemon.pid, "machine")
    if not sees_all:
        with pytest.raises(PermissionError):
            network_sockets(first)
        return
    watch = Watch(network_sockets, table.daemon.pid, "machine")
    watch.look()
    async with People(table, watch.look_if_there) as people:
        before = await people.deal_to_card()
        watch.look()
        os.kill(first, signal.SIGKILL)
        await held_after_all(people, before)
        watch.look()
        again = part(table.daemon.pid, "machine")
        await people.order(Role.REFEREE, "release")
        await people.until(lambda state: state.machine.phase is MachinePhase.RELEASED)
        watch.look()
    async with People(table, watch.look_if_there) as people:
        await table.control.request("take_hands")
        await table.control.request("load")
        await people.until(lambda state: state.machine.phase is not MachinePhase.RELEASED)
        await lose_the_boards(table, people)
        watch.look()
    assert set(watch.looks) == {first, again}
    assert all(looks > 1 for looks in watch.looks.values())
    assert watch.found == set()
    # It has its one door, and sees the other kind of process for what it is.
    assert listening(again) == {str(load_table(table.config).socket)}
    assert {"tcp"} <= set(found_in(part(table.daemon.pid, "gateway")))


async def lose_the_boards(table: TableProcess, people: People) -> None:
    """Kill both boards, until the table says so."""
    info = await table.control.request("info")
    for board in ("dealer", "reader"):
        os.kill(info["boards"][board]["pid"], signal.SIGKILL)
    await people.until(lambda state: len(state.alerts) >= 2)


async def test_a_machine_that_has_a_socket_of_the_network_is_found_out(
    boards: TableProcess, start: Start, sees_all: bool
) -> None:
    if not sees_all:
        pytest.skip("a machine hides its sockets from everybody but root")
    source = "import socket; s = socket.create_server(('127.0.0.1', 0))\n"
    machine = await machine_with(boards, start, source)
    try:
        assert found_in(machine.process.pid) == ["tcp"]
    finally:
        await machine.close()


async def test_a_machine_that_dies_of_a_network_socket_lives_through_deal_fault_and_restart(
    boards: TableProcess, start: Start
) -> None:
    deadly = partial(deny_network, KILL)

    async def start_deadly(*words: object, **options: Any) -> Program:
        more = {"preexec_fn": deadly} if "machine" in words else {}
        return await start(*words, **options, **more)

    units = Units(boards, start_deadly)
    await units.start_machine()
    await units.start_gateway()
    async with People(boards) as people:
        before = await people.deal_to_card()
        await units.kill(units.machine)
        await units.start_machine()
        await held_after_all(people, before)
        await lose_the_boards(boards, people)
    assert units.machine.process.returncode is None
    assert (await units.machine.end(signal.SIGTERM)).code == 0
    await units.gateway.end(signal.SIGTERM)


async def test_a_gateway_dies_where_a_machine_lives(boards: TableProcess, start: Start) -> None:
    Units(boards, start)  # its keys and folders
    words = ("run", "gateway", "--config", boards.config)
    gateway = await start(*words, preexec_fn=partial(deny_network, KILL))
    assert (await gateway.end()).code == -signal.SIGSYS


async def test_the_code_of_the_network_is_not_loaded_in_a_machine_that_deals(
    boards: TableProcess, start: Start, sees_all: bool
) -> None:
    units = Units(boards, start)
    units.machine = machine = await machine_with(boards, start, SAY_MODULES)
    await units.start_gateway()
    async with People(boards) as people:
        await people.held()
        if sees_all:
            assert not [name for name in libraries(machine.process.pid) if "zmq" in name]
            gateways = libraries(units.gateway.process.pid)
            assert [name for name in gateways if "zmq" in name]
    done = await machine.end(signal.SIGTERM)
    loaded = set(done.out.split("modules: ")[1].split())
    assert "controller.machine.machine" in loaded
    assert {name for name in loaded if belongs_to(name, NETWORK)} == set()
    await units.gateway.end(signal.SIGTERM)


SAY_MODULES = "import atexit\natexit.register(lambda: print('modules:', *sys.modules))\n"
MACHINE = "import sys\n{before}from controller.cli import main\nmain()\n"


async def machine_with(table: TableProcess, start: Start, before: str) -> Program:
    """Start a machine in a process that did something before, up to its word "ready"."""
    folder = load_table(table.config).table.runtime_dir
    if not folder.exists():
        Units(table, start)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", MACHINE.format(before=before)),
        *("run", "machine", "--config", str(table.config)),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    program = Program(process)
    await program.line("ready")
    return program
