"""The journal's file: it only grows, one writer at a time, and nothing foreign passes for it."""

import os
import signal
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from controller.journal.entries import JournalError, StoredRow, encode, next_head
from controller.journal.store import LOCK_NAME, STORE_NAME, JournalStore
from controller.journal.verify import verify
from tests.journal.scripted import write_rows

APPENDING = """
import asyncio, sys
from pathlib import Path
from controller.journal.committer import ThreadCommitter
from controller.journal.journal import Journal
from controller.journal.store import JournalStore

async def main():
    store = JournalStore.open(Path(sys.argv[1]))
    journal = Journal(store, ThreadCommitter(store), wall=lambda: "2026-01-01T12:00:00Z", boot="b0")
    whose = {"table": "T01", "table_key": "k" * 40, "simulated": True, "version": "1", "sets": {}}
    journal.append("opened", whose, public=True)
    while True:
        for _ in range(40):
            journal.append("wire", {"boots": {}, "b": "AAAA" * 20}, public=False)
            journal.flush()
        await journal.sync()
        print(journal.last_synced, flush=True)

asyncio.run(main())
"""


@pytest.mark.parametrize("syncs", [1, 7, 30])
def test_a_journal_killed_in_mid_append_holds_all_that_was_synced(
    state_dir: Path, syncs: int
) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", APPENDING, str(state_dir)], stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    for _ in range(syncs):
        line = child.stdout.readline()
    synced = int(line)
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    report = verify(state_dir)
    assert report.findings == []
    assert report.entries >= synced >= 40 * syncs
    # The lock died with its holder: the next daemon goes on.
    store = JournalStore.open(state_dir)
    assert store.last()[0] == report.entries
    store.close()


def test_two_daemons_cannot_append_to_one_journal(state_dir: Path) -> None:
    store = JournalStore.open(state_dir)
    with pytest.raises(JournalError, match=f"process {os.getpid()}.*stop it first") as refused:
        JournalStore.open(state_dir)
    assert "\n" not in str(refused.value)
    store.close()
    JournalStore.open(state_dir).close()


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE journal SET body = x'00'",
        "DELETE FROM journal",
        "REPLACE INTO journal VALUES (1, x'00', x'00')",
    ],
)
def test_the_file_itself_refuses_every_change_to_the_past(state_dir: Path, change: str) -> None:
    write_rows(state_dir, [StoredRow(1, b"{}", bytes(32))])
    db = sqlite3.connect(state_dir / STORE_NAME)
    with pytest.raises(sqlite3.IntegrityError, match="only grows"):
        db.execute(change)
    db.close()


def test_the_journal_is_for_its_own_user_alone(state_dir: Path) -> None:
    store = JournalStore.open(state_dir)
    store.write([], durable=True)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in state_dir.iterdir()}
    assert modes == dict.fromkeys(
        [STORE_NAME, STORE_NAME + "-wal", STORE_NAME + "-shm", LOCK_NAME], 0o600
    )
    store.close()


def test_a_broken_chain_is_refused_with_the_entry_and_where_to_look(
    state_dir: Path, good_rows: list[StoredRow]
) -> None:
    rows = [*good_rows[:9], good_rows[9]._replace(head=bytes(32)), *good_rows[10:]]
    write_rows(state_dir, rows)
    with pytest.raises(JournalError, match=r"broken at entry 10: .*dealtable verify") as refused:
        JournalStore.open(state_dir)
    assert "\n" not in str(refused.value)


def text_file(path: Path) -> None:
    path.write_text("hello, this is no database\n" * 40)


def foreign_database(path: Path) -> None:
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE journal(n, body, head)")
    db.commit()
    db.close()


def later_version(path: Path) -> None:
    JournalStore.open(path.parent).close()
    db = sqlite3.connect(path)
    db.execute("PRAGMA user_version = 9")
    db.close()


def without_triggers(path: Path) -> None:
    JournalStore.open(path.parent).close()
    db = sqlite3.connect(path)
    db.execute("DROP TRIGGER journal_never_deletes")
    db.close()


@pytest.mark.parametrize("foreign", [text_file, foreign_database, later_version, without_triggers])
def test_a_foreign_file_is_refused_and_left_as_it_is(
    state_dir: Path, foreign: Callable[[Path], None]
) -> None:
    path = state_dir / STORE_NAME
    foreign(path)
    before = path.read_bytes()
    with pytest.raises(JournalError) as refused:
        JournalStore.open(state_dir)
    assert str(path) in str(refused.value)
    assert path.read_bytes() == before
    assert verify(state_dir).findings


def test_a_folder_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match="nowhere"):
        JournalStore.open(tmp_path / "nowhere")


def test_the_same_number_is_never_written_twice(state_dir: Path) -> None:
    store = JournalStore.open(state_dir)
    store.write([StoredRow(1, b"{}", bytes(32))], durable=False)
    with pytest.raises(JournalError, match="grows at its end"):
        store.write([StoredRow(2, b"{}", bytes(32)), StoredRow(1, b"{}", bytes(32))], durable=False)
    assert store.last() == (1, bytes(32))
    store.close()


def test_opening_checks_each_row_against_the_one_before(
    state_dir: Path, good_rows: list[StoredRow]
) -> None:
    write_rows(state_dir, good_rows)
    store = JournalStore.open(state_dir)
    entries = list(store.entries())
    assert [encode(item.entry) for item in entries] == [row.body for row in good_rows]
    assert all(next_head(item.prev, item.body) == item.head for item in entries)
    store.close()
