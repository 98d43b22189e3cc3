"""The screen at a table: a match's first deal by its touches, and nothing of a hand in it."""

import re
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from controller.messages import MachinePhase, Role, Seat
from controller.seats import SEATS, next_seat
from sim.tables.table_processes import HallPlan, TableProcess
from tests.browser.people import People, Person
from tests.browser.plans import SPEED
from tests.browser.reading import too_small
from tests.browser.real_table import MEETING, order, players_of, reaches
from tests.browser.said import Said
from tests.matches.at_hall import AtHall
from tests.processes.ports import free_ports

SMALL, WIDE = (800, 480), (1024, 600)
MEANT = "button => performance.now() - button.dataset.sinceMs >= 700"
"""A touch sooner than this after a button became another one is not taken (seat.mjs)."""
HOLD_MS = 1200
LEAST_PX, TOUCH_PX = 22, 44
"""What old eyes read at arm's length on seven inches, and what a finger meets."""
FACE = re.compile(r"[♠♥♣♦](?:10|[2-9JQKA])")
LISTEN = """
(async () => {
  window.told = "";
  const answer = await fetch(`/stream${location.pathname}`);
  const reader = answer.body.getReader();
  const decoder = new TextDecoder();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    window.told += decoder.decode(value, { stream: true });
  }
})();
"""
"""Keeps all that a display is told."""


@pytest.fixture
def plan(tmp_path: Path) -> HallPlan:
    """Two tables whose daemons are where they were when they come back."""
    return HallPlan(tmp_path / "hall", tables=2, speed=SPEED, port=free_ports(4))


async def touch(page: Page, seat: Seat, say: str, *, hold_ms: int = 60) -> None:
    """Touch a button of a seat, as somebody does who has read it."""
    button = page.locator(f'.seat[data-seat="{seat}"] .row button', has_text=say)
    await expect(button).to_be_enabled()
    await page.wait_for_function(MEANT, arg=await button.element_handle())
    await button.click(delay=hold_ms)


async def says(page: Page, words: str | re.Pattern[str]) -> None:
    await expect(page.locator(".board")).to_contain_text(words)


async def comes(people: People, table: TableProcess, size: tuple[int, int] = SMALL) -> Person:
    """Log a table's display in."""
    person = await people.comes("台显", Role.TABLE, size=size, table=table.id)
    await expect(person.page).to_have_url(re.compile(f"/display/{table.id}$"))
    await expect(person.page.locator(".seat")).to_have_count(4)
    return person


async def test_a_deal_is_cut_counted_and_played_to_its_result_by_touches_of_the_display(
    people: People, tables: list[TableProcess], said: Said
) -> None:
    person = await comes(people, tables[0])
    page = person.page
    await page.evaluate(f"void {LISTEN.strip()}")
    async with AtHall(tables[0]) as at, players_of(tables[0]):
        await reaches(at, lambda state: state.machine.phase is MachinePhase.EMPTY)
        await order(at, Role.REFEREE, "set_match", "none", **MEETING)
        await touch(page, "N", said("display.do.sit"))
        north = page.locator('.seat[data-seat="N"]')
        await expect(north).to_contain_text(said("display.seated"))
        for seat in SEATS[1:]:
            await order(at, Role.TABLE, "seat", seat=seat)
        await order(at, Role.CHIEF, "start_match")
        await reaches(at, lambda state: state.match.started)
        await order(at, Role.REFEREE, "start_deal")

        cutter = (await reaches(at, lambda state: bool(state.machine.cutters))).machine.cutters[0]
        await _cut(person, said, cutter)
        state = await reaches(at, lambda state: state.fairness[-1].cut is not None)
        assert state.fairness[-1].cut == 40
        await says(page, said("display.cut-at", n=40))
        commitment = state.fairness[-1].commitment
        await says(page, " ".join(commitment[n : n + 4] for n in range(0, 16, 4)))

        await reaches(at, lambda state: state.machine.phase is MachinePhase.HELD)
        await order(at, Role.REFEREE, "release", "machine")
        await reaches(at, lambda state: state.match.phase == "count_check")
        assert await too_small(page, LEAST_PX, TOUCH_PX) == []
        await touch(page, "S", said("display.do.claim"))
        told = page.locator('.seat[data-seat="S"] .told')
        await expect(told).to_have_text(said("display.hold", what=said("display.do.claim")))
        assert at.states[-1].match.claimed is None
        await touch(page, "W", said("display.do.counted"))
        await touch(page, "E", said("display.do.counted"))
        await person.shot("count")
        for seat in ("N", "S"):
            await order(at, Role.TABLE, "confirm", "match", seat=seat)
        state = await reaches(at, lambda state: state.match.phase == "play")
        leader = state.match.leader
        assert leader is not None
        await says(page, said("display.leads"))
        await touch(page, leader, said("display.do.led"))
        await reaches(at, lambda state: state.match.led)
        for first in (leader, next_seat(next_seat(leader))):
            await touch(page, first, said("display.do.out"), hold_ms=HOLD_MS)
            is_out = said("display.do.is_out", seat=said.seat(first))
            await touch(page, next_seat(first), is_out)
        await reaches(at, lambda state: state.match.phase == "result")
        await person.shot("result")
        await touch(page, "N", said("display.do.result"))
        await touch(page, "E", said("display.do.result"))
        await reaches(at, lambda state: state.match.phase == "cut")
        turned_up = state.match.turned_up
        entries = [event.data for event in at.events if event.kind == "command"]
    assert any("台显" in str(entry) for entry in entries)
    assert await page.evaluate("told.length") > 1000
    await _nothing_of_a_hand(page, turned_up)


async def _cut(person: Person, said: Said, cutter: Seat) -> None:
    """Look at the counter, touch a number that is too small, then the one that is meant."""
    page = person.page
    board, number = page.locator(".board"), page.locator(".board .number")
    await expect(board).to_have_attribute("data-mode", "cut")
    side = await page.locator(f'.seat[data-seat="{cutter}"]').get_attribute("data-side")
    await expect(board).to_have_attribute("data-turn", str(side))
    stood = await number.inner_text()
    await expect(number).not_to_have_text(stood)  # it runs
    await person.shot("cut")
    assert await too_small(page, LEAST_PX, TOUCH_PX) == []
    pad = page.locator(".pad")
    await pad.get_by_role("button", name="4", exact=True).click()
    button = page.locator(f'.seat[data-seat="{cutter}"] .row button[data-cmd="cut"]')
    await expect(button).to_be_disabled()
    await pad.get_by_role("button", name="0", exact=True).click()
    await expect(number).to_have_text("40")
    await touch(page, cutter, said("display.do.cut_at", n=40))


async def _nothing_of_a_hand(page: Page, turned_up: str | None) -> None:
    """Look through all that the display was told, and all that stands on it."""
    told = str(await page.evaluate("told")) + await page.content()
    assert '"display"' in told
    allowed = {turned_up} if turned_up else set()
    assert set(FACE.findall(told)) <= allowed
    for word in ("landed", "refed", "seed", '"hands"', "misdeals"):
        assert word not in told


async def test_a_display_is_bound_to_its_table_and_stands_still_with_it(
    people: People, tables: list[TableProcess], said: Said
) -> None:
    people.watched.expected |= {403}
    person = await comes(people, tables[0], WIDE)
    page = person.page
    for path in ("/", "/setup", f"/table/{tables[0].id}", "/history"):
        await person.opens(path)
        await expect(page).to_have_url(re.compile(f"/display/{tables[0].id}$"))
    refused = await page.evaluate(
        """async ([table, other]) => {
          const ask = (path, body) => fetch(path, {
            method: body ? "POST" : "GET",
            headers: { "X-Dealtable": "1", "Content-Type": "application/json" },
            body: body && JSON.stringify(body),
          }).then((answer) => answer.status);
          const order = (cmd) => ({ id: `display-${cmd}`, cmd, args: {} });
          return Promise.all([
            ask(`/stream/display/${other}`), ask(`/stream/table/${table}`), ask("/stream/hall"),
            ask("/api/people"), ask(`/api/tables/${table}/told`),
            ask(`/api/tables/${other}/do`, order("call")),
            ask(`/api/tables/${table}/do`, order("release")),
          ]);
        }""",
        [tables[0].id, tables[1].id],
    )
    assert refused == [403] * 7

    call = page.locator('.seat[data-seat="S"] .row [data-cmd="call"]')
    await expect(call).to_be_enabled()
    await tables[0].stop_daemon()
    silent = said("display.standing.silent", time="")[:-1]
    await expect(page.locator("#stale")).to_contain_text(silent)
    await expect(call).to_be_disabled()
    await person.shot("silent")
    await tables[0].start_daemon()
    await expect(page.locator("#stale")).to_be_hidden()
    await touch(page, "S", said("display.do.call"), hold_ms=500)
    south, called = page.locator('.seat[data-seat="S"]'), said("display.called")
    await expect(south).to_contain_text(called)
