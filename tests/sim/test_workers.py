"""A hall's processes begin together and end together."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import msgspec
import pytest

from sim.worker_processes import SimulatorWorkers, WorkerEnded
from tests.waiting import until

SAYS = (sys.executable, "-c", "import sys; print(sys.argv[1], flush=True); sys.stdin.read()")


async def test_every_worker_is_heard_and_none_is_left() -> None:
    async with SimulatorWorkers([(*SAYS, "one"), (*SAYS, "two")]) as workers:
        assert [await workers.read_line(number) for number in (1, 0)] == [b"two\n", b"one\n"]
        pids = workers.pids
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


async def test_a_worker_that_is_killed_is_named_in_one_line() -> None:
    async with SimulatorWorkers([(*SAYS, "one"), (*SAYS, "two")]) as workers:
        await workers.read_line(1)
        os.kill(workers.pids[1], signal.SIGKILL)
        with pytest.raises(WorkerEnded) as why:
            await workers.wait_for_exit()
    assert str(why.value) == "process 2 of 2 of the simulator was killed by signal 9: the hall ends"


async def test_a_worker_that_ends_before_it_says_anything_is_named() -> None:
    async with SimulatorWorkers([(sys.executable, "-c", "raise SystemExit(3)")]) as workers:
        with pytest.raises(WorkerEnded, match=r"process 1 of 1 .* ended with status 3"):
            await workers.read_line(0)


async def hall_of(runtime_dir: Path, tables: int) -> asyncio.subprocess.Process:
    words = ("-m", "controller.cli", "sim", "--json", "--tables", str(tables))
    return await asyncio.create_subprocess_exec(
        *(sys.executable, *words, "--runtime-dir", str(runtime_dir)),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


def parts_of(pid: int) -> list[int]:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
    return [int(child) for child in children.split()]


two_cores = pytest.mark.skipif(
    len(os.sched_getaffinity(0)) < 2, reason="a hall on one core is one process"
)


def runs(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii")
    except OSError:
        return False
    return stat.rsplit(")", 1)[1].split()[0] != "Z"


@two_cores
async def test_a_hall_ends_with_one_line_when_one_of_its_processes_is_killed(
    runtime_dir: Path,
) -> None:
    hall = await hall_of(runtime_dir, 2)
    assert hall.stdout is not None
    for _ in range(2):
        await hall.stdout.readline()
    parts = parts_of(hall.pid)
    os.kill(parts[0], signal.SIGKILL)
    _, complaint = await hall.communicate()
    assert hall.returncode == 1
    assert complaint.decode().splitlines() == [
        "Error: process 1 of 2 of the simulator was killed by signal 9: the hall ends"
    ]
    assert not any(map(runs, parts))


@two_cores
async def test_the_processes_of_a_hall_end_when_the_first_one_is_killed(runtime_dir: Path) -> None:
    hall = await hall_of(runtime_dir, 2)
    assert hall.stdout is not None
    first = msgspec.json.decode(await hall.stdout.readline())
    assert first["boards"]["dealer"]["pid"] is None  # inside, so that it ends with its process
    await hall.stdout.readline()
    parts = parts_of(hall.pid)
    hall.kill()
    await hall.wait()
    await until(lambda: not any(map(runs, parts)))
