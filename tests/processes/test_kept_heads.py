"""A journal that is put back to an older copy, or written anew: heads that were kept show it."""

import json
import shutil
import signal
from pathlib import Path

import pytest

from controller.journal.store import STORE_NAME
from controller.messages import MachinePhase
from sim.tables.table_processes import TableProcess
from tests.processes.people import People
from tests.processes.program import Dealtable, Program, Start

pytestmark = pytest.mark.slow

AT_REST = tuple(f"{STORE_NAME}{part}" for part in ("", "-wal", "-shm"))


def journal(table: TableProcess, into: Path) -> Path:
    """Copy the journal of a table whose daemon has ended; return the folder."""
    into.mkdir()
    for name in AT_REST:
        if (table.state_dir / name).exists():
            shutil.copy2(table.state_dir / name, into / name)
    return into


def put_back(table: TableProcess, copy: Path) -> None:
    """Lay a copy in the journal's place."""
    for name in AT_REST:
        (table.state_dir / name).unlink(missing_ok=True)
        if (copy / name).exists():
            shutil.copy2(copy / name, table.state_dir / name)


def kept(path: Path) -> list[tuple[int, str]]:
    lines = path.read_text().splitlines() if path.exists() else []
    heads = [json.loads(line) for line in lines]
    return [(head["n"], head["head"]) for head in heads]


async def watched(table: TableProcess, start: Start, heads: Path, *words: str) -> Program:
    """Watch a table, keeping heads; from the moment when its first state is here."""
    watch = await start("watch", "--state-dir", table.state_dir, "--heads", heads, *words)
    await watch.line(lambda line: any(phase in line for phase in MachinePhase))
    return watch


async def a_step_further(table: TableProcess, watch: Program) -> None:
    """Let the table commit to an attempt."""
    async with People(table) as people:
        state = await people.deal(lambda state: state.machine.phase is not MachinePhase.EMPTY)
        await watch.line(f"{state.machine.phase} ")


async def test_an_older_copy_of_a_journal_and_one_written_on_from_there_are_said_at_once(
    boards: TableProcess, start: Start, dealtable: Dealtable, tmp_path: Path
) -> None:
    table, heads = boards, tmp_path / "heads.jsonl"
    await table.start_daemon()
    await (await watched(table, start, heads)).end(signal.SIGINT)
    await table.stop_daemon()
    old = journal(table, tmp_path / "old")

    await table.start_daemon()
    watch = await watched(table, start, heads)
    await a_step_further(table, watch)
    honest = await watch.end(signal.SIGINT)
    await table.stop_daemon()
    real = journal(table, tmp_path / "real")
    assert "ANOTHER PAST" not in honest.out
    before = kept(heads)
    assert before == sorted(set(before))
    checked = await dealtable("verify", table.state_dir, "--head", heads)
    assert checked.code == 0, checked.out

    put_back(table, old)
    await table.start_daemon()
    watch = await watched(table, start, heads, "--json")
    await watch.line("ANOTHER PAST 日志不符")
    done = await watch.end(signal.SIGINT)
    assert "ANOTHER PAST" in done.err
    assert all(json.loads(line)["table"] == table.id for line in done.out.splitlines())
    await table.stop_daemon()
    both = kept(heads)
    assert both[: len(before)] == before
    assert len(both) > len(before)

    for copy, found in ((real, 1), (old, 1)):  # it signed heads of both pasts
        put_back(table, copy)
        checked = await dealtable("verify", table.state_dir, "--head", heads)
        assert checked.code == found, checked.out
