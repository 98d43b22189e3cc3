"""What is said at tables in process, played once for all tests of messages."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.messages.runs import RUNS, Said, said_in


@pytest.fixture(scope="session")
def said() -> Iterator[dict[str, Said]]:
    """What was said in each run."""
    folder = Path(tempfile.mkdtemp(prefix="dt-", dir="/dev/shm"))
    try:
        yield {run: said_in(run, _own(folder, str(number))) for number, run in enumerate(RUNS)}
    finally:
        shutil.rmtree(folder)


def _own(folder: Path, name: str) -> Path:
    own = folder / name
    own.mkdir(mode=0o700)
    return own
