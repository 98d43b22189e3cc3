"""Who is told when something happens: any number of them, and none spoils it for the others."""

from collections.abc import Callable
from typing import Generic, ParamSpec

from controller.console.seen import Unsubscribe
from controller.loggers import structlog

What = ParamSpec("What")
_log = structlog.get_logger("console")


class Listeners(Generic[What]):
    """Those who asked to be told of one thing."""

    def __init__(self) -> None:
        self._callbacks: list[Callable[What, None]] = []

    def add(self, callback: Callable[What, None]) -> Unsubscribe:
        """Tell one more, until what is returned is called."""
        self._callbacks.append(callback)

        def undo() -> None:
            if callback in self._callbacks:
                self._callbacks.remove(callback)

        return undo

    def notify(self, *what: What.args, **more: What.kwargs) -> None:
        """Tell all; one that fails keeps nothing from the others."""
        for told in tuple(self._callbacks):
            try:
                told(*what, **more)
            except Exception:
                _log.exception("not told", who=repr(told), what=str(what)[:80])
