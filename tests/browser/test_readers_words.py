"""What the machine and the archive know, in the reader's words: hardware, reasons, penalties."""

from collections.abc import Callable

import msgspec
from playwright.async_api import expect

from controller.console.view.hardware import describe_hardware
from controller.match import match_events
from controller.messages import ClientCommand, CommandReply, ReportedBoards, Role
from controller.rules.penalties.offences import find_offence
from tests.browser.answers import Answers
from tests.browser.halls import Hall
from tests.console.carried_penalties import drawn, keep
from tests.console.draw_files import FIRST, SECOND, a_file
from tests.console.papers import a_sheet
from tests.console.states import behind
from tests.match.table import Table


async def test_bought_parts_are_named_with_what_they_cannot_promise(hall: Hall) -> None:
    state = hall.tables.snapshot("T01").state
    assert state is not None
    boards = msgspec.convert(behind("adapter", "adapter", "asked"), ReportedBoards)
    hall.tables.say("T01", msgspec.structs.replace(state, boards=boards))
    found = describe_hardware(boards)
    page = await hall.page("ref", "/table/T01")
    health = page.locator("#health-body")
    for words in (found.dealer, found.trigger, *found.cannot):
        await expect(health).to_contain_text(hall.said.either(words.zh, words.en))
    page = await hall.page("tech", "/setup")
    row = page.locator("#tables > li", has_text="T01")
    for words in (found.dealer, found.trigger, *found.cannot):
        await expect(row).to_contain_text(hall.said.either(words.zh, words.en))


async def test_why_a_ruling_corrected_a_result_stands_in_the_readers_language_on_the_sheet(
    hall: Hall, answers: Callable[[Answers], None]
) -> None:
    played = Table().started().played("NS").in_play().charged("E", "foul", deal=1)
    played.does(match_events.RulingApproved, id="R1", by="Chen", role=Role.CHIEF)
    sheet = msgspec.to_builtins(a_sheet(played, "T01"))

    def answer(table: str, command: ClientCommand) -> CommandReply | None:
        asked = (table, command.cmd) == ("T01", "sheet")
        return CommandReply(id=command.id, ok=True, result=sheet) if asked else None

    answers(answer)
    row = find_offence(played.match.rulings[0].charge.offence)
    page = await hall.page("ref", "/table/T01/sheet")
    corrected = page.locator(".between section").first
    await expect(corrected).to_contain_text(hall.said.either(row.zh, row.en))
    await expect(corrected).not_to_contain_text(hall.said.either(row.en, row.zh))


async def test_a_draw_says_before_it_is_sent_what_a_pair_brings_along(hall: Hall) -> None:
    keep(hall.console.archive, "T09", drawn())
    page = await hall.page("ref", "/draw")
    await page.locator("#event").fill("Cup")
    await page.locator("#file").set_input_files(
        {"name": "draw.csv", "mimeType": "text/csv", "buffer": a_file(FIRST, SECOND)}
    )
    brought = page.get_by_text(hall.said("draw.brought", n=1))
    await expect(brought).to_have_count(1)
    await expect(page.locator("td", has=brought)).to_contain_text("102")
