"""First set-up in a browser: a table found on the network, compared, admitted; people invited."""

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest_asyncio
from playwright.async_api import Locator, expect

from controller.cli.console import make_console_keys
from controller.config import load_table
from controller.faults import Language
from controller.gateway.announcement import announce
from controller.keys.enrolment import admit_file
from controller.messages import Role
from controller.roster import CLIENTS_FOLDER, KEYS_FOLDER, TABLE_NAME, fingerprint, read_certificate
from sim.tables.console_process import ConsoleProcess, run_console
from sim.tables.table_processes import TableProcess
from tests.browser.people import PHONE, PIN, People, Person
from tests.browser.said import Said
from tests.console.fake import QUICK
from tests.gateway.multicast import needs_multicast


@pytest_asyncio.fixture(loop_scope="session")
async def at_console(tables: list[TableProcess], tmp_path: Path) -> AsyncIterator[ConsoleProcess]:
    """Run a console that knows no table yet, with keys of its own."""
    folder = tmp_path / "console"
    make_console_keys(folder / CLIENTS_FOLDER, "Hall 1")
    async with run_console([], folder, hasher=QUICK) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="session")
async def announced(tables: list[TableProcess]) -> AsyncIterator[TableProcess]:
    """Let the first table say on this computer's own network that it is there."""
    table = tables[0]
    task = asyncio.create_task(announce(load_table(table.config), table.endpoints))
    yield table
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


def mark_of(table: TableProcess) -> str:
    """What `dealtable keys fingerprint` prints at a table."""
    return fingerprint(read_certificate(table.state_dir / KEYS_FOLDER / f"{TABLE_NAME}.key"))


def listed(person: Person, table: TableProcess) -> Locator:
    return person.page.locator("#tables > li", has_text=table.id)


async def carry_keys(person: Person, table: TableProcess, folder: Path) -> None:
    """Download the console's certificates and have the table admit them, as the page says."""
    told = await person.page.locator("#commands").inner_text()
    links = person.page.locator("#keys a.button")
    await expect(links).to_have_count(len(Role))
    for at in range(len(Role)):
        async with person.page.expect_download() as coming:
            await links.nth(at).click()
        download = await coming.value
        file = folder / download.suggested_filename
        await download.save_as(file)
        assert f"dealtable keys admit table.toml {file.name}" in told
        await expect(person.page.locator("#keys")).to_contain_text(
            fingerprint(read_certificate(file))
        )
        admit_file(table.state_dir, file)


@needs_multicast
async def test_a_technician_sets_a_table_up_and_invites_a_referee_who_sees_it(
    people: People, announced: TableProcess, tmp_path: Path, said: Said
) -> None:
    people.watched.expected |= {409}  # a fingerprint that is another one
    tech = await people.comes("技术员", Role.TECHNICIAN)
    await tech.opens("/setup")
    page, mark = tech.page, mark_of(announced)
    found = page.locator("#found > li", has_text=announced.id)
    await expect(found).to_contain_text(mark.rpartition("-")[0] + "-????")
    assert mark not in await page.content()

    async def take(group: str) -> None:
        await found.get_by_role("button", name=said("setup.take.new")).click()
        asked = page.locator("dialog[open]")
        await asked.get_by_label(said("setup.last-group")).fill(group)
        await asked.get_by_label(said("setup.which-area")).fill("甲")
        await tech.shot("compare")
        await asked.locator("button[type=submit]").click()

    await take("0000" if not mark.endswith("0000") else "1111")
    await tech.sees(said.either("指纹不符", "this key has another fingerprint"))
    await expect(listed(tech, announced)).to_have_count(0)
    await take(mark[-4:])
    row = listed(tech, announced)
    await expect(row).to_contain_text(said("setup.area", area="甲"))
    refused = said("setup.standing.key_refused", time="")[:-1]
    await expect(row).to_contain_text(refused)
    await expect(row).to_contain_text(mark)
    await tech.shot("refused")
    await carry_keys(tech, announced, tmp_path)
    await expect(row).to_contain_text(said("setup.standing.live"))
    simulated = said.either("模拟硬件：没有实牌", "simulated: no real card moves")
    await expect(row).to_contain_text(simulated)
    await tech.shot("connected")

    await page.locator("#invite").click()
    asked = page.locator("dialog[open]")
    await asked.get_by_label(said("setup.person")).fill("李娜")
    await asked.locator("button[type=submit]").click()
    code = await page.locator("dialog[open] .code").inner_text()
    await expect(page.locator("dialog[open] .qr svg path")).to_be_visible()
    await tech.shot("code")
    await _accepts(people, said, code, announced)


async def _accepts(people: People, said: Said, code: str, table: TableProcess) -> None:
    """Let somebody scan the code with his telephone, choose a PIN, and find the table."""
    his: Language = "en" if said.language == "zh" else "zh"
    li = await people.stranger("李娜", Role.REFEREE, size=PHONE, language=his)
    await li.opens(f"/invited#{code}")
    await expect(li.page.locator("#code")).to_have_value(code)
    assert code not in li.page.url
    await li.page.get_by_role("button", name=said.either("中文", "English")).click()
    await li.sees(said("invited.title"))
    await expect(li.page.locator("#code")).to_have_value(code)
    await li.page.locator("#pin").fill(PIN)
    await li.page.locator("#again").fill("9999")
    await li.page.locator("#accept").click()
    await li.sees(said("invited.differ"))
    await li.shot("invited")
    await li.page.locator("#again").fill(PIN)
    await li.page.locator("#accept").click()
    await li.page.wait_for_url(lambda url: urlsplit(url).path == "/")
    await li.sees(table.id)
    used = await people.stranger(size=PHONE)
    people.watched.expected |= {403}
    await used.opens(f"/invited#{code}")
    for field in ("#pin", "#again"):
        await used.page.locator(field).fill(PIN)
    await used.page.locator("#accept").click()
    await used.sees(
        said.either(
            "邀请码无效、已使用或已过期", "this invitation is not known, was used, or is over"
        )
    )


async def test_a_table_is_added_by_hand_and_let_go_again(
    people: People, tables: list[TableProcess], said: Said
) -> None:
    tech = await people.comes("Tech", Role.TECHNICIAN, size=PHONE)
    await tech.opens("/setup")
    page, table = tech.page, tables[0]
    feed, commands = (
        urlsplit(address).port or 0 for address in (table.endpoints.feed, table.endpoints.commands)
    )
    await page.locator("#by-hand").click()
    asked = page.locator("dialog[open]")
    await asked.get_by_label(said("setup.id")).fill(table.id)
    await asked.get_by_label(said("setup.host")).fill("127.0.0.1")
    await asked.get_by_label(said("setup.feed")).fill(str(feed))
    await asked.get_by_label(said("setup.commands")).fill(str(commands))
    await asked.locator("input[type=file]").set_input_files(
        table.state_dir / KEYS_FOLDER / f"{TABLE_NAME}.key"
    )
    await expect(asked.locator("textarea")).to_have_value(re.compile("public-key"))
    await asked.get_by_label(said("setup.last-group")).fill(mark_of(table)[-4:])
    await tech.shot("by-hand")
    await asked.locator("button[type=submit]").click()
    row = listed(tech, table)
    refused = said("setup.standing.key_refused", time="")[:-1]
    await expect(row).to_contain_text(refused)
    await tech.shot("refused")
    await row.get_by_role("button", name=said("setup.remove")).click()
    await page.locator("dialog[open] button[type=submit]").click()
    await expect(row).to_have_count(0)
