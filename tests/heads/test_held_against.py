"""What `watch` says of states beside heads that it kept, and beside a release."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from controller.cli.changes import BAD, GOOD
from controller.cli.heads_file import KeptHeadsFile
from controller.cli.held_against import MAX_UNSIGNED_STATES, StateChecker, TableKeys
from controller.heads import sign, verify_key
from controller.messages import Boards, ConnectedBoard, Firmware, Release, State
from controller.release import Manifest
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


def shows(n: int, head: int, secret: bytes = SECRET) -> State:
    """A state with a signed head."""
    signed = sign(CURVE, n, head.to_bytes(32, "big"), secret)
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
        assert list(held.lines(state)) == []

    assert len(path.read_text().splitlines()) == 2


def test_a_past_that_was_written_anew_is_said_at_once_and_kept(
    heads: KeptHeadsFile, path: Path
) -> None:
    held = StateChecker(KEYS, heads, None)
    list(held.lines(shows(5, 1)))

    (line,) = held.lines(shows(5, 2))

    assert line.style == BAD
    assert "entry 5" in line.text
    assert list(held.lines(shows(5, 2))) == []
    assert len(path.read_text().splitlines()) == 2


def test_a_head_that_is_not_the_tables_is_said_once_and_not_kept(
    heads: KeptHeadsFile, path: Path
) -> None:
    held = StateChecker(KEYS, heads, None)
    forged = shows(900, 1, secret=bytes(32))

    (line,) = held.lines(forged)
    assert "not signed by this table" in line.text
    assert list(held.lines(forged)) == []
    assert path.read_text() == ""
    assert list(held.lines(shows(5, 1))) == []


def test_a_table_that_goes_on_signing_nothing_is_said_once(heads: KeptHeadsFile) -> None:
    held = StateChecker(KEYS, heads, None)

    said = [line.text for _ in range(3 * MAX_UNSIGNED_STATES) for line in held.lines(STATE)]

    assert said == ["shows no signed head: nothing is kept of this table"]


def test_a_disk_without_room_is_said_and_the_table_is_watched_on(
    heads: KeptHeadsFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(file: int) -> None:
        raise OSError(28, "No space left on device")

    held = StateChecker(KEYS, heads, None)
    with monkeypatch.context() as disk:
        disk.setattr("controller.cli.heads_file.os.fsync", full)
        (line,) = held.lines(shows(5, 1))
        assert "No space left" in line.text
        assert list(held.lines(shows(5, 1))) == []


def reporting(
    release: Release | None,
    dealer: ConnectedBoard | None = None,
    reader: ConnectedBoard | None = None,
) -> State:
    boards = Boards(dealer=dealer, reader=reader)
    return msgspec.structs.replace(STATE, release=release, boards=boards)


def test_what_a_table_reports_is_said_beside_a_release_whenever_it_changes() -> None:
    held = StateChecker(KEYS, None, MANIFEST)
    other = ConnectedBoard(version="0.0.9", hash="ff" * 8)

    (nothing,) = held.lines(reporting(None))
    assert nothing.text == (
        "reports, beside release 0.1.0 (7): program unknown (no manifest), "
        "dealer unknown (not there), reader unknown (not there)"
    )
    (same,) = held.lines(reporting(MANIFEST.release, dealer=BOARD, reader=BOARD))
    assert same.text == (
        "reports, beside release 0.1.0 (7): program same, dealer same, reader same"
    )
    assert same.style == GOOD
    assert not list(held.lines(reporting(MANIFEST.release, dealer=BOARD, reader=BOARD)))
    (one,) = held.lines(reporting(MANIFEST.release, dealer=BOARD, reader=other))
    assert one.text.endswith("dealer same, reader other (0.0.9 ffffffffffffffff)")
    assert one.style == BAD


def test_no_line_says_that_anything_is_verified() -> None:
    held = StateChecker(KEYS, None, MANIFEST)
    states = [reporting(MANIFEST.release, dealer=BOARD), reporting(None)]

    said = [line.text for state in states for line in held.lines(state)]

    assert len(said) == 2
    assert not any("verified" in text for text in said)
