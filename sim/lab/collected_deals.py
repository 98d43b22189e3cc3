"""Deals collected for statistics, stored as arrays with one byte for each card.

LAB.md describes the columns. A row is a deal. A column is a card, in the order in which the hopper
fed the cards: feed index 1…108. Seats are numbers in playing order (N 0, W 1, S 2, E 3). A card is
the number copy × 54 + face.
"""

import os
import re
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import IO

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from controller.cards import FACE_COUNT
from controller.host.toml_files import FileError
from controller.seats import SEATS

CARDS = 2 * FACE_COUNT
"""The number of cards in the set: two packs with their jokers.

All calculations of the lab assume this set.
"""
HAND = CARDS // len(SEATS)

Rows = NDArray[np.uint8]

BLOCK_DEALS = 5_000


class ReadingOutcome(IntEnum):
    """The result of reading one card: accepted, read again, or sent to the tray once or twice."""

    ACCEPTED = 0
    READ_AGAIN = 1
    TRAY = 2
    TRAY_TWICE = 3


class DealsSource(msgspec.Struct, frozen=True, kw_only=True):
    """The origin of a collection of deals: path, method, seed and number of requested deals.

    `seed` is None if the system's entropy was used. `asked`: how many deals were requested.
    `given_up`: how many attempts ended as misdeal or void. None of these attempts is among the
    rows. `passes`: how often the shuffler shuffled before each deal.
    """

    path: str = "given"
    method: str = "fair"
    seed: int | None = None
    asked: int = 0
    given_up: int = 0
    passes: int = 0
    version: str = ""


class InvalidDeals(ValueError):
    """Error for arrays that are not valid deals. The message names the first wrong row."""


@dataclass(frozen=True, eq=False)
class CollectedDeals:
    """Deals as arrays with one row for each deal, in the order in which they were dealt.

    `cards`: the cards as the hopper fed them. `waiting`: for each card, its waiting pocket (the
    pocket that was due for the card when it was fed). `seats`: for each card, its final pocket (the
    pocket that received the card). `verdicts`: for each card, its reading outcome. `collected`: the
    stack before the shuffle, top card first. `collected` is None if the stack was not recorded.
    `follows`: True if the deal used the cards of the row before, as the next deal.
    """

    cards: Rows
    waiting: Rows
    seats: Rows
    verdicts: Rows
    collected: Rows | None
    follows: NDArray[np.bool_]
    source: DealsSource

    def __len__(self) -> int:
        return len(self.cards)

    def blocks(self) -> Iterator["CollectedDeals"]:
        """Yield the deals in blocks of BLOCK_DEALS, so that calculations need less memory."""
        for begin in range(0, len(self), BLOCK_DEALS):
            yield self[begin : begin + BLOCK_DEALS]

    def __getitem__(self, rows: slice) -> "CollectedDeals":
        """Return the deals of the slice `rows`."""
        return CollectedDeals(
            self.cards[rows],
            self.waiting[rows],
            self.seats[rows],
            self.verdicts[rows],
            None if self.collected is None else self.collected[rows],
            self.follows[rows],
            self.source,
        )


def make_deals(
    cards: ArrayLike,
    waiting: ArrayLike,
    seats: ArrayLike,
    verdicts: ArrayLike | None = None,
    collected: ArrayLike | None = None,
    follows: ArrayLike | None = None,
    source: DealsSource | None = None,
) -> CollectedDeals:
    """Return collected deals made from the given arrays, which have one row for each deal.

    Without `verdicts`, every card counts as accepted. Without `follows`, each deal except the first
    follows the deal before. Raises InvalidDeals for rows that cannot be deals.
    """
    dealt = _as_rows("cards", cards)
    shape = dealt.shape
    flags = np.arange(len(dealt)) > 0 if follows is None else np.asarray(follows, np.bool_)
    deals = CollectedDeals(
        dealt,
        _as_rows("waiting", waiting),
        _as_rows("seats", seats),
        np.zeros(shape, np.uint8) if verdicts is None else _as_rows("verdicts", verdicts),
        None if collected is None else _as_rows("collected", collected),
        flags,
        source or DealsSource(asked=len(dealt)),
    )
    check_deals(deals)
    return deals


def check_deals(deals: CollectedDeals) -> None:
    """Raise InvalidDeals if an array has a wrong shape, or if a row is not a valid deal.

    A valid deal gives 108 cards to four hands of 27.
    """
    shape = deals.cards.shape
    for name, column in _row_columns(deals).items():
        if column.shape != shape:
            raise InvalidDeals(f"{name}: {column.shape} numbers, and the cards have {shape}")
    if deals.follows.shape != shape[:1]:
        raise InvalidDeals(f"follows: {deals.follows.shape} flags for {shape[0]} deals")
    if len(deals) and deals.follows[0]:
        raise InvalidDeals("row 0: nothing is there for the first deal to follow")
    for number, block in enumerate(deals.blocks()):
        for name, bad in _bad_rows(block):
            if bad.any():
                raise InvalidDeals(f"row {number * BLOCK_DEALS + int(bad.argmax())}: {name}")


def join_deals(parts: Sequence[CollectedDeals], source: DealsSource) -> CollectedDeals:
    """Return one collection with the deals of all `parts` and with the origin `source`.

    The first deal of each part follows no other deal. The result has the collected stacks only if
    all parts have them.
    """

    def stack_rows(name: str) -> Rows:
        rows = (getattr(one, name) for one in parts)
        return np.concatenate([np.zeros((0, CARDS), np.uint8), *rows])

    return CollectedDeals(
        stack_rows("cards"),
        stack_rows("waiting"),
        stack_rows("seats"),
        stack_rows("verdicts"),
        None if any(one.collected is None for one in parts) else stack_rows(_STACK),
        np.concatenate([np.zeros(0, np.bool_), *(one.follows for one in parts)]),
        source,
    )


def number_cards(faces: ArrayLike) -> Rows:
    """Return the number (0…107) of each card: its face (0…53), plus 54 if it is the second copy.

    `faces` has a row of 108 faces for each deal. In a row, the first of two equal faces is copy 0.
    The two copies of a face look the same. The copy number depends on the order of the row alone,
    so it does not change the chances of any count of pockets.
    """
    row = np.asarray(faces, np.int64)
    order = np.argsort(row, axis=1, kind="stable")
    copies = np.empty_like(row)
    np.put_along_axis(copies, order, np.broadcast_to(np.arange(CARDS) % 2, row.shape), 1)
    return (row + FACE_COUNT * copies).astype(np.uint8)


def _row_columns(deals: CollectedDeals) -> dict[str, Rows]:
    columns = {name: getattr(deals, name) for name in (*_ROWS, _STACK)}
    return {name: column for name, column in columns.items() if column is not None}


def _bad_rows(deals: CollectedDeals) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    every = np.arange(CARDS)
    share = np.repeat(np.arange(len(SEATS)), HAND)
    sorted_as = [
        ("its cards are not 0…107, each once", deals.cards, every),
        ("the pockets do not wait for 27 cards each", deals.waiting, share),
        ("the hands do not have 27 cards each", deals.seats, share),
        ("its stack was not of the cards 0…107, each once", deals.collected, every),
    ]
    for words, column, right in sorted_as:
        if column is not None:
            yield words, np.any(np.sort(column, 1) != right, axis=1)
    yield "a verdict is none of 0…3", np.any(deals.verdicts > max(ReadingOutcome), axis=1)


def _as_rows(name: str, numbers: ArrayLike) -> Rows:
    try:
        row = np.asarray(numbers)
    except ValueError as error:
        raise InvalidDeals(f"{name}: rows of different lengths: {error}") from None
    if row.ndim != 2 or row.shape[1] != CARDS:
        raise InvalidDeals(f"{name}: rows of {CARDS} numbers are wanted, not {row.shape}")
    if row.dtype.kind not in "iu" or (row.size and (row.min() < 0 or row.max() > 255)):
        raise InvalidDeals(f"{name}: whole numbers 0…255 are wanted")
    return row.astype(np.uint8)


MAX_DEALS = 10_000_000
"""The largest accepted number of deals, more than any file of ours contains.

A zip file that claims more is not unpacked.
"""

_SOURCE = "source"
_MAX_SOURCE_BYTES = 10_000
_ROWS = ("cards", "waiting", "seats", "verdicts")
_STACK = "collected"
_FLAGS = "follows"
_BYTE, _FLAG = "|u1", "|b1"

# Every version of NumPy begins a .npy file with these bytes. Two bytes with the header's length
# follow.
_MAGIC = b"\x93NUMPY\x01\x00"
_BEGIN = struct.Struct("<8sH")
_HEADER = re.compile(
    rb"\{'descr': '(?P<kind>\|[ub]1)', 'fortran_order': False, "
    rb"'shape': \((?P<rows>\d{1,9}),(?: (?P<columns>\d{1,9}))?\), \} *\n"
)


def save_deals(deals: CollectedDeals, path: Path) -> None:
    """Write the deals to a file, completely or not at all. The same deals give the same bytes."""
    source = np.frombuffer(msgspec.json.encode(deals.source), np.uint8)
    arrays = {**_row_columns(deals), _FLAGS: deals.follows, _SOURCE: source}
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
    """Return the deals in the file at `path`.

    Raises FileError, with a text of one line, if this is no file of deals.
    """
    try:
        with path.open("rb") as file:
            return read_deals(file)
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror}") from None
    except InvalidDeals as error:
        raise FileError(f"{path}: {error}") from None


def read_deals(file: IO[bytes]) -> CollectedDeals:
    """Return the deals in an open file. Raises InvalidDeals if this is no file of deals."""
    try:
        with zipfile.ZipFile(file) as archive:
            has_stack = f"{_STACK}.npy" in archive.namelist()
            cards, waiting, seats, verdicts = (
                _read_array(archive, name, _BYTE, 2) for name in _ROWS
            )
            stack = _read_array(archive, _STACK, _BYTE, 2) if has_stack else None
            flags = _read_array(archive, _FLAGS, _FLAG, 1).view(np.bool_)
            told = _read_array(archive, _SOURCE, _BYTE, 1, _MAX_SOURCE_BYTES).tobytes()
            source = msgspec.json.decode(told, type=DealsSource)
            deals = CollectedDeals(cards, waiting, seats, verdicts, stack, flags, source)
            check_deals(deals)
            return deals
    except (
        *(zipfile.BadZipFile, zlib.error, OSError, KeyError, ValueError, EOFError),
        *(NotImplementedError, RuntimeError, OverflowError, msgspec.MsgspecError),
    ) as error:
        if isinstance(error, InvalidDeals) or getattr(error, "errno", None) is not None:
            raise  # an error of the disk; the OSError of a damaged stream has no number
        words = "".join(char if char.isprintable() else "·" for char in str(error))
        raise InvalidDeals(f"this is no file of collected deals: {words[:200]}") from None


def _read_array(
    archive: zipfile.ZipFile, name: str, kind: str, dimensions: int, most: int = MAX_DEALS
) -> NDArray[np.uint8]:
    """Return the array `name` in the zip file `archive`, after checks of its type, size and shape.

    `kind` is the NumPy type, `most` the largest number of rows. Raises InvalidDeals if a check
    fails, and before it unpacks an array that is too large.
    """
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
