"""The journal's file: one SQLite table in write-ahead mode. A program can only add rows to it.

Triggers refuse every UPDATE and DELETE, and an INSERT that does not follow the last row. So a
defect of this program cannot change old rows. The hash chain (entries.py) and the heads that other
people saved reveal changes by a person with access to the file.
"""

import contextlib
import fcntl
import os
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Self

from controller.journal.entries import (
    ZERO_HEAD,
    ChainBreak,
    ChainedEntry,
    JournalError,
    StorageFailed,
    StoredRow,
    decode,
    walk_chain,
)

STORE_NAME = "journal.db"
LOCK_NAME = "journal.lock"

_APPLICATION_ID = 0x4445414C
"""The letters DEAL in the file's header."""
_VERSION = 1
_SCHEMA = {
    "journal": "CREATE TABLE journal(n INTEGER PRIMARY KEY, body BLOB NOT NULL, "
    "head BLOB NOT NULL) STRICT",
    "journal_never_updates": "CREATE TRIGGER journal_never_updates BEFORE UPDATE ON journal "
    "BEGIN SELECT RAISE(ABORT, 'a journal only grows'); END",
    "journal_never_deletes": "CREATE TRIGGER journal_never_deletes BEFORE DELETE ON journal "
    "BEGIN SELECT RAISE(ABORT, 'a journal only grows'); END",
    # This trigger also refuses REPLACE, which deletes rows without the trigger above.
    "journal_grows_at_its_end": "CREATE TRIGGER journal_grows_at_its_end BEFORE INSERT ON journal "
    "WHEN NEW.n <> (SELECT coalesce(max(n), 0) + 1 FROM journal) "
    "BEGIN SELECT RAISE(ABORT, 'a journal only grows at its end'); END",
}
_IN_MEMORY = ":memory:"


class JournalStore:
    """An open journal file, to which rows can be added.

    Only one program at a time may append to it. `open` and `in_memory` return one. `write` may be
    called from a separate thread if only that thread calls it: reading has another connection.
    """

    def __init__(self, path: str, connection: sqlite3.Connection, lock: int | None) -> None:
        """Use an open database connection. `lock` is the lock file's descriptor, or None."""
        self._path = path
        self._writer = connection
        self._lock = lock
        self._reader = connection if path == _IN_MEMORY else None

    @classmethod
    def open(cls, state_dir: Path, factory: type[sqlite3.Connection] = sqlite3.Connection) -> Self:
        """Open the journal in `state_dir`, or create it, and check its whole hash chain.

        Every row of the file is durable afterwards. Raises JournalError with one line for a
        foreign or damaged file, a broken chain, or a second writer.
        """
        path = state_dir / STORE_NAME
        lock = _take_lock(state_dir / LOCK_NAME)
        connection = None
        try:
            # Only this user may read the file, from its first byte. The log gets the file's mode.
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
            # The writer thread receives the connection. Two threads never use it at the same time.
            connection = sqlite3.connect(
                path, isolation_level=None, check_same_thread=False, factory=factory
            )
            _create_or_check(connection)
            store = cls(str(path), connection, lock)
            store._check_chain(state_dir)
            # The folder is synced, so that a power cut removes no new file from it.
            folder = os.open(state_dir, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
        except (sqlite3.Error, UnicodeDecodeError, OSError) as error:
            _close(connection, lock)
            raise JournalError(f"{path} is not a journal that can be used: {error}") from error
        except JournalError as error:
            _close(connection, lock)
            raise JournalError(f"{path}: {error}") from error
        return store

    @classmethod
    def in_memory(cls) -> Self:
        """Return a new journal that exists only in memory. Simulations of many deals use it."""
        connection = sqlite3.connect(_IN_MEMORY, isolation_level=None)
        _create_or_check(connection)
        return cls(_IN_MEMORY, connection, None)

    def entries(self, after: int = 0, limit: int | None = None) -> Iterator[ChainedEntry]:
        """Yield at most `limit` stored entries (None: all), beginning with number `after` + 1.

        The chain was checked when the file was opened, and is not checked again here. Raises
        StorageFailed if the disk refuses to read.
        """
        # Read one row earlier: its head is the `prev` of the first entry.
        first = max(after, 1)
        prev = ZERO_HEAD
        try:
            reader = self._reader or self._open_reader()
            rows = reader.execute(
                "SELECT n, body, head FROM journal WHERE n >= ? ORDER BY n LIMIT ?",
                (first, -1 if limit is None else limit + 1 + after - first),
            )
            for n, body, head in rows:
                if n > after:
                    yield ChainedEntry(entry=decode(body), body=body, prev=prev, head=head)
                prev = head
        except sqlite3.Error as error:
            raise self._read_failure(error) from error

    def last(self) -> tuple[int, bytes]:
        """Return the number of the newest committed entry, and the chain's head after that entry.

        They are (0, ZERO_HEAD) in an empty journal. Raises StorageFailed if the disk refuses to
        read.
        """
        try:
            newest = self._writer.execute("SELECT n, head FROM journal ORDER BY n DESC LIMIT 1")
            return newest.fetchone() or (0, ZERO_HEAD)
        except sqlite3.Error as error:
            raise self._read_failure(error) from error

    def write(self, rows: Sequence[StoredRow], *, durable: bool) -> None:
        """Append the rows in one transaction. If `durable`, also wait until they are on the disk.

        A durable write makes all earlier writes durable too, because the write-ahead log is one
        file. Raises StorageFailed. Then it is unknown whether the rows are in the journal, and
        further writes are not safe.
        """
        db = self._writer
        try:
            # In write-ahead mode FULL syncs the log at each commit, NORMAL only when the log
            # is copied into the file.
            db.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            db.execute("BEGIN IMMEDIATE")
            db.executemany("INSERT INTO journal(n, body, head) VALUES (?, ?, ?)", rows)
            if durable and not rows:
                # An empty commit would sync nothing, so write the header's page again.
                db.execute(f"PRAGMA user_version = {_VERSION}")
            db.execute("COMMIT")
        except (sqlite3.Error, OSError) as error:
            with contextlib.suppress(sqlite3.Error):
                db.execute("ROLLBACK")
            raise StorageFailed(f"{self._path} cannot be written: {error}") from error

    def close(self) -> None:
        """Close the file, so that another writer can open it."""
        if self._reader not in (None, self._writer):
            self._reader.close()
        _close(self._writer, self._lock)

    def _open_reader(self) -> sqlite3.Connection:
        self._reader = sqlite3.connect(
            f"{Path(self._path).absolute().as_uri()}?mode=ro",
            uri=True,
            isolation_level=None,
            factory=type(self._writer),
        )
        return self._reader

    def _read_failure(self, error: sqlite3.Error) -> StorageFailed:
        return StorageFailed(f"{self._path} cannot be read: {error}")

    def _check_chain(self, state_dir: Path) -> None:
        rows = self._writer.execute("SELECT n, body, head FROM journal ORDER BY n")
        for item in walk_chain(_checked_row(*row) for row in rows):
            if isinstance(item, ChainBreak):
                raise JournalError(
                    f"the chain is broken at entry {item.n}: {item.what}; "
                    f"see `dealtable verify {state_dir}`"
                )
        self._writer.execute("PRAGMA synchronous = FULL")
        self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")


@contextlib.contextmanager
def hold_journal_lock(state_dir: Path) -> Iterator[None]:
    """Lock the journal in `state_dir` during the `with` block, so that no daemon can write it.

    If there is no journal yet, nothing is created. Raises JournalError if a daemon writes the
    journal.
    """
    if not (state_dir / STORE_NAME).exists():
        yield
        return
    lock = _take_lock(state_dir / LOCK_NAME)
    try:
        yield
    finally:
        os.close(lock)


@contextlib.contextmanager
def open_read_only(path: Path) -> Iterator[Iterator[StoredRow]]:
    """Open a journal file read-only during the block, and yield an iterator of its rows.

    The hash chain is not checked. A daemon may write the file at the same time. Raises JournalError
    for a file that is not a journal, is damaged or is missing. The end of the `with` block raises
    JournalError if the tables of the file were changed.
    """
    try:
        with contextlib.closing(_connect_read_only(path)) as db:
            _refuse_other_formats(db)
            # A view with this name could yield rows without end.
            found = db.execute("SELECT sql FROM sqlite_master WHERE name = 'journal'").fetchall()
            if found != [(_SCHEMA["journal"],)]:
                raise JournalError(
                    "its tables are not those of a journal: somebody changed the file"
                )
            damage = [text for (text,) in db.execute("PRAGMA integrity_check") if text != "ok"]
            if damage:
                raise JournalError(f"{path}: the file is damaged: {damage[0]}")
            rows = db.execute("SELECT n, body, head FROM journal ORDER BY n")
            yield (_checked_row(*row) for row in rows)
            _refuse_changed_tables(db)
    except (sqlite3.Error, UnicodeDecodeError) as error:  # The file has names that are not text.
        raise JournalError(f"{path} is not a journal that can be read: {error}") from error


def _checked_row(n: object, body: object, head: object) -> StoredRow:
    """Return a row with these three column values, after a check of their types.

    Raises JournalError for a wrong type, which shows that somebody replaced the table.
    """
    if isinstance(n, int) and isinstance(body, bytes) and isinstance(head, bytes):
        return StoredRow(n, body, head)
    raise JournalError("it has rows that no journal has: somebody changed the file")


def _connect_read_only(path: Path) -> sqlite3.Connection:
    if not path.is_file():
        raise JournalError(f"{path}: there is no journal")
    log = path.with_name(path.name + "-wal")
    # Without a log, the file alone is the whole journal. `immutable` creates no files, and
    # also works in a read-only folder. A daemon that starts now writes to its log first.
    how = "mode=ro" if log.exists() else "immutable=1"
    return sqlite3.connect(f"{path.absolute().as_uri()}?{how}", uri=True)


def _create_or_check(db: sqlite3.Connection) -> None:
    """Create the journal's table if the file is empty. Then check the file's format and tables.

    Raises JournalError if the tables or the format are not those of a journal.
    """
    empty = db.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)
    if empty and _header(db) == (0, 0):
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")
        db.execute("BEGIN IMMEDIATE")
        db.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
        db.execute(f"PRAGMA user_version = {_VERSION}")
        for statement in _SCHEMA.values():
            db.execute(statement)
        db.execute("COMMIT")
    _refuse_other_formats(db)
    _refuse_changed_tables(db)


def _refuse_other_formats(db: sqlite3.Connection) -> None:
    application_id, version = _header(db)
    if application_id != _APPLICATION_ID:
        raise JournalError("this is a database, but not a journal")
    if version != _VERSION:
        raise JournalError(f"its format is {version}, this program writes {_VERSION}")


def _refuse_changed_tables(db: sqlite3.Connection) -> None:
    if dict(db.execute("SELECT name, sql FROM sqlite_master")) != _SCHEMA:
        raise JournalError("its tables are not those of a journal: somebody changed the file")


def _header(db: sqlite3.Connection) -> tuple[int, int]:
    (application_id,) = db.execute("PRAGMA application_id").fetchone()
    (version,) = db.execute("PRAGMA user_version").fetchone()
    return application_id, version


def _take_lock(path: Path) -> int:
    """Lock the lock file `path`, which protects the journal, and return its file descriptor.

    Raises JournalError if another process has the lock. SQLite alone would allow both to write.
    """
    try:
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise JournalError(f"the journal's folder cannot be used: {error}") from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        holder = os.pread(lock, 20, 0).decode(errors="replace").strip() or "unknown"
        os.close(lock)
        raise JournalError(
            f"another daemon (process {holder}) writes the journal in {path.parent}: stop it first"
        ) from None
    os.ftruncate(lock, 0)
    os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)
    return lock


def _close(connection: sqlite3.Connection | None, lock: int | None) -> None:
    if connection is not None:
        connection.close()
    if lock is not None:
        os.close(lock)
