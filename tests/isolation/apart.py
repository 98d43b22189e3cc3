"""A simulated table whose machine and gateway are two users, and whoever tries to get in."""

import asyncio
import importlib.metadata
import json
import os
import pwd
import re
import shutil
import subprocess
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from controller.client.discovery import remove_endpoints
from controller.config import TableConfig, load_table
from controller.host.users import User, find_user
from controller.rules.profile_files import load_profile
from sim.tables.table_processes import HallError, TableProcess
from tests.processes.program import Program

ROOT = Path(__file__).parents[2]
PROBE = Path(__file__).with_name("probe.py")
GATEWAY = "nobody"
SPEED = 20.0
PROFILE = "international-000"
NEEDED = "import controller.cli.run, sim, drivers, zmq, nacl, gpiozero"


def free_uid(first: int) -> int:
    """Return a uid from `first` on that is nobody's."""
    taken = {entry.pw_uid for entry in pwd.getpwall()}
    return next(uid for uid in range(first, first + 1000) if uid not in taken)


MACHINE = str(free_uid(61_000))
STRANGER = str(free_uid(62_000))


class ApartTable(TableProcess):
    """A table of two users. Its log lies where neither of them has anything."""

    def __init__(self, info: dict[str, Any], folder: Path) -> None:
        super().__init__(info, folder / "state", folder / "table.toml", load_profile(PROFILE))
        self.folder = folder

    @property
    def log(self) -> Path:
        """What its daemon says."""
        return self.folder / "daemon.log"

    @property
    def settings(self) -> TableConfig:
        """Its configuration."""
        return load_table(self.config)

    def paths(self) -> list[str]:
        """Return every file and folder of the table."""
        found = [str(self.folder)]
        for folder, folders, files in os.walk(self.folder):
            found += [os.path.join(folder, name) for name in (*folders, *files)]
        return sorted(found)


def configuration(info: dict[str, Any], **more: str) -> str:
    """Return the table.toml of a table of two users; `more` is put in place of its words."""
    words = {"machine": MACHINE, "gateway": GATEWAY, "place": "gateway"} | more
    return f"""\
[table]
id = "T01"
profile = "{PROFILE}"
backend = "sim"
state_dir = "state"
runtime_dir = "run"
user = "{words["machine"]}"

[dealer]
port = "{info["dealer"]}"
id = "{info["dealer_id"]}"

[reader]
port = "{info["reader"]}"
id = "{info["reader_id"]}"

[panel]
pins = "unix:{info["pins"]}"

[[card_set]]
id = "S1"
back = "A"

[gateway]
feed = "tcp://127.0.0.1:*"
commands = "tcp://127.0.0.1:*"
dir = "{words["place"]}"
user = "{words["gateway"]}"
"""


async def start_boards(folder: Path) -> tuple[Process, dict[str, Any]]:
    """Start simulated boards as the machine's user, and return what they say of themselves.

    So the machine may open their ports, and the gateway may not. Raises HallError.
    """
    user = find_user(MACHINE)
    place = folder / "sim"
    place.mkdir(mode=0o700)
    os.chown(place, user.uid, user.gid)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "controller.cli", "sim", "--json", "--no-attendant"),
        *("--runtime-dir", str(place), "--speed", str(SPEED)),
        stdout=PIPE,
        **becoming(user),
    )
    assert process.stdout is not None
    line = await process.stdout.readline()
    if not line:
        raise HallError("the simulator ended by itself; its last words stand above")
    return process, json.loads(line)


def becoming(user: User) -> dict[str, Any]:
    """Return the options that start a process as a user: no change where that is this one."""
    if user.uid == os.geteuid() != 0:
        return {"cwd": "/"}
    return {"user": user.uid, "group": user.gid, "extra_groups": user.groups, "cwd": "/"}


async def start_as(user: User, *words: object, **options: Any) -> Program:
    """Start `dealtable` as a user."""
    command = (sys.executable, "-P", "-m", "controller.cli", *map(str, words))
    chosen = becoming(user) | options
    return Program(
        await asyncio.create_subprocess_exec(*command, stdout=PIPE, stderr=PIPE, **chosen)
    )


StartAs = Callable[..., Awaitable[Program]]
"""Starts `dealtable` as a user, with words."""


async def probe(
    user: User, *, paths: Sequence[str] = (), pids: Sequence[int] = (), sockets: Sequence[str] = ()
) -> dict[str, set[Any]]:
    """Return what a user could do, deed by deed."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-S", "-c", PROBE.read_text()),
        stdin=PIPE,
        stdout=PIPE,
        **becoming(user),
    )
    asked = {"paths": list(paths), "pids": list(pids), "sockets": list(sockets)}
    out, _ = await process.communicate(json.dumps(asked).encode())
    assert process.returncode == 0
    return {deed: set(targets) for deed, targets in json.loads(out).items()}


def forget(table: TableProcess) -> None:
    """Forget where a killed gateway was."""
    remove_endpoints(table.state_dir)


# Where checkout or interpreter are closed to other users, such as below /root.


@dataclass(frozen=True)
class House:
    """An interpreter that every user can run, and where it finds the packages, if not by itself."""

    python: str
    packages: Path | None


def can_run(user: User, python: str, packages: Path | None) -> bool:
    """Tell whether a user can run what these tests run with an interpreter."""
    needed = f"import sys; assert sys.version_info[:2] == {sys.version_info[:2]}; {NEEDED}"
    where = {} if packages is None else {"PYTHONPATH": str(packages)}
    try:
        done = subprocess.run(
            [python, "-P", "-c", needed],
            env=os.environ | where,
            stderr=subprocess.DEVNULL,
            check=False,
            **becoming(user),
        )
    except PermissionError:
        return False
    return done.returncode == 0


def interpreters() -> Iterator[str]:
    """Yield the interpreters that there may be: this one, what it comes from, the system's."""
    yield sys.executable
    yield os.path.realpath(sys.executable)
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    yield from (
        python
        for folder in ("/usr/bin", "/usr/local/bin")
        if os.path.exists(python := f"{folder}/{name}")
    )


def copy_house(folder: Path) -> None:
    """Put what a table needs, and nothing else, into a folder: packages and what they need."""
    for name in ("controller", "drivers", "sim"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in sorted(set(_needed("dealtable", set()))):
        found = importlib.metadata.distribution(name)
        for file in found.files or ():
            if ".." not in file.parts and "__pycache__" not in file.parts:
                target = folder / file
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(str(found.locate_file(file)), target)
    for place, folders, files in os.walk(folder):
        for each in (place, *(os.path.join(place, one) for one in (*folders, *files))):
            os.chmod(each, os.stat(each).st_mode | 0o555)


def _needed(name: str, seen: set[str]) -> Iterator[str]:
    """Yield the distributions that one needs, without its extras; itself is in the checkout."""
    for line in importlib.metadata.requires(name) or ():
        needed = re.split(r"[^A-Za-z0-9._-]", line, maxsplit=1)[0]
        if "extra ==" in line or needed in seen:
            continue
        seen.add(needed)
        try:
            importlib.metadata.distribution(needed)
        except importlib.metadata.PackageNotFoundError:  # for other systems than this one
            continue
        yield needed
        yield from _needed(needed, seen)
