"""Ctrl-C of a live demo, in a terminal of its own."""

import asyncio
import os
import pty
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from controller.config import load_table
from tests.processes.processes import LOOK_S, left_over, marked
from tests.processes.program import DEALTABLE, PATIENCE_S

LEAVE_S = 15.0
CTRL_C = b"\x03"


class Terminal:
    """A demo in the foreground of a terminal; `screen` is all that it wrote there."""

    def __init__(self, state_dir: Path) -> None:
        self.screen = b""
        self._state_dir = state_dir
        self._ours, self._theirs = pty.openpty()

    async def __aenter__(self) -> "Terminal":
        self.demo = await asyncio.create_subprocess_exec(
            *DEALTABLE,
            *("demo", "--speed", "20", "--state-dir", str(self._state_dir)),
            preexec_fn=lambda: os.login_tty(self._theirs),
        )
        asyncio.get_running_loop().add_reader(self._ours, self._read)
        return self

    async def __aexit__(self, *why: object) -> None:
        if self.demo.returncode is None:
            self.demo.kill()
            await self.demo.wait()
        asyncio.get_running_loop().remove_reader(self._ours)
        os.close(self._ours)
        os.close(self._theirs)

    async def until(self, there: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while not there():
                assert self.demo.returncode is None, self.screen.decode()
                await asyncio.sleep(LOOK_S)

    async def ctrl_c(self) -> int:
        os.write(self._ours, CTRL_C)
        async with asyncio.timeout(LEAVE_S):
            return await self.demo.wait()

    def _read(self) -> None:
        self.screen += os.read(self._ours, 1 << 16)


@pytest.fixture
async def terminal(tmp_path: Path) -> AsyncIterator[Terminal]:
    async with Terminal(tmp_path / "state") as terminal:
        yield terminal


async def test_ctrl_c_of_a_demo_that_deals_leaves_nothing_running(
    terminal: Terminal, mark: str, tmp_path: Path
) -> None:
    await terminal.until(lambda: "dealing" in terminal.screen.decode(errors="replace"))
    family = marked(mark)
    for part in ("cli sim", "run machine", "run gateway", "main dealer", "main reader"):
        assert any(part in words for words in family.values()), part
    runtime_dir = load_table(tmp_path / "state" / "table.toml").table.runtime_dir
    assert runtime_dir.exists()

    assert await terminal.ctrl_c() == 0
    assert await left_over(mark, LEAVE_S) == {}
    assert b"Traceback" not in terminal.screen
    assert not runtime_dir.parent.exists()


async def test_ctrl_c_while_the_daemon_still_starts_leaves_nothing_running(
    terminal: Terminal, mark: str, tmp_path: Path
) -> None:
    await terminal.until((tmp_path / "state" / "daemon.log").exists)
    await terminal.ctrl_c()
    assert await left_over(mark, LEAVE_S) == {}
    assert b"Traceback" not in terminal.screen
