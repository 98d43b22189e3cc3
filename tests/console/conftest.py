"""Databases for the console's store: SQLite in a file, PostgreSQL in a cluster of our own."""

import itertools
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine

from controller.console.store.database import open_engine
from tests.console.postgres import Cluster, cluster, new_database

MEMORY = Path("/dev/shm")


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """Return a fresh folder in memory. A database there waits for no disk."""
    with tempfile.TemporaryDirectory(prefix="console-", dir=MEMORY) as folder:
        yield Path(folder)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Cluster]:
    """A PostgreSQL that runs, for tests that may stop it and start it again."""
    with cluster() as running:
        yield running


@pytest.fixture(scope="session")
def _numbers() -> Iterator[int]:
    return itertools.count(1)


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def store_url(request: pytest.FixtureRequest, tmp_path: Path, _numbers: Iterator[int]) -> str:
    """An empty database of either kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'console.db'}"
    running: Cluster = request.getfixturevalue("postgres")
    return new_database(running, f"test{next(_numbers)}")


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    """A console's database."""
    engine = open_engine(f"sqlite:///{tmp_path / 'console.db'}")
    yield engine
    engine.dispose()
