"""The lives of a campaign, spread over the cores: what comes of them does not depend on how many.

A worker is a process of its own that runs one life after another. It ends with the process
that started it, however that ends.
"""

import signal
import traceback
from collections.abc import Callable, Iterable, Iterator
from types import FrameType
from typing import NoReturn

import msgspec

from sim.campaign.campaign_lives import FindingKind, LifeFinding, LifePlan, LifeReport
from sim.worker_processes import WorkerPool

LIFE_CPU_S = 600.0
"""CPU time in which one life must come to its end; a hundred times what one takes."""

_REPEAT_S = 10.0
"""CPU time after which one that clears up for too long is ended again."""

RunLife = Callable[[LifePlan], LifeReport]


class LifeTooLong(KeyboardInterrupt):
    """A life went on and on; no loop and no handler of exceptions swallows this."""


class LivesResult(msgspec.Struct, frozen=True):
    """What came of the lives: their reports in the lives' order, and whether somebody broke off."""

    reports: tuple[LifeReport, ...]
    interrupted: bool = False


def run_lives(
    plans: Iterable[LifePlan],
    run: RunLife,
    *,
    jobs: int,
    stop: bool = False,
    on_report: Callable[[LifeReport], None] = lambda report: None,
) -> LivesResult:
    """Run lives in `jobs` processes, and return what came of them, in the order of the plans.

    `run` is a function of a module, called in a worker. `saw` takes each report as its life
    ends. With `stop`, the first life in the order of the plans that has a finding is the last
    one of the answer. A KeyboardInterrupt ends all lives: the answer has those that were over.
    """
    queue = _LifeQueue(enumerate(plans), run, stop, on_report)
    interrupted = False
    with WorkerPool(run_guarded, jobs) as workers:
        try:
            queue.run(workers)
        except KeyboardInterrupt:
            interrupted = True
    return LivesResult(tuple(queue.reports()), interrupted)


class _LifeQueue:
    """Has the next life run as long as there is a need for one, and keeps the reports."""

    def __init__(
        self,
        plans: Iterator[tuple[int, LifePlan]],
        run: RunLife,
        stop: bool,
        saw: Callable[[LifeReport], None],
    ) -> None:
        self._plans = plans
        self._run = run
        self._stop = stop
        self._on_report = saw
        self._reports: dict[int, LifeReport] = {}
        self._running: set[int] = set()
        self._last: int | None = None
        self._worker_died = False

    def run(self, workers: WorkerPool[LifeReport]) -> None:
        """Run the lives to their end, or to the first one with a finding."""
        for (number, plan), report in workers.results(self._next_calls()):
            self._running.discard(number)
            if report is None:  # where a worker died, no further life is begun
                self._worker_died = True
                report = _failure_report(plan, "crashed", "its process died")
            self._store(number, report)
            if self._last is not None and not any(map(self._is_needed, self._running)):
                return

    def _next_calls(self) -> Iterator[tuple[tuple[int, LifePlan], tuple[RunLife, LifePlan]]]:
        """Yield the next life as long as there is a need for one."""
        for number, plan in self._plans:
            if self._worker_died or not self._is_needed(number):
                return
            self._running.add(number)
            yield (number, plan), (self._run, plan)

    def reports(self) -> Iterator[LifeReport]:
        """Yield the reports in the lives' order."""
        for number in sorted(self._reports):
            if self._is_needed(number):
                yield self._reports[number]

    def _is_needed(self, number: int) -> bool:
        return self._last is None or number <= self._last

    def _store(self, number: int, report: LifeReport) -> None:
        self._reports[number] = report
        if self._stop and report.findings and self._is_needed(number):
            self._last = number
        self._on_report(report)


def run_guarded(run: RunLife, plan: LifePlan) -> LifeReport:
    """Run one life in a worker; what it raises is a finding of its seed.

    A life that takes more than LIFE_CPU_S of CPU time is ended.
    """
    signal.signal(signal.SIGPROF, _on_cpu_timeout)
    signal.setitimer(signal.ITIMER_PROF, LIFE_CPU_S, _REPEAT_S)
    try:
        return run(plan)
    except LifeTooLong:
        return _failure_report(plan, "stuck", f"took more than {LIFE_CPU_S:g} s of CPU time")
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        words = f"{type(error).__name__}: {error} ({where.name}, line {where.lineno})"
        return _failure_report(plan, "crashed", " ".join(words.split()))
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _failure_report(plan: LifePlan, kind: FindingKind, words: str) -> LifeReport:
    finding = LifeFinding(kind, plan.seed, None, None, words)
    return LifeReport(plan.seed, 0, (), (finding,), 0.0)


def _on_cpu_timeout(number: int, frame: FrameType | None) -> NoReturn:
    raise LifeTooLong
