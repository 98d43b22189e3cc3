"""A wheelhouse is checked before anything of it is run, with nothing but Python and openssl."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from controller.cli import main
from controller.release.release_files import make_release_keys, read_release_key

HOUSE = Path(__file__).parents[2] / "deploy" / "verify_wheelhouse.py"


def release(*words: object) -> Result:
    return CliRunner().invoke(main, ["release", *map(str, words)])


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """Give a wheelhouse, signed, beside the key that signed it."""
    folder = tmp_path / "house"
    (folder / "wheels").mkdir(parents=True)
    (folder / "wheels" / "a-1.0-py3-none-any.whl").write_bytes(b"a wheel")
    (folder / "install.sh").write_text("#!/bin/sh\n")
    make_release_keys(tmp_path / "release")
    words = ("--version", "0.1.0", "--serial", 7, "--released", "2027-03-01")
    made = release("make", folder, "--whole", *words)
    assert made.exit_code == 0, made.output
    sign(folder)
    return folder


def sign(house: Path, name: str = "release") -> None:
    key = house.parent / f"{name}.key_secret"
    assert release("sign", house / "manifest.json", "--key", key).exit_code == 0


def checked(house: Path, *words: object) -> tuple[int, str]:
    """Run the check as a blank computer does."""
    asked = words or ("--key", house.parent / "release.key")
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(HOUSE), str(house), *map(str, asked)],
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout + done.stderr


def test_what_was_signed_is_taken_and_named(house: Path) -> None:
    code, said = checked(house)
    assert (code, said.split()[:2]) == (0, ["0.1.0", "7"])
    assert len(said.split()) == 3
    assert checked(house, "--unsigned") == (0, said)


def _changed(house: Path) -> None:
    (house / "install.sh").write_text("#!/bin/sh\nreboot\n")


def _added(house: Path) -> None:
    (house / "wheels" / "b-1.0-py3-none-any.whl").write_bytes(b"")


def _taken(house: Path) -> None:
    (house / "install.sh").unlink()


def _led_elsewhere(house: Path) -> None:
    text = (house / "install.sh").read_text()
    (house.parent / "elsewhere").write_text(text)
    (house / "install.sh").unlink()
    (house / "install.sh").symlink_to(house.parent / "elsewhere")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (_changed, "install.sh: is not as it was released"),
        (_added, "b-1.0-py3-none-any.whl: is not of this release"),
        (_taken, "install.sh: is missing"),
        (_led_elsewhere, "install.sh: is missing"),
    ],
)
def test_a_wheelhouse_that_is_not_as_it_was_signed_is_named_and_refused(
    house: Path, change: Callable[[Path], None], why: str
) -> None:
    change(house)
    for words in ((), ("--unsigned",)):
        code, said = checked(house, *words)
        assert code == 1
        assert said.endswith(f"{why}\n")
    assert release("check", "--whole", "--files", house, "--key", key_of(house)).exit_code != 0


def key_of(house: Path) -> Path:
    return house.parent / "release.key"


def test_dealtable_checks_it_likewise(house: Path) -> None:
    done = release("check", "--whole", "--files", house, "--key", key_of(house))
    assert (done.exit_code, "all as released" in done.output) == (0, True)


def test_another_key_another_manifest_and_no_signature_are_refused(house: Path) -> None:
    make_release_keys(house.parent / "other")
    code, said = checked(house, "--key", house.parent / "other.key")
    assert (code, "is no signature of this manifest" in said) == (1, True)
    sign(house, "other")
    assert checked(house)[0] == 1
    sign(house)
    assert checked(house)[0] == 0
    manifest = house / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"serial": 7', '"serial": 8'))
    assert checked(house)[0] == 1
    (house / "manifest.json.sig").unlink()
    assert checked(house)[0] == 1


@pytest.mark.parametrize("version", ["../../etc", "", "a b", "/x"])
def test_a_version_that_is_no_name_of_a_folder_is_refused(house: Path, version: str) -> None:
    manifest = house / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"0.1.0"', f'"{version}"'))
    code, said = checked(house, "--unsigned")
    assert (code, "cannot be used" in said) == (1, True)


def test_a_secret_key_is_no_public_one(house: Path) -> None:
    secret = house.parent / "release.key_secret"
    assert checked(house, "--key", secret)[0] == 1
    assert len(read_release_key(key_of(house))) == 32


def test_a_later_one_needs_a_higher_serial(house: Path) -> None:
    words = ("--version", "0.1.0", "--released", "2027-03-01")
    assert release("make", house, "--whole", "--serial", 7, *words).exit_code == 2
    assert release("make", house, "--whole", "--serial", 8, *words).exit_code == 0
