"""The tables of a hall, spread over processes that are started and ended together."""

import asyncio
import multiprocessing
import os
import resource
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from multiprocessing.resource_tracker import ensure_running
from types import FrameType
from typing import Any, Generic, NamedTuple, Self, TypeVar

_END_TIMEOUT_S = 10.0


class WorkerEnded(Exception):
    """A worker ended by itself; one line says which and how."""


class SimulatorWorkers:
    """Processes with one command each. Use it as `async with`: none of them is left behind.

    A worker's standard input is a pipe that nobody writes to: it ends when this process
    does, however that happens, and a worker is to end with it.
    """

    def __init__(self, commands: Sequence[Sequence[str]]) -> None:
        self._commands = commands
        self._running: list[asyncio.subprocess.Process] = []

    async def __aenter__(self) -> "SimulatorWorkers":
        """Start all of them."""
        try:
            for command in self._commands:
                self._running.append(
                    await asyncio.create_subprocess_exec(
                        *command,
                        stdin=asyncio.subprocess.PIPE,
                        stdout=asyncio.subprocess.PIPE,
                        process_group=0,  # a Ctrl-C in the terminal is ours to answer
                    )
                )
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(self, *why: object) -> None:
        await self.close()

    @property
    def pids(self) -> list[int]:
        """The process ids of all of them."""
        return [worker.pid for worker in self._running]

    async def read_line(self, number: int) -> bytes:
        """Return the next line that worker `number` (0, 1, …) says. Raises WorkerEnded."""
        worker = self._running[number]
        assert worker.stdout is not None
        line = await worker.stdout.readline()
        if not line:
            raise self._exit_error(number, await worker.wait())
        return line

    async def wait_for_exit(self) -> None:
        """Wait until a worker ends by itself. Raises WorkerEnded."""
        ends = [asyncio.ensure_future(worker.wait()) for worker in self._running]
        try:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            number = next(number for number, end in enumerate(ends) if end.done())
            raise self._exit_error(number, ends[number].result())
        finally:
            for end in ends:
                end.cancel()

    async def close(self) -> None:
        """Ask every worker to end, by its own pid; end those by force that do not."""
        for worker in self._running:
            if worker.returncode is None:
                with suppress(ProcessLookupError):
                    worker.send_signal(signal.SIGTERM)
        await asyncio.gather(*(_wait_or_kill(worker) for worker in self._running))

    def _exit_error(self, number: int, status: int) -> WorkerEnded:
        how = f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"
        return WorkerEnded(
            f"process {number + 1} of {len(self._running)} of the simulator {how}: the hall ends"
        )


def raise_open_file_limit() -> None:
    """Let this process, and those it starts, have as many descriptors as they may."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


async def _wait_or_kill(worker: asyncio.subprocess.Process) -> None:
    try:
        async with asyncio.timeout(_END_TIMEOUT_S):
            await worker.wait()
    except TimeoutError:
        worker.kill()
        await worker.wait()


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
