"""The file of `dealtable watch --heads`: every signed head that was seen, one line of JSON each."""

import fcntl
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Final, NamedTuple, Self

import msgspec

from controller.cli.state_lines import BAD_STYLE, CALL_STYLE, GOOD_STYLE, StateLine
from controller.host.toml_files import FileError
from controller.messages import Firmware, ProgramRelease, PublicState, ReportedBoards, SignedHead
from controller.signing.releases import Likeness, Manifest, ReleaseComparison, compare_state
from controller.signing.signed_heads import HeadConflict, KeptHead, KeptHeads, is_signed_by

_LINE_PREFIX = b'{"table":'


class KeptHeadsFile:
    """A file of kept heads and its content. Lines are only added.

    `disagreements` are the conflicts between the heads of the file. Only one watcher may write it
    at a time.
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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self._file)

    def is_repeated(self, head: KeptHead) -> bool:
        """Return True if the table showed this head the last time, too."""
        return self._heads.is_last_shown(head)

    def add(self, head: KeptHead) -> HeadConflict | None:
        """Add a head that a table shows. Return its conflict with the earlier heads, or None.

        `write_added` writes it to the file.
        """
        if not self._heads.contains(head):
            self._unwritten.append(head)
        return self._heads.add(head)

    def write_added(self) -> None:
        """Write and sync the new heads. Raises FileError; the next call tries again."""
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
        """Return the head in a last line without a newline, and add the newline."""
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
_STYLES: Final[Mapping[Likeness, str]] = {
    "same": GOOD_STYLE,
    "unknown": "yellow",
    "other": BAD_STYLE,
}
"""The styles by result, from the best to the worst."""


class TableKeys(NamedTuple):
    """A table's public keys: CURVE in Z85, and Ed25519 (32 bytes) if it is known."""

    curve: str
    verify_key: bytes | None


class StateChecker:
    """A checker of one table's states against the kept heads and a release.

    Several tables may share `heads`. `manifest` is the release that the table should run.
    """

    def __init__(
        self, keys: TableKeys, heads: KeptHeadsFile | None, manifest: Manifest | None
    ) -> None:
        self._keys, self._heads, self._manifest = keys, heads, manifest
        self._refused_head: SignedHead | None = None
        self._unsigned_states = 0
        self._last_reported: tuple[ProgramRelease | None, ReportedBoards] | None = None

    def check(self, state: PublicState) -> Iterator[StateLine]:
        """Yield lines for new results of the checks."""
        if self._heads is not None:
            yield from self._check_signed(state, self._heads)
        if self._manifest is not None and self._last_reported != (state.release, state.boards):
            self._last_reported = state.release, state.boards
            yield format_release_line(compare_state(self._manifest, state), self._manifest, state)

    def _check_signed(self, state: PublicState, heads: KeptHeadsFile) -> Iterator[StateLine]:
        if state.signed is not None:
            self._unsigned_states = 0
            yield from self._check_head(state, state.signed, heads)
            return
        self._unsigned_states += 1
        if self._unsigned_states == MAX_UNSIGNED_STATES:
            yield StateLine("shows no signed head: nothing is kept of this table", CALL_STYLE)

    def _check_head(
        self, state: PublicState, signed: SignedHead, heads: KeptHeadsFile
    ) -> Iterator[StateLine]:
        curve, verify = self._keys
        one = KeptHead(
            table=state.table,
            table_key=curve,
            n=signed.n,
            head=signed.head,
            sig=signed.sig,
            time=state.time,
        )
        if heads.is_repeated(one) or signed == self._refused_head:
            return
        if verify is not None and not is_signed_by(signed, curve, verify):
            self._refused_head = signed
            yield StateLine(
                f"the head of entry {signed.n} is not signed by this table: it is not kept "
                "(another table.sign, or somebody on the way)",
                BAD_STYLE,
            )
            return
        self._refused_head = None
        wrong = heads.add(one)
        if wrong is not None:
            yield StateLine(f"ANOTHER PAST 日志不符  {wrong.en} / {wrong.zh}", BAD_STYLE)
        try:
            heads.write_added()
        except FileError as failed:
            yield StateLine(f"heads are not kept: {failed}", BAD_STYLE)


def format_release_line(
    compared: ReleaseComparison, manifest: Manifest, state: PublicState
) -> StateLine:
    """Return the line that compares a table's report with a manifest."""
    boards = state.boards
    parts = (
        _format_component("program", compared.program, _format_program(state.release)),
        _format_component("dealer", compared.dealer, _format_firmware(boards.dealer)),
        _format_component("reader", compared.reader, _format_firmware(boards.reader)),
    )
    worst = max((compared.program, compared.dealer, compared.reader), key=list(_STYLES).index)
    named = f"{manifest.version} ({manifest.serial})"
    return StateLine(f"reports, beside release {named}: {', '.join(parts)}", _STYLES[worst])


def _format_component(name: str, likeness: Likeness, reported: str) -> str:
    return f"{name} {likeness}" if likeness == "same" else f"{name} {likeness} ({reported})"


def _format_program(reported: ProgramRelease | None) -> str:
    if reported is None:
        return "no manifest"
    return f"{reported.version} ({reported.serial}) {reported.hash[:16]}…"


def _format_firmware(reported: Firmware | None) -> str:
    return "not there" if reported is None else f"{reported.version} {reported.hash}"
