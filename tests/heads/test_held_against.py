"""What `watch` says of states beside heads that it kept, and beside a release."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from controller.cli.kept_heads import MAX_UNSIGNED_STATES, KeptHeadsFile, StateChecker, TableKeys
from controller.cli.state_lines import BAD_STYLE, GOOD_STYLE
from controller.messages import (
    ConnectedBoard,
    Firmware,
    ProgramRelease,
    PublicState,
    ReportedBoards,
)
from controller.signing.releases import Manifest
from controller.signing.signed_heads import sign_head, verify_key
from tests.cli.table_states import STATE

CURVE, SECRET = "K" * 40, bytes(range(32))
KEYS = TableKeys(CURVE, verify_key(SECRET))
FIRMWARE = Firmware(version="0.1.0", hash="00" * 8)
BOARD = ConnectedBoard(version=FIRMWARE.version, hash=FIRMWARE.hash)
MANIFEST = Manifest(
    version="0.1.0",
    released="2027-03-01",
    serial=7,
    files={"controller/a.py": "11" * 32},
    firmware={"dealer": FIRMWARE, "reader": FIRMWARE},
)


def shows(n: int, head: int, secret: bytes = SECRET) -> PublicState:
    """A state with a signed head."""
    signed = sign_head(CURVE, n, head.to_bytes(32, "big"), secret)
    return msgspec.structs.replace(STATE, signed=signed)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "heads.jsonl"


@pytest.fixture
def heads(path: Path) -> Iterator[KeptHeadsFile]:
    with KeptHeadsFile(path) as file:
        yield file


def test_a_table_that_only_grows_is_kept_without_a_word(heads: KeptHeadsFile, path: Path) -> None:
    held = StateChecker(KEYS, heads, None)

    for state in (STATE, shows(1, 1), shows(1, 1), shows(5, 2)):
        assert list(held.check(state)) == []

    assert len(path.read_text().splitlines()) == 2


def test_a_past_that_was_written_anew_is_said_at_once_and_kept(
    heads: KeptHeadsFile, path: Path
) -> None:
    held = StateChecker(KEYS, heads, None)
    list(held.check(shows(5, 1)))

    (line,) = held.check(shows(5, 2))

    assert line.style == BAD_STYLE
    assert "entry 5" in line.text
    assert list(held.check(shows(5, 2))) == []
    assert len(path.read_text().splitlines()) == 2


def test_a_head_that_is_not_the_tables_is_said_once_and_not_kept(
    heads: KeptHeadsFile, path: Path
) -> None:
    held = StateChecker(KEYS, heads, None)
    forged = shows(900, 1, secret=bytes(32))

    (line,) = held.check(forged)
    assert "not signed by this table" in line.text
    assert list(held.check(forged)) == []
    assert path.read_text() == ""
    assert list(held.check(shows(5, 1))) == []


def test_a_table_that_goes_on_signing_nothing_is_said_once(heads: KeptHeadsFile) -> None:
    held = StateChecker(KEYS, heads, None)

    said = [line.text for _ in range(3 * MAX_UNSIGNED_STATES) for line in held.check(STATE)]

    assert said == ["shows no signed head: nothing is kept of this table"]


def test_a_disk_without_room_is_said_and_the_table_is_watched_on(
    heads: KeptHeadsFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(file: int) -> None:
        raise OSError(28, "No space left on device")

    held = StateChecker(KEYS, heads, None)
    with monkeypatch.context() as disk:
        disk.setattr("controller.cli.kept_heads.os.fsync", full)
        (line,) = held.check(shows(5, 1))
        assert "No space left" in line.text
        assert list(held.check(shows(5, 1))) == []


def reporting(
    release: ProgramRelease | None,
    dealer: ConnectedBoard | None = None,
    reader: ConnectedBoard | None = None,
) -> PublicState:
    boards = ReportedBoards(dealer=dealer, reader=reader)
    return msgspec.structs.replace(STATE, release=release, boards=boards)


def test_what_a_table_reports_is_said_beside_a_release_whenever_it_changes() -> None:
    held = StateChecker(KEYS, None, MANIFEST)
    other = ConnectedBoard(version="0.0.9", hash="ff" * 8)

    (nothing,) = held.check(reporting(None))
    assert nothing.text == (
        "reports, beside release 0.1.0 (7): program unknown (no manifest), "
        "dealer unknown (not there), reader unknown (not there)"
    )
    (same,) = held.check(reporting(MANIFEST.release, dealer=BOARD, reader=BOARD))
    assert same.text == (
        "reports, beside release 0.1.0 (7): program same, dealer same, reader same"
    )
    assert same.style == GOOD_STYLE
    assert not list(held.check(reporting(MANIFEST.release, dealer=BOARD, reader=BOARD)))
    (one,) = held.check(reporting(MANIFEST.release, dealer=BOARD, reader=other))
    assert one.text.endswith("dealer same, reader other (0.0.9 ffffffffffffffff)")
    assert one.style == BAD_STYLE


def test_no_line_says_that_anything_is_verified() -> None:
    held = StateChecker(KEYS, None, MANIFEST)
    states = [reporting(MANIFEST.release, dealer=BOARD), reporting(None)]

    said = [line.text for state in states for line in held.check(state)]

    assert len(said) == 2
    assert not any("verified" in text for text in said)
