"""Processes that work for another one: how they begin, and how they end with it.

No thread and no lock stands between them and Ctrl-C, and each has a line of its own: whenever one
is ended, whatever it was about, nobody waits for it.
"""

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from multiprocessing.resource_tracker import ensure_running
from types import FrameType
from typing import Any, Generic, NamedTuple, Self, TypeVar

_PARENT_CHECK_INTERVAL_S = 1.0
"""How often a worker looks whether the process that started it is still there."""

_INTERRUPT = {signal.SIGINT}

Key = TypeVar("Key")
Result = TypeVar("Result")


class _Worker(NamedTuple):
    """A process, and the line over which it is told what to do, and tells what came of it."""

    process: SpawnProcess
    line: Connection


class WorkerPool(Generic[Result]):
    """Processes that call `run`, a function of a module, and outlive neither block nor parent."""

    def __init__(self, run: Callable[..., Result], jobs: int) -> None:
        self._run, self._jobs = run, jobs
        self._workers: list[_Worker] = []

    def __enter__(self) -> Self:
        """Start none of them yet: each begins with its first call."""
        return self

    def __exit__(self, *why: object) -> None:
        """End all of them, whatever they are about."""
        for worker in self._workers:
            worker.process.terminate()
        for worker in self._workers:
            worker.process.join()
            worker.line.close()

    def results(
        self, calls: Iterator[tuple[Key, tuple[object, ...]]]
    ) -> Iterator[tuple[Key, Result | None]]:
        """Make the calls, `jobs` at once; yield what came of each, as it comes.

        A call is what it is known by, and its arguments; the next one is asked for when a worker
        is free. None came of a call whose worker died.
        """
        idle: list[_Worker] = []
        busy: dict[Connection, tuple[_Worker, Key]] = {}
        while True:
            while len(busy) < self._jobs and (call := next(calls, None)) is not None:
                key, arguments = call
                worker = idle.pop() if idle else self._start_worker()
                busy[worker.line] = worker, key
                with suppress(OSError):  # one that is gone is told of below
                    worker.line.send(arguments)
            if not busy:
                return
            for line in _ready_lines(busy):
                worker, key = busy.pop(line)
                try:
                    result: Result = line.recv()
                except (EOFError, OSError):
                    yield key, None
                else:
                    idle.append(worker)
                    yield key, result

    def _start_worker(self) -> _Worker:
        ensure_running()  # what multiprocessing has beside its processes clears the signals' mask
        ours, theirs = multiprocessing.Pipe()
        with _ctrl_c_postponed():
            process = multiprocessing.get_context("spawn").Process(
                target=_run_worker, args=(theirs, self._run, os.getpid()), daemon=True
            )
            process.start()
            theirs.close()  # so that the line ends with the worker
            worker = _Worker(process, ours)
            self._workers.append(worker)
        return worker


def _ready_lines(busy: dict[Connection, Any]) -> Iterator[Connection]:
    """Yield the lines of those who have something to say, or are gone."""
    for line in wait(list(busy)):
        assert isinstance(line, Connection)
        yield line


def _run_worker(line: Connection, run: Callable[..., object], parent: int) -> None:
    """Be a worker: make calls as they come, until the line ends."""
    prepare_worker(parent)
    with suppress(EOFError):
        while True:
            line.send(run(*line.recv()))


def prepare_worker(parent: int) -> None:
    """Prepare a worker: Ctrl-C is its parent's business, and its parent's end is its own."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _INTERRUPT)

    def look(number: int, frame: FrameType | None) -> None:
        if os.getppid() != parent:
            os._exit(1)

    signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, _PARENT_CHECK_INTERVAL_S, _PARENT_CHECK_INTERVAL_S)


@contextmanager
def _ctrl_c_postponed() -> Iterator[None]:
    """Raise KeyboardInterrupt behind the block instead of in it.

    A process that is started in the block does not hear of Ctrl-C before it has settled in.
    """
    came: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        came.append(number)

    before = signal.signal(signal.SIGINT, note)
    signal.pthread_sigmask(signal.SIG_BLOCK, _INTERRUPT)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _INTERRUPT)
        signal.signal(signal.SIGINT, before)
    if came and before is not signal.SIG_IGN:
        raise KeyboardInterrupt
