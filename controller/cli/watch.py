"""`dealtable watch`: the state of tables, as lines for people or as JSON."""

import asyncio
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

import click

from controller.cli import CliError
from controller.cli.feed_printers import (
    SILENCE_TIMEOUT_S,
    FeedPrinter,
    JsonFeedPrinter,
    TextFeedPrinter,
    decode_state,
)
from controller.cli.kept_heads import KeptHeadsFile, StateChecker, TableKeys
from controller.cli.state_lines import StateLine
from controller.cli.table_access import WatchTarget, find_watch_targets, new_command_id
from controller.cli.terminal_text import safe_line
from controller.client.client import BadMessage, Client, ReceivedMessage
from controller.client.connection import BadAddress
from controller.faults import Language
from controller.release.release_files import read_manifest, read_release_key, read_signed_manifest
from controller.signing.releases import BadRelease, Manifest

EPILOG: Final = """\b
Examples:
  dealtable watch --state-dir state
  dealtable watch --state-dir T01/state --state-dir T02/state
  dealtable watch --state-dir state --language zh
  dealtable watch --state-dir state --json --topic event > events.jsonl
  dealtable watch --state-dir state --heads heads.jsonl --release manifest.json
  dealtable watch tcp://192.168.1.12:5556 --server-key table.key --key watch.key_secret
"""


@click.command(epilog=EPILOG)
@click.argument("endpoints", nargs=-1, metavar="[ENDPOINT]...")
@click.option("--json", "as_json", is_flag=True, help="Print each message's JSON as it came.")
@click.option(
    "--language",
    type=click.Choice(["en", "zh"]),
    default="en",
    show_default=True,
    help="Of the lines for people. 中文用 zh.",
)
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
    help="A table's state directory: it says where the table is and holds a key to watch with.",
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
    help="The .key_secret to come with.  [default: the state directory's watch.key_secret]",
)
@click.option(
    "--heads",
    "heads_file",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Keep every signed head in FILE, and warn where a table shows another past.",
)
@click.option(
    "--release",
    "manifest_file",
    metavar="MANIFEST",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Say how what tables report of themselves is like this release: same, other, unknown.",
)
@click.option(
    "--release-key",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The public .key that MANIFEST must be signed with.",
)
def command(
    endpoints: tuple[str, ...],
    as_json: bool,
    language: Language,
    topic: str | None,
    state_dirs: tuple[Path, ...],
    server_keys: tuple[str, ...],
    key_file: Path | None,
    heads_file: Path | None,
    manifest_file: Path | None,
    release_key: Path | None,
) -> None:
    """Watch one or more tables until Ctrl-C.

    An ENDPOINT is a table's feed. Without one, the addresses are read from the state directories.
    Prints a line for each change. Of a match: its table number (台号), phase, levels, deal, and the
    seats for which it waits. Of the machine: its phase and cards. Also calls for the referee,
    pauses with person and reason, alerts with the action to take, outcomes, and a lost connection.

    A kept signed head can later prove that a journal was rewritten: `dealtable verify --head FILE`.
    A table only reports its own program. Comparing the report with a release finds a wrong file,
    but not a malicious program.
    """
    tables = find_watch_targets(endpoints, state_dirs, server_keys, key_file)
    manifest = _read_manifest(manifest_file, release_key)
    printer = partial(JsonFeedPrinter if as_json else TextFeedPrinter, language=language)
    bad: BaseException | None = None
    try:
        with _open_heads_file(heads_file, tables) as heads:
            held = StateReferences(heads, manifest)
            asyncio.run(_watch_all(tables, printer, topic, held))
    except* (BadAddress, OSError) as wrong:  # OSError: the reader of the output is gone
        bad = _first_exception(wrong)
    if isinstance(bad, BadAddress):
        raise CliError(str(bad))
    if bad is not None:  # an error that is raised in the block is in a group before Python 3.11.4
        raise bad


def _first_exception(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return an exception of a group, also from a group within the group."""
    first = group.exceptions[0]
    return _first_exception(first) if isinstance(first, BaseExceptionGroup) else first


class StateReferences(NamedTuple):
    """The data with which the states of all tables are compared."""

    heads: KeptHeadsFile | None
    manifest: Manifest | None


async def _watch_all(
    tables: Sequence[WatchTarget],
    printer: Callable[[str], FeedPrinter],
    topic: str | None,
    references: StateReferences,
) -> None:
    """Watch all tables until SIGINT or SIGTERM."""
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with asyncio.TaskGroup() as group:
        watching = [
            group.create_task(_watch(table, printer(table.endpoints.table), topic, references))
            for table in tables
        ]
        await stop.wait()
        for task in watching:
            task.cancel()


async def _watch(
    table: WatchTarget, printer: FeedPrinter, topic: str | None, references: StateReferences
) -> None:
    """Print the messages of one table. A silence is reported once, until the next message."""
    endpoints, identity, verify = table
    checker = (
        StateChecker(TableKeys(endpoints.server_key, verify), *references)
        if any(references)
        else None
    )
    silent = False
    async with Client(endpoints, identity, new_command_id, printer.print_line_state) as client:
        while True:
            try:
                async with asyncio.timeout(None if silent else SILENCE_TIMEOUT_S):
                    heard = await client.next_message()
            except TimeoutError:
                silent = True
                printer.print_silence()
                continue
            except BadMessage as bad:
                silent = False
                printer.print_bad_message(str(bad))
                await asyncio.sleep(0)
                continue
            silent = False
            # a table that sends without pause must not block the other tables
            await asyncio.sleep(0)
            for line in _check_message(checker, heard):
                printer.print_line(line)
            if topic is None or heard.topic.startswith(f"{topic}/"):
                printer.print_message(heard)


def _check_message(checker: StateChecker | None, message: ReceivedMessage) -> Iterator[StateLine]:
    """Yield lines about a message that differs from the kept heads or the release."""
    if checker is not None:
        with suppress(BadMessage):  # invalid, or of another version; the printer reports it
            if (state := decode_state(message)) is not None:
                yield from checker.check(state)


@contextmanager
def _open_heads_file(
    file: Path | None, tables: Sequence[WatchTarget]
) -> Iterator[KeptHeadsFile | None]:
    """Open the file of kept heads, if requested, and print its existing conflicts."""
    if file is None:
        yield None
        return
    with KeptHeadsFile(file) as heads:
        for wrong in heads.disagreements:
            click.echo(safe_line(f"{wrong.shown.table}  {file}: {wrong.en}"), err=True)
        if any(table.verify_key is None for table in tables):
            click.echo(
                "whether heads are signed by their table is not checked: "
                "name its table.key with --server-key",
                err=True,
            )
        yield heads


def _read_manifest(file: Path | None, key_file: Path | None) -> Manifest | None:
    """Return the release that tables should run, or None. Raises CliError."""
    if file is None:
        if key_file is not None:
            raise click.UsageError("--release-key goes with --release MANIFEST")
        return None
    if key_file is None:
        return read_manifest(file)
    try:
        return read_signed_manifest(file, read_release_key(key_file))
    except BadRelease as wrong:
        raise CliError(f"{file}: {wrong}") from None
