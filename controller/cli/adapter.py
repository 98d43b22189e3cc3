"""`dealtable adapter`: programs that replace a board with parts that people can buy."""

import sys
from collections.abc import Callable
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from controller.cli import CliError
from controller.cli.adapter_files import load_modbus_file
from drivers.adapters.adapter_board import AdapterError, AdapterStorage, serve
from drivers.adapters.modbus_map import MapError
from drivers.firmware.dealer import DealerCore
from drivers.firmware.main import BoardClock, own_source_hash

SETTLE_TIMEOUT_MS = 3000
"""Time limit for units to answer. After it the board starts, with or without them."""


def serve_modbus(path: Path, on_message: Callable[[str], None]) -> None:
    """Run the dealer board over Modbus until a signal. `on_message` receives messages for people.

    Raises CliError, and FileError for the map.
    """
    told = load_modbus_file(path)
    try:
        from drivers.adapters.modbus_dealer import ModbusHal
        from drivers.adapters.modbus_rtu import ModbusSerialPort
    except ImportError as missing:
        raise CliError(_NOT_INSTALLED.format(missing.name)) from None
    clock = BoardClock()
    port = ModbusSerialPort(told.line)
    try:
        hal = ModbusHal(told, port, clock.now_ms, on_message)
        folder = AdapterStorage(told.adapter.folder)
        board = DealerCore(hal, folder.next_boot(), 0, own_source_hash(), folder.load())
        hal.wait_for_units(SETTLE_TIMEOUT_MS)
        serve(board, hal, told.adapter.link, store=folder.store, log=on_message)
    except (AdapterError, MapError) as error:
        raise CliError(str(error)) from None
    finally:
        port.close()


def check_modbus(path: Path) -> None:
    """Read every mapped address once and print its value. Exit 1 if one does not answer.

    Nothing is written to the line. Raises CliError, and FileError for the map.
    """
    told = load_modbus_file(path)
    try:
        from drivers.adapters.modbus_probe import probe_line
        from drivers.adapters.modbus_rtu import ModbusPortLost, ModbusSerialPort
    except ImportError as missing:
        raise CliError(_NOT_INSTALLED.format(missing.name)) from None
    clock = BoardClock()
    port = ModbusSerialPort(told.line)
    try:
        port.read()  # checks that the port exists
        rows = list(probe_line(told, port, clock.now_ms))
    except ModbusPortLost as gone:
        raise CliError(str(gone)) from None
    finally:
        port.close()
    table = Table("name", "unit", "place", "says", "means")
    for row in rows:
        table.add_row(*map(Text, (row.name, row.unit, row.place, row.says, row.means)))
    Console().print(table)
    if any(row.wrong for row in rows):
        sys.exit(1)


_NOT_INSTALLED = "{} is not installed: pip install 'dealtable[modbus]'"


EPILOG = """\b
Examples:
  dealtable adapter barcode barcode.toml --learn
  dealtable adapter barcode barcode.toml
  dealtable adapter modbus modbus.toml --check
  dealtable adapter modbus modbus.toml
"""

config_argument = click.argument("path", metavar="CONFIG", type=click.Path(path_type=Path))


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


@command.command(short_help="A dealer: drives and inputs on a Modbus RTU line.")
@config_argument
@click.option("--check", is_flag=True, help="Read every input once and print them; nothing moves.")
def modbus(path: Path, check: bool) -> None:
    """Run the dealer board with the drives and inputs in CONFIG, such as modbus.toml.

    Every drive is stopped at the start and at the end, and nothing moves unless all of them answer.
    Exit 1: --check found a unit that does not answer or refuses.
    """
    from controller.cli.adapter import check_modbus, serve_modbus

    if check:
        check_modbus(path)
    else:
        serve_modbus(path, _print_message)
