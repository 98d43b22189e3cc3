"""What a table's state is held against by `watch`: heads that were kept, and a release."""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from controller.cli.changes import BAD_STYLE, CALL_STYLE, GOOD_STYLE, StateLine
from controller.cli.heads_file import KeptHeadsFile
from controller.heads import KeptHead, is_signed_by
from controller.messages import Firmware, ProgramRelease, PublicState, ReportedBoards, SignedHead
from controller.release import Likeness, Manifest, ReleaseComparison, compare_state
from controller.tomlfile import FileError

MAX_UNSIGNED_STATES: Final = 10
"""States in a row without a signed head, as a table that begins has a few of."""
_STYLES: Final[Mapping[Likeness, str]] = {
    "same": GOOD_STYLE,
    "unknown": "yellow",
    "other": BAD_STYLE,
}
"""What stands behind is worse."""


class TableKeys(NamedTuple):
    """A table's public keys: CURVE in Z85, and Ed25519 (32 bytes) where that is known."""

    curve: str
    verify_key: bytes | None


class StateChecker:
    """Says of one table's states where they do not agree with what was kept or released.

    `heads` may serve several tables. `manifest` is what the table should run.
    """

    def __init__(
        self, keys: TableKeys, heads: KeptHeadsFile | None, manifest: Manifest | None
    ) -> None:
        self._keys, self._heads, self._manifest = keys, heads, manifest
        self._refused_head: SignedHead | None = None
        self._unsigned_states = 0
        self._last_reported: tuple[ProgramRelease | None, ReportedBoards] | None = None

    def check(self, state: PublicState) -> Iterator[StateLine]:
        """Yield what is new."""
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
    """Return the line that says how what a table reports is like a manifest."""
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
