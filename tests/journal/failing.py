"""A disk that can be told to refuse, and to wait: SQLite over it, everything else real."""

import sqlite3
import threading  # noqa: TID251 — the writer thread is held up here
from collections.abc import Sequence
from typing import Any


class Disk:
    """What happens to commits. `levels`: synchronous level and rows of each, in order.

    `reads`: how often entries can still be read; None: always.
    """

    def __init__(self) -> None:
        self.full = False
        self.reads: int | None = None
        self.surprise: Exception | None = None
        self.levels: list[tuple[int, int]] = []
        self.connection: sqlite3.Connection | None = None
        self._rows = 0
        self._open = threading.Event()
        self._open.set()

    @property
    def commits(self) -> int:
        return len(self.levels)

    def hold(self) -> None:
        """Let the next commits wait until `let_go`."""
        self.levels.clear()
        self._open.clear()

    def let_go(self) -> None:
        self._open.set()

    def rows(self, count: int) -> None:
        self._rows = count

    def read(self) -> None:
        if self.reads is not None:
            self.reads -= 1
            if self.reads < 0:
                raise sqlite3.OperationalError("disk I/O error")

    def commit(self, level: int) -> None:
        self._open.wait()
        if self.full:
            raise sqlite3.OperationalError("disk I/O error")
        if self.surprise is not None:
            raise self.surprise
        self.levels.append((level, self._rows))
        self._rows = 0


def failing(disk: Disk) -> type[sqlite3.Connection]:
    """Return a connection class whose commits go past `disk`."""

    class Connection(sqlite3.Connection):
        def __init__(self, *args: Any, **more: Any) -> None:
            super().__init__(*args, **more)
            disk.connection = disk.connection or self  # the one that writes

        def execute(self, sql: str, *args: Any) -> sqlite3.Cursor:
            if sql == "COMMIT":
                disk.commit(super().execute("PRAGMA synchronous").fetchone()[0])
            if sql.startswith("SELECT n, "):
                disk.read()
            return super().execute(sql, *args)

        def executemany(self, sql: str, rows: Sequence[Any]) -> sqlite3.Cursor:  # type: ignore[override]
            disk.rows(len(rows))
            return super().executemany(sql, rows)

    return Connection
