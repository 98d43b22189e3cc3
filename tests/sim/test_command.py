"""`dealtable sim` before anything runs: what it teaches, and what it refuses."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from controller.cli import main
from sim.mechanics.fault_menu import fault_menu


def test_the_help_names_every_fault_and_shows_how_to_go_on() -> None:
    text = CliRunner().invoke(main, ["sim", "--help"]).output
    assert all(name in text for name in fault_menu())
    assert "dealtable sim --fault double_feed:at=40" in text


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--fault", "gremlin"], "no fault is called 'gremlin'"),
        (["--fault", "jam:place=roof"], "place is one of feeder"),
        (["--fault", "jam:at=x"], "jam: at is a whole number, not 'x'"),
        (["--fault", "jam:rate=often"], "jam: rate is a number, not 'often'"),
        (["--fault", "jam:repeat=perhaps"], "jam: repeat is true or false, not 'perhaps'"),
        (["--fault", "jam:roof=1"], "jam takes at, rate, repeat, place, clears_after, not roof"),
        (["--tables", "many"], "'many' is not a valid whole number"),
        (["--speed", "fast"], "'fast' is not a valid number"),
        (["--speed", "0"], "--speed"),
        (["--tables", "0"], "--tables"),
        (["--config", "/nowhere/sim.toml"], "/nowhere/sim.toml"),
    ],
)
def test_bad_usage_is_exit_2_and_leaves_nothing_behind(
    arguments: list[str], complaint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sim.memory_folders.MEMORY", tmp_path)
    result = CliRunner().invoke(main, ["sim", *arguments])
    assert result.exit_code == 2
    assert complaint in result.output
    assert list(tmp_path.iterdir()) == []


def test_a_fault_in_a_configuration_is_checked_against_the_menu(tmp_path: Path) -> None:
    config = tmp_path / "sim.toml"
    config.write_text('[[fault]]\nname = "jam"\nmotor = "gate"\n', encoding="utf-8")
    result = CliRunner().invoke(main, ["sim", "--config", str(config)])
    assert result.exit_code == 2
    assert "jam takes at, rate, repeat, place, clears_after, not motor" in result.output


def test_a_value_in_a_configuration_is_of_its_fields_kind(tmp_path: Path) -> None:
    config = tmp_path / "sim.toml"
    config.write_text('[[fault]]\nname = "jam"\nat = "3"\n', encoding="utf-8")
    result = CliRunner().invoke(main, ["sim", "--config", str(config)])
    assert result.exit_code == 2
    assert "jam: at is a whole number, not '3'" in result.output


def test_without_micropython_boards_cannot_run_under_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sim.board_process.FETCHED_MICROPYTHON", Path("nowhere"))
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("DEALTABLE_MICROPYTHON", raising=False)
    result = CliRunner().invoke(main, ["sim", "--firmware", "micropython"])
    assert result.exit_code == 2
    assert "no MicroPython" in result.output
