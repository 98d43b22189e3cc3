"""Worker processes that are started and ended together.

`SimulatorWorkers` runs one command per process. `WorkerPool` calls one function in several
processes.
"""

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
from typing import Generic, Self, TypeVar

_END_TIMEOUT_S = 10.0


class WorkerEnded(Exception):
    """An error for a worker that ended unexpectedly. The text is one line: its number and cause."""


class SimulatorWorkers:
    """A group of worker processes, each started with one of the given command lines.

    `async with` ends all of them.
    A worker's standard input is a pipe without data. The pipe closes when this process ends, for
    any reason, and the worker must end then too.
    """

    def __init__(self, commands: Sequence[Sequence[str]]) -> None:
        self._commands = commands
        self._running: list[asyncio.subprocess.Process] = []

    async def __aenter__(self) -> "SimulatorWorkers":
        """Start all workers, and return this group."""
        try:
            for command in self._commands:
                self._running.append(
                    await asyncio.create_subprocess_exec(
                        *command,
                        stdin=asyncio.subprocess.PIPE,
                        stdout=asyncio.subprocess.PIPE,
                        process_group=0,  # a Ctrl-C in the terminal is handled by this process
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
        """The process ids of all workers, in the order of their commands."""
        return [worker.pid for worker in self._running]

    async def read_line(self, number: int) -> bytes:
        """Return the next line that worker `number` (0, 1, …) prints. Raises WorkerEnded."""
        worker = self._running[number]
        assert worker.stdout is not None
        if not (line := await worker.stdout.readline()):
            raise self._exit_error(number, await worker.wait())
        return line

    async def wait_for_exit(self) -> None:
        """Wait until a worker ends, then raise WorkerEnded."""
        ends = [asyncio.ensure_future(worker.wait()) for worker in self._running]
        try:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            number = next(number for number, end in enumerate(ends) if end.done())
            raise self._exit_error(number, ends[number].result())
        finally:
            for end in ends:
                end.cancel()

    async def close(self) -> None:
        """Send SIGTERM to every worker, and kill each worker that does not end in time."""
        for worker in self._running:
            if worker.returncode is None:
                with suppress(ProcessLookupError):
                    worker.send_signal(signal.SIGTERM)
        await asyncio.gather(*map(wait_or_kill, self._running))

    def _exit_error(self, number: int, status: int) -> WorkerEnded:
        how = f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"
        return WorkerEnded(
            f"process {number + 1} of {len(self._running)} of the simulator {how}: the hall ends"
        )


def raise_open_file_limit() -> None:
    """Raise this process's limit of open descriptors to the maximum. Children inherit it."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


async def wait_or_kill(process: asyncio.subprocess.Process) -> int:
    """Wait until a process ends, or kill it after a time limit. Return its exit status."""
    try:
        async with asyncio.timeout(_END_TIMEOUT_S):
            return await process.wait()
    except TimeoutError:
        process.kill()
        return await process.wait()


_PARENT_CHECK_INTERVAL_S = 1.0
"""The interval at which a worker checks whether its parent process still exists."""

_INTERRUPT = {signal.SIGINT}

Key = TypeVar("Key")
Result = TypeVar("Result")


class WorkerPool(Generic[Result]):
    """A pool of up to `jobs` processes that call the function `run`.

    The processes end with the `with` block or with the parent process.
    """

    def __init__(self, run: Callable[..., Result], jobs: int) -> None:
        self._run, self._jobs = run, jobs
        self._workers: list[tuple[SpawnProcess, Connection]] = []

    def __enter__(self) -> Self:
        """Return this pool. Its processes start later, when calls need them."""
        return self

    def __exit__(self, *why: object) -> None:
        """End all workers, including those that are busy."""
        for process, _ in self._workers:
            process.terminate()
        for process, line in self._workers:
            process.join()
            line.close()

    def results(
        self, calls: Iterator[tuple[Key, tuple[object, ...]]]
    ) -> Iterator[tuple[Key, Result | None]]:
        """Call `run` in the workers for each of `calls`. Yield (key, result) when a call has ended.

        A call is a key and the arguments of `run`. It is taken from `calls` when one of up to
        `jobs` workers is free. The result is None if the worker died during the call.
        """
        idle: list[Connection] = []
        busy: dict[Connection, Key] = {}
        while True:
            while len(busy) < self._jobs and (call := next(calls, None)) is not None:
                key, arguments = call
                free = idle.pop() if idle else self._start_worker()
                busy[free] = key
                with suppress(OSError):  # a dead worker is detected below
                    free.send(arguments)
            if not busy:
                return
            for line in wait(list(busy)):  # those that have a result, or whose worker has ended
                assert isinstance(line, Connection)
                key = busy.pop(line)
                try:
                    result: Result = line.recv()
                except (EOFError, OSError):
                    yield key, None
                else:
                    idle.append(line)
                    yield key, result

    def _start_worker(self) -> Connection:
        # multiprocessing's resource tracker resets the signal mask, so it must start first
        ensure_running()
        ours, theirs = multiprocessing.Pipe()
        with _ctrl_c_postponed():
            process = multiprocessing.get_context("spawn").Process(
                target=_run_worker, args=(theirs, self._run, os.getpid()), daemon=True
            )
            process.start()
            theirs.close()  # so that the connection closes with the worker
            self._workers.append((process, ours))
        return ours


def _run_worker(line: Connection, run: Callable[..., object], parent: int) -> None:
    """Receive arguments from `line`, call `run`, and send back the result, until `line` closes."""
    prepare_worker(parent)
    with suppress(EOFError):
        while True:
            line.send(run(*line.recv()))


def prepare_worker(parent: int) -> None:
    """Make this process a worker: ignore Ctrl-C, and exit soon after process `parent` has ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _INTERRUPT)

    def look(number: int, frame: FrameType | None) -> None:
        if os.getppid() != parent:
            os._exit(1)

    signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, _PARENT_CHECK_INTERVAL_S, _PARENT_CHECK_INTERVAL_S)


@contextmanager
def _ctrl_c_postponed() -> Iterator[None]:
    """Postpone Ctrl-C: a Ctrl-C in the `with` block raises KeyboardInterrupt after the block.

    A process that is started in the block does not receive Ctrl-C before it has set up its signals.
    """
    came: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: came.append(number))
    signal.pthread_sigmask(signal.SIG_BLOCK, _INTERRUPT)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _INTERRUPT)
        signal.signal(signal.SIGINT, before)
    if came and before is not signal.SIG_IGN:
        raise KeyboardInterrupt
