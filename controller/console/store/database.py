"""A function that opens the database, and threads that run blocking calls such as queries.

The console has three worker threads. One does all writes, in order. One does reads. One checks
PINs. So a long page or a slow PIN check does not delay a command, and PIN guesses do not delay a
page.
"""

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import Any, Final, TypeVar

from sqlalchemy import Engine, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from controller.console.store.database_schema import DatabaseTooNew, migrate

Result = TypeVar("Result")


class WorkerThread:
    """A thread that runs calls one after another, in the order in which they were requested.

    Create it in the event loop that waits for the results.
    """

    def __init__(self, name: str) -> None:
        """Start the thread. `name` is shown in debuggers."""
        self._loop = asyncio.get_running_loop()
        self._jobs: queue.SimpleQueue[tuple[Callable[[], Any], asyncio.Future[Any]] | None]
        self._jobs = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    async def run(self, call: Callable[[], Result], /) -> Result:
        """Run `call` on the thread, and return its result.

        Raises the exceptions of `call`, but database errors as StoreError. The call continues even
        if its caller is cancelled.
        """
        answer: asyncio.Future[Result] = self._loop.create_future()
        self._jobs.put((call, answer))
        return await answer

    def close(self) -> None:
        """Stop the thread after it has run all calls in the queue. Wait until it has stopped."""
        self._jobs.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            call, answer = job
            try:
                deliver = partial(answer.set_result, call())
            except SQLAlchemyError as error:
                deliver = partial(answer.set_exception, StoreError(first_line(error)))
            except BaseException as error:  # The waiting caller receives every exception.
                deliver = partial(answer.set_exception, error)
            # The loop may be closed already: the process ends and no caller waits.
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(_deliver, answer, deliver)


def _deliver(answer: asyncio.Future[Any], deliver: Callable[[], None]) -> None:
    if not answer.done():
        deliver()


class StoreError(Exception):
    """An error for a database that cannot be used.

    The one-line message has the cause and what to do.
    """


def open_engine(url: str) -> Engine:
    """Open the database at `url`, update its tables to the present version, and return its engine.

    SQLite is set up so that committed data survives a power cut, and reads are possible during
    writes. A PostgreSQL server that does not respond is given up within seconds. Raises StoreError.
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
    """Return the `insert` function of the engine's SQL dialect. It supports ON CONFLICT.

    SQLite and PostgreSQL have different types for this. Only the dialect in use is imported: that
    of PostgreSQL takes a twentieth of a console's start.
    """
    return import_module(f"sqlalchemy.dialects.{engine.dialect.name}").insert


def _set_pragmas(connection: Any, record: object) -> None:
    for setting in ("journal_mode=WAL", "synchronous=FULL", "busy_timeout=5000"):
        connection.execute(f"PRAGMA {setting}")


def _masked_url(url: str) -> str:
    """Return a database URL with *** for its password, or "(no URL)" for an invalid URL."""
    try:
        return make_url(url).render_as_string(hide_password=True)
    except ArgumentError:
        return "(no URL)"


def first_line(error: Exception) -> str:
    """Return the first line of the message of a database error."""
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
