"""Journals of a table that deals: right ones, and ones that somebody spoilt."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from controller.journal.entries import StoredRow
from controller.journal.store import STORE_NAME, open_read_only
from controller.messages import PublicEvent
from tests.journal.scripted import Script, whole_table, write_journal


@pytest.fixture
def state_dir(tmp_path: Path) -> Path:
    folder = tmp_path / "state"
    folder.mkdir()
    return folder


@pytest.fixture
def written(state_dir: Path) -> Callable[[Script], list[PublicEvent]]:
    """Write the journal of a script into `state_dir`; returns what was on the feed."""

    def write(script: Script) -> list[PublicEvent]:
        return asyncio.run(write_journal(state_dir, script))

    return write


@pytest.fixture(scope="session")
def good_rows(tmp_path_factory: pytest.TempPathFactory) -> list[StoredRow]:
    """The rows of a journal in which nothing is wrong."""
    folder = tmp_path_factory.mktemp("good")
    asyncio.run(write_journal(folder, whole_table))
    with open_read_only(folder / STORE_NAME) as rows:
        return list(rows)
