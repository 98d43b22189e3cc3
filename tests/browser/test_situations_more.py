"""The most frequent situations of a hall (REFEREE 4), from a referee's tablet: time and machines.

Slow players and the end of time, pairs that are late or sit wrongly, a machine that stops.
"""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Locator, expect

from controller.messages import Role, State
from controller.rules.rulebooks import load_profile
from controller.trials.hall import HallPlan, RunningTable
from tests.browser.pages import AtDesk, because, before_table, seat, yes
from tests.browser.people import PHONE, SOON_MS, People
from tests.browser.situations import happened
from tests.match.table import INTL, N
from tests.matches.at_hall import AtHall
from tests.matches.people import People as Players
from tests.matches.script import Deal, Script

CUP = 'title_en = "Cup"\ntitle_zh = "杯赛"\norganizer = "Club"\n'
TIMED = '[ending]\nmethod = "timed"\ntime_s = {time_s}\nlast_start_margin_s = 10\n'
QUICK = "[clocks]\nplay_s = 3\nplay_warned_s = 4\n"
SLOW = (INTL, TIMED.format(time_s=35) + 'at_time = "stop_now"\n' + QUICK)
LATE = (N, "[clocks]\nlate_s = 4\n")
BROKEN = (INTL, TIMED.format(time_s=3600))
DEALS = (Deal("NS", entered=True),) * 6


@pytest.fixture
def settled() -> tuple[str, str]:
    """A rulebook, and what the event settles beside it."""
    return BROKEN


@pytest.fixture
def plan(tmp_path: Path, settled: tuple[str, str]) -> HallPlan:
    """Two tables whose mechanics are quick, with an event's own regulations."""
    name, own = settled
    event = tmp_path / "event.toml"
    event.write_text(f'profile = "{name}"\n{CUP}{own}', encoding="utf-8")
    return HallPlan(tmp_path / "hall", tables=2, speed=1000.0, profile=name, event=event)


@pytest.fixture
async def playing(
    tables: list[RunningTable], plan: HallPlan, settled: tuple[str, str]
) -> AsyncIterator[Players]:
    """Let people play at the first table, in a knock-out."""
    profile = load_profile(settled[0], plan.event)
    async with AtHall(tables[0]) as at:
        yield Players(at, Script(profile, DEALS, stage="knockout"))


@pytest.mark.timeout(120)
@pytest.mark.parametrize("settled", [SLOW], ids=["timed"])
async def test_a_slow_player_is_counted_for_and_time_ends_a_match_that_needs_a_winner(
    people: People, tables: list[RunningTable], playing: Players
) -> None:
    referee = AtDesk(await people.comes("李娜", Role.REFEREE, size=PHONE), tables[0])
    chief = AtDesk(await people.comes("陈", Role.CHIEF), tables[0])
    await playing.play_until(lambda match: match.led)
    await referee.opens("clock")
    east = referee.page.locator(".seat-clock", has_text="Eve")
    await referee.presses("call_clock", east)
    await expect(east.locator(".left")).to_contain_text("时间到", timeout=SOON_MS)
    panel = referee.page.locator("#panel-clock")
    await expect(panel).to_contain_text("口头警告", timeout=SOON_MS)
    await referee.person.shot("overrun")
    await referee.presses("warn", east)
    await playing.until(lambda state: "play_violation" in _called(state))
    again = panel.locator(".wait", has_text="记违例")
    await again.get_by_role("button", name="去裁定").click()
    answer = referee.page.locator(".charge .answer").first
    await expect(answer).to_contain_text("出牌超时，第2次超时：记违例，停止出牌权一次（A21.1）", timeout=SOON_MS)
    await referee.rules(answer)
    await referee.opens("clock")
    await referee.presses("confirm", east)
    await playing.until(lambda state: not any(c.duty == "play" for c in state.match.clocks))
    assert [one.offence for one in playing.match.rulings] == ["delay_play"]
    assert _called(playing.state) == set()

    at = await before_table(chief.person, tables[0])
    await playing.until(lambda state: state.match.announced == "last_deal")
    await at.says("clocks", "最后一副")
    await playing.until(lambda state: state.match.announced == "time_up")
    await at.says("clocks", "时间到，不再开新副")
    await at.goes_on("stop_deal", because("时间到"))
    await playing.until(lambda state: state.match.phase == "match_check")
    await at.says("now-next", "平级")
    await at.person.shot("equal")
    print(await at.page.locator("#main").inner_text())
    await at.page.locator("#now-link a").click()
    await expect(chief.page.locator("#panel-more")).to_be_visible(timeout=SOON_MS)
    await chief.presses("extra_deal")
    asked = chief.page.locator("dialog[open]")
    await expect(asked.locator(".outlook")).to_contain_text("第2副", timeout=SOON_MS)
    print(await asked.inner_text())
    await asked.locator("input[type=text]").fill("淘汰赛须分胜负")
    await chief.answers()
    state = await playing.until(lambda state: state.match.extra)
    await chief.person.shot("extra")
    await playing.play_until(lambda match: match.phase == "over")
    print(playing.match.verdict, playing.match.score)
    at = await before_table(referee.person, tables[0])
    await at.says("result", "南北胜")
    print(await at.page.locator("#main").inner_text())
    assert 0


@pytest.mark.parametrize("settled", [LATE], ids=["late"])
async def test_a_stranger_sits_down_and_a_pair_that_does_not_come_loses_by_default(
    people: People, tables: list[RunningTable], playing: Players
) -> None:
    await playing.play_until(lambda match: match.match is not None)
    referee = await people.comes("李娜", Role.REFEREE)
    at = await before_table(referee, tables[0])

    async def stranger(asked: Locator) -> None:
        await seat("E")(asked)
        await asked.locator("input[type=text]").fill("Zhang")

    await at.orders("seat", stranger)
    await at.says("wait-list", "就座选手与对阵表不符")
    await referee.shot("stranger")
    print(await at.page.locator("#main").inner_text())
    await playing.table.press("N")
    await playing.table.press("S")
    await playing.until(lambda state: len(state.match.seated) == 3)
    chief = AtDesk(await people.comes("陈", Role.CHIEF), tables[0])
    at_chief = await before_table(chief.person, tables[0])
    await at_chief.goes_on("start_match", yes)
    await playing.until(lambda state: "late_default" in _called(state))
    await at.says("wait-list", "选手未到场，建议：弃权判负")
    await referee.shot("late")
    print(await at.page.locator("#waits").inner_text())
    desk = AtDesk(referee, tables[0])
    await desk.opens("desk")
    await desk.page.locator(".suggested button").click()
    answer = desk.page.locator(".charge .answer").first
    await expect(answer).to_be_visible(timeout=SOON_MS)
    import asyncio
    await asyncio.sleep(1)
    print(await desk.page.locator(".charge").inner_text())
    await answer.get_by_role("button", name="报裁判长").click()
    state = await playing.until(lambda state: bool(state.match.rulings))
    assert state.match.verdict is None
    await chief.opens("desk")
    case = chief.page.locator(".case").first
    await chief.presses("approve", case)
    await asyncio.sleep(1)
    print(await chief.page.locator("dialog[open]").inner_text())
    await chief.answers()
    state = await playing.until(lambda state: state.match.phase == "over")
    print(state.match.verdict, state.match.score, state.calls)
    assert 0


async def test_a_machine_that_stops_is_done_without_and_the_match_moves(
    people: People, tables: list[RunningTable], playing: Players
) -> None:
    referee = await people.comes("Li Na", Role.REFEREE, language="en")
    await playing.play_until(lambda match: match.phase == "cut")
    await playing.table.fault("jam:at=30,place=gate")
    await playing.play_until(lambda match: any(a.name == "JAM" for a in playing.state.alerts))
    at = await before_table(referee, tables[0])
    await at.says("wait-list", "jam")
    await referee.shot("jam")
    print(await at.page.locator("#main").inner_text())
    await at.orders("hold", yes)
    await playing.until(lambda state: state.match.suspended is not None)
    import asyncio
    await asyncio.sleep(2)
    await at.goes_on("resume")
    await playing.until(lambda state: state.match.suspended is None)
    await at.says("wait-list", "lost time")
    desk = AtDesk(referee, tables[0])
    await desk.opens("clock")
    await asyncio.sleep(1)
    print(await desk.page.locator("#panel-clock").inner_text())
    await desk.presses("add_time")
    await playing.until(lambda state: state.match.added_time_s > 0)

    at = await before_table(referee, tables[0])
    await at.orders("dealt_by_hand", because("the gate is jammed"))
    await playing.until(lambda state: state.match.by_hand)
    await at.says("head", "by hand")
    await referee.shot("by-hand")
    print(await at.page.locator("#now").inner_text(), playing.match.hand_duties, playing.match.cutters)
    assert 0


def _called(state: State) -> set[str]:
    """Return for what a referee is called."""
    return {call.reason for call in state.calls}
