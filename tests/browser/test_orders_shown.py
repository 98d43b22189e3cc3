"""What pages say of orders, and of the console itself: as far as it is known, and never more."""

import asyncio
from collections.abc import Callable

import pytest
from playwright.async_api import Locator, Page, Route, expect

from controller.client.client import NoAnswer
from controller.commands.registry import refusal_reply
from controller.console.rate_limits import TokenBuckets
from controller.console.table_snapshots import StoreStatus
from controller.messages import ClientCommand, CommandReply
from tests.browser.answers import Answers
from tests.browser.halls import Hall
from tests.browser.said import Said
from tests.waiting import until


def area_a(page: Page) -> Locator:
    """Return area A on the hall's page."""
    return page.locator(".area", has=page.get_by_role("heading", name="A", exact=True))


async def stop_area(page: Page, said: Said, why: str) -> None:
    """Pause area A, as the chief."""
    await area_a(page).get_by_role("button", name=said("area.hold"), exact=True).click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label(said("area.reason")).fill(why)
    await dialog.get_by_role("button", name=said("area.hold")).click()


@pytest.fixture
def held(answers: Callable[[Answers], None]) -> list[str]:
    """Return the tables that are ordered to hold, as the orders come."""
    tables: list[str] = []

    def answer(table: str, command: ClientCommand) -> CommandReply | None:
        if command.cmd == "hold":
            tables.append(table)
        return None

    answers(answer)
    return tables


async def test_an_area_is_followed_table_by_table_and_the_rest_is_done_from_there(
    hall: Hall, answers: Callable[[Answers], None]
) -> None:
    odd = {"T02", "T03"}
    sent: list[tuple[str, ClientCommand]] = []

    def answer(table: str, command: ClientCommand) -> CommandReply | None:
        if command.cmd == "hold":
            sent.append((table, command))
            if table in odd and table == "T02":
                raise NoAnswer("no answer in 8 s")
            if table in odd:
                return refusal_reply(command.id, "OTHER_RUN")
        return None

    answers(answer)
    page = await hall.page("chief")
    await stop_area(page, hall.said, "火警")
    acts = page.locator(".area .acts section").first
    paused = hall.said.act_why("hold", "火警", "chief")
    await expect(acts).to_contain_text(paused)
    await expect(acts).to_contain_text(f"✓✓ {hall.said('area-fate.seen', n=4)}")
    for table, words in (
        ("T02", hall.said("area-why.silent")),
        ("T03", hall.said("order.other-run")),
    ):
        await expect(acts.locator("li", has_text=table)).to_contain_text(words)
    elsewhere = await hall.page("chief", "/chief")  # another page, opened later, knows it too
    await expect(elsewhere.locator(".area .acts li")).to_have_count(2)
    referee = await hall.page("ref2")
    await expect(referee.locator(".area .acts li")).to_have_count(2)
    await expect(referee.locator(".area .acts button:visible")).to_have_count(0)

    odd.clear()
    await acts.get_by_role("button", name=hall.said("area.ask-again", n=1)).click()
    await expect(acts).to_contain_text(f"✓✓ {hall.said('area-fate.seen', n=5)}")
    first, again = [command for table, command in sent if table == "T02"]
    assert first == again
    await acts.get_by_role("button", name=hall.said("area.anew", n=1)).click()
    dialog = page.get_by_role("dialog")
    await expect(dialog).to_contain_text("T03")
    await dialog.locator("button[type=submit]").click()
    await expect(acts.locator("li")).to_have_count(0)
    await expect(acts).to_contain_text(f"✓✓ {hall.said('area-fate.seen', n=1)}")


class Wire:
    """What becomes of a page's orders on one path: each `next` once, then they go through."""

    def __init__(self, *next: str) -> None:
        self.next = list(next)
        self.ids: list[str] = []

    async def sent(self, times: int) -> None:
        """Wait until so many have been sent."""
        await until(lambda: len(self.ids) == times)

    async def __call__(self, route: Route) -> None:
        """Take an order."""
        said = route.request.post_data_json
        assert said is not None
        self.ids.append(said["id"])
        what = self.next.pop(0) if self.next else "through"
        if what == "unanswered":  # it arrives, and its answer does not
            await route.fetch()
        if what in ("lost", "unanswered"):
            await route.abort()
        elif what == "through":
            await route.continue_()
        else:
            await route.fulfill(status=int(what), json={"error": {"en": "no", "zh": "不"}})


async def test_what_may_have_acted_in_an_area_is_asked_for_by_its_id_and_ordered_anew_by_another(
    hall: Hall,
) -> None:
    hall.watched.expected |= {409, 503}
    page = await hall.page("chief")
    wire = Wire("unanswered", "409", "503")
    await page.route("**/api/areas/A/hold", wire)
    await stop_area(page, hall.said, "火警")
    unsure = area_a(page).locator(".unsure")
    again = unsure.get_by_role("button")
    for n in (1, 2, 3):  # that it is refused now says nothing of the first time
        await expect(unsure).to_contain_text(hall.said("order.unknown"))
        await expect(again).to_be_enabled()
        assert len(wire.ids) == n
        await again.click()
        await wire.sent(n + 1)
    await expect(unsure).to_have_count(0)
    assert len(set(wire.ids)) == 1

    wire.next = ["lost"]
    await stop_area(page, hall.said, "冒烟")  # it asks, as it does each time
    await expect(unsure).to_contain_text(hall.said("order.unknown"))
    await stop_area(page, hall.said, "漏水")
    await expect(unsure).to_have_count(0)
    assert len(set(wire.ids)) == len(wire.ids) - 3 == 3


async def test_an_order_that_was_not_sent_is_said_so_and_leaves_nothing_to_ask(hall: Hall) -> None:
    hall.watched.expected |= {503}
    page = await hall.page("chief")
    await page.route("**/api/areas/A/hold", Wire("503"))
    await stop_area(page, hall.said, "火警")
    await expect(area_a(page).locator(".fate")).to_contain_text(hall.said("order.unsent"))
    await expect(area_a(page).locator(".unsure")).to_have_count(0)


async def test_an_order_too_many_was_not_sent_and_goes_out_when_it_is_ordered_later(
    hall: Hall, held: list[str]
) -> None:
    hall.watched.expected |= {429}
    page = await hall.page("chief")
    pace, hall.console.command_buckets = hall.console.command_buckets, TokenBuckets(0, 1.0)
    await stop_area(page, hall.said, "火警")
    fate = area_a(page).locator(".fate")
    await expect(fate).to_contain_text(hall.said("order.unsent"))
    await expect(fate).to_contain_text(hall.said.either("请稍等一秒再试", "wait a second"))
    await expect(area_a(page).locator(".unsure")).to_have_count(0)
    assert held == []
    hall.console.command_buckets = pace
    await stop_area(page, hall.said, "火警")
    await until(lambda: len(held) == 6)


async def test_an_order_that_came_too_fast_goes_out_by_itself_a_moment_later(
    hall: Hall, held: list[str]
) -> None:
    hall.watched.expected |= {429}
    page = await hall.page("chief")
    pace, hall.console.command_buckets = hall.console.command_buckets, TokenBuckets(0, 1.0)
    async with page.expect_response(lambda told: told.status == 429):
        await stop_area(page, hall.said, "火警")
    hall.console.command_buckets = pace
    await until(lambda: len(held) == 6)
    await expect(area_a(page).locator(".fate")).not_to_contain_text(hall.said("order.unsent"))


async def test_what_was_ordered_anew_without_an_answer_is_not_ordered_a_second_time(
    hall: Hall, answers: Callable[[Answers], None]
) -> None:
    odd = {"T02", "T03"}

    def answer(table: str, command: ClientCommand) -> CommandReply | None:
        if command.cmd == "hold" and table in odd:
            if table == "T02":
                raise NoAnswer("no answer in 8 s")
            return refusal_reply(command.id, "OTHER_RUN")
        return None

    answers(answer)
    page = await hall.page("chief")
    await stop_area(page, hall.said, "火警")
    acts = page.locator(".area .acts section")
    anew = acts.get_by_role("button", name=hall.said("area.anew", n=1))
    await expect(anew).to_be_visible()
    wire = Wire("lost")
    await page.route("**/api/areas/A/hold", wire)
    odd.discard("T03")
    await anew.click()
    await page.get_by_role("dialog").locator("button[type=submit]").click()
    again = acts.locator("button.again:visible")
    await expect(again).to_be_visible()
    await expect(anew).to_be_hidden()
    await again.click()
    # The older act keeps what is not known, and has nothing left to order anew.
    await expect(acts).to_have_count(2)
    await expect(acts.first).to_contain_text(f"✓✓ {hall.said('area-fate.seen', n=1)}")
    await expect(acts.last.locator("li")).to_have_count(1)
    await expect(acts.last.locator("li")).to_contain_text("T02")
    await expect(page.locator(".acts button:visible")).to_have_count(1)  # to ask T02 again
    assert len(wire.ids) == 2
    assert len(set(wire.ids)) == 1


async def test_what_a_display_may_have_sent_is_not_called_refused_by_a_later_try(
    hall: Hall,
) -> None:
    hall.watched.expected |= {409}
    page = await hall.page("ref")
    wire = Wire("unanswered", "409")
    await page.route("**/api/tables/T01/do", wire)
    told = await page.evaluate(
        """async () => {
          const { sendPress } = await import("/static/js/display/press.mjs");
          return sendPress("T01", { cmd: "hold", args: { reason: "清点" } });
        }"""
    )
    assert told is None  # it was done
    assert len(wire.ids) == 3
    assert len(set(wire.ids)) == 1


async def test_a_database_that_is_away_is_said_on_the_hall_and_to_the_chief_and_that_it_is_back(
    hall: Hall,
) -> None:
    pages = [
        await hall.page(who, path)
        for who, path in (("chief", "/chief"), ("tech", "/"), ("ref2", "/"))
    ]
    watcher = await hall.page("obs")
    for page in pages:
        await expect(page.locator(".area").first).to_be_visible()
        await expect(page.locator(".store-away")).to_be_hidden()
    hall.tables.store = StoreStatus(
        away_since_ms=hall.console.now_ms(), why="no such disk", waiting=7
    )
    chief, _, referee = pages
    for page in pages:
        await expect(page.locator(".store-away")).to_be_visible()
    await expect(chief.locator(".store-away")).to_contain_text(hall.said("store.waiting", n=7))
    await expect(referee.locator(".store-away")).to_contain_text(hall.other("store.waiting", n=7))
    await expect(watcher.locator(".store-away")).to_be_hidden()
    hall.tables.store = StoreStatus()
    for page in pages:
        await expect(page.locator(".store-away")).to_be_hidden()
    await expect(chief.locator(".lines")).to_contain_text(hall.said("store.back"))


async def hold(page: Page, said: Said) -> None:
    """Stop the table whose page it is."""
    button = page.locator('#groups .order[data-cmd="hold"] > button').first
    await button.evaluate("one => { one.closest('details.group').open = true; }")
    await button.click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label(said("table.arg.reason")).fill("清点")
    await dialog.locator("button[type=submit]").click()


async def test_an_order_for_a_run_that_is_over_is_said_so_and_ordered_anew_by_who_has_looked(
    hall: Hall, answers: Callable[[Answers], None]
) -> None:
    runs = ["OTHER_RUN"]
    ids: list[str] = []

    def answer(table: str, command: ClientCommand) -> CommandReply | None:
        if command.cmd == "hold":
            ids.append(command.id)
            if runs:
                return refusal_reply(command.id, runs.pop())
        return None

    answers(answer)
    page = await hall.page("ref", "/table/T01")
    await hold(page, hall.said)
    order = page.locator('#groups .order[data-cmd="hold"]').first
    await expect(order.locator(".fate")).to_contain_text(hall.said("order.other-run"))
    hall.calls("T01", "东家召请裁判：贡牌", seat="E")
    await expect(page.locator("#wait-list")).to_contain_text("东家召请裁判")
    assert len(ids) == 1  # nothing is given again by itself, also as the table goes on
    await order.get_by_role("button", name=hall.said("order.anew")).click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label(hall.said("table.arg.reason")).fill("清点")
    await dialog.locator("button[type=submit]").click()
    await expect(order.locator(".fate")).to_contain_text(hall.said("order.seen"))
    assert len(set(ids)) == len(ids) == 2


async def test_what_is_not_known_of_an_order_can_be_asked_for_from_any_referees_page(
    hall: Hall, answers: Callable[[Answers], None]
) -> None:
    silent = [True]
    sent: list[ClientCommand] = []

    def answer(table: str, command: ClientCommand) -> CommandReply | None:
        if command.cmd == "hold":
            sent.append(command)
            if silent:
                raise NoAnswer("no answer in 8 s")
        return None

    answers(answer)
    page = await hall.page("ref", "/table/T01")
    await hold(page, hall.said)
    order = page.locator('#groups .order[data-cmd="hold"]').first
    await expect(order.locator(".fate")).to_contain_text(hall.said("order.unknown"))
    await page.reload()  # the page forgets its button: the console does not forget the order
    other = await hall.page("ref2", "/table/T01")
    technician = await hall.page("tech", "/table/T01")
    line = other.locator("#mine-list > li").first
    await expect(technician.locator("#mine-list > li").first).to_contain_text("ref")
    await expect(technician.locator("#mine-list button")).to_be_hidden()
    silent.clear()
    await line.locator("button").click()
    await expect(line).to_contain_text(hall.other("table.fate.done"))
    mine = page.locator("#mine-list > li").first
    await expect(mine).to_contain_text(hall.said("table.fate.done"))
    assert sent[0] == sent[1]
    assert len(sent) == 2


class Relay:
    """A network between browsers and a console. `cut`: lines that are open go without a word."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._whole = asyncio.Event()
        self._whole.set()
        self._lines: set[asyncio.Task[None]] = set()
        self._ends: list[asyncio.StreamWriter] = []

    def cut(self) -> None:
        """Let nothing through any more on the lines that are open; new ones may be opened."""
        self._whole.clear()
        self._whole = asyncio.Event()
        self._whole.set()

    async def line(self, near: asyncio.StreamReader, to_near: asyncio.StreamWriter) -> None:
        """Carry one connection."""
        whole = self._whole
        far, to_far = await asyncio.open_connection("127.0.0.1", self._port)

        async def carry(source: asyncio.StreamReader, to: asyncio.StreamWriter) -> None:
            while data := await source.read(65_536):
                if not whole.is_set():
                    await asyncio.Event().wait()
                to.write(data)
                await to.drain()
            to.close()

        self._ends += [to_near, to_far]
        both = [asyncio.create_task(carry(near, to_far)), asyncio.create_task(carry(far, to_near))]
        self._lines.update(both)

    async def close(self) -> None:
        """Leave no line."""
        for task in self._lines:
            task.cancel()
        await asyncio.gather(*self._lines, return_exceptions=True)
        for end in self._ends:
            end.transport.abort()
        await asyncio.gather(*(end.wait_closed() for end in self._ends), return_exceptions=True)


async def test_a_line_that_went_without_a_word_is_said_to_be_gone_and_another_one_is_tried(
    hall: Hall,
) -> None:
    relay = Relay(int(hall.url.rpartition(":")[2]))
    server = await asyncio.start_server(relay.line, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    console, hall.url = hall.url, f"http://127.0.0.1:{port}"
    try:
        page = await hall.page("ref")
        await expect(page.locator("#list > li")).to_have_count(12)
        relay.cut()
        await expect(page.locator("p.stale")).to_be_visible()
        hall.calls("T06", "东家召请裁判：贡牌", seat="E", ago_s=600)
        await expect(page.locator("p.stale")).to_be_hidden()
        first = page.locator("#list > li:first-child")
        await expect(first).to_have_attribute("data-table", "T06")
    finally:
        hall.url = console
        server.close()
        await relay.close()
