"""Whoever logs out is out at once, also while the database is away: there as soon as it is back."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Final

from controller.console.seen import Run
from controller.console.store.archive import StoreError
from controller.loggers import structlog

AGAIN_S: Final = 5.0
"""So often the database is tried while it is away."""
LATE_S: Final = 1.0
"""So long whoever logs out waits for it."""
MOST: Final = 4_096
"""More sessions than a console has; tokens that somebody made up fill no more."""
_log = structlog.get_logger("console")


class Leaving:
    """Sessions that are over, but not yet in the database. `end` ends one there, and may block."""

    def __init__(self, end: Callable[[str], None], run: Run) -> None:
        self._end, self._run = end, run
        self._over: set[str] = set()
        self._away = False
        self._more, self._tried = asyncio.Event(), asyncio.Event()
        self._ending: asyncio.Task[None] | None = None

    def __contains__(self, token: str) -> bool:
        """Tell whether a session is over, though the database does not know it."""
        return token in self._over

    async def put(self, token: str) -> None:
        """End a session; return once the database has it, is away, or is late."""
        if len(self._over) >= MOST:
            return
        self._over.add(token)
        self._away = False
        self._more.set()
        if self._ending is None or self._ending.done():
            self._ending = asyncio.create_task(self._end_all())
        with suppress(TimeoutError):
            async with asyncio.timeout(LATE_S):
                while token in self._over and not self._away:
                    await self._tried.wait()

    async def close(self) -> None:
        """Try once more, and stop."""
        if self._ending is not None:
            self._ending.cancel()
            await asyncio.gather(self._ending, return_exceptions=True)
        await self._try()

    async def _end_all(self) -> None:
        while self._over:
            self._more.clear()
            await self._try()
            self._tried.set()
            self._tried = asyncio.Event()
            if self._over:
                with suppress(TimeoutError):
                    async with asyncio.timeout(AGAIN_S):
                        await self._more.wait()

    async def _try(self) -> None:
        for token in tuple(self._over):
            try:
                await self._run(partial(self._end, token))
            except StoreError as failed:
                _log.warning("who logged out is not out in the database yet", why=str(failed))
                self._away = True
                return
            self._over.discard(token)
