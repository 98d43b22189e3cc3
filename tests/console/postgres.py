"""A PostgreSQL of our own, in memory, run as an ordinary user, ended with the tests.

Debian's package `postgresql` has the programs; no cluster of the system is touched.
"""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, text

from controller.service.process_signals import make_parent_death_hook

BIN = Path("/usr/lib/postgresql")
_USERS = ("postgres", "nobody")
_NAME = "dealtable"


class Cluster:
    """One cluster that listens at a Unix socket in its own folder. `url` says where."""

    def __init__(self, folder: Path, programs: Path) -> None:
        self._folder, self._programs = folder, programs
        self._server: subprocess.Popen[bytes] | None = None
        as_whom = {} if os.geteuid() else _ordinary_user()
        clean = {"LC_ALL": "C", "PATH": os.defpath}
        self._as_whom: dict[str, Any] = {"env": clean, "cwd": "/", **as_whom}
        self._data = folder / "data"
        self.url = f"postgresql+psycopg://{_NAME}@/postgres?host={folder}"
        made = ("--no-sync", "--auth=trust", f"--username={_NAME}", "--encoding=UTF8", "--locale=C")
        self._run("initdb", "--pgdata", str(self._data), *made)

    def start(self) -> None:
        options = {
            "listen_addresses": "",
            "unix_socket_directories": str(self._folder),
            "fsync": "off",
        }
        with (self._folder / "log").open("ab") as log:
            self._server = subprocess.Popen(
                [
                    *(self._programs / "postgres", "-D", str(self._data)),
                    *(
                        word
                        for name, value in options.items()
                        for word in ("-c", f"{name}={value}")
                    ),
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                preexec_fn=make_parent_death_hook(
                    signal.SIGQUIT
                ),  # not left behind by tests that are killed
                **self._as_whom,
            )
        while self._says("pg_isready", "-q", "-h", str(self._folder)):
            assert self._server.poll() is None, (self._folder / "log").read_text()

    def stop(self) -> None:
        """End it at once, as a power cut does; one that is not running is no matter."""
        if self._server is not None:
            self._server.send_signal(signal.SIGQUIT)
            self._server.wait()
            self._server = None

    def _run(self, program: str, *arguments: str) -> None:
        assert self._says(program, *arguments) == 0, program

    def _says(self, program: str, *arguments: str) -> int:
        """Run a program to its end; return its exit status."""
        with (self._folder / "log").open("ab") as log:
            return subprocess.call(
                [self._programs / program, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                **self._as_whom,
            )


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
            made.stop()
    finally:
        shutil.rmtree(folder)


def new_database(running: Cluster, name: str) -> str:
    """Make an empty database in a cluster; return its URL."""
    server = create_engine(running.url, isolation_level="AUTOCOMMIT")
    with server.connect() as base:
        base.execute(text(f"CREATE DATABASE {name}"))
    server.dispose()
    return running.url.replace("/postgres?", f"/{name}?")


def _ordinary_user() -> dict[str, int]:
    """Whom root lets run it, since it refuses to run as root."""
    known = {one.pw_name: one for one in pwd.getpwall()}
    user = next(known[name] for name in _USERS if name in known)
    return {"user": user.pw_uid, "group": user.pw_gid}
