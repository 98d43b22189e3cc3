"""Sessions of an honest machine, dealt once for all tests of a worker."""

from pathlib import Path

import pytest

from tests.cheats.changed import Traces
from tests.cheats.honest_sessions import HonestSessions


@pytest.fixture(scope="session")
def spent() -> dict[str, Traces]:
    """Return the sessions that were dealt so far, by name."""
    return {}


@pytest.fixture
def honest(
    spent: dict[str, Traces],
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    runtime_dir: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> HonestSessions:
    """Deal sessions of an honest machine; each test gets a copy in its own folder."""
    return HonestSessions(spent, tmp_path, tmp_path_factory, runtime_dir, monkeypatch)
