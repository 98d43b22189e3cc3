"""What a table's processes give up when they begin: core dumps, new rights, sight, the network."""

import os
import platform
import signal
import socket
import subprocess
import sys

import pytest

from controller.host.users import User
from controller.service.sandbox import KILL
from sim.tables.table_processes import TableProcess
from tests.isolation.apart import ApartTable, probe
from tests.isolation.looking import PROC, status
from tests.processes.people import People
from tests.processes.processes import part

pytestmark = pytest.mark.slow

TAKING = ("memory", "trace", "copy", "steal")
INSIDE = (*TAKING, "environment", "maps", "handles", "folder")


def limits(pid: int) -> dict[str, list[str]]:
    """Return a process's limits, soft and hard, by name."""
    rows = (PROC / str(pid) / "limits").read_text().splitlines()[1:]
    return {row[:26].strip(): row[26:].split()[:2] for row in rows}


async def test_parts_write_no_core_gain_no_rights_and_the_machine_makes_no_network_socket(
    table: TableProcess,
) -> None:
    assert table.daemon is not None
    parts = {name: part(table.daemon.pid, name) for name in ("machine", "gateway")}
    for pid in parts.values():
        assert limits(pid)["Max core file size"] == ["0", "0"]
        assert status(pid, "NoNewPrivs") == ["1"]
    assert status(parts["machine"], "Seccomp") == ["2"]
    assert status(parts["gateway"], "Seccomp") == ["0"]
    hidden = (PROC / str(parts["machine"]) / "mem").stat()
    assert hidden.st_uid == 0


async def test_another_process_of_the_same_user_sees_a_machines_inside_only_as_root(
    table: TableProcess, sees_all: bool
) -> None:
    assert table.daemon is not None
    me = User("me", os.getuid(), os.getgid(), tuple(os.getgroups()))
    machine, gateway = (part(table.daemon.pid, name) for name in ("machine", "gateway"))
    got = await probe(me, pids=[machine, gateway])
    # Root without the right to trace may have others (CAP_PERFMON) that let it look, not take.
    for deed in INSIDE if sees_all or os.getuid() != 0 else TAKING:
        assert (machine in got[deed]) == sees_all, deed
    assert gateway in got["environment"]


async def test_a_process_of_the_machines_user_sees_nothing_of_its_inside_beside_two_users(
    two_users: ApartTable, sitting: People, machine_user: User
) -> None:
    await sitting.deal_to_card()
    assert two_users.daemon is not None
    machine = part(two_users.daemon.pid, "machine")
    got = await probe(machine_user, pids=[machine])
    for deed in INSIDE:
        assert got[deed] == set(), deed
    assert got["signal"] == {machine}


# In a process of its own: nothing brings back what was given up.

ASK = """
import errno, os, socket, sys, threading
from controller.service.sandbox import deny_network, restrict_process
restrict_process(hide_memory=True)
assert deny_network({instead})
def ask():
    {ask}
{run}
"""
FAMILIES = {
    "AF_INET": socket.AF_INET,
    "AF_INET6": socket.AF_INET6,
    "AF_NETLINK": socket.AF_NETLINK,
    "AF_PACKET": socket.AF_PACKET,
    "AF_VSOCK": 40,
    "AF_BLUETOOTH": 31,
}


def run(ask: str, instead: str = "", *, thread: bool = False) -> subprocess.CompletedProcess[str]:
    begin = "t = threading.Thread(target=ask); t.start(); t.join()" if thread else "ask()"
    source = ASK.format(instead=instead, ask=ask, run=begin)
    return subprocess.run([sys.executable, "-c", source], capture_output=True, text=True)


@pytest.mark.parametrize("thread", [False, True])
@pytest.mark.parametrize("family", FAMILIES)
def test_no_family_but_unix_is_to_be_had_any_more_by_any_thread(family: str, thread: bool) -> None:
    ask = (
        f"try: socket.socket({int(FAMILIES[family])}, socket.SOCK_DGRAM)"
        "\n    except OSError as error: print(errno.errorcode[error.errno])"
    )
    assert run(ask, thread=thread).stdout == "EAFNOSUPPORT\n"


def test_unix_sockets_and_pairs_of_them_still_are() -> None:
    ask = (
        "a, b = socket.socketpair(); socket.socket(socket.AF_UNIX); a.send(b'x'); print(b.recv(1))"
    )
    assert run(ask).stdout == "b'x'\n"


def test_whoever_is_to_die_of_asking_dies() -> None:
    assert run("socket.socket(socket.AF_INET)", str(KILL)).returncode == -signal.SIGSYS
    assert run("socket.socket(socket.AF_UNIX)", str(KILL)).returncode == 0


@pytest.mark.parametrize("number", [425, 0x4000_0000 | 41])
def test_the_other_ways_to_a_socket_are_closed(number: int) -> None:
    # io_uring makes sockets without a call that a filter sees; x32 numbers calls anew.
    ask = (
        "import ctypes; libc = ctypes.CDLL(None, use_errno=True)"
        f"; libc.syscall(ctypes.c_long({number}), 2, 1, 0)"
        "; print(errno.errorcode[ctypes.get_errno()])"
    )
    assert run(ask).stdout == "ENOSYS\n"


def test_a_computer_of_another_kind_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    from controller.service.sandbox import deny_network

    monkeypatch.setattr(platform, "machine", lambda: "mips")
    assert not deny_network()
    socket.socket(socket.AF_INET).close()


def test_a_program_with_rights_of_its_own_gives_none_to_what_gave_them_up() -> None:
    ask = "print([line for line in open('/proc/self/status') if 'NoNewPrivs' in line])"
    assert "1" in run(ask).stdout
