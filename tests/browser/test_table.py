"""The page of one table: a deal run from it, a call, a hand, a match that moves, who may not."""

import re

import pytest
from playwright.async_api import Locator, expect

from controller.match import match_events
from controller.messages import MachinePhase, PublicState, Role
from controller.seats import SEATS
from sim.tables.console_process import ConsoleProcess
from sim.tables.table_processes import TableProcess
from tests.browser.halls import PlayedHall
from tests.browser.pages import before_table, choice, presses, seat, yes
from tests.browser.people import PHONE, TABLET, People
from tests.browser.plans import TWO_TABLES
from tests.browser.reading import too_small
from tests.browser.real_table import MEETING, order, players_of, reaches
from tests.browser.said import Said
from tests.matches.at_hall import AtHall
from tests.waiting import until

FACE = re.compile(r"[♠♥♣♦](?:10|[2-9JQKA])")
HAND = re.compile(rf"(?:{FACE.pattern}[\", ]+){{3}}")


async def hands_out(at: AtHall) -> PublicState:
    """Bring a match to its first hands, which lie with the players."""
    await reaches(at, lambda state: state.machine.phase is MachinePhase.EMPTY)
    await order(at, Role.REFEREE, "set_match", **MEETING)
    for each in SEATS:
        await order(at, Role.REFEREE, "seat", seat=each)
    await order(at, Role.CHIEF, "start_match")
    await reaches(at, lambda state: state.match.started)
    await order(at, Role.REFEREE, "start_deal")
    await reaches(at, lambda state: state.machine.phase is MachinePhase.COMMITTED)
    await order(at, Role.REFEREE, "cut", "machine", n=40, seat="S")
    await reaches(at, lambda state: state.machine.phase is MachinePhase.HELD)
    await order(at, Role.REFEREE, "release", "machine")
    return await reaches(at, lambda state: state.match.phase == "count_check")


async def in_play(at: AtHall) -> PublicState:
    """Bring a match to its first lead."""
    await hands_out(at)
    for each in SEATS:
        await order(at, Role.REFEREE, "confirm", "match", seat=each)
    state = await reaches(at, lambda state: state.match.phase == "play")
    leader = state.match.leader
    await order(at, Role.REFEREE, "confirm", "match", seat=leader)
    return await reaches(at, lambda state: state.match.led)


@pytest.mark.parametrize("size", [None, PHONE], ids=["tablet", "phone"])
async def test_a_referee_runs_a_practice_deal_from_the_page(
    people: People, tables: list[TableProcess], said: Said, size: tuple[int, int] | None
) -> None:
    person = await people.comes("Li Na", Role.REFEREE, size=size or (1024, 768))
    async with players_of(tables[0]):
        at = await before_table(person, tables[0].id)
        await at.orders("start_deal")
        await at.says("machine", said("table.machine.committed"))
        await expect(at.button("start_deal")).to_contain_text(
            said.either("不切牌", "Deal without a cut")
        )

        async def cut(asked: Locator) -> None:
            await asked.locator("input[type=number]").fill("40")
            await asked.locator(".pick-round .seat:enabled").first.click()

        await at.orders("cut", cut)
        await at.says("machine", said("table.machine.held"))
        await at.says("machine", said("table.machine.fed", fed=108, cards=108))
        await person.shot("held")
        await at.orders("release", yes)
        await at.says("machine", said("table.machine.released"))
        await at.says("journal", said.either("手牌已放行", "the hands are released"))
        await at.says("proof", said("table.proof.cut", n=40))
        let_out = said.either("放行 · 已执行", "Release the hands · done")
        await at.says("mine", f"Li Na · {let_out}")
        wide = await person.page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0


async def test_a_player_calls_and_the_referee_says_that_he_is_there(
    people: People, tables: list[TableProcess], said: Said
) -> None:
    person = await people.comes("Li Na", Role.REFEREE)
    at = await before_table(person, tables[0].id)
    async with AtHall(tables[0]) as hall:
        await reaches(hall, lambda state: state.machine.phase is MachinePhase.EMPTY)
        await hall.table.control.request("press", name="south_red")
        await at.says("waits", said.either("南家 · 召请裁判", "South · the referee is called"))
        await hall.table.control.request("release", name="south_red")
        await person.shot("called")
        await person.opens(f"/table/{tables[0].id}/rulings")
        call = person.page.locator("#calls")
        words = said.either("南：召请裁判 · 已等", "South: the referee is called · ")
        await expect(call).to_contain_text(words)
        await expect(call).to_contain_text(said("rulings.call-free"))
        await call.get_by_role("button", name=said("rulings.i-go")).click()
        taken = said("rulings.call-taken", who="Li Na")
        await expect(call).to_contain_text(taken)
        at = await before_table(person, tables[0].id)
        attend = at.page.locator('#wait-list .order[data-cmd="attend"] > button').first
        await attend.click()
        await reaches(hall, lambda state: not state.calls)
    await expect(at.page.locator("#wait-list > li")).to_have_count(0)
    south = said.either("南家(召请裁判|取消召请)", "South (calls the referee|took the call back)")
    await at.says("journal", re.compile(south))


async def test_a_referee_says_for_the_players_what_green_means_in_each_phase(
    played: PlayedHall, said: Said
) -> None:
    played.people.released()
    at = await before_table(await played.comes("ref", size=PHONE), "T01")
    green = at.page.locator('#now .order[data-cmd="confirm"] > button').first
    await expect(green).to_have_text(said("table.green.count_check"))
    assert await too_small(at.page) == []
    await at.goes_on("confirm", seat("W"))
    await until(lambda: played.match.waiting_for == ["N", "S", "E"])
    for each in ("N", "S", "E"):
        played.people.does(match_events.HandCounted, seat=each)
    await expect(green).to_have_text(said("table.green.lead"))
    await at.goes_on("confirm", yes)  # there is one who leads
    await until(lambda: played.match.led)
    played.people.out("NS")
    await expect(green).to_have_text(said("table.green.result"))
    await at.goes_on("confirm", choice(said.side("EW")))
    await until(lambda: played.match.confirmed == ["EW"])
    await at.goes_on("confirm", yes)  # both, where nothing else is said
    await until(lambda: played.match.deal == 2)


@pytest.mark.parametrize("size", [TABLET, PHONE], ids=["tablet", "phone"])
async def test_a_countdown_is_seen_without_scrolling(
    played: PlayedHall, said: Said, size: tuple[int, int]
) -> None:
    played.people.in_play().does(match_events.LeadMade).does(
        match_events.PlayClockStarted, seat="E"
    )
    at = await before_table(await played.comes("ref", size=size), "T01")
    clock = at.page.locator("#clock-list > li", has_text=said("table.duty.play"))
    await expect(clock).to_be_in_viewport(ratio=1)
    await at.person.opens("/table/T01/rulings#clock")
    left = at.page.locator(".seat-clock", has_text="Eve").locator(".left")
    await expect(left).to_contain_text(":")
    await expect(left).to_be_in_viewport(ratio=1)


async def test_a_role_that_may_not_sees_why(played: PlayedHall, said: Said) -> None:
    referees = said.either("限裁判员、裁判长", "only for: referee, chief referee")
    for name, role in (("obs", Role.OBSERVER), ("tech", Role.TECHNICIAN)):
        at = await before_table(await played.comes(name), "T02")
        await at.opens_groups()
        all_of_them = await at.page.locator("#groups .group").count()
        await at.page.reload()  # as another language does
        opened = at.page.locator("#groups details.group[open]")
        await expect(opened).to_have_count(all_of_them)
        for cmd in ("start_deal", "hold", "set_match"):
            await expect(at.button(cmd).locator("> button").first).to_be_disabled()
            await expect(at.button(cmd).locator(".why")).to_have_text(referees)
        tests = at.button("selftest").locator("> button").first
        if role is Role.TECHNICIAN:
            await expect(tests).to_be_enabled()
        else:
            technicians = said("table.offer.role", roles=said("role.technician"))
            await expect(at.button("selftest").locator(".why")).to_have_text(technicians)


async def test_only_the_chief_opens_a_hand_and_nothing_of_it_stays(
    people: People, tables: list[TableProcess], at_console: ConsoleProcess, said: Said
) -> None:
    async with players_of(tables[0]), AtHall(tables[0]) as hall:
        turned_up = (await in_play(hall)).match.turned_up
        referee = await before_table(await people.comes("Li Na", Role.REFEREE), tables[0].id)
        await referee.opens_groups()
        await expect(referee.button("open_hand").locator(".why")).to_have_text(
            said("table.offer.role", roles=said("role.chief"))
        )
        chief = await before_table(await people.comes("Chen", Role.CHIEF), tables[0].id)

        async def whose(asked: Locator) -> None:
            await seat("E")(asked)
            await asked.locator("input[type=text]").fill("how many has he")

        await chief.opens_groups()
        await presses(chief.button("open_hand"))
        asked = chief.page.locator("dialog[open]")
        await whose(asked)
        await asked.locator("button[type=submit]").click()
        await expect(chief.page.locator("dialog[open] .hand .card")).to_have_count(27)
        assert FACE.search(await chief.page.locator("dialog[open]").inner_text())
        await chief.person.shot("hand")
        await chief.page.locator("dialog[open] footer button").click()
        await expect(chief.page.locator("dialog")).to_have_count(0)
        looked = said.either("开验东家手牌", "looked at the hand of East")
        await referee.says("journal", re.compile(f"{looked}(：|: )how many has he"))
        for at in (chief, referee):
            assert set(FACE.findall(await at.page.content())) <= {turned_up}
    for kept in at_console.folder.iterdir():
        if kept.is_file():
            assert not HAND.search(kept.read_bytes().decode(errors="replace")), kept


@TWO_TABLES
async def test_a_match_moves_to_another_table_while_a_deal_is_played(
    people: People, tables: list[TableProcess], said: Said
) -> None:
    here, there = tables
    async with players_of(here), AtHall(here) as hall, AtHall(there) as other:
        await in_play(hall)
        await reaches(other, lambda state: state.machine.phase is MachinePhase.EMPTY)
        at = await before_table(await people.comes("Chen", Role.CHIEF), here.id)
        await at.opens_groups()
        await presses(at.button("transfer"))
        asked = at.page.locator("dialog[open]")
        await expect(asked).to_contain_text(said("table.carry.title", match="M1"))
        await asked.get_by_text(there.id).click()
        await asked.locator("button[type=submit]").click()
        steps = at.page.locator("dialog[open] .steps li")
        await expect(at.page.locator("dialog[open] .said")).to_have_text(
            said("table.carry.done", match="M1", to=there.id)
        )
        await expect(steps.last).to_contain_text(said.either("已执行", "done"))
        await at.person.shot("moved")
        state = await reaches(other, lambda state: state.match.match == "M1")
        assert (state.match.deal, state.match.led) == (1, True)
        await at.page.get_by_role("link", name=said("table.carry.open", to=there.id)).click()
        await at.page.wait_for_url(f"**/table/{there.id}")
        await at.says("head", "Plum")
        await at.says("journal", said.either(f"M1由{here.id}台转来", f"M1 came from {here.id}"))
        at_old = await before_table(at.person, here.id)
        await at_old.says(
            "journal", said.either(f"M1转至{there.id}台", f"M1 continues at {there.id}")
        )
