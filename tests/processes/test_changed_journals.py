"""`verify` on journals that were changed by somebody with the file in his hands."""

import contextlib
import json
import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from controller.cli import main
from sim.tables.table_processes import TableProcess
from tests.processes.demo import Demo
from tests.processes.people import People
from tests.processes.program import Dealtable, Done, Start

pytestmark = pytest.mark.slow

JOURNAL = "journal.db"
NUMBER_BYTES = 8


@contextlib.contextmanager
def unguarded(journal: Path) -> Iterator[sqlite3.Connection]:
    """Give a journal without the triggers that guard it; they are back afterwards."""
    with contextlib.closing(sqlite3.connect(journal)) as db:
        guards = list(db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"))
        for name, _ in guards:
            db.execute(f"DROP TRIGGER {name}")
        yield db
        for _, sql in guards:
            db.execute(sql)
        db.commit()


def change_a_byte(db: sqlite3.Connection, column: str, rng: random.Random) -> int:
    """Change one byte of one row's column, anywhere; return the row's number before."""
    rows = dict(db.execute(f"SELECT n, {column} FROM journal"))
    n: int = rng.choice(sorted(rows))
    raw = n.to_bytes(NUMBER_BYTES, "big") if column == "n" else rows[n]
    place, other = rng.randrange(len(raw)), rng.randrange(1, 256)
    changed = raw[:place] + bytes([raw[place] ^ other]) + raw[place + 1 :]
    value = int.from_bytes(changed, "big", signed=True) if column == "n" else changed
    if value in rows and column == "n":  # no two rows have one number: this cannot be
        return change_a_byte(db, column, rng)
    db.execute(f"UPDATE journal SET {column} = ? WHERE n = ?", (value, n))
    return n


def verified(journal: Path) -> Done:
    """Have `dealtable verify` look at a journal, without a process of its own."""
    ran = CliRunner().invoke(main, ["verify", str(journal)])
    return Done(ran.exit_code, ran.stdout, ran.stderr)


@pytest.mark.parametrize("column", ["n", "body", "head"])
async def test_one_changed_byte_of_any_row_is_found_and_its_place_is_said(
    demo: Demo, column: str, tmp_path: Path, dealtable: Dealtable, scale: Callable[[int], int]
) -> None:
    rng = random.Random(column)
    for number in range(scale(1000)):
        copy = tmp_path / f"{number}.db"
        shutil.copy(demo.state_dir / JOURNAL, copy)
        with unguarded(copy) as db:
            n = change_a_byte(db, column, rng)
        # The first one as people do it; a process for each would take its start a thousand times.
        checked = await dealtable("verify", copy) if number == 0 else verified(copy)
        assert (checked.code, checked.err) == (1, ""), f"row {n}"
        findings = [line for line in checked.out.splitlines() if line.startswith("entry ")]
        where = {int(line.split()[1].rstrip(":")) for line in findings}
        assert column == "n" or where & {n, n + 1}, f"row {n}: {findings}"
        assert any("a row was changed, removed, inserted or moved here" in f for f in findings)
        copy.unlink()


async def test_a_journal_whose_guards_are_gone_is_not_trusted(
    demo: Demo, tmp_path: Path, dealtable: Dealtable
) -> None:
    copy = shutil.copy(demo.state_dir / JOURNAL, tmp_path)
    with contextlib.closing(sqlite3.connect(copy)) as db:
        db.execute("DROP TRIGGER journal_never_updates")
        db.commit()
    checked = await dealtable("verify", copy)
    assert checked.code == 1
    assert "somebody changed the file" in checked.out


async def test_a_cut_off_end_shows_against_a_head_that_a_watcher_kept(
    table: TableProcess, people: People, start: Start, dealtable: Dealtable, tmp_path: Path
) -> None:
    watch = await start("watch", "--json", "--state-dir", table.state_dir)
    await watch.line('"phase":"empty"')
    await people.held()
    last = await watch.line('"kind":"verdict"')
    await table.stop_daemon()
    head = tmp_path / "kept.json"
    head.write_text(last)
    kept = json.loads(last)["n"]
    assert (await dealtable("verify", table.state_dir, "--head", head)).code == 0

    for lost in (1, 5, 20):
        copy = tmp_path / f"{lost}.db"
        shutil.copy(table.state_dir / JOURNAL, copy)
        with unguarded(copy) as db:
            db.execute("DELETE FROM journal WHERE n > ?", (kept - lost,))
        assert (await dealtable("verify", copy)).code == 0  # alone, nobody could tell
        checked = await dealtable("verify", copy, "--head", head)
        assert (checked.code, checked.err) == (1, "")
        assert f"is that of entry {kept}, but entry {kept - lost} is the last" in checked.out
        assert "the journal's last rows are missing" in checked.out
