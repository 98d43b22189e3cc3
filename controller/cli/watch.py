"""`dealtable watch`: what tables say, as lines for people or as JSON."""

import asyncio
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, Protocol

import click
import msgspec
from rich.console import Console

from controller.bridge import state_topic
from controller.cli import LineError
from controller.cli.changes import BAD, Line, changes, silence, way
from controller.cli.reach import client_in, command_ids, endpoints_in, identity_in, table_key
from controller.gateway.client import Client, Heard, Identity
from controller.gateway.endpoints import Endpoints
from controller.gateway.line import BadAddress, LineState
from controller.messages import Role, State
from controller.roster import KEYS, TABLE

SILENT_S: Final = 3.0
"""A table says something every second; after three it counts as silent."""

EPILOG: Final = """\b
Examples:
  dealtable watch --state-dir state
  dealtable watch --state-dir T01/state --state-dir T02/state
  dealtable watch --state-dir state --json --topic event > events.jsonl
  dealtable watch tcp://192.168.1.12:5556 --server-key table.key --key observer.key_secret
"""

Table = tuple[Endpoints, Identity]


@click.command(epilog=EPILOG)
@click.argument("endpoints", nargs=-1, metavar="[ENDPOINT]...")
@click.option("--json", "as_json", is_flag=True, help="Print each message's JSON as it came.")
@click.option(
    "--topic",
    type=click.Choice(["state", "event"]),
    help="Only states, or only events (what `dealtable verify` reads).",
)
@click.option(
    "--state-dir",
    "state_dirs",
    type=click.Path(path_type=Path, file_okay=False),
    multiple=True,
    help="A table's state directory: it says where the table is and holds an observer's key.",
)
@click.option(
    "--server-key",
    "server_keys",
    metavar="KEY|FILE",
    multiple=True,
    help="The public key of the ENDPOINTs' table, or its table.key; "
    "once for all of them, or once for each in their order.",
)
@click.option(
    "--key",
    "key_file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The .key_secret to come with.  [default: the state directory's observer]",
)
def command(
    endpoints: tuple[str, ...],
    as_json: bool,
    topic: str | None,
    state_dirs: tuple[Path, ...],
    server_keys: tuple[str, ...],
    key_file: Path | None,
) -> None:
    """Watch one or more tables until Ctrl-C.

    An ENDPOINT is a table's feed; without one, the state directories say where. Prints a
    line for each change: of a match its table number (台号), phase, levels, deal, and who is
    waited for; of the machine its phase and cards; calls for the referee, alerts with what
    to do, outcomes, a lost line.
    """
    tables = _tables(endpoints, state_dirs, server_keys, key_file)
    bad = None
    try:
        asyncio.run(_watch_all(tables, JsonPrinter if as_json else LinePrinter, topic))
    except* BadAddress as wrong:
        bad = str(wrong.exceptions[0])
    if bad is not None:  # raised in there, it comes out in a group before Python 3.11.4
        raise LineError(bad)


class Printer(Protocol):
    """What becomes of what one table says."""

    def heard(self, heard: Heard) -> None:
        """A message came."""

    def line(self, state: LineState) -> None:
        """The way to the table opened or closed."""

    def silent(self) -> None:
        """Nothing came for SILENT_S, though it should."""


class JsonPrinter:
    """Each message's JSON on a line of its own; what is wrong with the line on stderr."""

    def __init__(self, name: str) -> None:
        self._name = name

    def heard(self, heard: Heard) -> None:
        """Print it as it came."""
        click.echo(heard.body)

    def line(self, state: LineState) -> None:
        """Say it."""
        if state is not LineState.OPEN:
            click.echo(f"{self._name}  {state}", err=True)

    def silent(self) -> None:
        """Say it."""
        click.echo(f"{self._name}  {silence(None, SILENT_S).text}", err=True)


class LinePrinter:
    """A line for each change of the state."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._last: State | None = None
        self._state = LineState.CONNECTING
        self._console = Console(highlight=False, soft_wrap=True)

    def heard(self, heard: Heard) -> None:
        """Print what is new in a state; events say nothing that a state does not."""
        if not heard.topic.startswith(state_topic("")):
            return
        try:
            now = msgspec.json.decode(heard.body, type=State)
        except msgspec.MsgspecError as error:
            self._print(Line(f"a state of another version: {error}", BAD))
            return
        self._name = now.table
        for line in changes(self._last, now):
            self._print(Line(f"{now.time[11:19]}  {line.text}", line.style))
        self._last = now

    def line(self, state: LineState) -> None:
        """Say how the way to the table stands now."""
        self._state = state
        self._print(way(state, self._last))

    def silent(self) -> None:
        """Say so, unless the line itself is known to be the reason."""
        if self._state in (LineState.CONNECTING, LineState.OPEN):
            self._print(silence(self._last, SILENT_S))

    def _print(self, line: Line) -> None:
        self._console.print(f"{self._name}  {line.text}", style=line.style, markup=False)


async def _watch_all(
    tables: Sequence[Table], printer: Callable[[str], Printer], topic: str | None
) -> None:
    """Watch until SIGINT or SIGTERM."""
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with asyncio.TaskGroup() as group:
        watching = [
            group.create_task(_watch(endpoints, identity, printer(endpoints.table), topic))
            for endpoints, identity in tables
        ]
        await stop.wait()
        for task in watching:
            task.cancel()


async def _watch(
    endpoints: Endpoints, identity: Identity, printer: Printer, topic: str | None
) -> None:
    """Print what one table says. It is silent once, until it speaks again."""
    silent = False
    async with Client(endpoints, identity, command_ids, printer.line) as client:
        while True:
            try:
                async with asyncio.timeout(None if silent else SILENT_S):
                    heard = await client.hear()
            except TimeoutError:
                silent = True
                printer.silent()
                continue
            silent = False
            if topic is None or heard.topic.startswith(f"{topic}/"):
                printer.heard(heard)


def _tables(
    feeds: Sequence[str],
    state_dirs: Sequence[Path],
    server_keys: Sequence[str],
    key_file: Path | None,
) -> list[Table]:
    """Find every table that is meant. Raises LineError or UsageError."""
    if not feeds:
        if not state_dirs:
            raise click.UsageError("name an ENDPOINT or a --state-dir")
        return [(endpoints_in(folder), _identity(key_file, folder)) for folder in state_dirs]
    if len(state_dirs) > 1:
        raise click.UsageError("an ENDPOINT goes with one --state-dir at most")
    folder = state_dirs[0] if state_dirs else None
    identity = _identity(key_file, folder)
    keys = [table_key(key) for key in server_keys]
    if not keys and folder is not None:
        keys = [table_key(str(folder / KEYS / f"{TABLE}.key"))]
    if len(keys) not in (1, len(feeds)):
        raise click.UsageError("an ENDPOINT needs its table's --server-key, or its --state-dir")
    keys *= len(feeds) // len(keys)
    return [
        (Endpoints(table=feed, feed=feed, commands="", server_key=key), identity)
        for feed, key in zip(feeds, keys, strict=True)
    ]


def _identity(key_file: Path | None, folder: Path | None) -> Identity:
    if key_file is not None:
        return identity_in(key_file)
    if folder is None:
        raise click.UsageError("an ENDPOINT needs a --key to come with, or its --state-dir")
    return client_in(folder, Role.OBSERVER)
