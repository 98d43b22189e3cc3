"""`dealtable adapter`: programs that act as a board with a bought part, such as a scanner."""

import select
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import click

from controller.cards import Face, face_text
from controller.cli import CliError, raise_cli_error
from controller.cli.adapter_files import (
    BACKS,
    BackName,
    BarcodeFile,
    BarcodeFileError,
    append_card,
    load_barcode_file,
)
from controller.cli.options import ANY_PATH
from controller.host import atomic_files
from controller.host.toml_files import read_text
from drivers.adapters.adapter_board import NEVER_MS, AdapterError
from drivers.adapters.barcode_engine import BarcodeEngine, BarcodeScan, SerialEnginePort
from drivers.firmware.runtime import BoardClock

EPILOG = """\b
Examples:
  dealtable adapter barcode barcode.toml --learn
  dealtable adapter barcode barcode.toml
"""

config_argument = click.argument("path", metavar="CONFIG", type=ANY_PATH)


@click.group(epilog=EPILOG)
def command() -> None:
    """Run an adapter: a program that uses a bought part in place of a board.

    It runs until Ctrl-C or SIGTERM. Each adapter has its own configuration. The table finds the
    adapter under the link in that file (dealer.port or reader.port of table.toml). At its start an
    adapter prints what it cannot guarantee. deploy/THREATS.md explains the consequences.
    """


@command.command(short_help="A reader: a serial barcode engine, index-coded cards.")
@config_argument
@click.option("--learn", is_flag=True, help="Learn the cards' codes, one after the other.")
@click.option(
    "--back",
    type=click.Choice(["A", "B"]),
    default="A",
    show_default=True,
    help="With --learn: the back of the cards that are laid.",
)
def barcode(path: Path, learn: bool, back: str) -> None:
    """Run a barcode engine in place of the reader board.

    CONFIG describes the engine, as barcode.toml does.

    The reader in table.toml needs `trigger = "asked"`. With --learn no table runs: the program asks
    for each card, reads it twice, and writes its code into CONFIG. It can be stopped and continued
    later.
    """
    profile = load_barcode_file(path)
    if learn:
        learn_cards(path, "A" if back == "A" else "B")
        return
    if not profile.cards:
        raise CliError(f"{path}: it has no [[card]] yet; run: dealtable adapter barcode --learn")
    from controller.service.sandbox import deny_network, restrict_process
    from drivers.adapters.adapter_board import AdapterStorage, serve
    from drivers.adapters.barcode_reader import BarcodeHal, make_barcode_reader
    from drivers.firmware.main import own_source_hash

    restrict_process(hide_memory=True)  # this process sees every card
    deny_network()
    engine, of = profile.engine, profile.adapter
    uid = bytes.fromhex(of.id)
    hal = BarcodeHal(uid, engine, profile.codes, SerialEnginePort(engine), _print_message)
    with raise_cli_error(AdapterError):
        folder = AdapterStorage(of.folder)
        board = make_barcode_reader(
            hal, engine, folder.next_boot(), own_source_hash(), folder.load()
        )
        serve(board, hal, of.link, store=folder.store, log=_print_message)


def _print_message(line: str) -> None:
    click.echo(line, err=True)


# The option --learn: assigning a code to each card.

_MAX_SCANS = 6
_KEYS_HINT = "Enter reads the card, s skips it, q stops; you can continue later"


def learn_cards(path: Path, back: BackName, ask: Callable[[str], str] | None = None) -> None:
    """Scan each card that has no code in the file `path` (a barcode.toml); store its code there.

    A person presents each card with the back `back`. Each code is stored before the next card.
    `ask` shows a line and returns the typed text: "" to read, "s" to skip the card, "q" to stop.
    Raises CliError if the engine is missing, or if another program uses it.
    """
    ask = ask or (lambda text: click.prompt(text, default="", show_default=False, prompt_suffix=""))
    profile = load_barcode_file(path)
    if due := profile.faces_without_code(back):
        with closing(CodeScanner(profile.engine)) as looks:
            click.echo(f"{len(due)} cards of back {back} to learn: {_KEYS_HINT}.")
            for number, face in enumerate(due, start=1):
                if not _learn_card(path, face, back, f"{number}/{len(due)}", looks, ask):
                    break
    left = len(load_barcode_file(path).faces_without_code(back))
    click.echo(
        f"{path}: {left} cards of back {back} have no code yet"
        if left
        else f"{path}: every card of back {back} has its code"
    )


class CodeScanner:
    """A barcode engine (a scanner) that reads one code at a time. A missing one raises CliError."""

    def __init__(self, engine: BarcodeEngine) -> None:
        self._looking = BarcodeScan(engine, SerialEnginePort(engine))
        self._clock = BoardClock()
        self._looking.step(self._clock.now_ms())
        self._require_engine()

    def scan(self) -> bytes | None:
        """Scan once, and return the code, or None if the engine read no code or several codes."""
        self._looking.begin(self._clock.now_ms())
        while True:
            done = self._looking.step(self._clock.now_ms())
            self._require_engine()
            if done:
                return done[-1]
            wait_ms = min(self._looking.due_ms(), NEVER_MS) - self._clock.now_ms()
            source = self._looking.source
            select.select([] if source is None else [source], [], [], max(0, wait_ms) / 1000)

    def close(self) -> None:
        """Close the engine's serial port."""
        self._looking.close()

    def _require_engine(self) -> None:
        if self._looking.away_reason is not None:
            raise CliError(
                f"{self._looking.away_reason}; plug the engine in, correct engine.port, "
                "or end the adapter that has it"
            )


def _learn_card(
    path: Path,
    face: Face,
    back: BackName,
    which: str,
    scanner: CodeScanner,
    ask: Callable[[str], str],
) -> bool:
    """Ask for one card and store its code, or skip the card. Return False if the person stops."""
    while True:
        answer = ask(f"{which}  lay {face_text(face)} in the window: ").strip().lower()
        if answer == "q":
            return False
        if answer == "s":
            return True
        line = _scan_twice(scanner)
        problem = _find_code_problem(load_barcode_file(path), line)
        if problem is None and line is not None:
            _write_card(path, line.decode(), face, back)
            click.echo(f"      {face_text(face)}: code {line.decode()}")
            return True
        click.echo(f"      {problem}", err=True)


def _scan_twice(scanner: CodeScanner) -> bytes | None:
    """Return the first code that is read twice in a row, or None if six scans have no such code."""
    before = None
    for _ in range(_MAX_SCANS):
        line = scanner.scan()
        if line is not None and line == before:
            return line
        before = line
    return None


def _find_code_problem(profile: BarcodeFile, line: bytes | None) -> str | None:
    """Return why the scanned `line` cannot be the code of a new card, or None if it can be."""
    if line is None:
        return "no code was read 2 times alike: lay the card straight, and alone"
    if not all(0x21 <= sign <= 0x7E for sign in line) or len(line) > 64:
        return "the code has signs that no code has: see end_of_line, baud and parity"
    if (known := profile.codes.get(line)) is None:
        return None
    face, of = known
    name = next(name for name, back in BACKS.items() if back == of)
    return f"this code is that of {face_text(face)}, back {name}: is it the right card?"


def _write_card(path: Path, code: str, face: Face, back: BackName) -> None:
    try:
        mode = path.stat().st_mode & 0o777
        text = append_card(read_text(path, BarcodeFileError), code, face, back)
        atomic_files.replace_file(path, text.encode(), mode)
    except OSError as error:
        raise CliError(f"{path}: cannot be written: {error.strerror}") from None
