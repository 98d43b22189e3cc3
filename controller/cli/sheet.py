"""`dealtable sheet`: the score sheet (记分表) of a table's match, to read, print and sign."""

import asyncio
import sys
from pathlib import Path
from typing import Literal

import click
import msgspec

from controller.cli import CliError
from controller.cli.options import FOLDER
from controller.cli.table_access import new_command_id, read_client_identity, read_table_endpoints
from controller.client.client import Client, NoAnswer
from controller.client.connection import BadAddress
from controller.messages import CommandReply, Role
from controller.sheet.printed_sheet import render_sheet

EPILOG = """\b
Examples:
  dealtable sheet --state-dir state
  dealtable sheet --state-dir state --language en | lpr
  dealtable sheet --state-dir state --json > sheet.json
"""


@click.command("sheet", epilog=EPILOG)
@click.option(
    "--state-dir",
    type=FOLDER,
    required=True,
    help="The table's state directory, which has the table's address and the keys.",
)
@click.option("--language", type=click.Choice(["zh", "en"]), default="zh", show_default=True)
@click.option("--json", "as_json", is_flag=True, help="The sheet as the table sent it.")
def command(state_dir: Path, language: Literal["zh", "en"], as_json: bool) -> None:
    """Print the present score sheet of the match at a table.

    The sheet has every deal with its level, places, tribute and penalties; corrections with old and
    new values; points; the signatures with their versions, and the missing signatures. Exit 1 if
    there is no match.
    """
    endpoints = read_table_endpoints(state_dir)
    identity = read_client_identity(state_dir, Role.OBSERVER)

    async def ask() -> CommandReply:
        async with Client(endpoints, identity, new_command_id) as client:
            return await client.ask("sheet")

    try:
        reply = asyncio.run(ask())
    except NoAnswer as error:
        raise click.ClickException(f"no answer: {error}") from None
    except BadAddress as error:
        raise CliError(str(error)) from None
    if reply.error is not None or reply.result is None:
        said = "" if reply.error is None else f"{reply.error.message}. {reply.error.action}."
        raise click.ClickException(said)
    if as_json:
        click.echo(msgspec.json.encode(reply.result))
    else:
        sys.stdout.write(render_sheet(reply.result, language))
