"""Loggers: structlog's, which is imported here, and from here by whoever logs.

structlog imports rich wherever it finds it, to draw the traces of failures with the values of
local variables: faces among them. None is ever drawn so, and a process of a table starts 50 ms
sooner, and is 4 MiB smaller, where rich is never loaded. A command that writes tables of its own
into a terminal imports rich behind this, as ever.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager


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
