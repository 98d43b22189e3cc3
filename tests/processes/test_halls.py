"""Demos of several tables: what they cost, and what they say when a table fails."""

import json
import os
import signal
from pathlib import Path

import pytest

from controller.journal.store import open_read_only
from tests.processes.processes import children
from tests.processes.program import Dealtable, Start
from tests.waiting import until

pytestmark = pytest.mark.slow

JOURNAL = "journal.db"


async def test_a_hall_says_what_it_cost_by_kind_of_process(
    dealtable: Dealtable, tmp_path: Path
) -> None:
    words = ("--tables", 2, "--speed", 20, "--json", "--costs", "--state-dir", tmp_path / "s")
    done = await dealtable("demo", "--once", *words)
    assert (done.code, done.err) == (0, "")
    told = json.loads(done.out)
    costs = told["costs"]
    assert costs["cores"] == len(os.sched_getaffinity(0))
    assert set(costs["kinds"]) == {"demo", "sim", "run", "run machine", "run gateway"}
    assert {deal["table"] for deal in told["deals"]} == {"T01-01", "T01-02"}
    for kind in ("sim", "run machine", "run gateway"):
        assert 0 < costs["kinds"][kind]["cpu_s"] < costs["took_s"] * costs["cores"]


async def test_a_table_whose_daemon_dies_is_named_and_the_demo_ends(
    start: Start, tmp_path: Path
) -> None:
    words = ("--tables", 2, "--once", "--deals", 100, "--json", "--state-dir", tmp_path / "s")
    demo = await start("demo", *words)
    daemon = await daemon_of(demo.process.pid, "T01-02")
    os.kill(daemon, signal.SIGKILL)
    done = await demo.end()
    assert done.code == 1
    assert "the daemon of table T01-02 ended unexpectedly; see " in done.err
    assert done.out == ""


async def daemon_of(demo: int, table: str) -> int:
    """Wait for a table's daemon; return its process id."""
    return await process_of(demo, "run --config", f"/{table}/")


async def process_of(demo: int, *words: str) -> int:
    """Wait for a process of a demo with these words in its command line; return its id."""

    def look() -> int | None:
        for command, pid in children(demo).items():
            if all(word in command for word in words):
                return pid
        return None

    found = await until(look)
    assert found is not None
    return found


async def test_costs_and_faults_of_the_host_are_refused_where_there_are_none(
    dealtable: Dealtable,
) -> None:
    costs = await dealtable("demo", "--costs")
    assert costs.code == 2
    assert "--json and --costs go with --once" in costs.err
    killed = await dealtable("demo", "--once", "--fault", "daemon_killed")
    assert killed.code == 2
    assert "this simulator has no daemon to kill" in killed.err


async def test_a_live_demo_names_what_ended_by_itself_and_goes_on_with_the_rest(
    start: Start, tmp_path: Path
) -> None:
    folder = tmp_path / "s"
    demo = await start("demo", "--tables", 2, "--speed", 20, "--state-dir", folder)
    await demo.line("console http")
    os.kill(await daemon_of(demo.process.pid, "T01-02"), signal.SIGKILL)
    assert "the daemon of table T01-02" in await demo.line("ended unexpectedly")
    os.kill(await process_of(demo.process.pid, "console --config"), signal.SIGKILL)
    await demo.line("the console ended unexpectedly; see ")
    written = entries(folder / "T01-01")
    await until(lambda: entries(folder / "T01-01") > written)
    assert (await demo.end(signal.SIGINT)).code == 0


def entries(state_dir: Path) -> int:
    """Return how many entries a table's journal has."""
    with open_read_only(state_dir / JOURNAL) as rows:
        return sum(1 for _ in rows)
