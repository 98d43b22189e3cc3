"""The files of a program, and the serial that only goes forward."""

import hashlib
import json
import os
import sys
from pathlib import Path

import msgspec
import pytest

from controller.faults import fault
from controller.host.toml_files import FileError
from controller.messages import Firmware
from controller.release.installed_program import (
    MANIFEST,
    REMEMBERED_FILE,
    find_program_folder,
    hash_program_files,
    read_program_firmware,
    read_remembered_release,
    read_running_release,
    remember_release,
)
from controller.signing import releases
from controller.signing.releases import Manifest
from drivers.firmware.version import FIRMWARE_VERSION
from sim.hardware_in_process import own_firmware_hash
from tests.release.small_program import FILES


def manifest(serial: int, program: Path, version: str = "0.1.0") -> Manifest:
    return Manifest(
        version=version,
        released="2027-03-01",
        serial=serial,
        files=hash_program_files(program),
        firmware=read_program_firmware(program),
    )


def released(serial: int, program: Path, version: str = "0.1.0") -> Manifest:
    """Lay a manifest beside a program, as a release does."""
    made = manifest(serial, program, version)
    (program / MANIFEST).write_bytes(releases.encode_manifest(made))
    return made


def test_every_file_counts_but_the_manifest_and_what_python_compiled(program: Path) -> None:
    cache = program / "controller" / "__pycache__"
    cache.mkdir()
    (cache / f"cards.{sys.implementation.cache_tag}.pyc").write_bytes(b"")
    for name in (MANIFEST, f"{MANIFEST}.sig", "elsewhere.py"):
        (program / name).write_bytes(b"")

    assert hash_program_files(program) == {
        name: hashlib.sha256(content).hexdigest() for name, content in FILES.items()
    }


def test_compiled_code_without_a_source_is_a_file_like_any_other(program: Path) -> None:
    (program / "controller" / "evil.pyc").write_bytes(b"")

    assert "controller/evil.pyc" in hash_program_files(program)


def test_a_file_whose_name_is_no_text_counts_too(program: Path, tmp_path: Path) -> None:
    released(7, program)
    Path(os.fsdecode(bytes(program / "controller") + b"/\xff.py")).write_bytes(b"")

    now = read_running_release(tmp_path, program)

    assert now is not None
    assert now.hash == releases.program_hash(hash_program_files(program))
    assert "controller/\\xff.py" in hash_program_files(program)


def test_a_folder_that_holds_no_program_is_told(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="holds no controller/"):
        hash_program_files(tmp_path)


def test_boards_are_expected_to_report_what_the_firmwares_own_rule_gives() -> None:
    told = Firmware(version=".".join(map(str, FIRMWARE_VERSION)), hash=own_firmware_hash().hex())

    assert read_program_firmware(find_program_folder()) == {"dealer": told, "reader": told}


def test_the_firmwares_version_is_read_and_not_run(program: Path) -> None:
    assert read_program_firmware(program)["dealer"].version == "1.2.3"

    for text in ("raise SystemExit", "FIRMWARE_VERSION = (", "FIRMWARE_VERSION = boom()"):
        (program / "drivers/firmware/version.py").write_text(text)
        with pytest.raises(FileError, match="FIRMWARE_VERSION"):
            read_program_firmware(program)


def test_taking_the_manifest_away_is_no_way_back(program: Path, tmp_path: Path) -> None:
    released(8, program)
    read_running_release(tmp_path, program)
    (program / MANIFEST).unlink()
    with pytest.raises(FileError, match=r"RELEASE_OLDER.*no manifest"):
        read_running_release(tmp_path, program)


def test_a_program_without_a_manifest_is_of_no_release(program: Path, tmp_path: Path) -> None:
    assert read_running_release(tmp_path / "state", program) is None
    assert not (tmp_path / "state").exists()


def test_a_program_reports_its_own_files_not_what_the_manifest_says(
    program: Path, tmp_path: Path
) -> None:
    made = released(7, program)
    assert read_running_release(tmp_path, program) == made.release

    (program / "controller/cards.py").write_bytes(b"CARDS = 107\n")

    now = read_running_release(tmp_path, program)
    assert now is not None
    assert (now.version, now.serial) == ("0.1.0", 7)
    assert now.hash == releases.program_hash(hash_program_files(program)) != made.release.hash


def test_a_release_older_than_one_that_ran_here_is_refused_in_the_catalogues_words(
    program: Path, tmp_path: Path
) -> None:
    for serial in (7, 9, 9):
        released(serial, program, version=f"0.{serial}.0")
        assert read_running_release(tmp_path, program) is not None
    released(8, program, version="0.8.0")

    with pytest.raises(FileError) as refused:
        read_running_release(tmp_path, program)

    row = fault("RELEASE_OLDER")
    assert str(refused.value).startswith(f"RELEASE_OLDER ({row.code}): ")
    for words in ("0.8.0 (8), after 0.9.0 (9)", row.action_en, row.action_zh):
        assert words in str(refused.value)
    assert json.loads((tmp_path / REMEMBERED_FILE).read_bytes()) == {
        "version": "0.9.0",
        "serial": 9,
    }


def test_another_table_has_its_own_memory(program: Path, tmp_path: Path) -> None:
    released(9, program)
    read_running_release(tmp_path / "T01", program)
    released(7, program)

    assert read_running_release(tmp_path / "T02", program) is not None


def test_the_highest_serial_is_remembered_whatever_comes_later(
    program: Path, tmp_path: Path
) -> None:
    for serial in (5, 9, 7):
        remember_release(tmp_path, manifest(serial, program))

    seen = read_remembered_release(tmp_path)
    assert seen is not None
    assert seen.serial == 9
    assert sorted(os.listdir(tmp_path)) == sorted(["program", REMEMBERED_FILE])


@pytest.mark.system  # only root gives a file to another user
def test_root_leaves_the_memory_to_whom_the_folder_belongs(program: Path, tmp_path: Path) -> None:
    state_dir = tmp_path / "state"
    state_dir.mkdir(mode=0o700)
    os.chown(state_dir, 61000, 61001)

    remember_release(state_dir, manifest(7, program))

    status = (state_dir / REMEMBERED_FILE).stat()
    assert (status.st_uid, status.st_gid, status.st_mode & 0o777) == (61000, 61001, 0o600)
    assert os.listdir(state_dir) == [REMEMBERED_FILE]


def test_a_link_or_a_pipe_in_place_of_the_memory_is_not_followed_and_not_waited_for(
    program: Path, tmp_path: Path
) -> None:
    state_dir, elsewhere = tmp_path / "state", tmp_path / "elsewhere"
    state_dir.mkdir()
    elsewhere.write_text('{"version": "0.0.1", "serial": 1}')
    path = state_dir / REMEMBERED_FILE
    path.symlink_to(elsewhere)
    with pytest.raises(FileError, match="cannot be read"):
        remember_release(state_dir, manifest(7, program))
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(FileError, match="no plain file"):
        remember_release(state_dir, manifest(7, program))
    assert elsewhere.read_text() == '{"version": "0.0.1", "serial": 1}'


@pytest.mark.parametrize("text", ["", "{}", '{"serial": 0, "version": ""}', "\xff"])
def test_a_memory_that_cannot_be_read_is_not_passed_over(
    text: str, program: Path, tmp_path: Path
) -> None:
    released(7, program)
    (tmp_path / REMEMBERED_FILE).write_text(text, encoding="latin-1")

    with pytest.raises(FileError, match="the release that ran here last"):
        read_running_release(tmp_path, program)


def test_a_manifest_that_is_none_is_told(program: Path, tmp_path: Path) -> None:
    (program / MANIFEST).write_bytes(b"{}")

    with pytest.raises(FileError, match="no manifest of a release"):
        read_running_release(tmp_path, program)


def test_a_manifest_reads_back_as_it_was_written(program: Path) -> None:
    made = released(7, program)

    raw = (program / MANIFEST).read_bytes()
    assert msgspec.json.decode(raw, type=Manifest) == made
