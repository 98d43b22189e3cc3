"""`dealtable console` where its libraries are missing, and what its configuration may say."""

import importlib.util
import os
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest
from click.testing import CliRunner

from controller.cli import main
from sim.cli.demo_view import open_demo_console

ROOT = Path(__file__).parents[2]


@pytest.fixture
def without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pretend that Starlette was not installed."""
    find = importlib.util.find_spec

    def found(name: str, package: str | None = None) -> ModuleSpec | None:
        return None if name == "starlette" else find(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", found)


@pytest.mark.usefixtures("without_the_extra")
def test_a_console_without_its_libraries_says_how_they_come(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["console", "--config", str(tmp_path / "console.toml")])
    assert done.exit_code == 2
    assert done.output.count("\n") == 1
    assert "pip install 'dealtable[console]'" in done.output


@pytest.mark.usefixtures("without_the_extra")
async def test_a_demo_without_them_says_so_and_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with open_demo_console(tmp_path, [], None) as url:
        assert url is None
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "starlette" in said
    assert os.listdir(tmp_path) == []


def test_the_help_teaches_the_first_time() -> None:
    said = CliRunner().invoke(main, ["console", "--help"]).output
    for step in ("deploy/console.toml", "/invited", "/setup", "--invite", "demo --tables 4"):
        assert step in said


@pytest.mark.parametrize("words", [["--invite", "Li"], ["--role", "referee"]])
def test_a_name_and_a_role_go_together(words: list[str]) -> None:
    done = CliRunner().invoke(main, ["console", "--config", "console.toml", *words])
    assert done.exit_code == 2
    assert "go together" in done.output


def test_a_name_that_is_none_invites_nobody(tmp_path: Path) -> None:
    config = tmp_path / "console.toml"
    config.write_text("[console]\n")
    words = ["console", "--config", str(config), "--role", "referee", "--invite", "Li (chief)"]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 2
    assert "without brackets" in done.output


def test_the_example_is_a_console_in_order() -> None:
    done = CliRunner().invoke(main, ["check-config", str(ROOT / "deploy" / "console.toml")])
    assert done.exit_code == 0
    assert "console Hall 1 at 127.0.0.1:8080" in done.output


def test_a_console_that_sends_pins_in_the_open_is_told(tmp_path: Path) -> None:
    config = tmp_path / "console.toml"
    config.write_text('[console]\nlisten = "0.0.0.0:8080"\n')
    done = CliRunner().invoke(main, ["check-config", str(config)])
    assert done.exit_code == 0
    assert "PINs cross the network unsealed" in done.output
