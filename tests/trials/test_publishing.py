"""What `bench publishing` compares."""

from pathlib import Path

import msgspec
import pytest

from controller.messages import Phase, State
from controller.trials.publishing import publishing

pytestmark = pytest.mark.slow


async def test_the_whole_way_and_the_bare_one_bring_the_same_state_to_a_subscriber(
    runtime_dir: Path,
) -> None:
    async with publishing(runtime_dir) as ways:
        first, second, bare = (
            msgspec.json.decode(body, type=State)
            for body in (ways.whole(), ways.whole(), ways.bare())
        )
    assert first.machine.phase is bare.machine.phase is Phase.HELD
    assert second.seq == first.seq + 1
    assert (first.table, first.fairness, first.head) == (bare.table, bare.fairness, bare.head)


async def test_the_bare_way_brings_the_same_state_every_time(runtime_dir: Path) -> None:
    async with publishing(runtime_dir) as ways:
        assert ways.bare() == ways.bare() != ways.whole()
