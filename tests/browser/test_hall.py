"""The hall over real tables: a call that is taken, a table that goes and comes back."""

import re
from pathlib import Path

import pytest
from playwright.async_api import expect

from controller.faults import Language
from controller.messages import Role, Seat
from sim.tables.table_processes import HallPlan, TableProcess
from tests.browser.ears import EARS
from tests.browser.people import PHONE, People, Person
from tests.browser.plans import SPEED
from tests.browser.said import Said
from tests.browser.settled import rests
from tests.processes.ports import free_ports

_TIME = r"\d\d:\d\d"


@pytest.fixture
def plan(tmp_path: Path) -> HallPlan:
    """Two tables that are found in the same place after their daemons were started again."""
    return HallPlan(tmp_path / "hall", tables=2, speed=SPEED, port=free_ports(4))


async def call(table: TableProcess, seat: Seat) -> None:
    """Let somebody press red at a table."""
    async with table.client(Role.TABLE) as client:
        reply = await client.ask("call", {"seat": seat})
        assert reply.ok, reply.error


async def hears(person: Person) -> None:
    """Switch the sound on, with a counter for a loudspeaker."""
    await person.page.add_init_script(EARS)
    await person.opens("/")
    off = Said(person.language)("sound.off")
    await person.page.get_by_role("button", name=off).click()
    await person.page.wait_for_function("() => tones > 0")


async def test_a_call_is_taken_by_one_referee_and_silent_for_the_other(
    people: People, tables: list[TableProcess], said: Said
) -> None:
    theirs_is: Language = "en" if said.language == "zh" else "zh"
    other_said = Said(theirs_is)
    one = await people.comes("李娜", Role.REFEREE)
    other = await people.comes("Wang Qiang", Role.REFEREE, language=theirs_is, size=PHONE)
    for person in (one, other):
        await hears(person)
    await one.sees(said("hall.nobody-waits"))
    await other.sees(other_said("hall.nobody-waits"))

    await call(tables[0], "E")
    row = one.page.locator("#list > li").first
    east, other_east = (each.either("东家", "East") for each in (said, other_said))
    await expect(row).to_contain_text(east)
    await expect(row).to_have_attribute("data-rank", "2")
    await expect(one.page.locator(".voice[role=alert]")).to_contain_text(east)
    theirs = other.page.locator("#list > li").first
    await expect(theirs).to_contain_text(other_east)
    for person in (one, other):
        await person.page.wait_for_function("() => tones > 1")
    await one.shot("a-call")

    await row.get_by_role("button", name=said("take.take")).click()
    await expect(row).to_have_attribute("data-taken", "me")
    await expect(theirs).to_contain_text(other_said("row.going", person="李娜"))
    await other.shot("taken-by-another")

    before = [await person.page.evaluate("tones") for person in (one, other)]
    await call(tables[0], "W")  # the table waits for somebody who is on his way
    also = (said("row.also", words=""), other_said("row.also", words=""))
    for person, words in zip((one, other), also, strict=True):
        await expect(person.page.locator("#list > li").first).to_contain_text(words)
        await rests(person.page)
    assert [await person.page.evaluate("tones") for person in (one, other)] == before

    await row.get_by_role("button", name=said("take.there")).click()
    await one.sees(said("hall.nobody-waits"))
    await other.sees(other_said("hall.nobody-waits"))


async def test_a_table_that_is_unplugged_is_never_shown_as_present_and_comes_back(
    people: People, tables: list[TableProcess], said: Said
) -> None:
    referee = await people.comes("李娜", Role.REFEREE)
    row = referee.page.locator("li[data-table='T01-01']")
    tile = referee.page.locator("#tiles a[href='/table/T01-01']")
    await expect(row).to_have_attribute("data-light", "calm")

    await tables[0].stop_daemon()
    silent = said.either("失联", "silent since")
    await expect(row).to_contain_text(silent)
    await expect(row).to_have_attribute("data-light", "dark")
    await expect(tile).to_have_attribute("data-light", "dark")
    since = re.compile(rf"T01-01: {said('standing.silent', time=_TIME)}")
    await expect(tile).to_have_attribute("aria-label", since)
    await expect(referee.page.locator("li[data-table='T01-02']")).to_have_attribute(
        "data-light", "calm"
    )
    await referee.shot("unplugged")

    await tables[0].start_daemon()
    await expect(row).not_to_contain_text(silent)
    await expect(tile).not_to_have_attribute("data-light", "dark")
