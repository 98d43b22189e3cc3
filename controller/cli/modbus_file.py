"""The map of a Modbus line (modbus.toml), read and judged."""

from pathlib import Path

from controller import tomlfile
from drivers.adapters.modbus_map import MapError, ModbusMap
from drivers.adapters.modbus_sound import check_map


class ModbusFileError(tomlfile.FileError):
    """A map of a Modbus line cannot be used; its text is one line that says why."""


def load_modbus_file(path: Path) -> ModbusMap:
    """Return the map in a file. Raises FileError."""
    told = tomlfile.read(path, ModbusMap)
    try:
        check_map(told)
    except MapError as error:
        raise ModbusFileError(f"{path}: {error}") from None
    return told
