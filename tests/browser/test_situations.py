"""The most frequent situations of a hall (REFEREE 4), from a referee's tablet: cards and words.

Each is handled in real browsers at real simulated tables; what came of it stands on the page
and in the table's own feed. Time, late players and broken machines: test_situations_more.py.
"""

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import expect

from controller.cards import face_text
from controller.config import CardSet
from controller.messages import Match, Role, Seat
from controller.rules.levels import parse_grade
from controller.rules.order import is_wild, value
from controller.rules.rulebooks import load_profile
from controller.trials.hall import HallPlan, RunningTable
from tests.browser.pages import AtDesk, AtPage, before_table, card, places, yes
from tests.browser.people import PHONE, SOON_MS, People
from tests.browser.situations import happened, orders_given
from tests.match.table import INTL, N
from tests.matches.at_hall import AtHall
from tests.matches.people import People as Players
from tests.matches.people import lowest
from tests.matches.script import Deal, Script
from tests.matches.watch import leaks

FACE = "[♠♥♣♦](?:10|[2-9JQKA])"
HAND = re.compile(rf'(?:{FACE}[", ]+){{3}}')
"""Three cards in a row: part of somebody's hand."""
SETS = (CardSet(id="S1", back="A"), CardSet(id="S2", back="B"))
DEALS = (Deal("NS", entered=True),) * 6


@pytest.fixture
def rules() -> str:
    """The rulebook that is played by; a test that needs another names it."""
    return INTL


@pytest.fixture
def plan(tmp_path: Path, rules: str) -> HallPlan:
    """One table with two sets, whose mechanics are quick: people are what this is about."""
    return HallPlan(tmp_path / "hall", tables=1, speed=1000.0, profile=rules, card_sets=SETS)


@pytest.fixture
async def playing(tables: list[RunningTable], rules: str) -> AsyncIterator[Players]:
    """Let people play at the table."""
    async with AtHall(tables[0]) as at:
        yield Players(at, Script(load_profile(rules), DEALS))


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
    await playing.until(lambda state: state.match.misdeals == 1)
    at = await before_table(referee.person, tables[0])
    await at.says("health", "停用：张数不符，重新发牌")
    await at.says("journal", "已放行的手牌重新发：张数不符")
    await playing.table.hands("lay_down")
    await playing.table.hands("change_set", "S2")
    await referee.opens("count")
    await referee.presses("replace_set")
    asked = referee.page.locator("dialog[open]")
    await asked.get_by_text("S2").click()
    await referee.answers()
    await playing.until(lambda state: state.machine.card_set == "S2")
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


@pytest.mark.parametrize("rules", [N])
async def test_words_out_of_turn_are_warned_and_cards_out_of_turn_cost_a_level(
    people: People, tables: list[RunningTable], playing: Players
) -> None:
    await playing.play_until(lambda match: match.led)
    referee = AtDesk(await people.comes("李娜", Role.REFEREE, size=PHONE), tables[0])
    await referee.opens("desk")
    answer = await referee.accuses("Eve", "越序表态（含出牌的手势、动作或语言）", by="Nan")
    await expect(answer).to_contain_text("口头警告 R6.2")
    await expect(answer).to_contain_text("该方本副第1次")
    await expect(referee.remedy).to_have_text("牌的处理：由应出牌者继续出牌。")
    await referee.rules(answer)
    (one,) = playing.match.rulings
    assert (one.penalty, one.state, one.approved_by) == ("warning", "decided", "李娜 (referee)")
    await referee.counts("警告", "0", "1")

    chief = AtDesk(await people.comes("陈", Role.CHIEF), tables[0])
    await chief.opens("desk")
    await chief.counts("警告", "0", "1")
    await expect(chief.page.locator(".case")).to_contain_text("裁定：李娜（裁判员）")
    answer = await chief.accuses("Wu", "越序出牌", by="Sun")
    await expect(chief.remedy).to_contain_text("牌局继续进行")
    await expect(answer.locator(".effects")).to_have_text("南北加1级，牌局继续")
    await expect(answer.locator(".outlook")).to_contain_text("南北 2 → 3", timeout=SOON_MS)
    await chief.person.shot("a-level")
    await chief.rules(answer, grave=True)
    state = await playing.until(lambda state: len(state.match.rulings) == 2)
    assert state.match.levels == {"NS": "3", "EW": "2"}
    assert (state.match.phase, state.match.level) == ("play", "2")
    await chief.counts("犯规", "0", "1")
    assert [one["id"] for one in happened(playing, "RulingApproved")] == ["R1", "R2"]
    at = await before_table(chief.person, tables[0])
    await at.says("head", "南北3 · 东西2")
    await at.says("ruled", "越序出牌 · 记犯规 (R6.2) · 生效")


async def test_wrong_plays_and_a_report_that_was_forgotten_are_judged_and_counted(
    people: People, tables: list[RunningTable], playing: Players
) -> None:
    await playing.play_until(lambda match: match.led)
    referee = AtDesk(await people.comes("Li Na", Role.REFEREE, language="en"), tables[0])
    await referee.opens("desk")
    for penalty, effect in (
        ("oral warning", "no. 1 of this pair"),
        ("violation", "E neither leads nor follows for one trick"),
    ):
        answer = await referee.accuses("Eve", "cards left not reported", by="Nan")
        await expect(answer).to_contain_text(f"{penalty} A12.1–2")
        await expect(answer).to_contain_text(effect)
        await expect(referee.remedy).to_contain_text("play taken back to the moment")
        await referee.rules(answer)
    await referee.counts("Warnings", "0", "1")
    await referee.counts("Violations", "0", "1")

    answer = await referee.accuses("Nan", "play out of turn", by="Eve")
    await expect(answer).to_contain_text("no penalty A17.2.1")
    await expect(answer).to_contain_text("N does not play this time")
    await expect(referee.remedy).to_contain_text("who was passed over plays or passes")
    await referee.rules(answer)

    await referee.opens("judge")
    deck = referee.page.locator("#panel-judge .deck")
    for one in ("♠9", "♥9", "♣9", "♦J"):
        await deck.get_by_role("button", name=one, exact=True).click()
    await expect(referee.page.locator(".verdict")).to_contain_text("not legal", timeout=SOON_MS)
    await referee.page.locator(".ruling").get_by_role("button").click()
    kinds = referee.page.locator(".kinds li")
    await expect(kinds).to_have_text(["single", "pair", "triple"], timeout=SOON_MS)

    await referee.opens("desk")
    answer = await referee.accuses(
        "Sun", "wrong play, or a card exposed with it, by who led", by="Wu"
    )
    await expect(referee.remedy).to_contain_text("the player on his left names a combination")
    others = referee.page.locator(".charge .others")
    await others.locator("summary").click()
    violation = others.locator('.answer[data-penalty="violation"]')
    await expect(violation).to_contain_text("S neither leads nor follows for one trick")
    await violation.get_by_role("button", name="Propose to the chief").click()
    state = await playing.until(lambda state: len(state.match.rulings) == 4)
    assert [one.state for one in state.match.rulings] == ["decided"] * 3 + ["proposed"]
    await referee.counts("Violations", "0", "1")

    chief = AtDesk(await people.comes("Chen", Role.CHIEF, language="en"), tables[0])
    await chief.opens("desk")
    case = chief.page.locator(".case").first
    await expect(case).to_contain_text("S neither leads nor follows for one trick")
    await chief.presses("approve", case)
    await playing.until(lambda state: state.match.rulings[-1].state == "decided")
    await referee.counts("Violations", "1", "1")
    assert [one["id"] for one in happened(playing, "RulingApproved")] == ["R1", "R2", "R3", "R4"]
    at = await before_table(referee.person, tables[0])
    await at.says("journal", "wrong play, or a card exposed with it")
    assert playing.match.levels == {"NS": "2", "EW": "2"}


async def test_a_tribute_is_asked_about_and_a_result_that_was_written_wrongly_is_corrected(
    people: People, tables: list[RunningTable], playing: Players
) -> None:
    referee = await people.comes("李娜", Role.REFEREE)
    await playing.play_until(lambda match: match.led)
    at = await before_table(referee, tables[0])
    await at.orders("result", places("NS"))
    await at.orders("confirm", yes)
    await playing.until(lambda state: state.match.deal == 2)
    assert playing.match.levels == {"NS": "5", "EW": "2"}

    await playing.play_until(_tribute_is_due)
    while playing.match.phase == "play":  # the payers hold both big jokers: who, nobody is told
        await at.says("tribute", "抗贡成立，不进贡")
        await playing.play_until(lambda match: match.phase == "cut")
        await playing.play_until(_tribute_is_due)
    deal = playing.match.deal or 0
    await at.says("tribute", "西家进贡 · 待贡")
    await playing.play_until(lambda match: match.phase == "return")
    dealt, level = playing.dealt[-1].faces, playing.match.level or "2"
    await at.says("tribute", "应贡 ")
    hand = dealt["E"]
    await _asked(at, "tribute", "E", _owed(hand, level), "正确")
    await _asked(at, "tribute", "E", face_text(min(hand)), "贡错：不是应贡的牌")
    giver = playing.match.waiting_for[0]
    await _asked(
        at, "return", giver, face_text(lowest(playing.dealt[-1], giver, level)), "符合规定"
    )
    await referee.shot("return")
    assert leaks(playing.script.profile, playing.table.states, playing.table.events) == []
    assert HAND.search(await at.page.content()) is None

    await playing.play_until(lambda match: match.deal == deal + 1 and match.led)
    desk = AtDesk(referee, tables[0])
    await desk.opens("correct")
    panel = desk.page.locator("#panel-correct")
    await panel.locator(".deals button").first.click()
    for each in "北西南":
        await panel.locator("button.pick", has_text=each).click()
    await panel.get_by_role("button", name="名次录入有误").click()
    choices = panel.locator(".choice")
    await expect(choices).to_have_count(3)
    await expect(choices.nth(0)).to_contain_text("南北 ", timeout=SOON_MS)
    await expect(choices.nth(1)).to_contain_text(
        f"正在打的第{deal + 1}副终止，不计", timeout=SOON_MS
    )
    await expect(choices.nth(2)).to_contain_text("级数不变", timeout=SOON_MS)
    await choices.nth(1).locator("input").check()
    await desk.presses("adjust")
    await referee.sees("填写口头同意的裁判长姓名")
    await panel.get_by_text("裁判长已口头同意").click()
    await panel.locator(".by-word input[type=text]").fill("陈")
    await desk.presses("adjust")
    await referee.shot("void-later")
    await desk.answers()
    state = await playing.until(lambda state: state.match.levels["NS"] == "4")
    assert (state.match.deal, state.match.level, state.match.phase) == (deal + 2, "4", "cut")
    (corrected,) = happened(playing, "Corrected")
    assert (corrected["by"], corrected["verbal"], corrected["deal"]) == ("陈", True, 1)
    first = panel.locator(".deals li").first
    await expect(first).to_contain_text("北–西–南–东 一三 +2", timeout=SOON_MS)
    await expect(panel.locator(".deals li").nth(1)).to_contain_text("作废")
    await expect(panel.locator(".corrected")).to_contain_text("（其后各副作废），陈：名次录入有误")
    await playing.play_until(lambda match: match.deal == deal + 2 and match.led)
    at = await before_table(referee, tables[0])
    await at.says("head", "本副打4")


async def _asked(at: AtPage, cmd: str, seat: Seat, which: str, answer: str) -> None:
    """Ask the table about a card that lies there, and read its answer."""
    await at.opens_groups()
    button = at.button(cmd).locator("> button").first
    await expect(button).to_be_enabled(timeout=SOON_MS)
    await button.click()
    asked = at.page.locator("dialog[open]")
    await asked.locator(f'.pick-round .seat[data-seat="{seat}"]').click()
    await card(which)(asked)
    await asked.locator("button[type=submit]").click()
    await expect(at.page.locator("dialog[open]")).to_contain_text(answer, timeout=SOON_MS)
    await at.page.locator("dialog[open] footer button").click()


def _tribute_is_due(match: Match) -> bool:
    """Whether a tribute is to be laid, or anti-tribute stands."""
    return (match.deal or 0) > 1 and match.phase in ("tribute", "play")


def _owed(hand: tuple[int, ...], level: str) -> str:
    """Return the card that a payer owes: his highest but for the wild one."""
    grade = parse_grade(level)
    payable = [face for face in hand if not is_wild(face, grade)]
    return face_text(max(payable, key=lambda face: value(face, grade)))
