"""`dealtable keys`: making, admitting, listing, renewing and revoking keys."""

from datetime import datetime
from pathlib import Path

import click

from controller.cli.key_folder import (
    KeyFolder,
    KeysError,
    confirm_fingerprint,
    format_certificate,
    format_clients,
    raise_keys_errors,
    refuse_expired,
    rotate_client,
    rotate_table_keys,
)
from controller.cli.options import ANY_PATH, FOLDER, PRESENT_FILE
from controller.config import load_table
from controller.keys.enrolment import admit_file, enrol_client, read_client_file, revoke_client
from controller.keys.table_keys import (
    archive_pair,
    create_client_keys,
    create_table_keys,
    write_key_request,
)
from controller.messages import Role
from controller.roster import Roster, fingerprint, parse_moment, read_certificate
from controller.service.wall_clock import read_wall_clock


def _open_key_folder(ctx: click.Context, param: click.Parameter, path: Path) -> KeyFolder:
    place = KeyFolder.from_path(path)
    place.require_clients()
    return place


def _parse_expiry(ctx: click.Context, param: click.Parameter, text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        end = parse_moment(text)
    except (ValueError, OverflowError) as error:
        raise click.BadParameter(str(error)) from None
    if end <= parse_moment(read_wall_clock()):
        raise click.BadParameter(
            f"{text} is over: name a day to come (a key is ended by `dealtable keys revoke`)"
        )
    return end


def format_examples(*lines: str) -> str:
    """Return the examples for the end of a help page. Each line gets `dealtable keys` in front."""
    return "\n".join(("\b", "Examples:", *(f"  dealtable keys {line}" for line in lines)))


table_argument = click.argument("place", type=ANY_PATH, callback=_open_key_folder, metavar="TABLE")
new_table_argument = click.argument(
    "place",
    type=ANY_PATH,
    callback=lambda ctx, param, path: path and KeyFolder.from_path(path),
    metavar="TABLE",
    required=False,
)
role_option = click.option(
    "--role",
    required=True,
    type=click.Choice([role.value for role in Role]),
    help="What it may do.",
)
expires_option = click.option(
    "--expires", callback=_parse_expiry, metavar="DATE", help="Its last day, in UTC: 2027-12-31."
)
fingerprint_option = click.option(
    "--fingerprint", "mark", help="The whole fingerprint, for scripts. No question is asked."
)


DEFAULT_GRACE_H = 24.0
"""Hours for which an old key stays valid beside the new one (provisional)."""


@click.group("keys")
def command() -> None:
    """Make a table's own keys, and admit, renew and revoke its clients' keys.

    TABLE is the table's state directory, or its table.toml. A change has effect at once, also
    while the table runs.

    \b
      on the client's computer   dealtable keys request anna --role referee --out .
      at the table               dealtable keys admit state anna.key
    """


@command.command(
    short_help="Make the table's keys and a client of each role.",
    epilog=format_examples("create state", "create --config table.toml"),
)
@new_table_argument
@click.option(
    "--config",
    type=PRESENT_FILE,
    help="The table.toml, instead of TABLE: folders and their owners are made, too.",
)
def create(place: KeyFolder | None, config: Path | None) -> None:
    """Make the table's keys and one admitted client of each role. Existing keys are kept."""
    place = KeyFolder.from_path(config) if config is not None else place
    if place is None:
        raise click.UsageError("Missing argument 'TABLE': the state directory, or --config")
    with raise_keys_errors():
        if place.config is None:
            create_table_keys(place.state_dir)
        else:
            from controller.service.process_users import create_table_folders

            create_table_folders(load_table(place.config))
    _print_clients(place)


@command.command(
    short_help="Make a client's pair here and admit it.",
    epilog=format_examples(
        "client state console-2 --role referee",
        "client table.toml guest --role observer --expires 2027-12-31",
    ),
)
@table_argument
@click.argument("name")
@role_option
@expires_option
def client(place: KeyFolder, name: str, role: str, expires: datetime | None) -> None:
    """Make a client's key pair here, and admit it. Carry its .key_secret to the
    client's computer.
    """
    with raise_keys_errors():
        public = create_client_keys(place.gateway_dir, name, Role(role))
        made = read_certificate(public)
        if made.role != role:
            raise KeysError(f"{public}: exists already, as {made.role}: choose another name")
        admit_file(place.gateway_dir, public, expires)
    click.echo(f"{name} is admitted as {role}; its own key: {public.with_suffix('.key_secret')}")


@command.command(
    "request",
    short_help="Make a pair where it will be used.",
    epilog=format_examples("request anna --role referee --out .", "fingerprint anna.key"),
)
@click.argument("name")
@role_option
@click.option("--out", required=True, type=FOLDER, help="The folder that the pair goes to.")
@expires_option
def request_pair(name: str, role: str, out: Path, expires: datetime | None) -> None:
    """Make a key pair on the computer that will use it. The secret never leaves that computer.

    Carry NAME.key to the table (`dealtable keys admit`), and read the fingerprint out to the person
    who admits it.
    """
    with raise_keys_errors():
        try:
            public = write_key_request(out, name, Role(role), expires)
        except FileExistsError as there:
            raise KeysError(
                f"{there.filename}: is there already: show its fingerprint (`dealtable keys "
                "fingerprint`), or choose another NAME or folder (--out)"
            ) from None
        click.echo(format_certificate(read_certificate(public)))
    click.echo(f"bring this to the table: {public}")
    click.echo(f"keep this here:          {public.with_suffix('.key_secret')}")


@command.command(
    "admit",
    short_help="Admit a client by its public file.",
    epilog=format_examples(
        "admit state anna.key",
        "admit state anna.key --expires 2027-12-31",
        "admit table.toml anna.key --fingerprint 0123-4567-89ab-cdef",
    ),
)
@table_argument
@click.argument("file", type=PRESENT_FILE)
@fingerprint_option
@expires_option
def admit_client(place: KeyFolder, file: Path, mark: str | None, expires: datetime | None) -> None:
    """Admit a client by its public certificate, after its owner has read the fingerprint aloud.

    Name, role and end are signed by the owner, so a person who carries the file cannot change them.
    --expires is set by the table, and replaces the end in the file.
    """
    with raise_keys_errors():
        brought = read_client_file(file)
        refuse_expired(brought, parse_moment(read_wall_clock()))
        confirm_fingerprint(brought, mark)
        # the compared certificate, even if the file has changed since
        enrol_client(place.gateway_dir, brought, expires)
    click.echo(f"{brought.name} is admitted as {brought.role}")


@command.command(
    "list",
    short_help="List who is admitted, until when, and who was revoked.",
    epilog=format_examples("list state", "list table.toml"),
)
@table_argument
def list_clients(place: KeyFolder) -> None:
    """List the clients: name, role, fingerprint and expiry date, then the revoked clients."""
    _print_clients(place)


@command.command(
    "fingerprint",
    short_help="Show whose a file is, and its fingerprint.",
    epilog=format_examples("fingerprint anna.key", "fingerprint state/keys/table.key"),
)
@click.argument("file", type=PRESENT_FILE)
def show_fingerprint(file: Path) -> None:
    """Show owner and fingerprint of the key in FILE: a client's certificate or a table.key."""
    with raise_keys_errors():
        click.echo(format_certificate(read_certificate(file)))


@command.command(
    short_help="Give a client, or the table itself, a new key.",
    epilog=format_examples(
        "rotate state referee",
        "rotate state anna new/anna.key --grace 2",
        "rotate state anna new/anna.key --at-once",
        "rotate state --own",
    ),
)
@table_argument
@click.argument("name", required=False)
@click.argument("file", required=False, type=click.Path(path_type=Path, exists=True))
@click.option("--grace", "hours", type=click.FloatRange(0, 24 * 366), help="Hours for the old key.")
@click.option("--at-once", is_flag=True, help="The old key ends now, and is revoked.")
@click.option("--own", is_flag=True, help="The table's own keys, for a new journal.")
@fingerprint_option
def rotate(
    place: KeyFolder,
    name: str | None,
    file: Path | None,
    hours: float | None,
    at_once: bool,
    own: bool,
    mark: str | None,
) -> None:
    """Admit a new key for the client NAME, or renew the table's own keys.

    The old key stays valid beside it for a day.

    FILE is the new public certificate, made on the computer that uses it (`dealtable keys
    request`). Without FILE the new pair is made here, if the old one was made here. --own renews
    the table's keys. Every console then needs the new table.key.
    """
    if own != (name is None):
        raise click.UsageError("name a key: a NAME, or --own for the table's")
    if at_once and hours is not None:
        raise click.UsageError("--at-once leaves no --grace")
    grace_h = 0.0 if at_once else DEFAULT_GRACE_H if hours is None else hours
    with raise_keys_errors():
        if name is None:
            rotate_table_keys(place)
        else:
            rotate_client(place, name, file, grace_h, mark)


@command.command(
    "revoke",
    short_help="Take a client's key away, for good.",
    epilog=format_examples(
        'revoke state anna --reason "laptop lost"',
        "revoke state anna --reason replaced --fingerprint 0123-4567-89ab-cdef",
    ),
)
@table_argument
@click.argument("name")
@click.option("--reason", required=True, help="The reason, which its owner is shown.")
@click.option("--fingerprint", "mark", help="One of several keys of that name.")
def revoke_command(place: KeyFolder, name: str, reason: str, mark: str | None) -> None:
    """Revoke a client's key for good: its connections end, and its commands are refused."""
    with raise_keys_errors():
        now = parse_moment(read_wall_clock())
        for gone in revoke_client(place.gateway_dir, name, reason, now, mark):
            archive_pair(place.gateway_dir, gone)
            click.echo(f"{gone.name}, {gone.role}, {fingerprint(gone)} is revoked")
        if not Roster.load(place.gateway_dir).chief_seals():
            click.echo(
                "no chief is left: the machine begins no deal until one is admitted", err=True
            )


def _print_clients(place: KeyFolder) -> None:
    with raise_keys_errors():
        lines = format_clients(place.gateway_dir, parse_moment(read_wall_clock()))
    click.echo("\n".join(lines))
