"""The file of `dealtable watch --heads`: every signed head that was seen, a line of JSON each."""

import fcntl
import os
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from controller.heads import HeadConflict, KeptHead, KeptHeads
from controller.tomlfile import FileError

_LINE_PREFIX = b'{"table":'


class KeptHeadsFile:
    """A file of kept heads, and what it holds; lines are only ever added.

    `wrong` is in what the heads that were in it disagree. One watcher writes it at a time.
    """

    def __init__(self, path: Path) -> None:
        """Open the file, or make it. Raises FileError where it is something else."""
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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self._file)

    def is_repeated(self, head: KeptHead) -> bool:
        """Tell whether its table showed this head last time, too."""
        return self._heads.is_last_shown(head)

    def add(self, head: KeptHead) -> HeadConflict | None:
        """Take a head that a table shows; return in what it contradicts those before it.

        `keep` lays it down.
        """
        if not self._heads.contains(head):
            self._unwritten.append(head)
        return self._heads.add(head)

    def write_added(self) -> None:
        """Write and sync what was seen and is not in the file. Raises FileError; try again then."""
        if not self._unwritten:
            return
        lines = b"".join(msgspec.json.encode(one) + b"\n" for one in self._unwritten)
        size = os.fstat(self._file).st_size
        try:
            if os.write(self._file, lines) != len(lines):
                raise FileError(f"{self._path}: there is no room for another head")
            os.fsync(self._file)
        except (OSError, FileError) as error:
            os.ftruncate(self._file, size)  # no half line
            if isinstance(error, FileError):
                raise
            raise FileError(f"{self._path}: cannot be written: {error.strerror}") from None
        self._unwritten.clear()

    def _read(self) -> list[KeptHead]:
        """Return what the file holds; a line that a power cut left half written is taken away."""
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
        """Return the head in a line without an end; make an end of it."""
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
