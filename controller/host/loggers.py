"""The library structlog, imported without rich, and a limit on log lines about refused keys.

Every module that logs imports structlog from here. structlog itself imports rich if it is
installed, and then prints tracebacks with the values of local variables, which may include faces.
This module imports structlog without rich, so tracebacks never contain these values. A process of
a table also starts 50 ms faster and is 4 MiB smaller without rich. A command that prints tables to
a terminal can still import rich afterwards.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final


@contextmanager
def _without_package(package: str) -> Iterator[None]:
    """Make each import of `package` fail within the block, as if it were not installed."""
    loaded = {package: sys.modules[package]} if package in sys.modules else {}
    sys.modules[package] = None  # type: ignore[assignment]  # what the import system calls absent
    try:
        yield
    finally:
        del sys.modules[package]
        sys.modules.update(loaded)


with _without_package("rich"):
    import structlog as structlog


REFUSAL_LOG_INTERVAL_S: Final = 60.0

MAX_REFUSED_KEYS: Final = 20


class RefusalLogLimiter:
    """A limit on log lines about refused keys: one line a minute for each key.

    It allows lines for at most MAX_REFUSED_KEYS keys a minute, because a stranger may use a new
    key at every try.
    """

    def __init__(self) -> None:
        self._window_start_s = 0.0
        self._keys: set[str] = set()
        self._suppressed = 0

    def allow_line(self, key: str, now_s: float) -> int | None:
        """Return None if `key` gets no log line now, else the number of lines suppressed before.

        The number counts the lines of all keys that were suppressed since the last allowed line.
        """
        if not self._keys or now_s - self._window_start_s >= REFUSAL_LOG_INTERVAL_S:
            self._window_start_s = now_s
            self._keys.clear()
        if key in self._keys or len(self._keys) >= MAX_REFUSED_KEYS:
            self._suppressed += 1
            return None
        self._keys.add(key)
        unsaid, self._suppressed = self._suppressed, 0
        return unsaid
