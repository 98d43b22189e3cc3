"""The boards on their benches."""

import pytest

from tests.firmware.bench import DealerLine, ReaderLine


@pytest.fixture
def dealer() -> DealerLine:
    """A dealer board that was just switched on."""
    return DealerLine()


@pytest.fixture
def reader() -> ReaderLine:
    """A reader board that was just switched on."""
    return ReaderLine()
