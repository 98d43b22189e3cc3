import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result
from pytest_mock import MockerFixture

from sim.bench import browser_pages, console_figures, figure_registry
from sim.bench.figure_registry import (
    BenchFigure,
    FigureUnit,
    FigureValue,
    bench_options,
    choose_size,
    load_figures,
    measure,
    timed_figure,
    valued_figure,
)
from sim.cli.bench import command

KNOWN = tuple(load_figures())
"""All of them, registered before a test patches the table."""
SETTINGS = ("seconds", "feeds", "browsers", "small", "plot")


@pytest.fixture(autouse=True)
def settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Restore what the command line sets."""
    for name in SETTINGS:
        monkeypatch.setattr(bench_options, name, getattr(bench_options, name))


@pytest.fixture
def no_chromium(mocker: MockerFixture, tmp_path: Path) -> str:
    """Hide Chromium, and refuse to start a console; return the line that bench prints then."""
    mocker.patch.object(browser_pages, "CHROMIUM", tmp_path / "chromium")
    mocker.patch.object(
        console_figures, "measure_console", side_effect=AssertionError("it was measured")
    )
    return f"pixels: not measured: there is no {tmp_path / 'chromium'} (Debian's package chromium)"


def bench(*words: object) -> Result:
    return CliRunner().invoke(command, [str(word) for word in words])


def unfolded(text: str) -> str:
    """Return a text without its spaces: a line may be folded behind a hyphen."""
    return "".join(text.split())


def took(seconds: float) -> figure_registry.Work:
    return lambda: seconds


def a_figure(
    value: float,
    floor: float,
    unit: FigureUnit = FigureUnit.KIB,
    aim: float | None = None,
    aim_value: float | None = None,
) -> BenchFigure:
    one = FigureValue("", value, floor, unit, documented=2.0, aim=aim, aim_value=aim_value)
    return BenchFigure("f", "A figure.", lambda: [one])


def test_a_figure_is_a_multiple_of_its_floor() -> None:
    (measured,) = measure(a_figure(3.0, 2.0))
    assert (measured.times_floor, measured.value, measured.floor) == (1.5, 3.0, 2.0)
    assert measured.ok
    assert measured.met is None


def test_a_rate_is_the_worse_the_slower_it_is() -> None:
    (measured,) = measure(a_figure(20.0, 60.0, FigureUnit.PER_S, aim_value=25.0))
    assert measured.times_floor == 3.0
    assert measured.met is False


@pytest.mark.parametrize(("value", "ok"), [(6.0, True), (6.01, False)])
def test_a_figure_is_ok_up_to_three_times_what_is_documented(value: float, ok: bool) -> None:
    (measured,) = measure(a_figure(value, 1.0))
    assert measured.ok is ok


@pytest.mark.parametrize(
    ("aim", "aim_value", "met"),
    [(1.5, None, True), (1.4, None, False), (None, 3.0, True), (1.5, 2.9, False)],
)
def test_an_aim_is_met_by_the_multiple_or_by_the_value(
    aim: float | None, aim_value: float | None, met: bool
) -> None:
    (measured,) = measure(a_figure(3.0, 2.0, aim=aim, aim_value=aim_value))
    assert measured.met is met


def test_work_is_timed_in_turns_with_its_floor_for_one_of_many() -> None:
    assert figure_registry.time_in_turns_us(took(0.003), took(0.002), 10, 3) == pytest.approx(
        (300, 200)
    )


def test_work_that_returns_no_time_is_timed_from_outside() -> None:
    assert figure_registry.time_in_turns_us(lambda: sum(range(1000)), took(1.0), 1, 3)[0] > 0


def test_a_figure_registers_under_its_name_with_its_docstring(mocker: MockerFixture) -> None:
    mocker.patch.dict(figure_registry._FIGURES, clear=True)

    @timed_figure("nap", floor=took(0.5), documented=3.0, rounds=1)
    def nap() -> float:
        """Sleeps a little."""
        return 1.0

    @valued_figure("naps")
    def naps() -> list[FigureValue]:
        """Sleeps often."""
        return []

    says = {name: one.description for name, one in figure_registry._FIGURES.items()}
    assert says == {"nap": "Sleeps a little.", "naps": "Sleeps often."}
    (measured,) = measure(figure_registry._FIGURES["nap"])
    assert measured.times_floor == 2.0


@pytest.mark.parametrize(("value", "exit_code"), [(1.0, 0), (500.0, 1)])
def test_check_fails_where_a_figure_is_above_its_limit(
    value: float, exit_code: int, mocker: MockerFixture
) -> None:
    mocker.patch.dict(figure_registry._FIGURES, {"f": a_figure(value, 1.0)})
    done = bench("f", "--check", "--json")
    assert done.exit_code == exit_code
    assert json.loads(done.stdout)[0]["ok"] is (exit_code == 0)


def test_its_help_says_what_every_figure_is() -> None:
    told = unfolded(bench("--help").output)
    assert tuple(load_figures()) == KNOWN
    for name, one in load_figures().items():
        assert unfolded(f"{name} {one.description}") in told
    assert unfolded("dealtable bench --check") in told


def test_an_unknown_figure_is_told_which_there_are() -> None:
    told = bench("speed")
    assert told.exit_code == 2
    for name in KNOWN:
        assert name in told.stderr


@pytest.mark.parametrize("check", [(), ("--check",)])
def test_without_chromium_the_other_figures_are_measured_and_one_line_comes_before_them(
    check: tuple[str, ...], no_chromium: str, mocker: MockerFixture
) -> None:
    def run() -> Sequence[FigureValue]:
        click.echo("f is measured", err=True)
        return [FigureValue("", 1.0, 1.0, FigureUnit.S, documented=1.0)]

    mocker.patch.dict(figure_registry._FIGURES, {"f": BenchFigure("f", "A figure.", run)})
    done = bench("f", "pixels", *check, "--json")
    assert done.exit_code == 0
    assert [one["figure"] for one in json.loads(done.stdout)] == ["f"]
    assert done.stderr.splitlines() == [no_chromium, "f is measured"]


def test_without_chromium_only_pixels_is_left_out(no_chromium: str) -> None:
    lacking = {name: one.find_missing() for name, one in load_figures().items()}
    assert [name for name, what in lacking.items() if what is not None] == ["pixels"]


@pytest.mark.parametrize("check", [(), ("--check",)])
def test_a_bench_that_has_nothing_to_measure_fails_with_that_line(
    check: tuple[str, ...], no_chromium: str
) -> None:
    done = bench("pixels", *check)
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.splitlines() == [f"Error: {no_chromium}"]


def test_pixels_are_not_measured_where_no_browser_is_asked_for(
    mocker: MockerFixture, tmp_path: Path
) -> None:
    mocker.patch.object(browser_pages, "CHROMIUM", tmp_path)
    done = bench("pixels", "--browsers", 0)
    assert done.exit_code == 1
    assert "there are no browsers (--browsers 0)" in done.stderr


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((), ("full", 20.0, 400, 5)),
        (("--small",), ("small", 3.0, 40, 1)),
        (("--small", "--seconds", 20, "--browsers", 5), ("small", 20.0, 40, 5)),
    ],
)
def test_small_figures_do_less_but_what_is_asked_for(
    words: tuple[object, ...], expected: tuple[object, ...], mocker: MockerFixture
) -> None:
    used: list[object] = []

    def run() -> Sequence[FigureValue]:
        used.extend(
            (
                choose_size("full", "small"),
                bench_options.seconds,
                bench_options.feeds,
                bench_options.browsers,
            )
        )
        return []

    mocker.patch.dict(figure_registry._FIGURES, {"f": BenchFigure("f", "A figure.", run)})
    assert bench("f", *words).exit_code == 0
    assert tuple(used) == expected


@pytest.mark.parametrize(("value", "exit_code"), [(6.0, 0), (6.01, 1)])
def test_small_figures_have_the_limits_of_the_full_size_and_no_aims(
    value: float, exit_code: int, mocker: MockerFixture
) -> None:
    mocker.patch.dict(figure_registry._FIGURES, {"f": a_figure(value, 1.0, aim=0.5, aim_value=0.5)})
    done = bench("f", "--small", "--check", "--json")
    assert done.exit_code == exit_code
    assert json.loads(done.stdout)[0]["met"] is None


def test_the_figures_need_no_library_of_the_extra_lab() -> None:
    hidden = "import sys; sys.modules.update(matplotlib=None, numpy=None)"
    loaded = "from sim.bench.figure_registry import load_figures; load_figures()"
    subprocess.run([sys.executable, "-c", f"{hidden}; {loaded}"], check=True)
