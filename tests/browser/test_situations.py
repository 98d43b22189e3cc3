"""The most frequent situations of a hall (REFEREE 4), from a referee's tablet: cards and words.

Each is handled in real browsers at real simulated tables; what came of it stands on the page
and in the table's own feed. Charges: test_rulings.py. Time: test_match_time.py. A broken machine:
test_situations_more.py.
"""

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import expect

from controller.cards import face_text
from controller.config import CardSetSection
from controller.messages import PublicMatch, Role, Seat
from controller.rules.profile_files import load_profile
from controller.rules.ranks import is_wild, parse_level, value_at_level
from sim.tables.table_processes import HallPlan, TableProcess
from tests.browser.pages import AtDesk, AtPage, before_table, card, places, presses, yes
from tests.browser.people import PHONE, People
from tests.browser.said import Said
from tests.browser.situations import happened, orders_given
from tests.match.table import INTL
from tests.matches.at_hall import AtHall
from tests.matches.people import People as Players
from tests.matches.people import lowest
from tests.matches.script import Deal, Script
from tests.matches.watch import leaks

FACE = "[♠♥♣♦](?:10|[2-9JQKA])"
HAND = re.compile(rf'(?:{FACE}[", ]+){{3}}')
"""Three cards in a row: part of somebody's hand."""
SETS = (CardSetSection(id="S1", back="A"), CardSetSection(id="S2", back="B"))
DEALS = (Deal("NS", entered=True),) * 6


@pytest.fixture
def plan(tmp_path: Path) -> HallPlan:
    """One table with two sets, whose mechanics are quick: people are what this is about."""
    return HallPlan(tmp_path / "hall", tables=1, speed=1000.0, profile=INTL, card_sets=SETS)


@pytest_asyncio.fixture(loop_scope="session")
async def playing(tables: list[TableProcess]) -> AsyncIterator[Players]:
    """Let people play at the table."""
    async with AtHall(tables[0]) as at:
        yield Players(at, Script(load_profile(INTL), DEALS))


async def test_a_card_on_the_floor_is_found_and_a_wrong_count_takes_another_set(
    people: People, tables: list[TableProcess], playing: Players, said: Said
) -> None:
    await playing.play_until(lambda match: match.phase == "count_check")
    referee = AtDesk(await people.comes("Li Na", Role.REFEREE, size=PHONE), tables[0].id)
    await referee.opens("count")
    panel = referee.page.locator("#panel-count")
    await _claims(referee, said, "W")
    for place in ("pockets", "floor", "under"):
        await panel.get_by_text(said(f"rulings.search.{place}"), exact=True).click()
    await panel.get_by_text(said("rulings.all-as-due")).click()
    await panel.get_by_text(said("rulings.found")).click()
    await expect(panel.locator(".outcome")).to_have_text(f"✓ {said('rulings.outcome.found')}")
    await referee.presses("recount")
    await playing.until(lambda state: state.match.claimed is None)
    (counted,) = happened(playing, "Recounted")
    assert (counted["found"], counted["counts"]) == (True, dict.fromkeys("NWSE", 27))
    assert (playing.match.phase, playing.match.misdeals) == ("count_check", 0)

    await _claims(referee, said, "S")
    for each, cards in zip("NWSE", ("27", "27", "26", "27"), strict=True):
        await panel.locator(f"#count-{each}").fill(cards)
    await expect(panel.locator(".outcome")).to_contain_text(
        said.either("共107，应108", "107 in all, 108 due")
    )
    await referee.presses("recount")
    await referee.answers()
    await playing.until(lambda state: state.match.misdeals == 1)
    at = await before_table(referee.person, tables[0].id)
    doubted = said.either("张数不符", "A hand had a wrong number of cards")
    again = said.either("已放行的手牌重新发", "released hands are dealt again")
    await at.says("health", said("table.health.barred", why=doubted))
    await at.says("health", said.either("模拟硬件：没有实牌", "simulated: no real card moves"))
    await at.says("journal", re.compile(f"{again}(：|: ){doubted}"))
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
    await expect(panel.get_by_text(said("rulings.after-lead"))).to_be_visible()
    assert orders_given(playing) >= {"recount"}


async def _claims(referee: AtDesk, said: Said, seat: str) -> None:
    """Enter that a player claims a wrong count."""
    await referee.presses("claim_count")
    await referee.page.locator("dialog[open]").get_by_text(said.seat(seat), exact=True).click()
    await referee.answers()
    claim = said.either("申告张数不符", "claims a wrong count")
    await expect(referee.page.locator(".claimed")).to_contain_text(claim)


async def test_a_tribute_is_asked_about_and_a_result_that_was_written_wrongly_is_corrected(
    people: People, tables: list[TableProcess], playing: Players, said: Said
) -> None:
    referee = await people.comes("李娜", Role.REFEREE)
    await playing.play_until(lambda match: match.led)
    at = await before_table(referee, tables[0].id)
    await at.orders("result", places("NS"))
    await at.orders("confirm", yes)
    await playing.until(lambda state: state.match.deal == 2)
    assert playing.match.levels == {"NS": "5", "EW": "2"}

    await playing.play_until(_tribute_is_due)
    while playing.match.phase == "play":  # the payers hold both big jokers: who, nobody is told
        await at.says("tribute", said("table.tribute.anti"))
        # Dealt again, not played on: the match could end before a tribute is due.
        await playing.order(Role.CHIEF, "redeal", reason="cards were seen")
        await playing.until(lambda state: state.match.phase != "play")
        await playing.play_until(_tribute_is_due)
    deal = playing.match.deal or 0
    pays = said("table.tribute.pays", seat=said.seat("W"))
    await at.says("tribute", f"{pays} · {said('table.tribute.waits')}")
    await playing.play_until(lambda match: match.phase == "return")
    dealt, level = playing.dealt[-1].faces, playing.match.level or "2"
    await at.says("tribute", said("table.tribute.required", card=""))
    hand = dealt["E"]
    await _asked(at, "tribute", "E", _owed(hand, level), said("table.said.right"))
    small = face_text(lowest(playing.dealt[-1], "E", level))
    await _asked(at, "tribute", "E", small, said("table.said.wrong"))
    giver = playing.match.waiting_for[0]
    await _asked(
        at,
        "return",
        giver,
        face_text(lowest(playing.dealt[-1], giver, level)),
        said("table.return.right"),
    )
    await referee.shot("return")
    assert leaks(playing.script.profile, playing.table.states, playing.table.events) == []
    assert HAND.search(await at.page.content()) is None

    await playing.play_until(lambda match: match.deal == deal + 1 and match.led)
    desk = AtDesk(referee, tables[0].id)
    await desk.opens("correct")
    panel = desk.page.locator("#panel-correct")
    await panel.locator(".deals button").first.click()
    for each in "NWS":
        await panel.locator("button.pick", has_text=said.seat(each)).click()
    mistake = said("rulings.reason.order_entered_wrongly")
    await panel.get_by_role("button", name=mistake).click()
    choices = panel.locator(".choice")
    await expect(choices).to_have_count(3)
    for at_choice, words in enumerate(
        (
            f"{said.side('NS')} ",
            said("rulings.deal-stops", deal=deal + 1),
            said.either("级数不变", "Levels stay"),
        )
    ):
        await expect(choices.nth(at_choice)).to_contain_text(words)
    await choices.nth(1).locator("input").check()
    await desk.presses("adjust")
    await referee.sees(said("rulings.word-only"))
    await panel.get_by_text(said("rulings.by-word")).click()
    await panel.locator(".by-word input[type=text]").fill("陈")
    await desk.presses("adjust")
    await referee.shot("void-later")
    await desk.answers()
    state = await playing.until(lambda state: state.match.levels["NS"] == "4")
    assert (state.match.deal, state.match.level, state.match.phase) == (deal + 2, "4", "cut")
    (corrected,) = happened(playing, "Corrected")
    assert (corrected["by"], corrected["verbal"], corrected["deal"]) == ("陈", True, 1)
    first = panel.locator(".deals li").first
    r13 = said.either("北–西–南–东 一三 +2", "North–West–South–East R13 +2")
    await expect(first).to_contain_text(r13)
    await expect(panel.locator(".deals li").nth(1)).to_contain_text(said("rulings.does-not-count"))
    void_later = said("rulings.choice.void_later")
    await expect(panel.locator(".corrected")).to_contain_text(
        said.either(
            f"（{void_later}），裁判长陈（口头），李娜（demo 裁判员）录入：{mistake}，待书面确认",
            f"({void_later}), 陈 (chief, by word), entered by 李娜 (demo-referee): {mistake}, "
            "not confirmed in writing yet",
        )
    )
    await playing.play_until(lambda match: match.deal == deal + 2 and match.led)
    at = await before_table(referee, tables[0].id)
    await at.says("head", said("table.level", level=4))


async def _asked(at: AtPage, cmd: str, seat: Seat, which: str, answer: str) -> None:
    """Ask the table about a card that lies there, and read its answer."""
    await at.opens_groups()
    await presses(at.button(cmd))
    asked = at.page.locator("dialog[open]")
    await asked.locator(f'.pick-round .seat[data-seat="{seat}"]').click()
    await card(which)(asked)
    await asked.locator("button[type=submit]").click()
    await expect(at.page.locator("dialog[open]")).to_contain_text(answer)
    await at.page.locator("dialog[open] footer button").click()


def _tribute_is_due(match: PublicMatch) -> bool:
    """Whether a tribute is to be laid, or anti-tribute stands."""
    return (match.deal or 0) > 1 and match.phase in ("tribute", "play")


def _owed(hand: tuple[int, ...], level: str) -> str:
    """Return the card that a payer owes: his highest but for the wild one."""
    grade = parse_level(level)
    payable = [face for face in hand if not is_wild(face, grade)]
    return face_text(max(payable, key=lambda face: value_at_level(face, grade)))
