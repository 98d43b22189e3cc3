"""A set that was shuffled less often than was promised before the cut."""

import base64
from pathlib import Path

import pytest

from controller.journal.packed_board_events import SHUFFLED
from tests.cheats.changed import VICTIM, said
from tests.cheats.evenings import THREE_DEALS
from tests.cheats.honest_sessions import HonestSessions
from tests.cheats.rows import Change, Rows, changed, of

pytestmark = [pytest.mark.virtual, pytest.mark.slow]
_EVENT = 5
"""Bytes of an event in a row: its code is the first, its index the fourth."""


def board_did(passes: int | None) -> Change:
    """Return what has the board say so many passes wherever it is told; None: nothing of them."""

    def change(rows: Rows) -> None:
        for row in rows:
            if row["attempt"] != VICTIM:
                continue
            groups = [row["data"]] if row["kind"] == "wire" else []
            groups += row["data"].get("course", []) + row["data"].get("events", [])
            for group in groups:
                group["b"] = _told(group["b"], passes)

    return change


def _told(text: str, passes: int | None) -> str:
    raw = bytearray(base64.b64decode(text))
    for at in range(0, len(raw), _EVENT):
        if raw[at] == SHUFFLED:
            raw[at + 3] = passes or 0
            raw[at] = SHUFFLED if passes is not None else 0x7E
    return base64.b64encode(bytes(raw)).decode()


def not_told(rows: Rows) -> None:
    """Leave the row out that says that the shuffler is done."""
    rows.remove(of(rows, "shuffled", VICTIM))


FEWER = "passes were promised, the board did 0"
BEFORE = f"cards of attempt {VICTIM} moved before its shuffler was done"
ROW = "the board did 200: one of the two was changed"


@pytest.mark.parametrize(
    ("change", "found", "on_feed"),
    [
        (board_did(0), FEWER, FEWER),
        (board_did(None), BEFORE, BEFORE),
        (board_did(200), ROW, ROW),
        (not_told, f"dealt of attempt {VICTIM} without shuffled before it", ""),
    ],
    ids=["fewer", "none", "more than the row", "no row"],
)
async def test_passes_that_are_not_those_promised_are_found(
    change: Change, found: str, on_feed: str, honest: HonestSessions, tmp_path: Path
) -> None:
    await honest.spend(THREE_DEALS)
    journal, feed = changed(tmp_path, change)
    assert found in said(journal)
    assert on_feed in said(feed)
