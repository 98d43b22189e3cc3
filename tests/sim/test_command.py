"""`dealtable sim` before anything runs: what it teaches, and what it refuses."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from controller.cli import main
from sim.mechanics.faults import menu


def test_the_help_names_every_fault_and_shows_how_to_go_on() -> None:
    text = CliRunner().invoke(main, ["sim", "--help"]).output
    assert all(name in text for name in menu())
    assert "dealtable sim --fault double_feed:at=40" in text


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--fault", "gremlin"], "no fault is called 'gremlin'"),
        (["--fault", "jam:place=roof"], "place is one of feeder"),
        (["--speed", "0"], "--speed"),
        (["--tables", "0"], "--tables"),
        (["--config", "/nowhere/sim.toml"], "/nowhere/sim.toml"),
    ],
)
def test_bad_usage_is_exit_2_and_leaves_nothing_behind(
    arguments: list[str], complaint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("controller.cli.sim.RUNTIME_ROOT", tmp_path)
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


def test_without_micropython_boards_cannot_run_under_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sim.interpreters.FETCHED_MICROPYTHON", Path("nowhere"))
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("DEALTABLE_MICROPYTHON", raising=False)
    result = CliRunner().invoke(main, ["sim", "--firmware", "micropython"])
    assert result.exit_code == 2
    assert "no MicroPython" in result.output
