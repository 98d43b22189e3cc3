"""A bench of the console that is ended while browsers look: it leaves nothing behind."""

import os
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.processes.conftest import Dealtable
from tests.processes.processes import left_over, marked
from tests.processes.terminal import LEAVE_S, Terminal

WORDS = ("bench", "pixels", "--feeds", "10", "--browsers", "1", "--seconds", "600")
LOOKING = "with 1 browsers"
PARTS = ("trials.feeds", "cli console", "trials.pixels", "chromium")

pytestmark = [pytest.mark.timeout(120), pytest.mark.browser]


@pytest.fixture
def temporary(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where the bench, and whatever it starts, keeps what is not to last.

    Its path is short: Chromium has a socket in it.
    """
    with TemporaryDirectory(prefix="tb-") as name:
        monkeypatch.setenv("TMPDIR", name)
        yield Path(name)


@pytest.fixture
async def terminal(temporary: Path) -> AsyncIterator[Terminal]:
    async with Terminal(*WORDS) as terminal:
        yield terminal


def left_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def hang_up(terminal: Terminal) -> None:
    terminal.close()


def press_ctrl_c(terminal: Terminal) -> None:
    terminal.type(b"\x03")


def terminate(terminal: Terminal) -> None:
    os.kill(terminal.program.pid, signal.SIGTERM)


@pytest.mark.parametrize("end", [press_ctrl_c, terminate, hang_up])
async def test_a_bench_that_is_ended_leaves_no_process_and_no_folder(
    end: Callable[[Terminal], None], terminal: Terminal, mark: str, temporary: Path
) -> None:
    await terminal.until(lambda: terminal.shows(LOOKING))
    family = marked(mark)
    for part in PARTS:
        assert any(part in words for words in family.values()), part
    assert left_in(temporary)

    end(terminal)

    assert await terminal.end() != 0  # it has measured nothing
    assert await left_over(mark, LEAVE_S) == {}
    assert left_in(temporary) == []
    assert b"Traceback" not in terminal.screen


async def test_a_bench_that_is_ended_while_it_still_opens_leaves_nothing(
    terminal: Terminal, mark: str, temporary: Path
) -> None:
    await terminal.until(lambda: terminal.shows("opening 1 browsers"))
    press_ctrl_c(terminal)
    await terminal.end()
    assert await left_over(mark, LEAVE_S) == {}
    assert left_in(temporary) == []
    assert b"Traceback" not in terminal.screen


async def test_a_bench_that_is_killed_takes_its_processes_along_and_the_next_one_its_folder(
    terminal: Terminal, mark: str, temporary: Path, dealtable: Dealtable
) -> None:
    await terminal.until(lambda: terminal.shows(LOOKING))

    terminal.program.kill()

    assert await left_over(mark, LEAVE_S) == {}
    assert len(left_in(temporary)) == 1  # nobody was there to remove it
    done = await dealtable("bench", "console", "--feeds", "2", "--browsers", "0", "--seconds", "1")
    assert (done.code, done.err.count("Error")) == (0, 0)
    assert left_in(temporary) == []
