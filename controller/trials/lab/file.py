"""The file of collected deals: a zip of NumPy arrays (.npz). LAB.md says it for other readers."""

import os
import re
import struct
import tempfile
import zipfile
import zlib
from pathlib import Path
from typing import IO

import msgspec
import numpy as np
from numpy.typing import NDArray

from controller.tomlfile import FileError
from controller.trials.lab.data import (
    CARDS,
    CollectedDeals,
    DealsSource,
    InvalidDeals,
    check_deals,
    deal_columns,
)

MAX_DEALS = 10_000_000
"""More than any file of ours has: a zip that claims more is not unpacked."""

_SOURCE = "source"
_MAX_SOURCE_BYTES = 10_000
_MAX_ERROR_CHARS = 200
_ROWS = ("cards", "waiting", "seats", "verdicts")
_STACK = "collected"
_FLAGS = "follows"
_BYTE, _FLAG = "|u1", "|b1"

# A .npy begins so, in every version of NumPy; the header's length follows in two bytes.
_MAGIC = b"\x93NUMPY\x01\x00"
_BEGIN = struct.Struct("<8sH")
_HEADER = re.compile(
    rb"\{'descr': '(?P<kind>\|[ub]1)', 'fortran_order': False, "
    rb"'shape': \((?P<rows>\d{1,9}),(?: (?P<columns>\d{1,9}))?\), \} *\n"
)


def save_deals(deals: CollectedDeals, path: Path) -> None:
    """Write the deals, whole or not at all; the same deals give the same bytes."""
    arrays: dict[str, NDArray[np.uint8] | NDArray[np.bool_]] = deal_columns(deals)
    arrays[_SOURCE] = np.frombuffer(msgspec.json.encode(deals.source), np.uint8)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez_compressed(file, allow_pickle=False, **arrays)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def load_deals(path: Path) -> CollectedDeals:
    """Read a file of deals. Raises FileError, one line, for anything else."""
    try:
        with path.open("rb") as file:
            return read_deals(file)
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror}") from None
    except InvalidDeals as error:
        raise FileError(f"{path}: {error}") from None


def read_deals(file: IO[bytes]) -> CollectedDeals:
    """Read deals from an open file. Raises WrongDeals."""
    try:
        with zipfile.ZipFile(file) as archive:
            return _unpack(archive)
    except (
        *(zipfile.BadZipFile, zlib.error, OSError, KeyError, ValueError, EOFError),
        *(NotImplementedError, RuntimeError, OverflowError, msgspec.MsgspecError),
    ) as error:
        if isinstance(error, InvalidDeals) or getattr(error, "errno", None) is not None:
            raise  # the disk's own words; a spoilt stream's OSError has no number
        words = "".join(char if char.isprintable() else "·" for char in str(error))
        raise InvalidDeals(
            f"this is no file of collected deals: {words[:_MAX_ERROR_CHARS]}"
        ) from None


def _unpack(archive: zipfile.ZipFile) -> CollectedDeals:
    there = set(archive.namelist())
    numbers = {name: _read_array(archive, name, _BYTE, 2) for name in _ROWS}
    stack = _read_array(archive, _STACK, _BYTE, 2) if f"{_STACK}.npy" in there else None
    flags = _read_array(archive, _FLAGS, _FLAG, 1)
    told = _read_array(archive, _SOURCE, _BYTE, 1, _MAX_SOURCE_BYTES).tobytes()
    deals = CollectedDeals(
        numbers["cards"],
        numbers["waiting"],
        numbers["seats"],
        numbers["verdicts"],
        stack,
        flags.view(np.bool_),
        msgspec.json.decode(told, type=DealsSource),
    )
    check_deals(deals)
    return deals


def _read_array(
    archive: zipfile.ZipFile, name: str, kind: str, dimensions: int, most: int = MAX_DEALS
) -> NDArray[np.uint8]:
    """Return one array's bytes; nothing larger than it should be is unpacked. Raises WrongDeals."""
    with archive.open(f"{name}.npy") as file:
        begin = file.read(_BEGIN.size)
        if len(begin) < _BEGIN.size or begin[: len(_MAGIC)] != _MAGIC:
            raise InvalidDeals(f"{name}: a .npy header of version 1.0 is wanted")
        header = file.read(int.from_bytes(begin[-2:], "little"))
        found = _HEADER.fullmatch(header)
        if found is None or found["kind"].decode() != kind:
            raise InvalidDeals(f"{name}: rows of {kind} are wanted")
        rows, columns_ = int(found["rows"]), int(found["columns"] or 1)
        if rows > most or bool(found["columns"]) != (dimensions > 1):
            raise InvalidDeals(f"{name}: it has other rows than a file of deals")
        if dimensions > 1 and columns_ != CARDS:
            raise InvalidDeals(f"{name}: rows of {CARDS} numbers are wanted, not {columns_}")
        size = rows * columns_
        raw = file.read(size + 1)
    if len(raw) != size:
        raise InvalidDeals(f"{name}: {size} bytes are wanted, {len(raw)} are there")
    if kind == _FLAG and raw.translate(None, b"\x00\x01"):
        raise InvalidDeals(f"{name}: flags 0 and 1 are wanted")
    shape = (rows, columns_) if dimensions > 1 else (rows,)
    return np.frombuffer(raw, np.uint8).reshape(shape)
