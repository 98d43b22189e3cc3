"""What `watch` says of states beside heads that it kept."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from controller.cli.state_lines import BAD_STYLE
from controller.cli.watch import MAX_UNSIGNED_STATES, KeptHeadsFile, StateChecker
from controller.messages import PublicState
from controller.signing.signed_heads import sign_head, verify_key
from tests.cli.table_states import STATE

CURVE, SECRET = "K" * 40, bytes(range(32))
VERIFY_KEY = verify_key(SECRET)


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
    held = StateChecker(CURVE, VERIFY_KEY, heads)

    for state in (STATE, shows(1, 1), shows(1, 1), shows(5, 2)):
        assert list(held.check(state)) == []

    assert len(path.read_text().splitlines()) == 2


def test_a_past_that_was_written_anew_is_said_at_once_and_kept(
    heads: KeptHeadsFile, path: Path
) -> None:
    held = StateChecker(CURVE, VERIFY_KEY, heads)
    list(held.check(shows(5, 1)))

    (line,) = held.check(shows(5, 2))

    assert line.style == BAD_STYLE
    assert "entry 5" in line.text
    assert list(held.check(shows(5, 2))) == []
    assert len(path.read_text().splitlines()) == 2


def test_a_head_that_is_not_the_tables_is_said_once_and_not_kept(
    heads: KeptHeadsFile, path: Path
) -> None:
    held = StateChecker(CURVE, VERIFY_KEY, heads)
    forged = shows(900, 1, secret=bytes(32))

    (line,) = held.check(forged)
    assert "not signed by this table" in line.text
    assert list(held.check(forged)) == []
    assert path.read_text() == ""
    assert list(held.check(shows(5, 1))) == []


def test_a_table_that_goes_on_signing_nothing_is_said_once(heads: KeptHeadsFile) -> None:
    held = StateChecker(CURVE, VERIFY_KEY, heads)

    said = [line.text for _ in range(3 * MAX_UNSIGNED_STATES) for line in held.check(STATE)]

    assert said == ["shows no signed head: nothing is kept of this table"]


def test_a_disk_without_room_is_said_and_the_table_is_watched_on(
    heads: KeptHeadsFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(file: int) -> None:
        raise OSError(28, "No space left on device")

    held = StateChecker(CURVE, VERIFY_KEY, heads)
    with monkeypatch.context() as disk:
        disk.setattr("controller.cli.watch.os.fsync", full)
        (line,) = held.check(shows(5, 1))
        assert "No space left" in line.text
        assert list(held.check(shows(5, 1))) == []
