"""A machine that stops, from a referee's tablet: it is done without, and the match moves."""

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Locator, expect

from controller.messages import Role, Seat
from controller.rules.profile_files import load_profile
from controller.seats import SEATS
from sim.tables.table_processes import HallPlan, TableProcess
from tests.browser.pages import (
    AtDesk,
    AtPage,
    because,
    before_table,
    card,
    choice,
    places,
    presses,
    seat,
    yes,
)
from tests.browser.people import People, Person
from tests.browser.plans import TWO_TABLES
from tests.browser.said import Said
from tests.browser.situations import happened
from tests.match.table import INTL
from tests.matches.at_hall import AtHall
from tests.matches.people import People as Players
from tests.matches.script import Deal, Script

CUP = 'title_en = "Cup"\ntitle_zh = "杯赛"\norganizer = "Club"\n'
TIMED = '[ending]\nmethod = "timed"\ntime_s = {time_s}\nlast_start_margin_s = 5\n'
BROKEN = (INTL, TIMED.format(time_s=3600))
DEALS = (Deal("NS", entered=True),) * 6
LOST_MS = 2000
"""How long a referee looks at a machine before they give it up, by the table's own clock."""


@pytest.fixture
def settled() -> tuple[str, str]:
    """A rulebook, and what the event settles beside it."""
    return BROKEN


@pytest.fixture
def plan(tmp_path: Path, settled: tuple[str, str], how_many: int) -> HallPlan:
    """Tables whose mechanics are quick, with an event's own regulations."""
    name, own = settled
    event = tmp_path / "event.toml"
    event.write_text(f'profile = "{name}"\n{CUP}{own}', encoding="utf-8")
    return HallPlan(tmp_path / "hall", tables=how_many, speed=1000.0, profile=name, event=event)


@pytest_asyncio.fixture(loop_scope="session")
async def playing(
    tables: list[TableProcess], plan: HallPlan, settled: tuple[str, str]
) -> AsyncIterator[Players]:
    """Let people play at the first table, in a knock-out."""
    profile = load_profile(settled[0], plan.event)
    async with AtHall(tables[0]) as at:
        yield Players(at, Script(profile, DEALS, stage="knockout"))


async def test_a_stranger_who_sits_down_is_said_and_seen_to(
    people: People, tables: list[TableProcess], playing: Players, said: Said
) -> None:
    await playing.play_until(lambda match: match.match is not None)
    referee = await people.comes("李娜", Role.REFEREE)
    at = await before_table(referee, tables[0].id)

    async def stranger(asked: Locator) -> None:
        await seat("E")(asked)
        await asked.locator("input[type=text]").fill("Zhang")

    await at.orders("seat", stranger)
    another = said.either("就座选手与对阵表不符", "another player than the list has sits there")
    await at.says("wait-list", another)
    await at.says("journal", said.either("东家已就位：Zhang", "East is seated: Zhang"))
    await referee.shot("stranger")
    row = at.page.locator("#wait-list li", has_text=another)
    await row.get_by_role("button", name=said.either("已知悉", "Seen to")).click()
    await playing.until(lambda state: not state.calls)


@TWO_TABLES
async def test_a_machine_that_stops_is_done_without_and_the_match_moves(
    people: People, tables: list[TableProcess], playing: Players, said: Said
) -> None:
    here, there = tables
    referee = await people.comes("Li Na", Role.REFEREE)
    broken = _Broken(playing, here, said, referee)
    await broken.jams_and_goes_on_after_a_while()
    await broken.gets_the_time_back_that_it_lost()
    at = await before_table(referee, here.id)
    await broken.is_drawn_by_hand(at)
    await broken.is_played_to_a_double_down(at)
    await broken.has_two_equal_tributes(at)
    await broken.has_its_returns(at)
    await broken.has_an_anti_tribute(at)
    await broken.moves(await people.comes("Chen", Role.CHIEF), there)


@dataclass
class _Broken:
    """A table whose machine stops, and the referee who does without it."""

    playing: Players
    here: TableProcess
    said: Said
    referee: Person

    async def jams_and_goes_on_after_a_while(self) -> None:
        """A card jams; the referee stops the table, looks at it, and lets it go on."""
        playing = self.playing
        await playing.play_until(lambda match: match.phase == "cut")
        await playing.table.fault("jam:at=30,place=gate")
        await playing.play_until(lambda match: any(a.name == "JAM" for a in playing.state.alerts))
        at = await before_table(self.referee, self.here.id)
        jam = self.said.either("卡牌（分牌门）", "A card is jammed at the gate")
        await at.says("wait-list", jam)
        await self.referee.shot("jam")
        await at.orders("hold", yes)
        stopped = await playing.until(lambda state: state.match.suspended is not None)
        over_ms = (stopped.match.at_ms or 0) + LOST_MS
        await playing.until(lambda state: (state.match.at_ms or 0) >= over_ms)
        await at.goes_on("resume")
        await playing.until(lambda state: state.match.suspended is None)

    async def gets_the_time_back_that_it_lost(self) -> None:
        """The desk proposes how long the table stood; the referee gives that."""
        desk = AtDesk(self.referee, self.here.id)
        await desk.opens("clock")
        lost = desk.page.locator("#panel-clock")
        proposed = self.said("rulings.time-proposed", time="")
        await expect(lost).to_contain_text(proposed)
        await lost.get_by_role("button", name=self.said("rulings.give-proposed")).click()
        await self.playing.until(lambda state: state.match.added_time_s > 0)
        (added,) = happened(self.playing, "TimeAdded")
        assert added["seconds"] == self.playing.match.added_time_s >= 2

    async def is_drawn_by_hand(self, at: AtPage) -> None:
        """The first deal is shuffled, cut, turned up and drawn by people."""
        playing, said = self.playing, self.said
        await at.orders("dealt_by_hand", because("the gate is jammed"))
        await playing.until(lambda state: state.match.by_hand)
        await at.says("head", said("table.by-hand"))
        await self.referee.shot("by-hand")
        await at.goes_on("shuffled", seat("N"))
        await playing.until(lambda state: state.match.phase == "cut")
        await at.goes_on("cut_by_hand", _cut)
        await playing.until(lambda state: state.match.phase == "turnup")
        await at.goes_on("turned_up", card("♠K"))
        await playing.until(lambda state: state.match.phase == "dealing")
        await at.goes_on("hands_dealt", seat("E"))
        await playing.until(lambda state: state.match.phase == "count_check")
        by_hand = said.either("本副人工发牌", "this deal is dealt by hand")
        await at.says("journal", re.compile(f"{by_hand}(：|: )the gate is jammed"))
        await at.says("journal", said.either("翻牌：♠K", "turned up: ♠K"))

    async def is_played_to_a_double_down(self, at: AtPage) -> None:
        """Four count, East leads, and the referee enters that North and South are out."""
        playing = self.playing
        for each in SEATS:
            await playing.confirms(each)
        await playing.until(lambda state: state.match.phase == "play")
        await playing.confirms("E")
        await playing.until(lambda state: state.match.led)
        await at.goes_on("result", places("NS"))
        await at.says("now", self.said("table.green.result"))
        await at.goes_on("confirm", yes)
        await playing.until(lambda state: state.match.deal == 2)

    async def has_two_equal_tributes(self, at: AtPage) -> None:
        """Both losers pay an ace; each pays his next."""
        playing, said = self.playing, self.said
        await _drawn_by_hand(playing)
        await at.goes_on("anti", choice(said("table.pick.no")))
        await playing.until(lambda state: state.match.phase == "tribute")
        await playing.confirms("E")
        await playing.confirms("W")
        await at.says("tribute", said.either("东家进贡 · 已贡", "East pays tribute · laid"))
        await at.orders("tribute", _both_aces)
        await at.page.locator("dialog[open] footer button").click()
        state = await playing.until(lambda state: state.match.phase == "return")
        assert state.match.tribute is not None
        assert state.match.tribute.equal
        for payer, to in ("WN", "ES"):
            pays = said("table.tribute.to", giver=said.seat(payer), to=said.seat(to))
            due = said("table.tribute.required", card="A")
            await at.says("tribute", f"{pays} · {due} · {said('table.tribute.laid')}")
        await at.says("tribute", said("table.tribute.equal"))

    async def has_its_returns(self, at: AtPage) -> None:
        """Both winners give a three back, and the deal is played."""
        playing, said = self.playing, self.said
        for giver in playing.match.waiting_for:
            await at.goes_on("return", _returned(giver))
            await expect(at.page.locator("dialog[open]")).to_contain_text(
                said("table.said.entered")
            )
            await at.page.locator("dialog[open] footer button").click()
        await playing.until(lambda state: state.match.phase == "play")
        returns = said("table.tribute.returns", giver=said.seat("N"), to=said.seat("W"))
        await at.says("tribute", f"{returns} · 3 · {said('table.tribute.given')}")
        await at.person.shot("tie")
        assert playing.match.leader is not None
        await playing.confirms(playing.match.leader)
        await playing.until(lambda state: state.match.led)
        await playing.order(Role.REFEREE, "result", order=["N", "S"])
        await playing.order(Role.REFEREE, "confirm")

    async def has_an_anti_tribute(self, at: AtPage) -> None:
        """The payers hold both big jokers: nobody pays in the third deal."""
        playing, said = self.playing, self.said
        await _drawn_by_hand(playing)
        await at.goes_on("anti", choice(said("table.pick.yes")))
        await playing.until(lambda state: state.match.phase == "play")
        await at.says("tribute", said("table.tribute.anti"))
        assert playing.match.tribute is not None
        assert (playing.match.tribute.anti, playing.match.tribute.laid) == (True, [])
        assert happened(playing, "AntiAnswered")[-1]["stands"] is True

    async def moves(self, person: Person, there: TableProcess) -> None:
        """The chief moves the match to another table, where it goes on as it stood."""
        said, here = self.said, self.here
        chief = await before_table(person, here.id)
        await chief.opens_groups()
        await presses(chief.button("transfer"))
        await chief.answers(choice(there.id))
        told = chief.page.locator("dialog[open] .said")
        done = said("table.carry.done", match="M1", to=there.id)
        await expect(told).to_have_text(done)
        await chief.person.shot("moved")
        async with AtHall(there) as at_other:
            gone_on = Players(at_other, self.playing.script)
            state = await gone_on.until(lambda state: state.match.match == "M1")
            assert (state.match.deal, state.match.phase, state.match.by_hand) == (3, "play", True)
            assert state.match.added_time_s >= 2
            assert state.match.levels == {"NS": "8", "EW": "2"}
            other = await before_table(self.referee, there.id)
            came = said.either(f"M1由{here.id}台转来", f"match M1 came from {here.id}")
            await other.says("journal", came)


async def _cut(asked: Locator) -> None:
    """Answer who cut, the first who may, and at how many cards."""
    await asked.locator(".pick-round .seat:enabled").first.click()
    await asked.locator("input[type=number]").fill("40")


async def _both_aces(asked: Locator) -> None:
    """Answer which cards both payers laid."""
    await seat("E")(asked)
    await card("♠A")(asked)
    await card("♦A", field=1)(asked)


def _returned(giver: Seat) -> Callable[[Locator], Awaitable[None]]:
    """Answer a question with the card that somebody returns."""

    async def answer(asked: Locator) -> None:
        await seat(giver)(asked)
        await card("♣3")(asked)

    return answer


async def _drawn_by_hand(playing: Players) -> None:
    """Let a deal be drawn by hand, up to the question about anti-tribute."""
    await playing.order(Role.REFEREE, "dealt_by_hand", reason="the gate is jammed")
    duties = playing.match.hand_duties
    assert duties is not None
    await playing.order(Role.REFEREE, "shuffled", seat=duties.shufflers[0])
    await playing.order(Role.REFEREE, "cut_by_hand", seat=playing.match.cutters[0], n=40)
    await playing.order(Role.REFEREE, "hands_dealt")
    for each in SEATS:
        await playing.confirms(each)
    await playing.until(lambda state: state.match.phase == "anti_check")
