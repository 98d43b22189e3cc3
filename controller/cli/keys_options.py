"""What several commands of `dealtable keys` are told: which table, which role, until when."""

from datetime import datetime
from pathlib import Path

import click

from controller.cli.keys_renewed import Place
from controller.cli.wall import wall
from controller.messages import Role
from controller.roster import moment


def _open_key_folder(ctx: click.Context, param: click.Parameter, path: Path) -> Place:
    place = Place.of(path)
    place.require_clients()
    return place


def _name_key_folder(ctx: click.Context, param: click.Parameter, path: Path | None) -> Place | None:
    return None if path is None else Place.of(path)


def _parse_expiry(ctx: click.Context, param: click.Parameter, text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        end = moment(text)
    except (ValueError, OverflowError) as error:
        raise click.BadParameter(str(error)) from None
    if end <= moment(wall()):
        raise click.BadParameter(
            f"{text} is over: name a day to come (a key is ended by `dealtable keys revoke`)"
        )
    return end


def examples(*lines: str) -> str:
    """Return the end of a help page: lines that can be typed, behind `dealtable keys`."""
    return "\n".join(("\b", "Examples:", *(f"  dealtable keys {line}" for line in lines)))


table = click.argument(
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
compared = click.option(
    "--fingerprint", "mark", help="The whole fingerprint, for scripts: nothing is asked."
)
