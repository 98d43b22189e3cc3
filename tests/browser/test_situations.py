"""The most frequent situations of a hall (REFEREE 4), from a referee's tablet: cards and words.

Each is handled in real browsers at real simulated tables; what came of it stands on the page
and in the table's own feed. Time, late players and broken machines: test_situations_more.py.
"""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Locator, expect

from controller.cards import face_text, parse_face
from controller.config import CardSet
from controller.messages import Role, Seat
from controller.rules.levels import parse_grade
from controller.rules.order import is_wild, value
from controller.rules.rulebooks import load_profile
from controller.trials.hall import HallPlan, RunningTable
from tests.browser.pages import AtDesk, before_table, seat
from tests.browser.people import PHONE, SOON_MS, People
from tests.browser.situations import happened, orders_given
from tests.match.table import INTL
from tests.matches.at_hall import AtHall
from tests.matches.people import People as Players
from tests.matches.script import Deal, Script

SETS = (CardSet(id="S1", back="A"), CardSet(id="S2", back="B"))
DEALS = (Deal("NS", entered=True), Deal("NS", entered=True), Deal("EW", entered=True))


@pytest.fixture
def plan(tmp_path: Path) -> HallPlan:
    """One table with two sets, whose mechanics are quick: people are what this is about."""
    return HallPlan(tmp_path / "hall", tables=1, speed=1000.0, card_sets=SETS)


@pytest.fixture
async def playing(tables: list[RunningTable]) -> AsyncIterator[Players]:
    """Let people play at the table."""
    async with AtHall(tables[0]) as at:
        yield Players(at, Script(load_profile(INTL), DEALS))


async def test_a_card_on_the_floor_is_found_and_a_wrong_count_takes_another_set(
    people: People, tables: list[RunningTable], playing: Players
) -> None:
    await playing.play_until(lambda match: match.phase == "count_check")
    referee = AtDesk(await people.comes("Li Na", Role.REFEREE, size=PHONE), tables[0])
    await referee.opens("count")
    panel = referee.page.locator("#panel-count")
    await _claims(referee, "西")
    for place in ("四个牌槽口", "地面", "桌下"):
        await panel.get_by_text(place, exact=True).click()
    await panel.get_by_text("四家均与应有张数相符").click()
    await panel.get_by_text("找到的牌已归位").click()
    await expect(panel.locator(".outcome")).to_have_text("✓ 找到的牌归位，张数无误：继续比赛")
    await referee.presses("recount")
    await playing.until(lambda state: state.match.claimed is None)
    (counted,) = happened(playing, "Recounted")
    assert (counted["found"], counted["counts"]) == (True, dict.fromkeys("NWSE", 27))
    assert (playing.match.phase, playing.match.misdeals) == ("count_check", 0)

    await _claims(referee, "南")
    for each, cards in zip("NWSE", ("27", "27", "26", "27"), strict=True):
        await panel.locator(f"#count-{each}").fill(cards)
    await expect(panel.locator(".outcome")).to_contain_text("共107，应108")
    await referee.presses("recount")
    await referee.answers()
    state = await playing.until(lambda state: state.match.misdeals == 1)
    print([(c.reason) for c in state.calls], state.alerts, state.sets, state.machine)

    at = await before_table(referee.person, tables[0])
    import asyncio

    await asyncio.sleep(1)
    print(await at.page.locator("#main").inner_text())
    await at.person.shot("x")
    await at.says("journal", "清点张数不符")
    await playing.table.hands("lay_down")
    await playing.table.hands("change_set", "S2")
    await referee.opens("count")
    await referee.presses("replace_set")
    asked = referee.page.locator("dialog[open]")
    await asked.get_by_text("S2").click()
    await referee.answers()
    state = await playing.until(lambda state: state.machine.card_set == "S2")
    await playing.play_until(lambda match: match.led)
    assert (playing.match.attempt, playing.state.machine.set_out) == (2, "S2")
    assert {one.id: bool(one.barred) for one in playing.state.sets} == {"S1": True, "S2": False}
    await expect(panel.get_by_text("领出牌之后不再重发")).to_be_visible(timeout=SOON_MS)
    assert orders_given(playing) >= {"recount"}


async def _claims(referee: AtDesk, seat: str) -> None:
    """Enter that a player claims a wrong count."""
    await referee.presses("claim_count")
    await referee.page.locator("dialog[open]").get_by_text(seat, exact=True).click()
    await referee.answers()
    await expect(referee.page.locator(".claimed")).to_contain_text("申告张数不符", timeout=SOON_MS)
