"""A release as it runs: what its table reports, how that compares, and no way back."""

import shutil
from pathlib import Path

import msgspec
import pytest

import controller
from controller.messages import ProgramRelease, PublicState, Role
from controller.release.installed_program import MANIFEST, PACKAGES
from controller.release.release_files import read_manifest
from controller.signing.releases import compare_release
from sim.tables.table_processes import HallError, TableProcess
from tests.processes.program import Dealtable

pytestmark = pytest.mark.slow


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of this program; daemons that a test starts run from there."""
    folder, here = tmp_path / "program", Path(controller.__file__).parents[1]
    for package in (*PACKAGES, "sim"):
        ignored = shutil.ignore_patterns("__pycache__", "manifest.json*")
        shutil.copytree(here / package, folder / package, ignore=ignored)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PYTHONPATH", str(folder))
    return folder


async def release(program: Path, dealtable: Dealtable, serial: int) -> ProgramRelease:
    """Make and sign the manifest of a program; return what it will report."""
    key = program.parent / "release"
    if not key.with_name("release.key").exists():
        assert (await dealtable("release", "key", key)).code == 0
    (program / MANIFEST).unlink(missing_ok=True)
    words = ("--version", f"0.{serial}.0", "--serial", serial, "--released", "2027-03-01")
    assert (await dealtable("release", "make", program, *words)).code == 0
    secret = key.with_name("release.key_secret")
    assert (await dealtable("release", "sign", program / MANIFEST, "--key", secret)).code == 0
    return read_manifest(program / MANIFEST).release


async def reported(table: TableProcess) -> PublicState:
    """Return what the table says of itself."""
    async with table.client(Role.OBSERVER) as client:
        reply = await client.ask("snapshot")
    return msgspec.convert(reply.result, PublicState)


async def test_a_table_reports_its_release_and_a_wrong_file_shows(
    boards: TableProcess, program: Path, dealtable: Dealtable, tmp_path: Path
) -> None:
    table, key = boards, tmp_path / "release.key"
    expected = await release(program, dealtable, 7)
    manifest = read_manifest(program / MANIFEST)
    assert (await dealtable("release", "check", "--key", key)).code == 0

    await table.start_daemon()
    state = await reported(table)
    assert state.release == expected
    assert compare_release(manifest, state.release, state.boards).program == "same"
    await table.stop_daemon()

    with (program / "controller/rules/ranks.py").open("a") as file:
        file.write("# another rule\n")
    await table.start_daemon()
    state = await reported(table)
    assert state.release is not None
    assert (state.release.version, state.release.serial) == ("0.7.0", 7)
    assert compare_release(manifest, state.release, state.boards).program == "other"
    await table.stop_daemon()
    checked = await dealtable("release", "check", "--key", key)
    assert (checked.code, checked.out) == (1, "controller/rules/ranks.py: changed\n")


async def test_a_table_does_not_go_back_to_an_older_release(
    boards: TableProcess, program: Path, dealtable: Dealtable
) -> None:
    await release(program, dealtable, 7)
    await boards.start_daemon()
    await boards.stop_daemon()
    await release(program, dealtable, 6)

    with pytest.raises(HallError):
        await boards.start_daemon()

    assert "RELEASE_OLDER" in boards.log.read_text()
    assert "0.6.0 (6), after 0.7.0 (7)" in boards.log.read_text()
    await release(program, dealtable, 8)
    await boards.start_daemon()
    assert (await reported(boards)).release == read_manifest(program / MANIFEST).release


async def test_a_program_without_a_manifest_runs_and_says_so(
    boards: TableProcess, program: Path
) -> None:
    await boards.start_daemon()

    state = await reported(boards)

    assert state.release is None
    assert not (boards.state_dir / "release.json").exists()
