"""What pace a Modbus line holds: the table of deploy/MODBUS.md is what is measured here."""

import asyncio
import random
import re
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from sim.mechanics.mechanics_settings import MechanicsSettings
from tests.adapters.modbus_rig import TURNAROUND_MS, WiredTable, example
from tests.sim.host import Host
from tests.sim.orders import order_of

pytestmark = pytest.mark.virtual

PAGE = (Path(__file__).parents[2] / "deploy" / "MODBUS.md").read_text()
ROWS = {
    int(baud): (int(round_ms), int(stop_ms), int(card_ms))
    for baud, round_ms, stop_ms, card_ms in re.findall(
        r"^\| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$", PAGE, re.MULTILINE
    )
}
CARDS = 32


async def measured(baud: int) -> tuple[int, int, int]:
    """Return a round of reads, the latest stop behind the window, and a card, in milliseconds."""
    boots = count(100)
    settings = MechanicsSettings(cards=CARDS)
    table = WiredTable(
        settings, random.Random(1), boots=lambda: next(boots), told=example(baud=baud)
    )
    loop = asyncio.get_running_loop()
    came_s, late_ms = 0.0, 0.0

    def sense(name: str, value: int) -> None:
        nonlocal came_s
        if name == "window" and value:
            came_s = loop.time()

    def drive(name: str, value: int) -> None:
        nonlocal late_ms
        if name == "feed" and not value and table.world.dealer.levels["window"]:
            late_ms = max(late_ms, (loop.time() - came_s) * 1000)

    table.world.dealer.attach(sense)
    table.drives.also = drive
    host = Host(table.port("dealer"), table.port("reader"))
    try:
        await asyncio.sleep(5)
        round_ms = table.hal.round_ms
        assert round_ms is not None
        await host.open()
        await host.deal(1, order_of(CARDS))
        taken_s = table.world.truth().mechanical_s
        assert taken_s is not None
        return round(round_ms), round(late_ms), round(taken_s * 1000 / CARDS)
    finally:
        host.close()
        table.close()


def test_the_page_says_under_what_it_was_measured(scale: Callable[[int], int]) -> None:
    assert f"answers {TURNAROUND_MS:.0f} ms" in PAGE
    assert set(ROWS) == {115_200, 57_600, 38_400, 19_200, 9_600}


@pytest.mark.parametrize("baud", ROWS)
async def test_a_line_holds_the_pace_that_the_page_promises(baud: int) -> None:
    round_ms, stop_ms, card_ms = await measured(baud)
    said_round_ms, most_stop_ms, said_card_ms = ROWS[baud]
    assert round_ms == pytest.approx(said_round_ms, rel=0.1, abs=2)
    assert most_stop_ms / 2 < stop_ms <= most_stop_ms
    assert card_ms == pytest.approx(said_card_ms, rel=0.1)
