"""Whoever logs out is out at once, also while the database is away: there as soon as it is back."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Final

from controller.console.seen import RunBlocking
from controller.console.store.archive import StoreError
from controller.loggers import structlog

RETRY_INTERVAL_S: Final = 5.0
"""So often the database is tried while it is away."""
LOGOUT_TIMEOUT_S: Final = 1.0
"""So long whoever logs out waits for it."""
MAX_PENDING_LOGOUTS: Final = 4_096
"""More sessions than a console has; tokens that somebody made up fill no more."""
_log = structlog.get_logger("console")


class PendingLogouts:
    """Sessions that are over, but not yet in the database. `end` ends one there, and may block."""

    def __init__(self, end_session: Callable[[str], None], run_blocking: RunBlocking) -> None:
        self._end_session, self._run_blocking = end_session, run_blocking
        self._tokens: set[str] = set()
        self._is_store_away = False
        self._added, self._attempted = asyncio.Event(), asyncio.Event()
        self._flush_task: asyncio.Task[None] | None = None

    def __contains__(self, token: str) -> bool:
        """Tell whether a session is over, though the database does not know it."""
        return token in self._tokens

    async def add(self, token: str) -> None:
        """End a session; return once the database has it, is away, or is late."""
        if len(self._tokens) >= MAX_PENDING_LOGOUTS:
            return
        self._tokens.add(token)
        self._is_store_away = False
        self._added.set()
        if self._flush_task is None or self._flush_task.done():
            self._flush_task = asyncio.create_task(self._flush())
        with suppress(TimeoutError):
            async with asyncio.timeout(LOGOUT_TIMEOUT_S):
                while token in self._tokens and not self._is_store_away:
                    await self._attempted.wait()

    async def close(self) -> None:
        """Try once more, and stop."""
        if self._flush_task is not None:
            self._flush_task.cancel()
            await asyncio.gather(self._flush_task, return_exceptions=True)
        await self._try_once()

    async def _flush(self) -> None:
        while self._tokens:
            self._added.clear()
            await self._try_once()
            self._attempted.set()
            self._attempted = asyncio.Event()
            if self._tokens:
                with suppress(TimeoutError):
                    async with asyncio.timeout(RETRY_INTERVAL_S):
                        await self._added.wait()

    async def _try_once(self) -> None:
        for token in tuple(self._tokens):
            try:
                await self._run_blocking(partial(self._end_session, token))
            except StoreError as failed:
                _log.warning("who logged out is not out in the database yet", why=str(failed))
                self._is_store_away = True
                return
            self._tokens.discard(token)
