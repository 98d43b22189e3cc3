import json

import pytest
from click.testing import CliRunner
from pytest_mock import MockerFixture

from controller.cli.bench import command
from controller.trials import bench
from controller.trials.bench import Figure, figure, figures, measure

KNOWN = tuple(figures())
"""All of them, registered before a test patches the table."""


def took(seconds: float) -> bench.Work:
    return lambda: seconds


def a_figure(work_s: float, floor_s: float) -> Figure:
    return Figure("f", "A figure.", took(work_s), took(floor_s), most=2.0, per=10, rounds=3)


def test_a_figure_is_a_multiple_of_its_floor() -> None:
    measured = measure(a_figure(work_s=0.003, floor_s=0.002))
    assert (measured.times_floor, measured.us, measured.floor_us) == (1.5, 300.0, 200.0)
    assert measured.ok


def test_a_figure_above_its_limit_is_not_ok() -> None:
    assert not measure(a_figure(work_s=0.0041, floor_s=0.002)).ok


def test_work_that_returns_no_time_is_timed_from_outside() -> None:
    measured = measure(Figure("f", "", lambda: sum(range(1000)), took(1.0), 1.0, 1, 3))
    assert measured.us > 0


def test_a_figure_registers_under_its_name_with_its_docstring(mocker: MockerFixture) -> None:
    mocker.patch.dict(bench._FIGURES, clear=True)

    @figure("nap", floor=took(1.0), most=3.0)
    def nap() -> float:
        """Sleeps a little."""
        return 1.0

    assert bench._FIGURES["nap"].says == "Sleeps a little."


@pytest.mark.parametrize(("work_s", "exit_code"), [(0.001, 0), (0.5, 1)])
def test_check_fails_where_a_figure_is_above_its_limit(
    work_s: float, exit_code: int, mocker: MockerFixture
) -> None:
    mocker.patch.dict(bench._FIGURES, {"f": a_figure(work_s, 0.001)})
    done = CliRunner().invoke(command, ["f", "--check", "--json"])
    assert done.exit_code == exit_code
    assert json.loads(done.stdout)[0]["ok"] is (exit_code == 0)


def test_its_help_says_what_every_figure_is() -> None:
    told = " ".join(CliRunner().invoke(command, ["--help"]).output.split())
    assert tuple(figures()) == KNOWN
    for name, one in figures().items():
        assert f"{name} {one.says}" in told
    assert "dealtable bench --check" in told


def test_an_unknown_figure_is_told_which_there_are() -> None:
    told = CliRunner().invoke(command, ["speed"])
    assert told.exit_code == 2
    for name in KNOWN:
        assert name in told.stderr
