"""Each reason at each stage, played at a table; controller/deal/REDEAL.md says what happened."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.machine.redeal_page import (
    PAGE,
    REASONS,
    STAGES,
    cannot_of,
    claim_stages,
    order_stages,
    pairs,
    rows_of,
    text_of,
)
from tests.machine.redeals import (
    CLAIMS,
    REDEALS,
    Claim,
    Seen,
    after_release,
    before_release,
    claimed,
    ordered_again,
)
from tests.machine.troubles import BEFORE, TROUBLES, Ground, Trouble

WRITES = "DEALTABLE_WRITE_REDEAL" in os.environ


@pytest.fixture(scope="module")
def written() -> Iterator[list[Seen]]:
    """What was seen; where the page is to be written, it is, from all of it."""
    seen: list[Seen] = []
    yield seen
    if WRITES:
        PAGE.write_text(text_of(seen), "utf-8")


@pytest.fixture
def ground(runtime_dir: Path, tmp_path: Path) -> Ground:
    """Make a place for tables."""
    return Ground(runtime_dir, tmp_path)


def agrees(row: Seen, written: list[Seen]) -> None:
    """Hold what was seen against the page."""
    written.append(row)
    if not WRITES:
        assert row in rows_of(PAGE.read_text("utf-8"))


MADE = [
    pytest.param(
        trouble,
        stage,
        id=f"{trouble.reason}: {trouble.how}, {stage}",
        marks=() if stage == trouble.stages[0] else pytest.mark.slow,
    )
    for trouble in TROUBLES
    for stage in trouble.stages
]
"""Each reason at every stage; the core has the first stage of each."""


@pytest.mark.virtual
@pytest.mark.parametrize(("trouble", "stage"), MADE)
async def test_a_trouble_ends_its_attempt_or_leaves_the_hands_as_the_page_says(
    trouble: Trouble, stage: str, ground: Ground, written: list[Seen]
) -> None:
    play = before_release if stage in BEFORE else after_release
    agrees(await play(ground, trouble, stage), written)


@pytest.mark.virtual
@pytest.mark.parametrize(
    ("claim", "stage"),
    [(claim, stage) for claim in CLAIMS for stage in claim_stages(claim)],
    ids=lambda each: each if isinstance(each, str) else each.how,
)
async def test_a_claimed_count_is_counted_and_ends_as_the_page_says(
    claim: Claim, stage: str, ground: Ground, written: list[Seen]
) -> None:
    agrees(await claimed(ground, claim, stage), written)


@pytest.mark.virtual
@pytest.mark.parametrize(
    ("how", "stage"), [(how, stage) for how in REDEALS for stage in order_stages(how)]
)
async def test_a_redeal_that_is_ordered_is_refused_or_recalls_the_hands_as_the_page_says(
    how: str, stage: str, ground: Ground, written: list[Seen]
) -> None:
    agrees(await ordered_again(ground, how, stage), written)


@pytest.mark.skipif(WRITES, reason="the page is being written")
def test_the_page_tells_of_every_pair_once() -> None:
    page = PAGE.read_text("utf-8")
    rows = rows_of(page)
    assert len(rows) == len({(row.reason, row.how, row.stage) for row in rows})
    assert {(row.reason, row.how, row.stage) for row in rows} == pairs()
    assert text_of(rows) == page
    met = {(why, row.stage) for row in rows for why in (row.reason, *row.why.split(", "))}
    cannot = cannot_of(page)
    assert len(cannot) == len(set(cannot))
    assert not set(cannot) & met
    assert {(reason, stage) for reason in REASONS for stage in STAGES} <= met | set(cannot)
