"""A deal over ptys, by boards under MicroPython, with its lines in a recording."""

import asyncio
import signal
from pathlib import Path
from tempfile import TemporaryDirectory

from controller.client.discovery import NoEndpoints
from controller.messages import MachinePhase, Role
from drivers.link.recording import read_recording
from sim.memory_folders import memory_folder
from sim.tables.table_processes import HallPlan, TableProcess, run_simulator
from tests.link.recorded_runs import HEADER, encode_recording
from tests.machine.stages import MATCH, PAIRS
from tests.processes.people import FAST, People
from tests.processes.program import Program
from tests.waiting import until


async def wait_for_endpoints(table: TableProcess, program: Program) -> None:
    """Wait until people can talk to a table. Raises AssertionError where its program ended."""

    def has_endpoints() -> bool:
        assert program.process.returncode is None, program.complained
        try:
            return bool(table.endpoints)
        except NoEndpoints:
            return False

    await until(has_endpoints)


async def record_deal(state_dir: Path, runtime_dir: Path, file: Path) -> None:
    """Run a table with `--record` up to hands that are held, then kill it."""
    plan = HallPlan(state_dir, speed=FAST, firmware="micropython")
    async with run_simulator(plan, runtime_dir) as (table,):
        program = await Program.start("run", "--config", table.config, "--record", file)
        try:
            await wait_for_endpoints(table, program)
            async with People(table) as people:
                state = await people.until(lambda state: state.machine.phase is MachinePhase.EMPTY)
                assert state.mode == "test"
                args = {**MATCH, "stage": "swiss", "pairs": PAIRS}
                reply = await people.order(Role.REFEREE, "set_match", **args)
                assert reply.error is not None
                assert reply.error.code == "TEST_MODE"
                assert (await people.held()).mode == "test"
            assert await program.line("are recorded")
            await program.end(signal.SIGKILL)
        finally:
            await program.close()


def recorded_over_ptys() -> str:
    """Deal over ptys; return the recording."""
    with (
        TemporaryDirectory() as state_dir,
        memory_folder() as runtime_dir,
        asyncio.Runner() as runner,
    ):
        file = Path(state_dir) / "wire.jsonl"
        runner.run(record_deal(Path(state_dir) / "state", runtime_dir, file))
        with file.open("rb") as lines:
            return encode_recording(HEADER, read_recording(lines)[1]).decode()
