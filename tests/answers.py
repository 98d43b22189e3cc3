"""Waiting for what only an asynchronous question shows, such as a look at the simulator."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

from tests.waiting import until

Answer = TypeVar("Answer")


async def answer_once(
    ask: Callable[[], Awaitable[Answer]],
    fits: Callable[[Answer], object] = bool,
    *,
    refused: tuple[type[Exception], ...] = (),
) -> Answer:
    """Ask again and again; return the first answer that fits. Errors of `refused` are no answer."""
    asked: asyncio.Future[Answer] | None = None

    def look() -> list[Answer]:
        nonlocal asked
        if asked is None:
            asked = asyncio.ensure_future(ask())
        if not asked.done():
            return []
        answered, asked = asked, None
        with suppress(*refused):
            answer = answered.result()
            return [answer] if fits(answer) else []
        return []

    try:
        return (await until(look))[0]
    finally:
        if asked is not None:
            asked.cancel()
