"""Calls on a thread of the store: in their order, and a caller may stop waiting."""

import asyncio
import threading  # noqa: TID251 - the thread of the store is held up here
from collections.abc import AsyncIterator

import pytest
from sqlalchemy.exc import OperationalError

from controller.console.store.database import StoreError, WorkerThread
from tests.waiting import turn, until


@pytest.fixture
async def aside() -> AsyncIterator[WorkerThread]:
    """A thread of the store."""
    made = WorkerThread("test")
    yield made
    made.close()


async def test_calls_aside_run_in_their_order_and_what_they_raise_is_raised(
    aside: WorkerThread,
) -> None:
    seen: list[int] = []
    await asyncio.gather(*(aside.run(lambda n=n: seen.append(n)) for n in range(20)))  # type: ignore[misc]  # the usual way to bind
    assert seen == list(range(20))
    with pytest.raises(ZeroDivisionError):
        await aside.run(lambda: 1 // 0)

    def fails() -> None:
        raise OperationalError("select", {}, Exception("the server went\nand more"))

    with pytest.raises(StoreError, match=r"^the server went$"):
        await aside.run(fails)


async def test_who_stops_waiting_stops_no_call(aside: WorkerThread) -> None:
    begun, go_on, over = threading.Event(), threading.Event(), threading.Event()

    def call() -> None:
        begun.set()
        go_on.wait()
        over.set()

    waiting = asyncio.ensure_future(aside.run(call))
    await turn()
    await until(begun.is_set)
    waiting.cancel()
    go_on.set()
    await aside.run(lambda: None)
    assert over.is_set()
