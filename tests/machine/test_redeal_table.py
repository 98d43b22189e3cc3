"""Each reason at each stage, played at a table; controller/deal/REDEAL.md says what happened."""

from pathlib import Path

import pytest

from tests.machine.redeal_page import (
    PAGE,
    REASONS,
    STAGES,
    Row,
    cannot_of,
    rows_of,
    rows_to_play,
    text_of,
)
from tests.machine.troubles import Ground

ROWS = list(rows_to_play())


@pytest.mark.virtual
@pytest.mark.parametrize(
    "row",
    [
        pytest.param(
            row,
            id=f"{row.reason}: {row.how}, {row.stage}",
            marks=() if row.first else pytest.mark.slow,
        )
        for row in ROWS
    ],
)
async def test_a_trouble_ends_at_a_table_as_the_page_says(
    row: Row, runtime_dir: Path, tmp_path: Path
) -> None:
    seen = await row.play(Ground(runtime_dir, tmp_path))
    assert seen in rows_of(PAGE.read_text("utf-8"))


def test_the_page_tells_of_every_pair_once() -> None:
    page = PAGE.read_text("utf-8")
    rows = rows_of(page)
    assert sorted((row.reason, row.how, row.stage) for row in rows) == sorted(
        (row.reason, row.how, row.stage) for row in ROWS
    )
    assert text_of(rows) == page
    met = {(why, row.stage) for row in rows for why in (row.reason, *row.why.split(", "))}
    cannot = cannot_of(page)
    assert len(cannot) == len(set(cannot))
    assert not set(cannot) & met
    assert {(reason, stage) for reason in REASONS for stage in STAGES} <= met | set(cannot)
