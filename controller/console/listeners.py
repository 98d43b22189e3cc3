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
        self._all: list[Callable[What, None]] = []

    def add(self, told: Callable[What, None]) -> Unsubscribe:
        """Tell one more, until what is returned is called."""
        self._all.append(told)

        def undo() -> None:
            if told in self._all:
                self._all.remove(told)

        return undo

    def tell(self, *what: What.args, **more: What.kwargs) -> None:
        """Tell all; one that fails keeps nothing from the others."""
        for told in tuple(self._all):
            try:
                told(*what, **more)
            except Exception:
                _log.exception("not told", who=repr(told), what=str(what)[:80])
