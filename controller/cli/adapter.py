"""`dealtable adapter`: a bought part in the place of a board."""

from pathlib import Path

import click

from controller.cli import CliError
from drivers.adapters.adapter_board import AdapterError

EPILOG = """\b
Examples:
  dealtable adapter barcode barcode.toml --learn
  dealtable adapter barcode barcode.toml
"""

config_argument = click.argument("path", metavar="CONFIG", type=click.Path(path_type=Path))


@click.group(epilog=EPILOG)
def command() -> None:
    """Stand in a board's place until Ctrl-C or SIGTERM, over parts that people can buy.

    Each has a configuration of its own, and is found by the table under the link that it names
    (dealer.port or reader.port of table.toml). What it cannot promise it says at its start;
    deploy/THREATS.md says what that means.
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
    """Be the reader board over the barcode engine that CONFIG names, such as barcode.toml.

    table.toml says `trigger = "asked"` for it. With --learn no table runs: the program says which
    card to lay, reads it twice, and writes its code into CONFIG. It can be ended and goes on later.
    """
    from controller.cli.adapter_files import load_barcode_file
    from controller.cli.barcode_setup import learn_cards

    profile = load_barcode_file(path)
    if learn:
        learn_cards(path, "A" if back == "A" else "B")
        return
    if not profile.cards:
        raise CliError(f"{path}: it has no [[card]] yet; run: dealtable adapter barcode --learn")
    from controller.service.sandbox import deny_network, restrict_process
    from drivers.adapters.adapter_board import AdapterStorage, serve
    from drivers.adapters.barcode_engine import SerialEnginePort
    from drivers.adapters.barcode_reader import BarcodeHal, make_barcode_reader
    from drivers.firmware.main import own_source_hash

    restrict_process(hide_memory=True)  # it sees every card
    deny_network()
    engine, of = profile.engine, profile.adapter
    uid = bytes.fromhex(of.id)
    hal = BarcodeHal(uid, engine, profile.codes, SerialEnginePort(engine), _print_message)
    try:
        folder = AdapterStorage(of.folder)
        board = make_barcode_reader(
            hal, engine, folder.next_boot(), own_source_hash(), folder.load()
        )
        serve(board, hal, of.link, store=folder.store, log=_print_message)
    except AdapterError as error:
        raise CliError(str(error)) from None


def _print_message(line: str) -> None:
    click.echo(line, err=True)
