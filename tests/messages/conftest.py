"""What is said at tables in process, played once for all tests of messages."""

import pytest

from tests.messages.runs import Said, all_said


@pytest.fixture(scope="session")
def said() -> dict[str, Said]:
    """What was said in each run."""
    return all_said()
