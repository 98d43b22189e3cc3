"""The option of the commands that log: how much, to stderr."""

import click

from controller.cli.logs import LOG_LEVEL_VARIABLE, LOG_LEVELS

log_level_option = click.option(
    "--log-level",
    "level",
    type=click.Choice(list(LOG_LEVELS)),
    default="info",
    envvar=LOG_LEVEL_VARIABLE,
    show_default=True,
    help="What to log to stderr: lines for people in a terminal, JSON elsewhere.",
)
