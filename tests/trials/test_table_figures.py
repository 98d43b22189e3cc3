"""What the figures of single parts measure: never how fast they are."""

import os
import subprocess
import sys
from collections import Counter

import pytest
from pytest_mock import MockerFixture

from controller.deal.sequence import sequence
from controller.rules.combos.judge import judge
from controller.trials.bench import campaigns, codec, fair, registry, rulings, tables
from controller.trials.bench.registry import Unit
from controller.trials.costs import resident_mib
from drivers.firmware.codec import Decoder, encode

pytestmark = pytest.mark.slow


@pytest.fixture
def shortly(mocker: MockerFixture) -> None:
    """Time nothing: each work of a figure is done once, its floor before it."""

    def once(work: registry.Work, floor: registry.Work, per: int, rounds: int) -> tuple[float, ...]:
        floor()
        work()
        return 20.0, 10.0

    for module in (codec, fair, rulings, tables):
        mocker.patch.object(module, "paired_us", once)


def test_a_figure_of_memory_has_both_processes_over_a_bare_interpreter(
    mocker: MockerFixture,
) -> None:
    mocker.patch.object(tables, "_resident", mocker.AsyncMock(return_value=(44.0, 33.0)))
    machine, gateway = tables.memory()
    assert (machine.what, machine.value) == ("machine", 44.0)
    assert (gateway.what, gateway.value) == ("gateway", 33.0)
    assert 0 < machine.floor == gateway.floor < resident_mib(os.getpid())


@pytest.mark.timeout(120)
async def test_a_machine_and_its_gateway_lie_in_memory_behind_a_deal() -> None:
    bare = tables._bare_mib()
    assert min(await tables._resident()) > bare


@pytest.mark.timeout(120)
async def test_a_start_ends_with_a_table_that_can_deal() -> None:
    assert await tables._start_s() > 0


def test_a_start_is_told_in_seconds_against_its_packages_alone(
    mocker: MockerFixture, shortly: None
) -> None:
    started = mocker.patch.object(tables, "_start_s", mocker.AsyncMock(return_value=0.9))
    (one,) = tables.start()
    started.assert_called_once()
    assert (one.unit, one.value, one.floor) == (Unit.S, 2e-5, 1e-5)


def test_the_packages_of_the_floor_are_those_that_a_tables_processes_import() -> None:
    parts = ("controller.cli.run", "controller.cli.machine_process", "controller.gateway.gateway")
    code = f"import sys, {', '.join(parts)}; print(*{{name.split('.')[0] for name in sys.modules}})"
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    outside = set(run.stdout.split()) - set(sys.stdlib_module_names)
    floor = {name.partition(".")[0] for name in tables._PACKAGES.split(", ")}
    assert floor <= outside
    assert floor >= outside & {"click", "gpiozero", "msgspec", "nacl", "serial", "structlog", "zmq"}


def test_a_fair_sequence_is_told_over_two_shuffles_of_as_many_cards(
    mocker: MockerFixture, shortly: None
) -> None:
    drawn = mocker.patch("controller.trials.bench.fair.sequence", wraps=sequence)
    assert [one.what for one in fair.fair()] == ["over random.shuffle", "over SystemRandom"]
    assert drawn.call_count == 2 * fair._DEALS
    shuffled: list[list[str]] = []
    fair._shuffles(shuffled.append)()
    assert Counter(shuffled[0]) == Counter(sequence(bytes(32), bytes(32), None, 108))
    assert len(shuffled) == fair._DEALS


def test_frames_are_coded_and_decoded_apart(mocker: MockerFixture, shortly: None) -> None:
    fed = mocker.spy(Decoder, "feed")
    coded = mocker.patch.object(codec, "encode", wraps=encode)
    assert [one.what for one in codec.codec()] == ["coded", "decoded"]
    assert coded.call_count == codec._FRAMES + 1
    assert fed.call_count == codec._FRAMES
    assert fed.spy_return == [codec._PAYLOAD]


def test_rulings_are_told_as_a_rate(mocker: MockerFixture, shortly: None) -> None:
    judged = mocker.patch("controller.trials.bench.rulings.judge", wraps=judge)
    (one,) = rulings.rulings()
    assert judged.call_count == rulings._TURNS
    assert (one.unit, one.value, one.floor) == (Unit.PER_S, 50_000, 100_000)


def test_a_campaign_is_told_by_attempts_and_by_cards(mocker: MockerFixture) -> None:
    mocker.patch.object(campaigns, "_attempts_per_s", {"hostile": 25.0, "ideal": 30.0}.get)
    hostile, ideal = campaigns.campaign()
    assert (hostile.value, ideal.value) == (25.0, 30.0 * 108)
    assert ideal.floor == pytest.approx(hostile.floor * 108)


@pytest.mark.timeout(120)
def test_the_attempts_of_a_campaign_are_those_that_it_reports(mocker: MockerFixture) -> None:
    mocker.patch.object(campaigns, "_LIFE", 1)
    mocker.patch.object(campaigns, "_LIVES_A_JOB", 1)
    mocker.patch.object(campaigns, "taken_s", lambda work: work() or 4.0)
    assert campaigns._attempts_per_s("ideal") == 0.5
