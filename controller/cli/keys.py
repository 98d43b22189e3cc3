"""`dealtable keys`: make a table's keys, admit clients, and list who is admitted."""

import shutil
from pathlib import Path

import click

from controller.gateway.certificates import admit, create_client, create_keys
from controller.messages import Role
from controller.roster import ADMITTED, Roster, RosterError, read_certificate

_STATE_DIR = click.argument(
    "state_dir", type=click.Path(path_type=Path, file_okay=False), metavar="STATE_DIR"
)


class KeysError(click.ClickException):
    """A key that cannot be made, read or admitted: one line, exit 2."""

    exit_code = 2


@click.group("keys")
def command() -> None:
    """Make a table's keys, admit clients, and list who is admitted."""


@command.command()
@_STATE_DIR
def create(state_dir: Path) -> None:
    """Make the table's keys and one admitted client of each role; keys that exist stay."""
    try:
        create_keys(state_dir)
    except OSError as error:
        raise KeysError(f"{error.filename or state_dir}: {error.strerror}") from error
    _show(state_dir)


@command.command()
@_STATE_DIR
@click.argument("name")
@click.option(
    "--role",
    required=True,
    type=click.Choice([role.value for role in Role]),
    help="What it may do.",
)
def client(state_dir: Path, name: str, role: str) -> None:
    """Make a client's key pair and admit it. Carry its .key_secret to its computer."""
    try:
        public = create_client(state_dir, name, Role(role))
        made = read_certificate(public)
        if made.role != role:
            raise KeysError(f"{public}: exists already, as {made.role}: choose another name")
        admit(state_dir, public)
    except (OSError, ValueError, RosterError) as error:
        raise KeysError(str(error)) from error
    click.echo(f"{name} is admitted as {role}; its own key: {public.with_suffix('.key_secret')}")


@command.command("admit")
@_STATE_DIR
@click.argument("certificate", type=click.Path(path_type=Path, exists=True, dir_okay=False))
def admit_client(state_dir: Path, certificate: Path) -> None:
    """Admit a client by its public certificate."""
    try:
        shown = read_certificate(certificate)
        admit(state_dir, certificate)
    except (OSError, ValueError, RosterError) as error:
        raise KeysError(str(error)) from error
    click.echo(f"{shown.name} is admitted as {shown.role}")


@command.command("list")
@_STATE_DIR
def list_clients(state_dir: Path) -> None:
    """List the admitted clients: name, role, signing key."""
    _show(state_dir)


def _show(state_dir: Path) -> None:
    try:
        clients = Roster.load(state_dir).clients
    except RosterError as error:
        raise KeysError(str(error)) from error
    if not clients:
        raise KeysError(f"{state_dir / ADMITTED}: nobody is admitted; run `dealtable keys create`")
    columns = shutil.get_terminal_size().columns
    for client_ in clients:
        role = client_.role.value if client_.role else ""
        click.echo(f"{client_.name:<14} {role:<11} {client_.verify.hex()}"[: max(columns, 30)])
