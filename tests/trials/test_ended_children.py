"""Children that end while somebody looks at them, or asks them: one line, or left out."""

import asyncio
import os
from pathlib import Path

import pytest

from sim.tables import process_costs
from sim.tables.table_processes import ControlClient, HallError


def test_a_process_that_ended_meanwhile_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    child = os.fork()
    if not child:
        os._exit(0)
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)  # it has ended, and its row is still there
    try:
        monkeypatch.setattr(
            process_costs, "_process_tree", lambda root: iter((str(root), str(child)))
        )
        assert child not in process_costs.find_processes(os.getpid()).values()
        assert sum(one.processes for one in process_costs.measure_costs(os.getpid()).values()) == 1
    finally:
        os.waitpid(child, 0)


async def test_a_simulator_that_ends_before_it_answers_is_told_in_one_line(
    runtime_dir: Path,
) -> None:
    async def end(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.close()

    path = runtime_dir / "control"
    async with await asyncio.start_unix_server(end, path):
        with pytest.raises(HallError, match="ended before it answered speed"):
            await ControlClient(str(path)).request("speed", value=1.0)
