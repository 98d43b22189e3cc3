"""From a draw in a spreadsheet to a signed sheet on paper, all in a referee's browser."""

import csv
import io
import re
from pathlib import Path

import pytest
from playwright.async_api import Page, Route, expect

from controller.messages import Role
from sim.tables.table_processes import HallPlan, TableProcess
from tests.browser.people import PHONE, TABLET, People, Person
from tests.browser.reading import too_small
from tests.browser.said import Said
from tests.browser.short_match import script, short_plan
from tests.matches import people as players
from tests.matches.at_hall import AtHall

DRAW = """台号,轮次,局,阶段,南北队号,南北队名,北,南,东西队号,东西队名,东,西
{table},3,4,积分编排,101,梅队,李娜,吴军,102,=竹队,徐敏,何宇
"""
_BEGAN = r"{start}\s*20\d\d-\d\d-\d\d \d\d:\d\d\s*{end}\s*20\d\d"
_PAGE = re.compile(rb"/Type /Page\b")


@pytest.fixture
def plan(tmp_path: Path) -> HallPlan:
    """One table whose matches are short."""
    return short_plan(tmp_path)


async def lays_out(chief: Person, said: Said, table: str, folder: Path) -> None:
    """Send a draw as Excel writes it here."""
    file = folder / "对阵.csv"
    file.write_bytes(DRAW.format(table=table).encode("gb18030"))
    page = chief.page
    await chief.opens("/draw")
    await page.locator("#event").fill("春季杯")
    await page.locator("#file").set_input_files(file)
    await chief.sees(said("draw.read-as", name=file.name, n=1, encoding="GB18030"))
    await chief.shot("draw")
    await page.locator("#send").click()
    await page.locator("dialog[open] button.danger").click()
    await chief.sees(said("draw.done"))
    await chief.sees(said("draw.result", done=1, bad=0))


async def signs(page: Page, said: Said, signer: str) -> None:
    """Let whoever it concerns sign: the first name that is offered, else the one that stands."""
    line = page.locator(".signature", has_text=signer)
    await line.locator("button.go").click()
    asked = page.locator("dialog[open]")
    names = asked.locator(".choices label")
    if await names.count():
        await names.first.click()
    await asked.locator("button.go").click()
    await page.locator("dialog[open] button.danger").click()
    signed = said.either("（已签）", "(signed)")
    await expect(line).to_contain_text(signed)


async def test_a_match_goes_from_the_draw_to_its_signed_sheet_on_paper(
    people: People, tables: list[TableProcess], plan: HallPlan, tmp_path: Path, said: Said
) -> None:
    (table,) = tables
    chief = await people.comes("Chen", Role.CHIEF)
    page = chief.page
    await lays_out(chief, said, table.id, tmp_path)
    async with AtHall(table) as hall:
        playing = players.People(hall, script(plan))
        await playing.play_until(lambda match: match.phase == "result")
        assert hall.states[-1].match.event == "春季杯"
        await chief.opens(f"/table/{table.id}/sheet")
        await chief.sees(said("sheet.open"))
        people.watched.expected |= {503}
        await page.route("**/api/tables/*/sheet", away)
        await playing.play_until(lambda match: match.phase == "over")
        await expect(page.locator("#standing")).to_contain_text(said("sheet.old"))
        await page.unroute("**/api/tables/*/sheet")
    await expect(page.locator("#standing")).to_have_text(said("sheet.live"))
    await chief.sees(f"{said.side('NS')} ({said.either('过A', 'passed A')})")
    await expect(page.locator(".deals tbody tr")).to_have_count(2)
    began = re.compile(_BEGAN.format(start=said("sheet.start"), end=said("sheet.end")))
    await expect(page.locator(".meeting")).to_contain_text(began)
    await thinks_better_of_it(page, said)
    for signer in (said.side("NS"), said.side("EW"), said("sheet.signer.referee")):
        await signs(page, said, signer)
    li_na = said("sheet.signed", person="李娜")
    await expect(page.locator(".signatures")).to_contain_text(li_na)
    await chief.shot("signed")
    await is_in_the_hand(page)
    await is_printed(page, tmp_path)
    await is_a_table_file(page, said)
    await page.locator("#back").wait_for()
    await is_kept(chief, said, table)


async def away(route: Route) -> None:
    """Answer as a console that cannot."""
    await route.fulfill(status=503, json={"error": {"en": "away", "zh": "离线"}})


async def thinks_better_of_it(page: Page, said: Said) -> None:
    """Who gives up signing has not signed, and the page is whole."""
    line = page.locator(".signature", has_text=said.side("NS"))
    await line.locator("button.go").click()
    await page.locator("dialog[open] button.plain").click()
    await expect(page.locator("dialog")).to_have_count(0)
    await expect(line.locator("button.go")).to_be_enabled()


async def is_in_the_hand(page: Page) -> None:
    """On a telephone all of it is there without moving it sideways."""
    await page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    assert await too_small(page) == []
    wide = "(one) => one.scrollWidth - one.clientWidth"
    assert await page.locator(".paper .scroll").evaluate(wide) <= 0
    await page.set_viewport_size({"width": TABLET[0], "height": TABLET[1]})


async def is_printed(page: Page, folder: Path) -> None:
    """The print is one page of A4 across."""
    file = folder / "sheet.pdf"
    await page.pdf(path=file, prefer_css_page_size=True)
    body = file.read_bytes()
    assert len(_PAGE.findall(body)) == 1
    assert re.search(rb"/MediaBox \[0 0 84[12]\S* 59[456]\S*\]", body)
    await page.emulate_media(media="print")
    for hidden in ("#shell", "#tools", ".signature button"):
        assert await page.locator(hidden).locator("visible=true").count() == 0
    ground = "getComputedStyle(document.querySelector('.paper')).color"
    assert await page.evaluate(ground) == "rgb(0, 0, 0)"
    await page.emulate_media(media="screen")


async def is_a_table_file(page: Page, said: Said) -> None:
    """The file opens in a spreadsheet, and what looks like a formula is a name."""
    async with page.expect_download() as coming:
        await page.locator("#csv").click()
    file = await (await coming.value).path()
    body = file.read_bytes()
    assert body.startswith(b"\xef\xbb\xbf")
    heading, *rows = csv.reader(io.StringIO(body.decode("utf-8-sig"), newline=""))
    named = dict(zip(heading, rows[-1], strict=True))
    pair, up = said.either("东西队名", "EW name"), said.either("上游", "UP")
    assert (len(rows), named[pair], named[up]) == (2, "'=竹队", said("sheet.seat.N"))


async def is_kept(chief: Person, said: Said, table: TableProcess) -> None:
    """The list has the match, and its sheet is there when nobody asks the table."""
    page = chief.page
    await chief.opens("/history?state=signed")
    row = page.locator("#rows tr", has_text="梅队")
    await expect(row).to_contain_text(said("history.wins", side=said.side("NS")))
    await expect(row).to_contain_text(said("history.of", n=3, all=3))
    await chief.shot("history")
    await page.route(f"**/api/tables/{table.id}/sheet", lambda route: route.abort())
    await row.get_by_role("link", name=said("history.sheet")).click()
    await chief.sees(said.either("存档：", "Stored at "))
    await expect(page.locator(".deals tbody tr")).to_have_count(2)
    await expect(page.locator(".signature button")).to_have_count(0)
    await chief.opens(f"/history?table={table.id}")
    await row.get_by_role("button", name=said("history.proofs")).click()
    await page.get_by_role("button", name=said("history.check")).click()
    await chief.sees(said("history.holds"))
    await expect(page.locator(".attempts .good")).to_have_count(2)


async def test_a_draw_with_faults_says_where_and_sends_nothing(
    people: People, tmp_path: Path, said: Said
) -> None:
    referee = await people.comes("Li Na", Role.REFEREE, size=PHONE)
    page = referee.page
    file = tmp_path / "draw.csv"
    file.write_text(DRAW.format(table="77").replace("积分编排", "甲级"), encoding="utf-8")
    await referee.opens("/draw")
    await page.locator("#file").set_input_files(file)
    await referee.sees(said("draw.faults", n=3))
    first = re.compile(said.either("2.*台号.*77", "2.*table.*table 77"))
    await expect(page.locator("#faults tr").nth(0)).to_have_text(first)
    await expect(page.locator("#send")).to_be_hidden()
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    await referee.shot("faults")
