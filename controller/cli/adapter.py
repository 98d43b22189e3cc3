"""`dealtable adapter`: programs that replace a board with parts that people can buy."""

from pathlib import Path

import click

from controller.cli import CliError
from controller.cli.options import ANY_PATH
from drivers.adapters.adapter_board import AdapterError

EPILOG = """\b
Examples:
  dealtable adapter barcode barcode.toml --learn
  dealtable adapter barcode barcode.toml
"""

config_argument = click.argument("path", metavar="CONFIG", type=ANY_PATH)


@click.group(epilog=EPILOG)
def command() -> None:
    """Replace a board until Ctrl-C or SIGTERM, with parts that people can buy.

    Each adapter has its own configuration. The table finds it under the link in that file
    (dealer.port or reader.port of table.toml). At its start an adapter prints what it cannot
    guarantee. deploy/THREATS.md explains the consequences.
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
    """Run the reader board with the barcode engine in CONFIG, such as barcode.toml.

    The reader in table.toml needs `trigger = "asked"`. With --learn no table runs: the program asks
    for each card, reads it twice, and writes its code into CONFIG. It can be stopped and continued
    later.
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

    restrict_process(hide_memory=True)  # this process sees every card
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
