"""What runs as long as the console does, and that the console ends where something of it fails."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from controller.loggers import structlog

_log = structlog.get_logger("console")


class TaskSupervisor:
    """The tasks without which the console would show the past as the present.

    `ending` is set once the console ends: streams end then. `failure`: why it ends by itself.
    """

    def __init__(self) -> None:
        self.stopping = asyncio.Event()
        self.failure: BaseException | None = None

    def start(self, coroutine: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        """Begin something that the console cannot be without.

        Where it fails, the console ends, and whoever keeps it running starts it anew.
        """
        task = asyncio.create_task(coroutine)
        task.add_done_callback(self._task_done)
        return task

    def _task_done(self, task: "asyncio.Task[None]") -> None:
        error = None if task.cancelled() else task.exception()
        if error is not None:
            _log.critical("console failed", exc_info=error)
            self.failure = self.failure or error
            self.stopping.set()
