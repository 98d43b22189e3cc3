"""Loggers: structlog's, which is imported here, and from here by whoever logs.

structlog imports rich wherever it finds it, to draw the traces of failures with the values of
local variables: faces among them. None is ever drawn so, and a process of a table starts 50 ms
sooner, and is 4 MiB smaller, where rich is never loaded. A command that writes tables of its own
into a terminal imports rich behind this, as ever.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final


@contextmanager
def _without_package(package: str) -> Iterator[None]:
    """Let an import of a package fail for the block, as where it is not installed."""
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
    """When a refused key is worth a line in the log: once a minute, however often it comes.

    Remembers no more than `REFUSED_KEYS` keys: a stranger may come with a new one every time,
    so that keys are bounded too.
    """

    def __init__(self) -> None:
        self._window_start_s = 0.0
        self._keys: set[str] = set()
        self._suppressed = 0

    def allow_line(self, key: str, now_s: float) -> int | None:
        """Return None to keep silent, or how many refusals were kept silent before this one."""
        if not self._keys or now_s - self._window_start_s >= REFUSAL_LOG_INTERVAL_S:
            self._window_start_s = now_s
            self._keys.clear()
        if key in self._keys or len(self._keys) >= MAX_REFUSED_KEYS:
            self._suppressed += 1
            return None
        self._keys.add(key)
        unsaid, self._suppressed = self._suppressed, 0
        return unsaid
