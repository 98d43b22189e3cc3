"""Routing by face through rejects: unseen deal by deal, and seen over many of them."""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from controller.deal.sequence import sequence
from controller.journal.attempt_history import AttemptHistory, attempt_histories
from controller.journal.packed_board_events import unpack_opened
from controller.journal.verify.card_course import SEATS, TRAY, trace_course
from controller.journal.verify.sources import read_source
from sim.lab.collected_deals import CollectedDeals, ReadingOutcome, make_deals, number_cards
from sim.lab.family import judge_deals
from sim.tables.table_in_process import TableInProcess
from tests.cheats.changed import DEALING, TABLE, Evening, keep, said, spend
from tests.cheats.evenings import one_deal
from tests.cheats.rejects import CARDS, LyingDealing, LyingTable

pytestmark = [pytest.mark.virtual, pytest.mark.slow]
DEALS = 3000
LYING = {TABLE: LyingTable, DEALING: LyingDealing}


def many(deals: int) -> Evening:
    """Return an evening of so many deals."""

    async def people(at: TableInProcess) -> None:
        for _ in range(deals):
            await one_deal(at)
        await asyncio.sleep(1)

    return Evening(name=f"{deals} deals", people=people, faults=("unreadable:rate=0.005,times=5",))


def opened(progress: AttemptHistory) -> tuple[bytes, list[int], list[int], list[int]]:
    """Return faces, pockets due, pockets got and verdicts of a played deal, by place."""
    committed, revealed = progress.data("committed"), progress.data("revealed")
    record = progress.data("record")
    assert committed is not None
    assert revealed is not None
    assert record is not None
    seen = trace_course(unpack_opened(record["events"], progress.attempt), CARDS)
    drawn = sequence(
        bytes.fromhex(committed["commitment"]),
        bytes.fromhex(revealed["seed"]),
        revealed["cut"],
        CARDS,
    )
    placed = seen.cards_by_place()
    in_tray = {card.place for card in seen.cards.values() if card.landed == TRAY}
    places = range(1, CARDS + 1)
    return (
        bytes.fromhex(record["hands"]),
        [SEATS.index(letter) for letter in drawn],
        [SEATS.index(str(placed[place].landed)) for place in places],
        [ReadingOutcome.TRAY if place in in_tray else ReadingOutcome.ACCEPTED for place in places],
    )


def of_the_feed(log: Path) -> CollectedDeals:
    """Return what a console's log has of the deals: as much as any stranger knows."""
    entries = [chained.entry for chained in read_source(log).entries]
    rows = [
        opened(progress)
        for progress in attempt_histories(entries).values()
        if progress.outcome == "ok"
    ]
    faces, waiting, seats, verdicts = zip(*rows, strict=True)
    return make_deals(number_cards([list(one) for one in faces]), waiting, seats, verdicts)


@pytest.mark.parametrize("parts", [{}, LYING], ids=["honest", "routing by face"])
async def test_cards_of_the_tray_lie_where_luck_would_lay_them_or_the_lab_says_so(
    parts: Mapping[str, Any],
    tmp_path: Path,
    runtime_dir: Path,
    monkeypatch: pytest.MonkeyPatch,
    scale: Callable[[int], int],
) -> None:
    left = await spend(many(scale(DEALS)), parts, tmp_path, runtime_dir, monkeypatch)
    assert (said(left.journal()), said(left.feed())) == ("", "")
    outside = judge_deals(of_the_feed(keep(tmp_path / "log", [], left.events))).outside
    assert ("tray-face" in outside) is bool(parts)
    assert bool(outside) is bool(parts)
