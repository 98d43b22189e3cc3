"""A feed that is not drained whole gives no figure. The figures `fan_in` and `join` drain feeds."""

import click
import msgspec
import pytest

from sim.bench import feed_figures
from sim.bench.feed_figures import DrainCost, StateRange

DRAINED = DrainCost(feeds=40, seconds=2, cores=0.2, floor_cores=0.1, states=1, missing=0, lost=0)


def numbered(seq: int) -> bytes:
    return msgspec.json.encode({"seq": seq})


def test_missing_states_are_counted_by_their_numbers() -> None:
    assert StateRange(numbered(7), numbered(9), 3).missing == 0
    assert StateRange(numbered(7), numbered(12), 3).missing == 3
    assert StateRange(numbered(7), numbered(7), 1).missing == 0


@pytest.mark.parametrize(
    ("wrong", "words"),
    [({"missing": 2}, "2 states did not arrive"), ({"lost": 1}, "1 events are not in the archive")],
)
def test_feeds_that_lost_something_give_no_figure(wrong: dict[str, int], words: str) -> None:
    assert feed_figures._drain_value(DRAINED).value == DRAINED.cores
    with pytest.raises(click.ClickException, match=words):
        feed_figures._drain_value(msgspec.structs.replace(DRAINED, **wrong))
