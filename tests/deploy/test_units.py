"""The units: what systemd says of them, and that nothing in them goes unheeded here."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.deploy.confined import APPLIED, NEEDS_SYSTEMD, NO_LIMIT, Limits, directives
from tests.deploy.unit_files import UNITS

pytestmark = pytest.mark.system

NAMES = sorted(path.name for path in UNITS.glob("*.service"))
TABLE_UNITS = ("dealtable-machine@.service", "dealtable-gateway@.service")
SUPERVISED = (*TABLE_UNITS, "dealtable-console.service")
HIGHEST_EXPOSURE = 2.0
SYSTEMD = {"SYSTEMD_COLORS": "0", "SYSTEMD_LOG_LOCATION": "0", "LC_ALL": "C.UTF-8"}


def of_t01(name: str) -> str:
    return name.replace("@.", "@T01.")


def systemd_analyze(*words: object) -> subprocess.CompletedProcess[str]:
    """Ask systemd, which need not run for it. `.ci/run` installs it where it is missing."""
    return subprocess.run(
        ["systemd-analyze", "--no-pager", *map(str, words)],
        capture_output=True,
        text=True,
        env=os.environ | SYSTEMD,
    )


@pytest.fixture
def computer(tmp_path: Path) -> Path:
    """Give the root of a computer with the units, what they start, and the system's own units."""
    etc = tmp_path / "etc/systemd/system"
    etc.mkdir(parents=True)
    for name in NAMES:
        shutil.copyfile(UNITS / name, etc / name)
    theirs = next(
        path
        for path in map(Path, ("/usr/lib/systemd/system", "/lib/systemd/system"))
        if path.exists()
    )
    shutil.copytree(theirs, tmp_path / "usr/lib/systemd/system", symlinks=True)
    for program in {"opt/dealtable/current/bin/dealtable", "sbin/init"}:
        (tmp_path / program).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / program).write_text("#!/bin/sh\n")
        (tmp_path / program).chmod(0o755)
    for page in ("README.md", "console.md"):
        place = tmp_path / "opt/dealtable/current/house" / page
        place.parent.mkdir(parents=True, exist_ok=True)
        place.touch()
    return tmp_path


def verified(computer: Path, name: str) -> subprocess.CompletedProcess[str]:
    unit = computer / "etc/systemd/system" / of_t01(name)
    if not unit.exists():
        unit.symlink_to(name)
    return systemd_analyze("verify", "--man=no", f"--root={computer}", unit)


@pytest.mark.parametrize("name", NAMES)
def test_systemd_has_nothing_to_say_of_a_unit(computer: Path, name: str) -> None:
    done = verified(computer, name)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "")


def test_systemd_says_of_a_unit_what_it_does_not_know_and_what_is_not_there(computer: Path) -> None:
    unit = computer / "etc/systemd/system/dealtable-machine@.service"
    unit.write_text(unit.read_text().replace("PrivateTmp=yes", "PrivateTemp=yes"))
    assert "PrivateTemp" in verified(computer, unit.name).stderr
    (computer / "opt/dealtable/current/bin/dealtable").unlink()
    assert verified(computer, unit.name).returncode != 0


@pytest.mark.parametrize("name", NAMES)
def test_a_unit_is_little_exposed(tmp_path: Path, name: str) -> None:
    unit = tmp_path / of_t01(name)
    shutil.copyfile(UNITS / name, unit)
    limit = round(HIGHEST_EXPOSURE * 10)
    done = systemd_analyze("security", "--offline=true", f"--threshold={limit}", unit)
    (level,) = re.findall(r"Overall exposure level for \S+: ([0-9.]+)", done.stdout)
    assert done.returncode == 0, done.stdout
    assert float(level) <= HIGHEST_EXPOSURE
    unit.write_text("[Service]\nExecStart=/bin/true\n")
    done = systemd_analyze("security", "--offline=true", f"--threshold={limit}", unit)
    assert done.returncode != 0


@pytest.mark.parametrize("name", NAMES)
def test_no_limit_of_a_unit_is_passed_over_where_it_is_proved(name: str) -> None:
    keys = {key for key, _ in directives((UNITS / name).read_text())}
    assert keys <= APPLIED | NEEDS_SYSTEMD | NO_LIMIT


@pytest.mark.parametrize("name", SUPERVISED)
def test_a_part_is_watched(name: str) -> None:
    limits = Limits(directives((UNITS / name).read_text()))
    assert limits.words("Type") == ["notify"]
    assert limits.words("WatchdogSec") == ["30"]


@pytest.mark.parametrize("name", NAMES)
def test_nothing_may_swap_or_write_a_core_and_everything_always_comes_again(name: str) -> None:
    limits = Limits(directives((UNITS / name).read_text()))
    assert limits.words("MemorySwapMax") == ["0"]
    assert limits.words("LimitCORE") == ["0"]
    assert limits.words("Restart") == ["always"]
    unit = dict(directives((UNITS / name).read_text(), "Unit"))
    assert unit["StartLimitIntervalSec"] == "0"


def test_the_machine_has_no_network_its_own_devices_and_a_folder_for_lgpio() -> None:
    limits = Limits(directives((UNITS / TABLE_UNITS[0]).read_text()))
    assert limits.words("RestrictAddressFamilies") == ["AF_UNIX"]
    assert limits.yes("PrivateNetwork")
    assert limits.words("DeviceAllow") == [
        *("char-ttyACM", "rw", "char-ttyUSB", "rw", "char-gpiochip", "rw")
    ]
    assert "LG_WD=/run/dealtable/%i" in limits.words("Environment")
    assert not limits.has("ProcSubset"), "gpiozero finds no Pi without the rest of /proc"
