"""What several commands of `dealtable keys` are told: which table, which role, until when."""

from datetime import datetime
from pathlib import Path

import click

from controller.cli.keys_renewed import KeyFolder
from controller.cli.wall import read_wall_clock
from controller.messages import Role
from controller.roster import parse_moment


def _open_key_folder(ctx: click.Context, param: click.Parameter, path: Path) -> KeyFolder:
    place = KeyFolder.from_path(path)
    place.require_clients()
    return place


def _name_key_folder(
    ctx: click.Context, param: click.Parameter, path: Path | None
) -> KeyFolder | None:
    return None if path is None else KeyFolder.from_path(path)


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
    """Return the end of a help page: lines that can be typed, behind `dealtable keys`."""
    return "\n".join(("\b", "Examples:", *(f"  dealtable keys {line}" for line in lines)))


table_argument = click.argument(
    "place", type=click.Path(path_type=Path), callback=_open_key_folder, metavar="TABLE"
)
new_table_argument = click.argument(
    "place",
    type=click.Path(path_type=Path),
    callback=_name_key_folder,
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
    "--fingerprint", "mark", help="The whole fingerprint, for scripts: nothing is asked."
)
