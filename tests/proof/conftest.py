"""What the proofs' tests share: lives of the real machine, and an engine for the other verifier."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.proof.browser import Browser
from tests.proof.lives import lives


@pytest.fixture(scope="session")
def dealt(scale: Callable[[int], int], tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The journals of scale(1_000) deals, with misdeals, voids, tray cards, cut and uncut."""
    with pytest.MonkeyPatch.context() as patch:
        return lives(scale(1_000), tmp_path_factory.mktemp("lives"), patch)


@pytest.fixture(scope="session")
def browser() -> Browser:
    return Browser()
