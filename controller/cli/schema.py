"""`dealtable schema`: what others may rely on, as JSON Schemas."""

import json

import click

from controller.cli.schemas import MESSAGE_NAMES, make_schema

EPILOG = """\b
Examples:
  dealtable schema > dealtable.schema.json
  dealtable schema event > event.schema.json
"""


@click.command(epilog=EPILOG)
@click.argument("name", required=False, type=click.Choice(MESSAGE_NAMES))
def command(name: str | None) -> None:
    """Print the JSON Schema of the message NAME, or of all of them in one.

    \b
    state    topic state/TABLE of the feed: the whole public state of a table
    event    topic event/TABLE: an entry of its journal; `kind` says what `data` holds,
             and in a match's entries `event` what happened
    command  what a client sends; `cmd` says what `args` holds, who may send it, and when
    reply    what comes back: $defs has one for each command, and RefusedReply

    The one of all of them is a schema of any message, with each under its name in $defs.
    JSON Schema 2020-12. Later versions may add fields: read on over what you do not know.
    An example of every message stands in controller/messages.md.
    """
    click.echo(json.dumps(make_schema(name), indent=2, ensure_ascii=False))
