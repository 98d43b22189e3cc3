"""The processes that run the lives of a campaign in parallel: `run_lives`.

The results do not depend on the number of processes. A worker is a separate process that runs one
life after another. It ends when its parent process ends, for any reason.
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
"""The limit of CPU time for one life, in seconds: a hundred times the usual time."""

_REPEAT_S = 10.0
"""The CPU time after which a life that is still cleaning up is interrupted again."""

RunLife = Callable[[LifePlan], LifeReport]


class LifeTooLong(KeyboardInterrupt):
    """A life exceeded its CPU time.

    The base class ensures that no handler of exceptions catches this.
    """


class LivesResult(msgspec.Struct, frozen=True):
    """The reports of the lives, in the lives' order. `interrupted`: Ctrl-C ended the run."""

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
    """Run lives in `jobs` processes. Return their reports in the order of the plans.

    `run` is a function of a module, called in a worker. `on_report` receives each report when its
    life ends. With `stop`, the result ends with the first life, in the order of the plans, that has
    a finding. A KeyboardInterrupt ends all lives, and the result contains the lives that were
    complete.
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
    """The queue of lives: supplies the next life while one is needed, and stores the reports."""

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
        """Run the lives to their end, or to the first life with a finding."""
        for (number, plan), report in workers.results(self._next_calls()):
            self._running.discard(number)
            if report is None:  # After a worker has died, no further life is started.
                self._worker_died = True
                report = _failure_report(plan, "crashed", "its process died")
            self._store(number, report)
            if self._last is not None and not any(map(self._is_needed, self._running)):
                return

    def _next_calls(self) -> Iterator[tuple[tuple[int, LifePlan], tuple[RunLife, LifePlan]]]:
        """Yield the next life as long as one is needed."""
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
    """Run one life in a worker. An exception becomes a finding of the life's seed.

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
