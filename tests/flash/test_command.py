"""`dealtable flash`: what it says, and how it ends."""

import fcntl
import os
import pty
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from controller.cli import flash, main
from controller.release.installed_program import (
    find_program_folder,
    hash_program_files,
    read_program_firmware,
)
from controller.signing import releases
from drivers.flash import firmware_image as images
from tests.flash.chip_on_pty import NEWER, OWN, OnPty

MakeChip = Callable[..., OnPty]


@pytest.fixture
def nobody() -> Any:
    """A port at which nobody answers."""
    board, host = pty.openpty()
    yield os.ttyname(host)
    os.close(board)
    os.close(host)


def run(*words: str) -> Result:
    return CliRunner().invoke(main, ["flash", *words])


def test_a_board_is_compared_flashed_and_given_a_setting(
    chip: MakeChip, monkeypatch: pytest.MonkeyPatch
) -> None:
    board = chip()
    words = ("--port", board.port, "--board", "dealer")
    same = run(*words, "--check")
    assert (same.exit_code, same.stderr) == (0, "")
    assert "as expected" in same.stdout
    monkeypatch.setattr(images, "own_image", lambda: NEWER)
    other = run(*words, "--check")
    assert other.exit_code == 1
    assert f"not 0.1.0 ({NEWER.hash})" in other.stdout
    dry = run(*words, "--dry-run")
    assert dry.exit_code == 0
    assert f"{len(NEWER.files)} files" in dry.stdout
    assert board.names("b") == set()  # nothing was done until here
    bad = run(*words, "--setting", "nonsense=1")
    assert (bad.exit_code, bad.stdout) == (1, "")
    assert bad.stderr.count("\n") == 1
    assert "has no setting 'nonsense'" in bad.stderr
    assert board.text("slot") == "b"
    done = run(*words, "--setting", "feed_limit_ms=700")
    assert (done.exit_code, done.stderr) == (0, "")
    assert f"runs 0.1.0 ({NEWER.hash})" in done.stdout


def test_a_port_that_a_table_holds_is_not_touched(nobody: str) -> None:
    with Path(nobody).open("rb+", buffering=0) as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        result = run("--port", nobody, "--board", "dealer")
    assert result.exit_code == 2
    assert "is held by another program: stop the table first" in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("extra", [(), ("--check",), ("--dry-run",)])
def test_a_port_where_nobody_answers_is_said_in_one_line(
    nobody: str, extra: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("drivers.flash.micropython_prompt.PROMPT_TIMEOUT_S", 0.2)
    monkeypatch.setattr("drivers.flash.flasher.RESTART_TIMEOUT_S", 0.2)
    result = run("--port", nobody, "--board", "dealer", *extra)
    assert result.exit_code == 2
    assert "no MicroPython prompt answers" in result.stderr
    assert "BOOTSEL" in result.stderr
    assert (result.stderr.count("\n"), result.stdout) == (1, "")


def test_a_port_that_is_not_there_is_said_in_one_line(tmp_path: Path) -> None:
    result = run("--port", str(tmp_path / "none"), "--board", "reader")
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert "cannot be opened" in result.stderr


@pytest.mark.parametrize("setting", ["feed_limit_ms", "feed_limit_ms=", "x=-1", "x=²"])
def test_a_setting_that_is_none_is_refused_before_anything_is_asked(setting: str) -> None:
    result = run("--port", "/nowhere", "--board", "dealer", "--setting", setting)
    assert result.exit_code == 2
    assert "NAME=NUMBER" in result.stderr


def test_a_firmware_that_is_not_the_released_one_is_put_on_no_board(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = find_program_folder()
    manifest = releases.Manifest(
        version="0.1.0",
        released="2027-03-01",
        serial=3,
        files=hash_program_files(folder),
        firmware=read_program_firmware(folder),
    )
    path = tmp_path / "manifest.json"
    path.write_bytes(releases.encode_manifest(manifest))
    monkeypatch.setattr(flash, "MANIFEST", str(path))
    assert flash._describe_release(OWN, "dealer", None).startswith("of release 0.1.0 (serial 3)")
    with pytest.raises(Exception, match="is not the released one"):
        flash._describe_release(NEWER, "dealer", None)


def test_a_key_where_there_is_no_release_is_a_mistake(tmp_path: Path) -> None:
    result = run("--port", "/nowhere", "--board", "dealer", "--key", str(tmp_path / "k.key"))
    assert result.exit_code == 2
    assert "is of no release" in result.stderr
