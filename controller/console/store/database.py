"""A thread that does one thing after another, for what may block: the database, slow checks.

The console has three: one for all that is written, in order; one for what is only read; one for
PINs: neither a long page nor a slow check keeps an order waiting, nor who guesses a page.
"""

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Final, NamedTuple, TypeVar

from sqlalchemy import (
    Engine,
    create_engine,
    event,
)
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from controller.console.store.database_schema import (
    DatabaseTooNew,
    migrate,
)

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


class StoreError(Exception):
    """The database cannot be used; one line says which, why, and what to do."""


def open_engine(url: str) -> Engine:
    """Return the database at `url`, with its tables in their present version. Raises StoreError.

    SQLite keeps what it said it kept through a power cut, and lets readers read meanwhile. A
    PostgreSQL that has gone without a word is given up within seconds.
    """
    try:
        name = make_url(url).get_backend_name()
        engine = create_engine(url, pool_pre_ping=True, connect_args=_CONNECT_ARGS.get(name, {}))
    except (ArgumentError, ImportError) as error:
        raise StoreError(f"store {_masked_url(url)}: {first_line(error)}") from None
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _set_pragmas)
    try:
        migrate(engine)
    except (SQLAlchemyError, DatabaseTooNew) as error:
        engine.dispose()
        raise StoreError(f"store {_masked_url(url)}: {first_line(error)}") from None
    return engine


def dialect_insert(engine: Engine) -> Any:
    """Return the `insert` of an engine's own dialect, which can leave alone what is there.

    How it is told is not the same type in SQLite and PostgreSQL. The dialect that a console has
    not is never imported: PostgreSQL's takes a twentieth of a console's start.
    """
    return import_module(f"sqlalchemy.dialects.{engine.dialect.name}").insert


def _set_pragmas(connection: Any, record: object) -> None:
    for setting in ("journal_mode=WAL", "synchronous=FULL", "busy_timeout=5000"):
        connection.execute(f"PRAGMA {setting}")


def _masked_url(url: str) -> str:
    """A database's URL without its password."""
    try:
        return make_url(url).render_as_string(hide_password=True)
    except ArgumentError:
        return "(no URL)"


def first_line(error: Exception) -> str:
    """Return what a database's error says, in one line."""
    return str(getattr(error, "orig", None) or error).strip().partition("\n")[0]


_CONNECT_ARGS: Final[Mapping[str, dict[str, Any]]] = {
    "postgresql": {
        "connect_timeout": 5,
        "keepalives_idle": 5,
        "keepalives_interval": 2,
        "keepalives_count": 3,
        "tcp_user_timeout": 10_000,
    }
}
