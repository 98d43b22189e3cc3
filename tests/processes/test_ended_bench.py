"""A bench of the console that is ended while browsers look: it leaves nothing behind."""

from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.processes.processes import marked
from tests.processes.program import Program
from tests.processes.terminal import Terminal
from tests.waiting import until

WORDS = ("bench", "pixels", "--feeds", "10", "--browsers", "1", "--seconds", "600")
LOOKING = "with 1 browsers"
PARTS = ("bench.simulated_feeds", "cli console", "bench.browser_pages", "chromium")

pytestmark = pytest.mark.browser


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


@pytest.mark.parametrize(
    ("moment", "end"), [("opening 1 browsers", press_ctrl_c), (LOOKING, hang_up)]
)
async def test_a_bench_that_is_ended_leaves_no_process_and_no_folder(
    moment: str, end: Callable[[Terminal], None], terminal: Terminal, mark: str, temporary: Path
) -> None:
    await terminal.until(lambda: terminal.shows(moment))
    assert left_in(temporary)

    end(terminal)

    assert await terminal.end() != 0  # it has measured nothing
    await until(lambda: not marked(mark))
    assert left_in(temporary) == []
    assert b"Traceback" not in terminal.screen


async def test_a_bench_that_is_killed_takes_its_processes_along_and_the_next_one_its_folder(
    terminal: Terminal, mark: str, temporary: Path
) -> None:
    await terminal.until(lambda: terminal.shows(LOOKING))
    family = marked(mark)
    for part in PARTS:
        assert any(part in words for words in family.values()), part

    terminal.program.kill()

    await until(lambda: not marked(mark))
    assert len(left_in(temporary)) == 1  # nobody was there to remove it
    words = ("bench", "console", "--feeds", "2", "--browsers", "0", "--seconds", "1")
    done = await (await Program.start(*words)).end()
    assert (done.code, done.err.count("Error")) == (0, 0)
    assert left_in(temporary) == []
