"""`dealtable watch`: the state of tables, as lines for people or as JSON.

The file of `--heads` has every signed head that was received, each as one line of JSON.
"""

import asyncio
import fcntl
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Final, Self

import click
import msgspec

from controller.cli import CliError
from controller.cli.feed_printers import (
    SILENCE_TIMEOUT_S,
    FeedPrinter,
    JsonFeedPrinter,
    TextFeedPrinter,
    decode_state,
)
from controller.cli.options import FILE, FOLDER, language_option
from controller.cli.state_lines import BAD_STYLE, CALL_STYLE, StateLine
from controller.cli.table_access import WatchTarget, find_watch_targets, new_command_id
from controller.client.client import BadMessage, Client
from controller.client.connection import BadAddress
from controller.faults import Language
from controller.host.printable_text import safe_line
from controller.host.toml_files import FileError
from controller.messages import PublicState, SignedHead
from controller.signing.signed_heads import HeadConflict, KeptHead, KeptHeads, is_signed_by

_LINE_PREFIX = b'{"table":'


class KeptHeadsFile:
    """A file of kept heads: the signed journal heads that were received from tables.

    Lines are only added. `disagreements` are the conflicts between the heads of the file. Only one
    program may have the file open at a time.
    """

    def __init__(self, path: Path) -> None:
        """Open or create the file. Raises FileError if it is not a file of kept heads."""
        self._path = path
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        except OSError as error:
            raise FileError(f"{path}: cannot be opened: {error.strerror}") from None
        try:
            self._heads = KeptHeads(self._read())
        except BaseException:
            os.close(self._file)
            raise
        self._unwritten: list[KeptHead] = []
        self.disagreements = self._heads.conflicts

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *why: object) -> None:
        os.close(self._file)

    def is_repeated(self, head: KeptHead) -> bool:
        """Return whether `head` is equal to the head that was last received from its table."""
        return self._heads.is_last_shown(head)

    def add(self, head: KeptHead) -> HeadConflict | None:
        """Add a received head in memory. Return its conflict with an earlier head, or None.

        `write_added` writes the head to the file.
        """
        if not self._heads.contains(head):
            self._unwritten.append(head)
        return self._heads.add(head)

    def write_added(self) -> None:
        """Write the added heads to the file. After a FileError, the next call writes them again."""
        if not self._unwritten:
            return
        lines = b"".join(msgspec.json.encode(one) + b"\n" for one in self._unwritten)
        size = os.fstat(self._file).st_size
        try:
            if os.write(self._file, lines) != len(lines):
                raise FileError(f"{self._path}: there is no room for another head")
            os.fsync(self._file)
        except (OSError, FileError) as error:
            os.ftruncate(self._file, size)  # do not leave half a line
            if isinstance(error, FileError):
                raise
            raise FileError(f"{self._path}: cannot be written: {error.strerror}") from None
        self._unwritten.clear()

    def _read(self) -> list[KeptHead]:
        """Return the heads in the file. An incomplete last line (after a power cut) is removed."""
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with os.fdopen(os.dup(self._file), "rb") as file:
                whole, newline, rest = file.read().rpartition(b"\n")
        except BlockingIOError:
            raise FileError(f"{self._path}: another watch keeps its heads in it") from None
        except OSError as error:
            raise FileError(f"{self._path}: cannot be read: {error.strerror}") from None
        lines = whole.split(b"\n") if newline else []
        kept = [self._decode_line(line, number) for number, line in enumerate(lines, start=1)]
        return kept if not rest else [*kept, *self._repair_last_line(rest, len(lines) + 1)]

    def _repair_last_line(self, rest: bytes, number: int) -> list[KeptHead]:
        """Add the missing newline after the last line `rest`, and return the line's head in a list.

        If `rest` is only the beginning of a head, remove `rest` and return []. Raises FileError.
        """
        try:
            kept = [self._decode_line(rest, number)]
        except FileError:
            if not (rest.startswith(_LINE_PREFIX) or _LINE_PREFIX.startswith(rest)):
                raise
            os.ftruncate(self._file, os.fstat(self._file).st_size - len(rest))
            return []
        os.write(self._file, b"\n")
        return kept

    def _decode_line(self, line: bytes, number: int) -> KeptHead:
        try:
            return msgspec.json.decode(line, type=KeptHead)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            raise FileError(f"{self._path}: line {number} is no kept head") from None


MAX_UNSIGNED_STATES: Final = 10
"""Number of states in a row without a signed head before a warning. A table that starts has a few.
"""


class StateChecker:
    """A checker of a table's signed journal heads: of signatures, and of conflicts with kept heads.

    Several tables may share the file `heads`. `curve` is the table's public key in Z85.
    `verify_key` is the table's Ed25519 key (32 bytes), or None if it is unknown.
    """

    def __init__(self, curve: str, verify_key: bytes | None, heads: KeptHeadsFile) -> None:
        self._curve, self._verify_key, self._heads = curve, verify_key, heads
        self._refused_head: SignedHead | None = None
        self._unsigned_states = 0

    def check(self, state: PublicState) -> Iterator[StateLine]:
        """Check a state's signed head, and keep a valid head. Yield a line for each problem."""
        if (signed := state.signed) is None:
            self._unsigned_states += 1
            if self._unsigned_states == MAX_UNSIGNED_STATES:
                yield StateLine("shows no signed head: nothing is kept of this table", CALL_STYLE)
            return
        self._unsigned_states = 0
        one = KeptHead(
            table=state.table,
            table_key=self._curve,
            n=signed.n,
            head=signed.head,
            sig=signed.sig,
            time=state.time,
        )
        if self._heads.is_repeated(one) or signed == self._refused_head:
            return
        if self._verify_key is not None and not is_signed_by(signed, self._curve, self._verify_key):
            self._refused_head = signed
            yield StateLine(
                f"the head of entry {signed.n} is not signed by this table: it is not kept "
                "(another table.sign, or somebody on the way)",
                BAD_STYLE,
            )
            return
        self._refused_head = None
        if (wrong := self._heads.add(one)) is not None:
            yield StateLine(f"ANOTHER PAST 日志不符  {wrong.en} / {wrong.zh}", BAD_STYLE)
        try:
            self._heads.write_added()
        except FileError as failed:
            yield StateLine(f"heads are not kept: {failed}", BAD_STYLE)


EPILOG: Final = """\b
Examples:
  dealtable watch --state-dir state
  dealtable watch --state-dir T01/state --state-dir T02/state
  dealtable watch --state-dir state --language zh
  dealtable watch --state-dir state --json --topic event > events.jsonl
  dealtable watch --state-dir state --heads heads.jsonl
  dealtable watch tcp://192.168.1.12:5556 --server-key table.key --key watch.key_secret
"""


@click.command(epilog=EPILOG)
@click.argument("endpoints", nargs=-1, metavar="[ENDPOINT]...")
@click.option("--json", "as_json", is_flag=True, help="Print each message's JSON as it came.")
@language_option("the lines for people")
@click.option(
    "--topic",
    type=click.Choice(["state", "event"]),
    help="Only states, or only events (what `dealtable verify` reads).",
)
@click.option(
    "--state-dir",
    "state_dirs",
    type=FOLDER,
    multiple=True,
    help="A table's state directory, which has the table's address and a key to watch with.",
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
    type=FILE,
    help="The .key_secret to come with.  [default: the state directory's watch.key_secret]",
)
@click.option(
    "--heads",
    "heads_file",
    metavar="FILE",
    type=FILE,
    help="Keep every signed head in FILE, and warn where a table shows another past.",
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
) -> None:
    """Watch one or more tables until Ctrl-C.

    An ENDPOINT is a table's feed. Without one, the addresses are read from the state directories.
    Prints a line for each change. Of a match: its table number (台号), phase, levels, deal, and the
    seats for which it waits. Of the machine: its phase and cards. Also calls for the referee,
    pauses with person and reason, alerts with the action to take, outcomes, and a lost connection.

    A kept signed head can later prove that a journal was rewritten: `dealtable verify --head FILE`.
    """
    tables = find_watch_targets(endpoints, state_dirs, server_keys, key_file)
    printer = partial(JsonFeedPrinter if as_json else TextFeedPrinter, language=language)
    bad: BaseException | None = None
    try:
        with _open_heads_file(heads_file, tables) as heads:
            asyncio.run(_watch_all(tables, printer, topic, heads))
    except* (BadAddress, OSError) as wrong:  # OSError: the reader of the output is gone
        bad = wrong
        while isinstance(bad, BaseExceptionGroup):
            bad = bad.exceptions[0]
    if isinstance(bad, BadAddress):
        raise CliError(str(bad))
    if bad is not None:  # an error that is raised in the block is in a group before Python 3.11.4
        raise bad


async def _watch_all(
    tables: Sequence[WatchTarget],
    printer: Callable[[str], FeedPrinter],
    topic: str | None,
    heads: KeptHeadsFile | None,
) -> None:
    """Watch all tables until SIGINT or SIGTERM. `printer` returns a printer for a table's name."""
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with asyncio.TaskGroup() as group:
        watching = [
            group.create_task(_watch(table, printer(table.endpoints.table), topic, heads))
            for table in tables
        ]
        await stop.wait()
        for task in watching:
            task.cancel()


async def _watch(
    table: WatchTarget, printer: FeedPrinter, topic: str | None, heads: KeptHeadsFile | None
) -> None:
    """Print the messages of one table, and check its signed heads if `heads` is not None.

    A silence is reported once, and again only after another message."""
    endpoints, identity, verify = table
    checker = None if heads is None else StateChecker(endpoints.server_key, verify, heads)
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
            if checker is not None:
                with suppress(BadMessage):  # invalid, or of another version; the printer reports it
                    if (state := decode_state(heard)) is not None:
                        for line in checker.check(state):
                            printer.print_line(line)
            if topic is None or heard.topic.startswith(f"{topic}/"):
                printer.print_message(heard)


@contextmanager
def _open_heads_file(
    file: Path | None, tables: Sequence[WatchTarget]
) -> Iterator[KeptHeadsFile | None]:
    """Yield the open file of kept heads, or None if `file` is None. Print the file's conflicts."""
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
