import json

import pytest
from click.testing import CliRunner
from pytest_mock import MockerFixture

from controller.cli.bench import command
from controller.trials.bench import registry
from controller.trials.bench.registry import Figure, Unit, Value, figure, figures, measure, values

pytestmark = pytest.mark.slow

KNOWN = tuple(figures())
"""All of them, registered before a test patches the table."""


def unfolded(text: str) -> str:
    """Return a text without its spaces: a line may be folded behind a hyphen."""
    return "".join(text.split())


def took(seconds: float) -> registry.Work:
    return lambda: seconds


def a_figure(
    value: float,
    floor: float,
    unit: Unit = Unit.KIB,
    aim: float | None = None,
    aim_value: float | None = None,
) -> Figure:
    one = Value(value=value, floor=floor, unit=unit, documented=2.0, aim=aim, aim_value=aim_value)
    return Figure("f", "A figure.", lambda: [one])


def test_a_figure_is_a_multiple_of_its_floor() -> None:
    (measured,) = measure(a_figure(3.0, 2.0))
    assert (measured.times_floor, measured.value, measured.floor) == (1.5, 3.0, 2.0)
    assert measured.ok
    assert measured.met is None


def test_a_rate_is_the_worse_the_slower_it_is() -> None:
    (measured,) = measure(a_figure(20.0, 60.0, Unit.PER_S, aim_value=25.0))
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
    assert registry.paired_us(took(0.003), took(0.002), 10, 3) == pytest.approx((300, 200))


def test_work_that_returns_no_time_is_timed_from_outside() -> None:
    assert registry.paired_us(lambda: sum(range(1000)), took(1.0), 1, 3)[0] > 0


def test_a_figure_registers_under_its_name_with_its_docstring(mocker: MockerFixture) -> None:
    mocker.patch.dict(registry._FIGURES, clear=True)

    @figure("nap", floor=took(0.5), documented=3.0, rounds=1)
    def nap() -> float:
        """Sleeps a little."""
        return 1.0

    @values("naps")
    def naps() -> list[Value]:
        """Sleeps often."""
        return []

    says = {name: one.says for name, one in registry._FIGURES.items()}
    assert says == {"nap": "Sleeps a little.", "naps": "Sleeps often."}
    (measured,) = measure(registry._FIGURES["nap"])
    assert measured.times_floor == 2.0


@pytest.mark.parametrize(("value", "exit_code"), [(1.0, 0), (500.0, 1)])
def test_check_fails_where_a_figure_is_above_its_limit(
    value: float, exit_code: int, mocker: MockerFixture
) -> None:
    mocker.patch.dict(registry._FIGURES, {"f": a_figure(value, 1.0)})
    done = CliRunner().invoke(command, ["f", "--check", "--json"])
    assert done.exit_code == exit_code
    assert json.loads(done.stdout)[0]["ok"] is (exit_code == 0)


def test_its_help_says_what_every_figure_is() -> None:
    told = unfolded(CliRunner().invoke(command, ["--help"]).output)
    assert tuple(figures()) == KNOWN
    for name, one in figures().items():
        assert unfolded(f"{name} {one.says}") in told
    assert unfolded("dealtable bench --check") in told


def test_an_unknown_figure_is_told_which_there_are() -> None:
    told = CliRunner().invoke(command, ["speed"])
    assert told.exit_code == 2
    for name in KNOWN:
        assert name in told.stderr
