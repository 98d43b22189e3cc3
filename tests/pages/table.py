"""Pages that are made from the program: which they are, and what writes each."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib import resources
from pathlib import Path

from sim.campaign import faults_page
from sim.lab import lab_report
from tests.acceptance import page as selftest_page
from tests.deploy import configuration, faultpage, pins
from tests.link import recorded_runs
from tests.machine import redeal_page
from tests.messages import page as messages_page
from tests.messages.runs import all_said
from tests.processes.recorded_deal import recorded_over_ptys
from tests.proof.vectors import VECTORS, vectors_anew

ROOT = Path(__file__).parents[2]
PTY_RECORDING = "pty_under_micropython"


@dataclass(frozen=True)
class Page:
    """A file of the repository that the program writes.

    `write` returns the whole text. It receives the text that is there, which may have parts that
    people write. Where each writing differs in times and hashes, `lasting` takes them out before
    two texts are compared. `checked_by` names the test file that checks the page where writing it
    takes long, or depends on chance. All other pages are checked in test_pages.py.
    """

    path: Path
    write: Callable[[str], str]
    lasting: Callable[[str], str] = str
    checked_by: str | None = None

    @property
    def name(self) -> str:
        """Path of the page below the top of the repository."""
        return self.path.relative_to(ROOT).as_posix()

    def read(self) -> str:
        """Return the text that is there, or no text."""
        return self.path.read_text("utf-8") if self.path.exists() else ""


def _update_fault_menu(page: str) -> str:
    """Return the page with the present menu and its old campaign part."""
    return faults_page.render_menu() + faults_page.split_page(page)[1]


def _pages() -> Iterator[Page]:
    for language, path in faultpage.PAGES.items():
        yield Page(path, _whole(partial(faultpage.page, language)))
    yield Page(pins.PAGE, pins.page_with_tables)
    yield Page(configuration.PAGE, _whole(configuration.page))
    yield Page(selftest_page.PAGE, _whole(selftest_page.page))
    yield Page(_of("sim", "FAULTS.md"), _update_fault_menu)
    yield Page(_of("sim", "lab", "LAB.md"), lab_report.update_page)
    yield Page(
        messages_page.PAGE,
        lambda text: messages_page.page(text, all_said()),
        lasting=messages_page.lasting,
    )
    yield Page(
        redeal_page.PAGE, _whole(redeal_page.page), checked_by="tests/machine/test_redeal_table.py"
    )
    yield Page(VECTORS, _whole(vectors_anew), checked_by="tests/proof/test_vectors.py")
    for run in (*recorded_runs.RUNS, PTY_RECORDING):
        yield Page(
            recorded_runs.FOLDER / f"{run}.jsonl",
            _whole(partial(_recorded, run)),
            checked_by="tests/link/test_recordings.py",
        )
        yield Page(recorded_runs.FOLDER / f"{run}.json", _whole(partial(_replayed, run)))


def _whole(write: Callable[[], str]) -> Callable[[str], str]:
    """Return a writer that needs nothing of the text that is there."""
    return lambda _: write()


def _of(package: str, *names: str) -> Path:
    return Path(str(resources.files(package).joinpath(*names)))


def _recorded(run: str) -> str:
    return recorded_over_ptys() if run == PTY_RECORDING else recorded_runs.recorded(run)


def _replayed(run: str) -> str:
    return recorded_runs.page(recorded_runs.replayed(recorded_runs.kept(run)))


PAGES = tuple(_pages())
