"""Folders in memory: gone with whoever made them, however that one ends."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sim.memory_folders import OWNER, memory_folder, remove_orphans

HOLDER = """
import sys
from pathlib import Path
from sim.memory_folders import memory_folder
with memory_folder(Path(sys.argv[1])) as folder:
    (folder / "keys").write_text("secret")
    print(folder, flush=True)
    sys.stdin.read()
"""


def test_a_folder_is_there_for_the_block_for_its_user_alone(tmp_path: Path) -> None:
    with memory_folder(tmp_path) as folder:
        assert folder.parent == tmp_path
        assert folder.stat().st_mode & 0o777 == 0o700
        (folder / "deep").mkdir()
    assert os.listdir(tmp_path) == []


def test_the_folder_of_a_killed_process_is_swept_and_that_of_a_living_one_is_not(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    with subprocess.Popen(
        (sys.executable, "-c", HOLDER, str(tmp_path)),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=request.config.rootpath,
        text=True,
    ) as holder:
        assert holder.stdout is not None
        folder = Path(holder.stdout.readline().strip())
        assert remove_orphans(tmp_path) == []
        holder.kill()
        holder.wait()

    assert (folder / "keys").exists()
    with memory_folder(tmp_path) as mine:
        assert os.listdir(tmp_path) == [mine.name]


def test_what_is_not_known_to_be_left_behind_stays(tmp_path: Path) -> None:
    (tmp_path / "dt-unfinished").mkdir()
    (tmp_path / "dt-file").write_text("")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / OWNER).write_text("")
    other = tmp_path / "other"
    other.mkdir()
    (other / OWNER).write_text("")
    linked = tmp_path / "dt-linked"
    linked.mkdir()
    (linked / OWNER).symlink_to(elsewhere / OWNER)
    before = sorted(os.listdir(tmp_path))

    assert remove_orphans(tmp_path) == []
    assert sorted(os.listdir(tmp_path)) == before


@pytest.mark.system  # only root gives a file to another user
def test_the_folder_of_another_user_stays(tmp_path: Path) -> None:
    folder = tmp_path / "dt-theirs"
    folder.mkdir()
    (folder / OWNER).write_text("")
    os.chown(folder, 61000, 61000)
    assert remove_orphans(tmp_path) == []
    os.chown(folder, 0, 0)
    assert remove_orphans(tmp_path) == [folder]
