"""Every cheat of these pages is carried out by a changed machine, and comes out."""

from pathlib import Path

import pytest

from tests.cheats import cards, cuts, matches, openings, past, rejects, seeds, steps, told, voids
from tests.cheats.changed import BOOK, RUN, VICTIM, Cheat, Evening, said, spend
from tests.cheats.evenings import THREE_DEALS

pytestmark = pytest.mark.virtual
SLOW = pytest.mark.slow
CHEATS = (
    *seeds.CHEATS,
    *steps.CHEATS,
    *cuts.CHEATS,
    *voids.CHEATS,
    *cards.CHEATS,
    *openings.CHEATS,
    *told.CHEATS,
    *past.CHEATS,
    *matches.CHEATS,
    *rejects.CHEATS,
)


FIRST = [
    max(kind.CHEATS, key=lambda cheat: bool(cheat.found) + bool(cheat.on_feed))
    for kind in (seeds, steps, cuts, voids, cards, openings, told, past, matches, rejects)
]
"""One cheat of each kind, for the core."""


@pytest.mark.parametrize(
    "cheat",
    [pytest.param(cheat, id=str(cheat), marks=() if cheat in FIRST else SLOW) for cheat in CHEATS],
)
async def test_a_dishonest_machine_is_found_out(
    cheat: Cheat, tmp_path: Path, runtime_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = await spend(cheat.evening, cheat.parts, tmp_path, runtime_dir, monkeypatch)
    journal, feed = said(left.journal()), said(left.feed())
    assert cheat.found in journal if cheat.found else not journal
    assert cheat.on_feed in feed if cheat.on_feed else not feed


def test_what_a_verifier_cannot_see_is_said() -> None:
    wrong = [
        str(cheat)
        for cheat in CHEATS
        if bool(cheat.unseen) is not (cheat.found is None or cheat.on_feed is None)
    ]
    assert wrong == []


@SLOW
@pytest.mark.parametrize("reason", voids.NOT_SHOWN)
async def test_a_reason_that_no_record_shows_is_counted_apart(
    reason: str, tmp_path: Path, runtime_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = {RUN: voids.refusing(reason)}
    left = await spend(THREE_DEALS, parts, tmp_path, runtime_dir, monkeypatch)
    for report in (left.journal(), left.feed()):
        assert [(each.attempt, each.unprovable_reasons) for each in report.unprovable_attempts] == [
            (VICTIM, [reason])
        ]


@SLOW
async def test_another_tables_opening_does_not_fit(
    tmp_path: Path, runtime_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Table T02 deals well, and T01 shows for its own attempt what T02 opened of that number."""
    other, own = tmp_path / "T02", tmp_path / "T01"
    for folder in (other, own):
        folder.mkdir()
    beside = Evening(
        name="beside", people=THREE_DEALS.people, options={"seed": 2, "table_id": "T02"}
    )
    honest = await spend(beside, {}, other, runtime_dir, monkeypatch)
    opened = {each.kind: each.data for each in honest.events if each.attempt == VICTIM}
    show = openings.AnotherTablesOpening
    monkeypatch.setattr(show, "seed_before", bytes.fromhex(opened["revealed"]["seed"]))
    monkeypatch.setattr(show, "hands_before", opened["record"])
    left = await spend(THREE_DEALS, {BOOK: show}, own, runtime_dir, monkeypatch)
    for report in (left.journal(), left.feed()):
        assert openings.NO_SEED in said(report)
        assert openings.OTHER_HANDS in said(report)
