"""`dealtable console`: runs the referees' console, and creates its keys, one for each role.

    ROLE.key_secret   the pair; it never leaves the console
    ROLE.key          its public part, signed by its owner, which the tables admit

The name of a key contains the console's name, because tables also admit other clients and consoles.
"""

import asyncio
import importlib.util
import os
import re
from pathlib import Path
from typing import Final, get_args

import click
from nacl.utils import random as entropy

from controller.cli import CliError, raise_cli_error
from controller.cli.key_folder import raise_keys_errors
from controller.cli.options import ANY_PATH
from controller.console.console_config import ConsoleConfig, load_console_config
from controller.faults import Language
from controller.host.atomic_files import replace_file, write_new_file
from controller.keys.certificate_files import (
    PUBLIC_MODE,
    SECRET_MODE,
    new_client_secret,
    public_text,
)
from controller.messages import Role
from controller.release.release_files import read_expected_manifest
from controller.roster import read_certificate
from controller.service.logging_setup import (
    LogLevelName,
    add_log_context,
    log_level_option,
    set_log_level,
)
from controller.service.process_signals import SystemdNotifier, run_heartbeat, termination_signals
from controller.service.sandbox import restrict_process
from controller.service.wall_clock import read_wall_clock_ms

_MAX_NAME_LETTERS: Final = 28
"""Maximum length of a console's name in a key's name. A key's name has at most 40 letters, and ends
with the role.
"""
_NOT_IN_NAMES: Final = re.compile(r"[^\w.-]+")


def make_console_keys(folder: Path, name: str) -> list[Role]:
    """Create a key in `folder` for each role without a key, and return the roles of the new keys.

    `name` is the console's. Existing keys are kept. Raises KeysError with one line of text.
    """
    made = []
    with raise_keys_errors():
        for role in Role:
            secret = folder / f"{role.value}.key_secret"
            if not secret.exists():
                text = new_client_secret(make_key_name(name, role), role)
                write_new_file(secret, text.encode(), SECRET_MODE)
                made.append(role)
            public = public_text(read_certificate(secret))
            replace_file(secret.with_suffix(".key"), public.encode(), PUBLIC_MODE)
    return made


def make_key_name(console: str, role: Role) -> str:
    """Return the name of the key that a console uses for `role`, such as "Hall-1-referee"."""
    plain = _NOT_IN_NAMES.sub("-", console).strip("-._")[:_MAX_NAME_LETTERS] or "console"
    return f"{plain}-{role.value}"


EPILOG = """\b
The first time:
  1. Write console.toml; deploy/console.toml is one to begin with:
       [console]
       name = "Hall 1"
       listen = "192.168.1.5:8080"
  2. dealtable console --config console.toml
     It makes its keys, one for each role, and shows a code for the first chief and one for the
     first technician. The owner of a code opens ADDRESS/invited and chooses a PIN.
  3. The technician opens ADDRESS/setup, finds the tables, and admits the console's keys there
     (`dealtable keys admit`).

\b
Later:
  dealtable console --config console.toml --invite "Li Na" --role referee
     A code for one more person, or for a person who forgot their PIN. The console may be running.
  dealtable check-config console.toml

Without tables to hand, `dealtable demo --tables 4` opens a console over simulated ones.
"""
_LIBRARIES: Final = ("argon2", "segno", "sqlalchemy", "starlette", "uvicorn", "zeroconf")
"""Libraries of the extra `console`."""
FIRST_INVITATIONS: Final = (("chief", Role.CHIEF), ("technician", Role.TECHNICIAN))
"""The first people who are invited to a console without accounts."""


@click.command(epilog=EPILOG)
@click.option(
    "--config",
    "path",
    type=ANY_PATH,
    required=True,
    help="The console's configuration, such as console.toml.",
)
@click.option("--invite", metavar="NAME", help="Show a code for this person, and end.")
@click.option(
    "--role",
    type=click.Choice([role.value for role in Role if role is not Role.TABLE]),
    help="With --invite: as what.",
)
@click.option(
    "--language",
    type=click.Choice(get_args(Language)),
    default="zh",
    show_default=True,
    help="With --invite: in which language.",
)
@log_level_option
def command(
    path: Path, invite: str | None, role: str | None, language: Language, level: LogLevelName
) -> None:
    """Run the referees' console until Ctrl-C: one page in a browser shows every table.

    It has one list of all calls for a referee, a page for every table with all its commands, the
    chief's decisions, sheets and proofs. It stores the data that the tables publish. It decides
    nothing, and the tables run without it.
    """
    if (invite is None) != (role is None):
        raise click.UsageError("--invite NAME and --role ROLE go together")
    if (library := find_missing_library()) is not None:
        raise CliError(format_missing_library(library))
    set_log_level(level)
    add_log_context(part="console")
    config = load_console_config(path)
    os.umask(0o077)  # the console's files must not be readable for other users of this computer
    if invite is not None and role is not None:
        _invite(config, invite, Role(role), language)
        return
    restrict_process(hide_memory=True)
    if made := make_console_keys(config.console.keys, config.console.name):
        roles = ", ".join(role.value for role in made)
        click.echo(f"new keys ({roles}) in {config.console.keys}: to be admitted at every table")
    asyncio.run(_run(config, path))


def find_missing_library() -> str | None:
    """Return the name of a library that the console needs and that is not installed, or None."""
    return next((name for name in _LIBRARIES if importlib.util.find_spec(name) is None), None)


def format_missing_library(library: str) -> str:
    """Return the message that a library is missing, with the command that installs it."""
    return f"the console needs {library}: pip install 'dealtable[console]' installs it"


async def _run(config: ConsoleConfig, path: Path) -> None:
    """Serve the console until a signal arrives. Raises CliError if its database is unusable."""
    from controller.console.console import ConsoleClock
    from controller.console.server import ConsoleFailed, open_console, serve
    from controller.console.store.database import StoreError

    stop = asyncio.Event()
    for number in termination_signals():
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    own = config.console
    notice = SystemdNotifier.from_environment(os.environ)
    status = f"{own.name}: the console serves"
    manifest = read_expected_manifest(own.release, own.release_key) if own.release else None
    clock = ConsoleClock(asyncio.get_running_loop().time, read_wall_clock_ms)
    try:
        async with open_console(
            config, path, now_ms=clock, entropy=entropy, manifest=manifest
        ) as console:
            following = console.start_task(clock.watch_wall_clock(console.shift_times))
            invited = await console.sessions.invite_first(FIRST_INVITATIONS)

            def up(url: str) -> None:
                tables = len(console.tables.ids)
                noun = "table" if tables == 1 else "tables"
                click.echo(f"{own.name}: {url}  ({tables} {noun})")
                for name, code in invited:
                    good = f"within {own.invitation_h} h"
                    click.echo(f'invitation of "{name}": {code}   at {url}/invited {good}')
                if own.is_unencrypted_on_network:
                    click.echo(
                        "PINs cross the network unsealed: tls_cert and tls_key seal them", err=True
                    )
                notice.report_ready(status)

            try:
                async with run_heartbeat(notice, lambda: status):
                    await serve(console, stop, up)
            finally:
                notice.report_stopping()
                following.cancel()
    except StoreError as error:
        raise CliError(str(error)) from error
    except ConsoleFailed as error:
        raise click.ClickException(str(error)) from error


def _invite(config: ConsoleConfig, name: str, role: Role, language: Language) -> None:
    """Create an invitation code for a person and print it."""
    import msgspec

    from controller.console.accounts.account_store import Account, Accounts
    from controller.console.store.database import StoreError, open_engine
    from controller.messages import PersonName

    try:
        said = msgspec.convert(name, PersonName)
    except msgspec.ValidationError:
        raise CliError(
            f"--invite {name}: expected a name, 1 to 40 printable characters without brackets"
        ) from None
    with raise_cli_error(StoreError):
        engine = open_engine(config.console.store)
    try:
        hours = config.console.invitation_h
        people = Accounts(engine, read_wall_clock_ms, entropy, invitation_ms=hours * 3_600_000)
        code = people.invite(Account(name=said, role=role, language=language))
    finally:
        engine.dispose()
    click.echo(f'invitation of "{said}" as {role.value}: {code}')
    click.echo(
        "its owner opens /invited at the console's address and chooses a PIN, "
        f"once, within {hours} h"
    )
