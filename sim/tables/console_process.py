"""A referees' console for simulated tables, which runs as a separate process.

`demo`, `bench console` and the browser tests use it. The console stores its data in one folder, so
that it can be killed and started again with the same data.
"""

import asyncio
import json
import urllib.request
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from nacl.utils import random as entropy

from controller.cli.console import make_console_keys
from controller.keys.enrolment import admit_file
from controller.messages import Role
from controller.roster import KEYS_FOLDER, TABLE_NAME, read_certificate
from controller.service.wall_clock import read_wall_clock_ms
from sim.tables.table_processes import HallError, TableProcess, end_program, start_program

if TYPE_CHECKING:
    from argon2 import PasswordHasher

    from controller.console.accounts.account_store import Accounts
    from controller.faults import Language

Result = TypeVar("Result")
_NAME: Final = "demo"


def area_of(number: int) -> str:
    """Return the area (A to Z, A2, …) of table `number` (0, 1, …). Each area has eight tables."""
    place, letter = divmod(number // 8, 26)
    return chr(ord("A") + letter) + (str(place + 1) if place else "")


class ConsoleProcess:
    """A referees' console that runs as a process. `hasher` hashes PINs for its database.

    `folder` contains the console's configuration, its log file `log` and usually its database.
    """

    def __init__(self, config: Path, hasher: "PasswordHasher | None" = None) -> None:
        self.config, self.hasher = config, hasher
        self.folder = config.parent
        self.log = self.folder / "console.log"
        self.url = ""
        self.process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Start the console and wait for its printed address. Raises HallError if there is none."""
        words = ("console", "--config", str(self.config))
        with self.log.open("ab") as file:
            self.process = await start_program(*words, stdout=asyncio.subprocess.PIPE, stderr=file)
        assert self.process.stdout is not None
        line = (await self.process.stdout.readline()).decode()
        url = next((word for word in line.split() if word.startswith("http")), None)
        if url is None:
            await self.stop()
            lines = self.log.read_text(encoding="utf-8", errors="replace").split("\n")
            last = next((line for line in reversed(lines) if line.strip()), "the log is empty")
            raise HallError(f"the console did not open, see {self.log}: {last}")
        self.url = url

    async def stop(self) -> int | None:
        """End the console with SIGTERM. Return its exit status, or None if it was never started."""
        return None if self.process is None else await end_program(self.process)

    async def kill(self) -> None:
        """Kill the console without a warning (SIGKILL), and wait for its end."""
        assert self.process is not None
        self.process.kill()
        await self.process.wait()

    async def invite(self, name: str, role: Role) -> str:
        """Add a person to the console's database, and return the code of their invitation.

        The console may be running.
        """
        return await self.run_in_thread(lambda: self._add_person(name, role, None, None, "zh"))

    async def add_account(
        self, name: str, role: Role, pin: str, table: str | None = None, language: str = "zh"
    ) -> None:
        """Add an account with a PIN to the console's database. `table` is a display's only table.

        The console may be running.
        """
        await self.run_in_thread(lambda: self._add_person(name, role, pin, table, language))

    async def accept_invitation(self, code: str, pin: str) -> None:
        """Set an invited person's PIN with the request that a browser sends. Raises HallError."""
        url = f"{self.url}/api/accept"
        headers = {"X-Dealtable": "1", "Content-Type": "application/json"}
        body = json.dumps({"code": code, "pin": pin}).encode()
        asked = urllib.request.Request(url, body, headers, method="POST")

        def post() -> None:
            with urllib.request.urlopen(asked, timeout=20.0) as answer:
                json.load(answer)

        try:
            await self.run_in_thread(post)
        except OSError as error:
            raise HallError(f"{url}: {error}") from error

    async def run_in_thread(self, call: Callable[[], Result]) -> Result:
        """Run a blocking call in a thread and return its result."""
        return await asyncio.get_running_loop().run_in_executor(None, call)

    def _add_person(
        self, name: str, role: Role, pin: str | None, table: str | None, language: str
    ) -> str:
        from controller.console.accounts.account_store import Account

        chosen: Language = "en" if language == "en" else "zh"
        person = Account(name=name, role=role, table=table, language=chosen)
        with _open_people(self.folder, self.hasher) as people:
            code = people.invite(person)
            if pin is not None:
                people.accept_invitation(code, pin)
        return code


@asynccontextmanager
async def run_console(
    tables: Sequence[TableProcess],
    folder: Path,
    *,
    port: int | None = None,
    store: str | None = None,
    people: Sequence[tuple[str, Role, str]] = (),
    hasher: "PasswordHasher | None" = None,
) -> AsyncIterator[ConsoleProcess]:
    """Run a console for `tables` during the `with` block, and yield it. Raises HallError.

    The console has its own keys, so another key that floods a table cannot block the console.
    `port`: None takes a free port. `store`: the console's database; with None an SQLite file in
    `folder`. `people` (name, role, PIN) may log in from the start. `hasher` hashes the PINs that
    this process adds to the database.
    """
    lines = [_table_toml(table, area_of(number)) for number, table in enumerate(tables)]
    running = ConsoleProcess(folder / "console.toml", hasher)
    keys = folder / "console-keys"
    make_console_keys(keys, _NAME)
    for table in tables:
        for role in Role:
            admit_file(table.state_dir, keys / f"{role.value}.key")
    own = f'[console]\nname = "{_NAME}"\nlisten = "127.0.0.1:{port or 0}"\nkeys = "{keys}"\n'
    if store is not None:
        own += f'store = "{store}"\n'
    running.config.parent.mkdir(parents=True, exist_ok=True)
    running.config.write_text("\n".join([own, *lines]), encoding="utf-8")
    for name, role, pin in people:
        await running.add_account(name, role, pin)
    try:
        await running.start()
        yield running
    finally:
        await running.stop()


def _table_toml(table: TableProcess, area: str) -> str:
    where = table.endpoints
    verify = read_certificate(table.state_dir / KEYS_FOLDER / f"{TABLE_NAME}.key").verify
    return (
        f'[[tables]]\nid = "{where.table}"\narea = "{area}"\nfeed = "{where.feed}"\n'
        f"commands = \"{where.commands}\"\nserver_key = '{where.server_key}'\n"
        f'verify = "{verify.hex()}"\n'
    )


@contextmanager
def _open_people(folder: Path, hasher: "PasswordHasher | None") -> Iterator["Accounts"]:
    """Open the database of the console in `folder` for the `with` block, and yield its Accounts."""
    from controller.console.accounts.account_store import Accounts
    from controller.console.console_config import load_console_config
    from controller.console.store.database import open_engine

    engine = open_engine(load_console_config(folder / "console.toml").console.store)
    try:
        yield Accounts(engine, read_wall_clock_ms, entropy, hasher)
    finally:
        engine.dispose()
