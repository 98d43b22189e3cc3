"""A PostgreSQL of our own, in memory, run as an ordinary user, ended with the tests.

Debian's package `postgresql` has the programs; no cluster of the system is touched.
"""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

BIN = Path("/usr/lib/postgresql")
_USERS = ("postgres", "nobody")
_NAME = "dealtable"


class Cluster:
    """One cluster that listens at a Unix socket in its own folder. `url` says where."""

    def __init__(self, folder: Path, programs: Path) -> None:
        self._folder, self._programs = folder, programs
        self._data = folder / "data"
        self.url = f"postgresql+psycopg://{_NAME}@/postgres?host={folder}"
        made = ("--no-sync", "--auth=trust", f"--username={_NAME}", "--encoding=UTF8", "--locale=C")
        self._run("initdb", "--pgdata", str(self._data), *made)

    def start(self) -> None:
        options = f"-c listen_addresses='' -c unix_socket_directories='{self._folder}' -c fsync=off"
        self._run("pg_ctl", "start", "-w", "-o", options, "-l", str(self._folder / "log"))

    def stop(self) -> None:
        self._run("pg_ctl", "stop", "-w", "-m", "immediate")

    def _run(self, program: str, *arguments: str) -> None:
        as_whom = {} if os.geteuid() else _ordinary_user()
        ended = subprocess.run(
            [self._programs / program, *arguments],
            env={"PGDATA": str(self._data), "LC_ALL": "C", "PATH": os.defpath},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            cwd="/",
            check=False,
            **as_whom,  # type: ignore[call-overload]  # one overload for each way to read text
        )
        assert ended.returncode == 0, ended.stderr.decode()


@contextmanager
def cluster() -> Iterator[Cluster]:
    """A running cluster for the block."""
    found = sorted(BIN.glob("*/bin/initdb"))
    if not found:
        pytest.fail(f"no PostgreSQL in {BIN}: install Debian's package postgresql")
    folder = Path(tempfile.mkdtemp(prefix="dt-pg-", dir="/dev/shm"))
    try:
        if not os.geteuid():
            whose = _ordinary_user()
            os.chown(folder, whose["user"], whose["group"])
        made = Cluster(folder, found[-1].parent)
        made.start()
        try:
            yield made
        finally:
            if (folder / "data" / "postmaster.pid").exists():
                made.stop()
    finally:
        shutil.rmtree(folder)


def _ordinary_user() -> dict[str, int]:
    """Whom root lets run it, since it refuses to run as root."""
    known = {one.pw_name: one for one in pwd.getpwall()}
    user = next(known[name] for name in _USERS if name in known)
    return {"user": user.pw_uid, "group": user.pw_gid}
