"""Ctrl-C of a live demo, its terminal closed, or the demo killed: nothing is left running."""

import json
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from controller.config import load_table
from sim.memory_folders import OWNER
from tests.processes.processes import marked, no_process_is_left
from tests.processes.program import Start
from tests.processes.terminal import Terminal

CTRL_C = b"\x03"


@pytest.fixture
async def terminal(tmp_path: Path) -> AsyncIterator[Terminal]:
    async with Terminal("demo", "--speed", "20", "--state-dir", tmp_path / "state") as terminal:
        yield terminal


async def dealing(terminal: Terminal, mark: str, state_dir: Path) -> Path:
    """Wait until the demo deals, with all its processes; return its folder in memory."""
    await terminal.until(lambda: terminal.shows("dealing"))
    family = marked(mark)
    for part in ("cli sim", "run machine", "run gateway", "main dealer", "main reader"):
        assert any(part in words for words in family.values()), part
    folder = load_table(state_dir / "table.toml").table.runtime_dir.parent
    assert (folder / OWNER).exists()
    return folder


async def test_ctrl_c_of_a_demo_that_deals_leaves_nothing_running(
    terminal: Terminal, mark: str, tmp_path: Path
) -> None:
    folder = await dealing(terminal, mark, tmp_path / "state")

    terminal.type(CTRL_C)

    assert await terminal.end() == 0
    await no_process_is_left(mark)
    assert b"Traceback" not in terminal.screen
    assert not folder.exists()


@pytest.mark.slow
async def test_ctrl_c_while_the_daemon_still_starts_leaves_nothing_running(
    terminal: Terminal, mark: str, tmp_path: Path
) -> None:
    await terminal.until((tmp_path / "state" / "daemon.log").exists)
    terminal.type(CTRL_C)
    await terminal.end()
    await no_process_is_left(mark)
    assert b"Traceback" not in terminal.screen


@pytest.mark.slow
async def test_a_demo_whose_terminal_is_closed_leaves_nothing_running(
    terminal: Terminal, mark: str, tmp_path: Path
) -> None:
    folder = await dealing(terminal, mark, tmp_path / "state")

    terminal.close()

    await terminal.end()
    await no_process_is_left(mark)
    assert not folder.exists()


@pytest.mark.slow
async def test_a_demo_that_is_killed_takes_its_processes_along_and_the_next_one_its_folder(
    terminal: Terminal, mark: str, tmp_path: Path, start: Start
) -> None:
    folder = await dealing(terminal, mark, tmp_path / "state")

    terminal.program.kill()

    await no_process_is_left(mark)
    assert folder.exists()  # no process was left to remove it
    sim = await start("sim")
    await sim.line("control")
    assert not folder.exists()
    await sim.end(signal.SIGTERM)


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT, signal.SIGTERM])
async def test_a_simulator_that_is_told_to_end_leaves_no_folder(
    number: signal.Signals, start: Start, mark: str, runtime_dir: Path
) -> None:
    sim = await start("sim", "--json")
    folder = Path(json.loads(await sim.line("control"))["control"]).parents[1]
    assert folder.parent == runtime_dir
    assert (folder / OWNER).exists()

    done = await sim.end(number)

    assert (done.code, done.err) == (0, "")
    assert not folder.exists()
    await no_process_is_left(mark)


def ignores(pid: int, number: signal.Signals) -> bool:
    """Tell whether a process ignores a signal, as the kernel says."""
    status = Path(f"/proc/{pid}/status").read_text()
    return bool(int(status.partition("SigIgn:")[2].split()[0], 16) & 1 << number - 1)


async def test_what_was_told_to_survive_its_terminal_does(start: Start) -> None:
    sim = await start(
        "sim", preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN) and None
    )
    await sim.line("control")
    assert ignores(sim.process.pid, signal.SIGHUP)  # nobody took it back
    done = await sim.end(signal.SIGTERM)
    assert done.code == 0
