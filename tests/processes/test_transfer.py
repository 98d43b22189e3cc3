"""A match that moves between tables whose processes run, at once and by way of a file."""

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from controller.cli.send import ask_about_present
from controller.journal.store import STORE_NAME, JournalStore, open_read_only
from controller.journal.verify import verify
from controller.messages import MachinePhase, Role
from controller.seats import SEATS
from sim.tables.table_processes import HallPlan, TableProcess, run_hall
from tests.machine.stages import MATCH, PAIRS
from tests.processes.people import FAST, People
from tests.processes.program import Dealtable

pytestmark = pytest.mark.slow


async def order(table: TableProcess, role: Role, cmd: str, /, **args: Any) -> None:
    """Give an order that the table must take."""
    async with table.client(role) as client:
        reply = await ask_about_present(client, cmd, args)
    assert reply.ok, (cmd, reply.error)


def journal(table: TableProcess) -> list[Any]:
    """Return the journal's entries with their heads."""
    with open_read_only(table.state_dir / STORE_NAME):
        store = JournalStore.open(table.state_dir)
        try:
            return list(store.entries())
        finally:
            store.close()


async def test_a_match_moves_on_twice_and_the_tables_name_each_other(
    tmp_path: Path, dealtable: Dealtable
) -> None:
    async with run_hall(HallPlan(tmp_path / "hall", tables=3, speed=FAST)) as tables:
        first, second, third = tables
        for table in tables:
            async with People(table) as people:
                await people.until(lambda state: state.machine.phase is MachinePhase.EMPTY)
        await order(first, Role.REFEREE, "set_match", **MATCH, stage="swiss", pairs=PAIRS)
        for seat in SEATS:
            await order(first, Role.TABLE, "confirm", seat=seat)
        await order(first, Role.CHIEF, "start_match")

        moved = await dealtable("transfer", "--from", first.state_dir, "--to", second.state_dir)
        assert moved.out == f"match M1 is at {second.id}, deal 1, phase cut\n", moved.err
        await order(second, Role.REFEREE, "resume")

        file = tmp_path / "match.json"
        where = ("--table", third.id, "--file", file, "--as", "referee", "--by", "Chen Hua")
        gone = await dealtable("transfer", "--from", second.state_dir, *where)
        left, there = gone.out.splitlines()
        assert left == f"match M1 left for {third.id}: it is in {file} now", gone.err
        assert re.fullmatch("there: --from-key [0-9a-f]{64} .*", there)
        to_third = ("transfer", "--file", file, "--to", third.state_dir, "--from-key")
        wrong = await dealtable(*to_third, first.state_dir / "keys" / "table.key")
        assert (wrong.code, "is not signed by the key" in wrong.err) == (1, True)
        for _ in range(2):  # the second time moves nothing
            moved = await dealtable(*to_third, there.split()[2])
            assert moved.out == f"match M1 is at {third.id}, deal 1, phase cut\n", moved.err
        await order(third, Role.REFEREE, "resume")

    journals = {table.id: journal(table) for table in tables}
    for left, to in pairwise(table.id for table in tables):
        (went,) = [item for item in journals[left] if item.entry.kind == "transferred"]
        (came,) = [item for item in journals[to] if item.entry.kind == "taken_over"]
        assert (went.entry.data["to"], came.entry.data["table"]) == (to, left)
        assert came.entry.data["head"] == went.head.hex()
    for table in tables:
        assert verify(table.state_dir).findings == []
