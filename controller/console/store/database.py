"""A thread that does one thing after another, for what may block: the database, slow checks.

The console has three: one for all that is written, in order; one for what is only read; one for
PINs: neither a long page nor a slow check keeps an order waiting, nor who guesses a page.
"""

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from sqlalchemy.exc import SQLAlchemyError

from controller.console.store.archive import StoreError, first_line

Result = TypeVar("Result")


class _Job(NamedTuple):
    """A call, and who waits for it."""

    call: Callable[[], Any]
    answer: asyncio.Future[Any]


class WorkerThread:
    """Runs calls on a thread of its own, in their order. Made on the loop that waits for them."""

    def __init__(self, name: str) -> None:
        """Start the thread; `name` is what debuggers show."""
        self._loop = asyncio.get_running_loop()
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    async def run(self, call: Callable[[], Result], /) -> Result:
        """Return what `call` gives. Raises what it raises, the database's errors as StoreError.

        Who stops waiting does not stop the call.
        """
        answer: asyncio.Future[Result] = self._loop.create_future()
        self._jobs.put(_Job(call, answer))
        return await answer

    def close(self) -> None:
        """Do what was handed in, then stop."""
        self._jobs.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            try:
                result = job.call()
            except SQLAlchemyError as error:
                self._deliver(job.answer.set_exception, job.answer, StoreError(first_line(error)))
            except BaseException as error:  # it is who waits that hears of it
                self._deliver(job.answer.set_exception, job.answer, error)
            else:
                self._deliver(job.answer.set_result, job.answer, result)

    def _deliver(
        self, set_outcome: Callable[[Any], None], answer: asyncio.Future[Any], outcome: object
    ) -> None:
        # The loop may be closed by now: its process ends and nobody listens.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(_set_outcome, set_outcome, answer, outcome)


def _set_outcome(
    set_outcome: Callable[[Any], None], answer: asyncio.Future[Any], outcome: object
) -> None:
    if not answer.done():
        set_outcome(outcome)
