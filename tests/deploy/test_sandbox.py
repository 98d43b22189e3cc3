"""The units' limits, proved: a table's real processes deal under them, and no more is to be had.

systemd does not run on a build server; confined.py does what it would, from the unit's own lines.
"""

import asyncio
import json
import os
import resource
import signal
import socket
import sys
import tempfile
from asyncio.subprocess import DEVNULL, PIPE, STDOUT, Process
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pytest

from controller.host.users import User
from controller.messages import MachinePhase, Role
from tests.deploy import confined
from tests.deploy.confined import Directives, Limits, allowed, directives
from tests.deploy.unit_files import ROOT, UNITS
from tests.isolation.apart import ApartTable, House
from tests.isolation.looking import status
from tests.processes.people import People

pytestmark = [pytest.mark.usefixtures("as_root"), pytest.mark.system]
MACHINE, GATEWAY = "dealtable-machine@.service", "dealtable-gateway@.service"
NO_RIGHTS = ["0000000000000000"]


def unit(name: str, folder: Path) -> Directives:
    """Return what a unit says, for a table that lies in a folder instead of the computer's."""
    text = (UNITS / name).read_text()
    for theirs, ours in (
        ("/etc/dealtable/%i.toml", folder / "table.toml"),
        ("/var/lib/dealtable/%i-gateway", folder / "gateway"),
        ("/var/lib/dealtable/%i", folder / "state"),
        ("/run/dealtable/%i", folder / "run"),  # and its .gateway
    ):
        text = text.replace(theirs, str(ours))
    assert "%i" not in "".join(value for _, value in directives(text))
    return directives(text)


class Confined:
    """Starts commands under a unit's limits. They end with the test."""

    def __init__(self, house: House, folder: Path) -> None:
        self._house, self.folder = house, folder
        self._started: list[Process] = []

    async def start(
        self, limits: Directives, user: User, *words: str, **environment: str
    ) -> Process:
        """Start a command of this Python."""
        packages = self._house.packages
        kept = [sys.prefix, sys.base_prefix, str(packages or ROOT)]
        found = {} if packages is None else {"PYTHONPATH": str(packages)}
        file = self.folder / f"asked-{len(self._started)}.json"
        file.write_text(
            json.dumps(
                {
                    "directives": limits,
                    "calls": sorted(allowed(Limits(limits).lines("SystemCallFilter"))),
                    "command": [self._house.python, *words],
                    "uid": user.uid,
                    "gid": user.gid,
                    "environment": found | environment,
                    "keep": kept,
                }
            )
        )
        process = await asyncio.create_subprocess_exec(
            *(INTERPRETER, confined.__file__, str(file)), stdin=DEVNULL, stdout=PIPE, stderr=STDOUT
        )
        self._started.append(process)
        return process

    async def serve(self, name: str, part: str, user: User) -> Process:
        """Start a part of a table as its unit says, and wait until it serves."""
        heard = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        path = self.folder / f"{part}.notify"
        with heard:
            heard.bind(str(path))
            path.chmod(0o666)
            heard.setblocking(False)
            limits = unit(name, self.folder)
            (line,) = Limits(limits).lines("ExecStart")
            words = line.split()
            assert words[:3] == ["/opt/dealtable/current/bin/dealtable", "run", part]
            process = await self.start(
                limits, user, "-P", "-m", "controller.cli", *words[1:], NOTIFY_SOCKET=str(path)
            )
            said = asyncio.ensure_future(asyncio.get_running_loop().sock_recv(heard, 4096))
            ended = asyncio.ensure_future(process.wait())
            await asyncio.wait((said, ended), return_when=asyncio.FIRST_COMPLETED)
            ended.cancel()
            if not said.done():
                said.cancel()
                assert process.stdout is not None
                raise AssertionError((await process.stdout.read()).decode())
            assert said.result().startswith(b"READY=1\n")
        return process

    async def close(self) -> None:
        """End what still runs."""
        for process in self._started:
            if process.returncode is None:
                process.send_signal(signal.SIGTERM)
                await process.communicate()


INTERPRETER = sys.executable  # before a test starts what other users can run


@pytest.fixture
async def limited(house: House, open_folder: Path) -> AsyncIterator[Confined]:
    """Start commands under limits."""
    limited = Confined(house, open_folder)
    yield limited
    await limited.close()


def interfaces(pid: int) -> list[str]:
    """Return the names of the network interfaces that a process has."""
    lines = Path(f"/proc/{pid}/net/dev").read_text().splitlines()[2:]
    return [line.split(":")[0].strip() for line in lines]


async def test_both_parts_serve_and_deal_under_their_limits(
    limited: Confined, apart_boards: ApartTable, machine_user: User, gateway_user: User
) -> None:
    parts = {
        "machine": await limited.serve(MACHINE, "machine", machine_user),
        "gateway": await limited.serve(GATEWAY, "gateway", gateway_user),
    }
    for process in parts.values():
        assert status(process.pid, "CapBnd") == status(process.pid, "CapEff") == NO_RIGHTS
        assert status(process.pid, "NoNewPrivs") == ["1"]
        assert status(process.pid, "Seccomp") == ["2"]
    assert interfaces(parts["machine"].pid) == ["lo"]
    async with People(apart_boards) as people:
        held = await people.held()
        assert held.alerts == []
        await people.order(Role.REFEREE, "release")
        await people.until(lambda state: state.machine.phase is MachinePhase.RELEASED)
    for process in parts.values():
        process.send_signal(signal.SIGTERM)
        out, _ = await process.communicate()
        assert process.returncode == 0, out
        assert b"rror" not in out


# What a part that was taken over tries. As far as users and modes go everybody may; so what refuses
# it is a line of the unit, and without that line it is done.


class Deed(NamedTuple):
    """What is tried, in Python, and the keys of the lines that refuse it, of which unit."""

    name: str
    tried: str
    keys: tuple[str, ...]
    unit: str = MACHINE


TRY = """
import ctypes, mmap, os, resource, socket
libc = ctypes.CDLL(None, use_errno=True)
folder, token = {folder!r}, {token!r}
def expect(true):
    if not true:
        raise OSError(ctypes.get_errno(), "refused")
for deed in {deeds!r}:
    try:
        exec(deed)
    except OSError:
        print("refused")
    else:
        print("done")
"""
DEEDS = (
    Deed("the network", "socket.socket(socket.AF_INET).close()", ("RestrictAddressFamilies",)),
    Deed(
        "packets past the network",
        "socket.socket(40, socket.SOCK_STREAM).close()",
        ("RestrictAddressFamilies",),
        GATEWAY,
    ),
    Deed(
        "what others say over the network",
        "expect(open('/proc/net/unix').read() and len(open('/proc/net/dev').readlines()) > 3)",
        ("PrivateNetwork",),
    ),
    Deed("a file outside", "open(f'{folder}/open/{os.getpid()}', 'w').close()", ("ProtectSystem",)),
    Deed(
        "a file outside",
        "open(f'{folder}/open/{os.getpid()}', 'w').close()",
        ("ProtectSystem",),
        GATEWAY,
    ),
    Deed("others' files in /tmp", "open(f'/tmp/{token}').close()", ("PrivateTmp",)),
    Deed("others' files in /tmp", "open(f'/tmp/{token}').close()", ("PrivateTmp",), GATEWAY),
    Deed("a home", "open(f'/home/{token}').close()", ("ProtectHome",)),
    Deed("a home", "open(f'/home/{token}').close()", ("ProtectHome",), GATEWAY),
    Deed("the journal", "os.listdir(folder + '/state')", ("InaccessiblePaths",), GATEWAY),
    Deed("keys of deals", "os.listdir(folder + '/run')", ("InaccessiblePaths",), GATEWAY),
    Deed("a device elsewhere", "open(folder + '/open/zero').close()", ("DevicePolicy",)),
    Deed("a device elsewhere", "open(folder + '/open/zero').close()", ("DevicePolicy",), GATEWAY),
    Deed("other processes", "os.stat('/proc/1')", ("ProtectProc",)),
    Deed("the kernel's words", "open('/proc/version').close()", ("ProcSubset",), GATEWAY),
    Deed(
        "memory to write and to run",
        "mmap.mmap(-1, 4096, prot=mmap.PROT_WRITE | mmap.PROT_EXEC).close()",
        ("MemoryDenyWriteExecute",),
    ),
    Deed(
        "memory to write and to run",
        "mmap.mmap(-1, 4096, prot=mmap.PROT_WRITE | mmap.PROT_EXEC).close()",
        ("MemoryDenyWriteExecute",),
        GATEWAY,
    ),
    Deed("a namespace of users", "expect(libc.unshare(0x10000000) == 0)", ("RestrictNamespaces",)),
    Deed("another personality", "expect(libc.personality(0x400000) != -1)", ("LockPersonality",)),
    Deed(
        "a file that lends its owner's rights",
        "os.chmod(folder + '/open/mine', 0o4700)",
        ("RestrictSUIDSGID", "ProtectSystem"),
    ),
    Deed("another priority", "os.setpriority(os.PRIO_PROCESS, 0, 19)", ("SystemCallFilter",)),
    Deed("a trace of itself", "expect(libc.ptrace(0, 0, 0, 0) == 0)", ("SystemCallFilter",)),
    Deed("a core", "expect(resource.getrlimit(resource.RLIMIT_CORE)[1] != 0)", ("LimitCORE",)),
)


@pytest.fixture
def tempting(house: House) -> Iterator[Confined]:
    """Lay out, open to everybody, what a part would take; its folder is the table's."""
    with ExitStack() as left:
        folder = Path(left.enter_context(tempfile.TemporaryDirectory(prefix="dt-", dir="/run")))
        folder.chmod(0o755)
        for name in ("open", "state", "run", "gateway"):
            (folder / name).mkdir()
            (folder / name).chmod(0o777)
        device = folder / "open" / "zero"
        os.mknod(device, 0o020666, os.makedev(1, 5))
        device.chmod(0o666)
        for place in ("/tmp", "/home"):
            elsewhere = Path(place, folder.name)
            elsewhere.touch(0o644)
            left.callback(elsewhere.unlink)
        before = resource.getrlimit(resource.RLIMIT_CORE)
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.RLIM_INFINITY))
        left.callback(resource.setrlimit, resource.RLIMIT_CORE, before)
        yield Confined(house, folder)


async def tried(limited: Confined, limits: Directives, user: User, *deeds: Deed) -> list[str]:
    """Return what became of deeds under limits."""
    folder = limited.folder
    mine = folder / "open" / "mine"
    mine.touch()
    os.chown(mine, user.uid, user.gid)
    source = TRY.format(folder=str(folder), token=folder.name, deeds=[deed.tried for deed in deeds])
    process = await limited.start(limits, user, "-I", "-S", "-c", source)
    out, _ = await process.communicate()
    assert process.returncode == 0, out.decode()
    return out.decode().split()


async def test_all_that_a_part_might_try_is_refused_and_without_limits_nothing_is(
    tempting: Confined, machine_user: User, gateway_user: User
) -> None:
    for name, user in ((MACHINE, machine_user), (GATEWAY, gateway_user)):
        deeds = [deed for deed in DEEDS if deed.unit == name]
        limits = unit(name, tempting.folder)
        under = await tried(tempting, limits, user, *deeds)
        assert dict(zip(deeds, under, strict=True)) == dict.fromkeys(deeds, "refused")
        without = await tried(tempting, [], user, *deeds)
        assert dict(zip(deeds, without, strict=True)) == dict.fromkeys(deeds, "done")


async def test_each_line_that_refuses_something_is_needed_for_it(
    tempting: Confined, machine_user: User, gateway_user: User
) -> None:
    users = {MACHINE: machine_user, GATEWAY: gateway_user}
    for deed in DEEDS:
        limits = unit(deed.unit, tempting.folder)
        left = [(key, value) for key, value in limits if key not in deed.keys]
        assert len(left) < len(limits)
        assert await tried(tempting, left, users[deed.unit], deed) == ["done"], deed
