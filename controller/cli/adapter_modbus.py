"""`dealtable adapter modbus`: the dealer board over a Modbus RTU line, and a look at that line."""

import sys
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from controller.cli import CliError
from controller.cli.modbus_file import load_modbus_file
from drivers.adapters.modbus_map import MapError
from drivers.adapters.shell import AdapterError, AdapterStorage, serve
from drivers.firmware.dealer import DealerCore
from drivers.firmware.main import BoardClock, own_source_hash

SETTLE_TIMEOUT_MS = 3000
"""How long units may take to come before the board is there, with or without them."""


def serve_modbus(path: Path, on_message: Callable[[str], None]) -> None:
    """Be the dealer board until a signal; `say` takes what people should know.

    Raises LineError, and FileError for the map.
    """
    told = load_modbus_file(path)
    try:
        from drivers.adapters.modbus import ModbusHal
        from drivers.adapters.modbus_line import ModbusSerialPort
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
    """Read every mapped place once and print what stands there; exit 1 where one does not answer.

    Nothing is written to the line. Raises LineError, and FileError for the map.
    """
    told = load_modbus_file(path)
    try:
        from drivers.adapters.modbus_check import probe_line
        from drivers.adapters.modbus_line import ModbusPortLost, ModbusSerialPort
    except ImportError as missing:
        raise CliError(_NOT_INSTALLED.format(missing.name)) from None
    clock = BoardClock()
    port = ModbusSerialPort(told.line)
    try:
        port.read()  # that it is there
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
