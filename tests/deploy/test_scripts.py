"""The shell scripts of deploy/ and .ci/: that a shell's own critic has nothing to say, and their
words. What they do is seen where it is done: .ci/slow, on a computer of the table's own kind."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from controller.machine.machine_supervisor import MachineSupervisor
from controller.messages import MachinePhase
from controller.service.machine_process import _format_status

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
OWN = ("install.sh", "upgrade.sh", "uninstall.sh", "wheelhouse.sh")
CI = ("slow", "slow_inside")
SHELLCHECK = Path(sys.executable).with_name("shellcheck")


def run(name: str, *words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(DEPLOY / name), *map(str, words)], capture_output=True, text=True, cwd="/"
    )


@pytest.mark.parametrize(
    "path", [*(DEPLOY / name for name in OWN), *(ROOT / ".ci" / n for n in CI)]
)
def test_shellcheck_has_nothing_to_say(path: Path) -> None:
    done = subprocess.run([SHELLCHECK, "-x", path], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize("name", OWN)
def test_a_script_explains_itself_and_names_each_option_that_it_takes(name: str) -> None:
    done = run(name, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    text = (DEPLOY / name).read_text()
    taken = [line.split(")")[0] for line in text.splitlines() if line.startswith("        --")]
    options = {word.strip() for line in taken for word in line.split("|")}
    assert len(options) > 3
    assert [option for option in options if option not in done.stdout] == []


@pytest.mark.parametrize("name", OWN)
def test_an_unknown_word_is_one_line_and_exit_2(name: str) -> None:
    done = run(name, "--nonsense")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert "--nonsense: unknown" in done.stderr


@pytest.mark.parametrize(
    ("name", "words", "said"),
    [
        ("install.sh", (), "what for?"),
        ("install.sh", ("--table",), "which file?"),
        ("install.sh", ("--table", "/nowhere.toml"), "is not there"),
        ("uninstall.sh", (), "--keep-journal, or --everything"),
        ("upgrade.sh", ("--key",), "which file?"),
        ("wheelhouse.sh", ("--out", "/dev/shm/x"), "are needed"),
        ("wheelhouse.sh", ("--out", "/", "--version", "1", "--serial", "1"), "is there already"),
    ],
)
def test_what_is_missing_is_said(name: str, words: tuple[str, ...], said: str) -> None:
    done = run(name, *words)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert said in done.stderr


def test_nobody_but_root_changes_a_computer() -> None:
    if os.geteuid() != 0:
        user: int | None = None
    else:
        user = 65534
    for name, words in (("uninstall.sh", ("--everything",)), ("upgrade.sh", ("--unsigned",))):
        text = (DEPLOY / "lib.sh").read_text() + (DEPLOY / name).read_text().partition('lib.sh"')[2]
        done = subprocess.run(
            ["bash", "-eu", "-c", text, name, *words], capture_output=True, text=True, user=user
        )
        assert done.returncode == 2
        assert "only root" in done.stderr


def test_an_upgrade_knows_a_deal_under_way_by_what_the_machine_says_of_itself() -> None:
    text = (DEPLOY / "upgrade.sh").read_text()
    known = {phase for phase in MachinePhase if f'*": {phase.value},"*' in text}
    assert known == set(MachinePhase) - {
        MachinePhase.EMPTY,
        MachinePhase.RELEASED,
        MachinePhase.FAULT,
    }
    state = SimpleNamespace(
        table="T01", alerts=[], machine=SimpleNamespace(phase=MachinePhase.DEALING)
    )
    status = _format_status(cast(MachineSupervisor, SimpleNamespace(state=lambda: state)))
    assert ": dealing," in status


def test_uninstall_removes_the_folders_that_install_made_and_no_others(tmp_path: Path) -> None:
    """Folders that were empty before stay, and so do those in which somebody has put a file."""
    for folder in ("etc/udev/rules.d", "etc/sysusers.d"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "new.conf").touch()
    script = """
        install() { mkdir -p "$(dirname "${@: -1}")" && cp "${@: -2:1}" "${@: -1}"; }
        PREFIX=$root/opt/dealtable MADE_FOLDERS=$root/opt/dealtable/made-folders
        files=("$root"/etc/{udev/rules.d,tmpfiles.d,systemd/journald.conf.d,modules-load.d}/new.conf)
        for file in "${files[@]}"; do put "$root/new.conf" "$file"; done
        touch "$root/etc/modules-load.d/theirs.conf"
        gone "${files[@]}"
        made_folders_gone
    """
    text = (DEPLOY / "lib.sh").read_text() + script
    environment = os.environ | {"root": str(tmp_path)}
    subprocess.run(["bash", "-euo", "pipefail", "-c", text], check=True, env=environment)
    left = {str(path.relative_to(tmp_path)) for path in (tmp_path / "etc").rglob("*")}
    kept = {"udev", "udev/rules.d", "sysusers.d", "modules-load.d", "modules-load.d/theirs.conf"}
    assert left == {f"etc/{name}" for name in kept}


@pytest.mark.system
def test_on_a_computer_without_tables_there_is_nothing_to_uninstall_or_upgrade() -> None:
    done = run("uninstall.sh", "--everything", "--dry-run")
    assert (done.returncode, done.stdout) == (0, "nothing to change: nothing of it is here\n")
    done = run("upgrade.sh", "--unsigned")
    assert (done.returncode, "install.sh comes first" in done.stderr) == (2, True)


@pytest.mark.parametrize("done_by_the_scripts", ["pip install", "useradd"])
def test_no_page_of_a_table_tells_to_do_what_install_does(done_by_the_scripts: str) -> None:
    pages = sorted(DEPLOY.glob("*.md"))
    assert pages
    for page in pages:
        assert done_by_the_scripts not in page.read_text(encoding="utf-8"), page.name
