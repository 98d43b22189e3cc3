"""The lives of a campaign, spread over the cores: what comes of them does not depend on how many.

A worker is a process of its own that runs one life after another. It ends with the process
that started it, however that ends.
"""

import multiprocessing
import os
import signal
import traceback
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, ProcessPoolExecutor, wait
from itertools import islice
from types import FrameType
from typing import NoReturn

import msgspec

from controller.trials.campaign.values import Finding, FindingKind, LifePlan, LifeReport
from controller.trials.workers import end_workers, settle_in

LIFE_CPU_S = 600.0
"""CPU time in which one life must come to its end; a hundred times what one takes."""

_AGAIN_S = 10.0
"""CPU time after which one that clears up for too long is ended again."""

Run = Callable[[LifePlan], LifeReport]


class LifeTooLong(KeyboardInterrupt):
    """A life went on and on; no loop and no handler of exceptions swallows this."""


class Ran(msgspec.Struct, frozen=True):
    """What came of the lives: their reports in the lives' order, and whether somebody broke off."""

    reports: tuple[LifeReport, ...]
    interrupted: bool = False


def run_lives(
    plans: Iterable[LifePlan],
    run: Run,
    *,
    jobs: int,
    stop: bool = False,
    saw: Callable[[LifeReport], None] = lambda report: None,
) -> Ran:
    """Run lives in `jobs` processes, and return what came of them, in the order of the plans.

    `run` is a function of a module, called in a worker. `saw` takes each report as its life
    ends. With `stop`, the first life in the order of the plans that has a finding is the last
    one of the answer. A KeyboardInterrupt ends all lives: the answer has those that were over.
    """
    queue = _Queue(iter(enumerate(plans)), run, jobs, stop, saw)
    interrupted = idle = False
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, context, settle_in, (os.getpid(),)) as pool:
        try:
            idle = queue.work(pool)
        except KeyboardInterrupt:
            interrupted = True
        if not idle:
            end_workers()
    return Ran(tuple(queue.reports()), interrupted)


class _Queue:
    """Has the next life run as long as there is a need for one, and keeps the reports."""

    def __init__(
        self,
        plans: Iterator[tuple[int, LifePlan]],
        run: Run,
        jobs: int,
        stop: bool,
        saw: Callable[[LifeReport], None],
    ) -> None:
        self._plans = plans
        self._run = run
        self._ahead = jobs + 1  # a worker that is done finds the next life waiting
        self._stop = stop
        self._saw = saw
        self._seen: dict[int, LifeReport] = {}
        self._last: int | None = None

    def work(self, pool: ProcessPoolExecutor) -> bool:
        """Run the lives to their end, or to the first one with a finding.

        Returns whether all that were begun are over.
        """
        running: dict[Future[LifeReport], tuple[int, LifePlan]] = {}
        while True:
            for number, plan in islice(self._plans, self._ahead - len(running)):
                running[pool.submit(guarded, self._run, plan)] = number, plan
            if not any(self._needed(number) for number, _ in running.values()):
                return not running
            for done in wait(running, return_when=FIRST_COMPLETED).done:
                number, plan = running.pop(done)
                self._keep(number, self._report_of(done, plan))

    def reports(self) -> Iterator[LifeReport]:
        """Yield the reports in the lives' order."""
        for number in sorted(self._seen):
            if self._needed(number):
                yield self._seen[number]

    def _needed(self, number: int) -> bool:
        return self._last is None or number <= self._last

    def _report_of(self, done: Future[LifeReport], plan: LifePlan) -> LifeReport:
        """Return what came of a life; where a worker died, no further life is begun."""
        try:
            return done.result()
        except BrokenExecutor:
            self._plans = iter(())
            return _failed(plan, "crashed", "its process died, or one beside it")

    def _keep(self, number: int, report: LifeReport) -> None:
        self._seen[number] = report
        if self._stop and report.findings and self._needed(number):
            self._last = number
            self._plans = iter(())
        self._saw(report)


def guarded(run: Run, plan: LifePlan) -> LifeReport:
    """Run one life in a worker; what it raises is a finding of its seed.

    A life that takes more than LIFE_CPU_S of CPU time is ended.
    """
    signal.signal(signal.SIGPROF, _too_long)
    signal.setitimer(signal.ITIMER_PROF, LIFE_CPU_S, _AGAIN_S)
    try:
        return run(plan)
    except LifeTooLong:
        return _failed(plan, "stuck", f"took more than {LIFE_CPU_S:g} s of CPU time")
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        words = f"{type(error).__name__}: {error} ({where.name}, line {where.lineno})"
        return _failed(plan, "crashed", " ".join(words.split()))
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _failed(plan: LifePlan, kind: FindingKind, words: str) -> LifeReport:
    finding = Finding(kind, plan.seed, None, None, words)
    return LifeReport(plan.seed, 0, (), (finding,), 0.0)


def _too_long(number: int, frame: FrameType | None) -> NoReturn:
    raise LifeTooLong
