"""Files that root writes into another user's folder, whatever that user does meanwhile."""

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from controller.host.atomic_files import change_owner, make_folder, replace_file, write_new_file
from tests.isolation.apart import MACHINE
from tests.isolation.looking import mode

pytestmark = pytest.mark.system

OTHER = int(MACHINE)
CALLS = ("open", "mkdir", "link", "replace", "fchown", "fchmod", "fsync", "stat", "fstat")
"""What the files are made with: between any two of these the folder's owner may do something."""
WRITING: dict[str, Callable[[Path], None]] = {
    "over": lambda folder: replace_file(folder / "table.key", b"new", 0o644),
    "new": lambda folder: write_new_file(folder / "fresh.key", b"new", 0o600),
    "given": lambda folder: change_owner(folder / "table.key", OTHER, OTHER),
    "folder": lambda folder: make_folder(folder / "inner", OTHER, OTHER, 0o700),
    "deeper": lambda folder: replace_file(folder / "inner" / "file", b"new", 0o644),
}


@pytest.fixture
def victim(as_root: None, tmp_path: Path) -> Iterator[Path]:
    """Give root's folder, with a file in it that no call of these tests is about."""
    folder = tmp_path / "root's"
    folder.mkdir(mode=0o700)
    (folder / "table.key").write_text("root's")
    (folder / "table.key").chmod(0o600)
    before = look(folder)
    yield folder
    assert look(folder) == before


@pytest.fixture
def theirs(victim: Path, tmp_path: Path) -> Path:
    """Give a folder of another user's, with a file of his."""
    folder = tmp_path / "theirs"
    folder.mkdir(mode=0o700)
    (folder / "table.key").write_text("old")
    for path in (folder / "table.key", folder):
        os.chown(path, OTHER, OTHER)
    return folder


def look(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """Return what lies in a folder: whose, with which mode, what is in it."""
    return {
        path.name: (path.stat().st_uid, mode(path), b"" if path.is_dir() else path.read_bytes())
        for path in (folder, *folder.iterdir())
    }


@pytest.mark.parametrize("exchanged", ["file", "folder"])
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("writing", WRITING)
def test_what_is_exchanged_for_a_link_at_any_moment_leads_to_nothing_of_roots(
    writing: str,
    call: str,
    exchanged: str,
    victim: Path,
    theirs: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The folder's owner exchanges everything in it, before and after each call."""
    real: Callable[..., Any] = getattr(os, call)
    busy = False

    def exchange() -> None:
        for path in list(theirs.iterdir()):
            if not path.is_symlink():
                path.rmdir() if path.is_dir() else path.unlink()
                path.symlink_to(victim if exchanged == "folder" else victim / "table.key")

    def meddled(*args: Any, **more: Any) -> Any:
        nonlocal busy
        if busy:  # the exchange's own call
            return real(*args, **more)
        busy = True
        exchange()
        try:
            return real(*args, **more)
        finally:
            exchange()
            busy = False

    with monkeypatch.context() as meddling, suppress(OSError):
        meddling.setattr(os, call, meddled)
        WRITING[writing](theirs)


def test_a_file_keeps_its_owner_and_a_new_one_has_its_folders(theirs: Path) -> None:
    os.chown(theirs, OTHER + 1, OTHER + 1)
    replace_file(theirs / "table.key", b"new", 0o644)
    replace_file(theirs / "release.json", b"{}", 0o600)
    write_new_file(theirs / "roots", b"secret", 0o600)
    assert look(theirs) == {
        "theirs": (OTHER + 1, 0o700, b""),
        "table.key": (OTHER, 0o644, b"new"),
        "release.json": (OTHER + 1, 0o600, b"{}"),
        "roots": (0, 0o600, b"secret"),
    }


def test_what_is_so_already_stays(theirs: Path) -> None:
    before = (theirs / "table.key").stat()
    replace_file(theirs / "table.key", b"old", 0o644)
    assert (theirs / "table.key").stat() == before
    with pytest.raises(FileExistsError):
        write_new_file(theirs / "table.key", b"new", 0o644)
    make_folder(theirs / "table.key", 0, 0, 0o700)
    assert (theirs / "table.key").stat() == before


def test_a_link_is_replaced_and_what_it_leads_to_stays(victim: Path, theirs: Path) -> None:
    (theirs / "table.key").unlink()
    (theirs / "table.key").symlink_to(victim / "table.key")
    replace_file(theirs / "table.key", b"new", 0o644)
    assert not (theirs / "table.key").is_symlink()
    assert look(theirs)["table.key"] == (OTHER, 0o644, b"new")


@pytest.mark.parametrize("writing", ["over", "new", "given", "folder", "deeper"])
def test_root_follows_a_folders_link_that_is_roots_and_none_that_is_anothers(
    writing: str, victim: Path, theirs: Path, tmp_path: Path
) -> None:
    (apart := tmp_path / "apart").mkdir(mode=0o700)
    (apart / "table.key").write_text("old")
    (tmp_path / "link").symlink_to(apart)
    WRITING[writing](tmp_path / "link")
    (theirs / "link").symlink_to(apart)
    before = look(apart)
    with pytest.raises(NotADirectoryError, match="root follows no link that another user"):
        WRITING[writing](theirs / "link")
    assert look(apart) == before


def test_a_file_with_a_second_name_is_given_to_nobody(victim: Path, theirs: Path) -> None:
    (theirs / "table.key").unlink()
    os.link(victim / "table.key", theirs / "table.key")
    with pytest.raises(FileExistsError, match="no plain file with one name"):
        change_owner(theirs / "table.key", OTHER, OTHER)
    (theirs / "table.key").unlink()


def test_a_pipe_in_a_files_place_keeps_nobody_waiting(theirs: Path) -> None:
    (theirs / "table.key").unlink()
    os.mkfifo(theirs / "table.key")
    with pytest.raises(FileExistsError, match="no plain file"):
        change_owner(theirs / "table.key", OTHER, OTHER)
    replace_file(theirs / "table.key", b"new", 0o644)
    assert stat.S_ISREG((theirs / "table.key").stat().st_mode)


@pytest.mark.parametrize("put", [write_new_file, replace_file])
def test_nothing_is_left_of_a_file_that_cannot_be_written(
    put: Callable[[Path, bytes, int], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left") as told:
        put(tmp_path / "inner" / "file", b"new", 0o600)
    assert told.value.filename == str(tmp_path / "inner" / "file")
    assert os.listdir(tmp_path / "inner") == []


def test_a_folder_that_is_missing_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    write_new_file(tmp_path / "state" / "keys" / "file", b"new", 0o600)
    assert mode(tmp_path / "state" / "keys") == 0o700
