"""What several commands of `dealtable keys` are told: which table, which role, until when."""

from datetime import datetime
from pathlib import Path

import click

from controller.cli.keys_renewed import Place
from controller.cli.wall import wall
from controller.messages import Role
from controller.roster import moment


def _place(ctx: click.Context, param: click.Parameter, path: Path) -> Place:
    place = Place.of(path)
    place.refuse_without_table()
    return place


def _new_place(ctx: click.Context, param: click.Parameter, path: Path | None) -> Place | None:
    return None if path is None else Place.of(path)


def _moment(ctx: click.Context, param: click.Parameter, text: str | None) -> datetime | None:
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


table = click.argument("place", type=click.Path(path_type=Path), callback=_place, metavar="TABLE")
new_table = click.argument(
    "place", type=click.Path(path_type=Path), callback=_new_place, metavar="TABLE", required=False
)
role_of_it = click.option(
    "--role",
    required=True,
    type=click.Choice([role.value for role in Role]),
    help="What it may do.",
)
expires_on = click.option(
    "--expires", callback=_moment, metavar="DATE", help="Its last day, in UTC: 2027-12-31."
)
compared = click.option(
    "--fingerprint", "mark", help="The whole fingerprint, for scripts: nothing is asked."
)
