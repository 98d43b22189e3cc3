"""Lives spread over processes."""

import multiprocessing
import signal
from multiprocessing.context import SpawnProcess
from pathlib import Path

import pytest

from sim.campaign import campaign_lives as life_pool
from sim.campaign.campaign_lives import run_guarded, run_lives
from tests.campaign.lives import (
    dying,
    endless,
    fine,
    first_last,
    interrupting,
    number_of,
    plans,
    raising,
    slow_at_first,
    third_and_later_wrong,
)

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("jobs", [1, 3])
def test_reports_come_in_the_order_of_the_lives_however_long_each_takes(jobs: int) -> None:
    seen: list[str] = []
    ran = run_lives(
        plans(7), slow_at_first, jobs=jobs, on_report=lambda each: seen.append(each.seed)
    )
    assert [report.seed for report in ran.reports] == [plan.seed for plan in plans(7)]
    assert sorted(seen) == sorted(plan.seed for plan in plans(7))
    assert not ran.interrupted


@pytest.mark.parametrize("jobs", [1, 4])
def test_a_campaign_that_stops_ends_with_the_first_life_that_has_a_finding(jobs: int) -> None:
    ran = run_lives(plans(30), third_and_later_wrong, jobs=jobs, stop=True)
    assert [report.seed for report in ran.reports] == ["1.1", "1.2", "1.3"]


def test_a_later_finding_that_comes_first_does_not_make_the_campaign_longer(tmp_path: Path) -> None:
    ran = run_lives(plans(30, tmp_path), first_last, jobs=4, stop=True)
    assert [report.seed for report in ran.reports] == ["1.1", "1.2", "1.3"]


def test_a_campaign_that_does_not_stop_goes_on_behind_a_finding() -> None:
    ran = run_lives(plans(6), third_and_later_wrong, jobs=2)
    assert sum(len(report.findings) for report in ran.reports) == 4


def test_what_a_life_raises_is_a_finding_of_its_seed_in_one_line() -> None:
    ran = run_lives(plans(3), raising, jobs=2)
    (finding,) = (finding for report in ran.reports for finding in report.findings)
    assert (finding.kind, finding.seed) == ("crashed", "1.2")
    assert finding.words.startswith("LookupError: nobody home (raising, line ")


def test_a_worker_that_dies_is_a_finding_and_the_end_of_the_campaign() -> None:
    ran = run_lives(plans(50), dying, jobs=1)
    assert {finding.kind for report in ran.reports for finding in report.findings} == {"crashed"}
    assert len(ran.reports) == 2


def test_a_worker_that_dies_takes_no_other_life_along() -> None:
    ran = run_lives(plans(6), dying, jobs=3)
    (finding,) = (finding for report in ran.reports for finding in report.findings)
    assert (finding.kind, finding.seed) == ("crashed", "1.2")


def test_an_interrupt_leaves_what_was_seen_so_far() -> None:
    ran = run_lives(interrupting(4), fine, jobs=1)
    assert ran.interrupted
    assert all(number_of(plan) <= 4 for plan in plans(len(ran.reports)))


def test_ctrl_c_while_a_worker_starts_is_an_interrupt_and_leaves_no_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    start = SpawnProcess.start
    begun: list[SpawnProcess] = []

    def disturbed(process: SpawnProcess) -> None:
        begun.append(process)
        start(process)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(SpawnProcess, "start", disturbed)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        ran = run_lives(plans(3), endless, jobs=2)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert ran.interrupted
    assert ran.reports == ()
    assert [process.exitcode for process in begun] == [-signal.SIGTERM]
    assert multiprocessing.active_children() == []


def test_a_life_that_never_ends_is_ended_and_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    before = signal.getsignal(signal.SIGPROF)
    monkeypatch.setattr(life_pool, "LIFE_CPU_S", 0.2)
    try:
        (finding,) = run_guarded(endless, plans(1)[0]).findings
    finally:
        signal.signal(signal.SIGPROF, before)
    assert finding.kind == "stuck"
    assert "CPU time" in finding.words
