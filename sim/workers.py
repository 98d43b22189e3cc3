"""The tables of a hall, spread over processes that are started and ended together."""

import asyncio
import resource
import signal
from collections.abc import Sequence
from contextlib import suppress

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
