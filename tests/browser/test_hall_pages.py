"""The pages of the hall, the wall and the chief over scripted tables: what they show, and how."""

import re

import msgspec
import pytest
from playwright.async_api import Page, Route, expect

from controller.client.connection import TableConnectionState
from controller.messages import PublicPair, PublicSeatClock, Role, Tribute
from tests.browser.ears import EARS
from tests.browser.halls import Hall, listed
from tests.browser.people import PHONE, TABLET, WALL

FIRST = "#list > li:first-child"
LARGE_PX = 18
"""Letters that are read from beside the tablet."""


async def test_waiting_people_come_first_and_every_row_says_what_for_and_how_long(
    hall: Hall,
) -> None:
    page = await hall.page("ref")
    await expect(page.locator("#list > li")).to_have_count(12)
    tables = await listed(page)
    assert tables[:3] == ["T02", "T09", "T04"]  # a call, a count, a machine that stands
    assert tables[5:] == ["T01", "T03", "T05", "T06", "T08", "T10", "T11"]
    row = page.locator(FIRST)
    for words in (
        hall.said("rank.2"),
        hall.said("row.match", match=2),
        hall.said("row.level", level=5),
    ):
        await expect(row).to_contain_text(words)
    assert re.fullmatch(r"\d+:\d\d", await row.locator(".since").inner_text())

    hall.calls("T06", "东家召请裁判：贡牌", seat="E", ago_s=600)
    await expect(row).to_have_attribute("data-table", "T06")
    await expect(page.locator(".voice[role=alert]")).to_contain_text("东家召请裁判：贡牌")


async def test_only_the_rows_that_changed_are_drawn_again(hall: Hall) -> None:
    shown = hall.console.hall.parts_for(Role.REFEREE)
    since, before = shown.changes_since(0)
    page = await hall.page("ref")
    await expect(page.locator("#list > li")).to_have_count(12)
    order = await listed(page)
    await page.evaluate("""() => {
      window.changed = new Set();
      new MutationObserver((all) => {
        for (const one of all) {
          const node = one.target.nodeType === 1 ? one.target : one.target.parentElement;
          const row = node?.closest("li[data-table]");
          if (node?.closest(".since, .left")) continue; // the seconds
          if (row) changed.add(row.dataset.table);
          else if (node?.closest("#list")) changed.add("the list");
        }
      }).observe(document.querySelector("#list"),
        { subtree: true, childList: true, characterData: true, attributes: true });
    }""")
    for deal in range(3, 9):
        hall.goes_on("T05", deal)
        await expect(page.locator("li[data-table=T05]")).to_contain_text(
            hall.said("row.deal", deal=deal)
        )
    drawn = set(await page.evaluate("[...changed]"))
    if await listed(page) != order:
        drawn.discard("the list")
    # T03 deals by itself, T04 falls silent, T02 is the chief's in the end: whatever time brings.
    _, after = shown.changes_since(since)
    told = {name.removeprefix("row/") for name in after if name.startswith("row/")}
    assert "T05" in drawn
    assert drawn <= told | _waits_differ(before["waits"], shown.changes_since(0)[1]["waits"])


def _waits_differ(before: bytes | None, after: bytes | None) -> set[str]:
    """Return the tables whose wait is another one."""
    one, other = (
        {wait["table"]: wait for wait in msgspec.json.decode(told or b"[]")}
        for told in (before, after)
    )
    return {table for table in one.keys() | other.keys() if one.get(table) != other.get(table)}


async def test_it_sounds_for_who_is_new_in_his_areas_and_for_nobody_whom_somebody_goes_to(
    hall: Hall,
) -> None:
    page = await hall.page("ref")
    await page.add_init_script(EARS)
    await page.reload()
    await page.get_by_role("button", name=hall.said("sound.off")).click()
    await page.get_by_role("button", name="A", exact=True).click()
    await expect(page.locator("#list > li")).to_have_count(6)

    async def tones(table: str, words: str) -> int:
        """Let somebody call; return how many tones the page has made when it shows that."""
        before = int(await page.evaluate("tones"))
        hall.calls(table, words)
        await expect(other.locator(f"li[data-table={table}]")).to_contain_text(words)
        await hall.rests(page)
        return int(await page.evaluate("tones")) - before

    other = await hall.page("ref2")
    assert await tones("T01", "one") > 0
    assert await tones("T08", "two") == 0  # another area's
    await other.locator("li[data-table=T01]").get_by_role("button").click()
    await expect(page.locator("li[data-table=T01]")).to_contain_text(
        hall.said("row.going", person="ref2")
    )
    assert await tones("T01", "three") == 0
    await expect(page.locator("li[data-table=T01]")).to_contain_text("three")


async def test_a_table_that_somebody_gives_up_is_new_to_the_others(hall: Hall) -> None:
    page, other = await hall.page("ref"), await hall.page("ref2")
    await page.add_init_script(EARS)
    await page.reload()
    await page.get_by_role("button", name=hall.said("sound.off")).click()
    theirs = other.locator("li[data-table=T02]")
    await theirs.get_by_role("button", name=hall.other("take.of", table=2)).click()
    going = hall.said("row.going", person="ref2")
    await expect(page.locator("li[data-table=T02]")).to_contain_text(going)
    before = int(await page.evaluate("tones"))
    await theirs.get_by_role("button", name=hall.other("take.leave-of", table=2)).click()
    back = hall.said("voice.back", table=2, words="")
    await expect(page.locator(".voice[role=alert]")).to_contain_text(back)
    await hall.rests(page)
    assert int(await page.evaluate("tones")) > before
    back = hall.other("voice.back", table=2, words="")
    await expect(other.locator(".voice[role=alert]")).not_to_contain_text(back)


async def test_a_sound_that_the_browser_still_holds_back_says_so(hall: Hall) -> None:
    page = await hall.page("ref")
    await page.get_by_role("button", name=hall.said("sound.off")).click()
    await expect(page.get_by_role("button", name=hall.said("sound.on"))).to_be_visible()
    await page.reload()
    await expect(page.get_by_role("button", name=hall.said("sound.asleep"))).to_be_visible()
    await page.locator("#count").click()
    await expect(page.get_by_role("button", name=hall.said("sound.on"))).to_be_visible()


async def test_all_that_a_table_waits_for_is_one_row_in_words(hall: Hall) -> None:
    hall.tables.cut_off("T06", TableConnectionState.DOWN, ago_s=3700)
    page = await hall.page("ref")
    row = page.locator("li[data-table=T02]")
    hall.tables.cut_off("T02", TableConnectionState.DOWN, ago_s=3700)
    also = hall.said("row.also", words=hall.said.either("失联（自", "silent since"))
    await expect(row).to_contain_text(also)
    aloud = hall.said.either("北家召请裁判.*失联", "North calls the referee.*silent")
    await expect(row.locator("a")).to_have_attribute("aria-label", re.compile(aloud))
    count = await page.locator("#list > li[data-rank]:not([data-rank='9'])").count()
    waiting, unheard = hall.said("hall.waiting", n=count), hall.said("hall.unheard", n="")
    title = re.compile(f"{waiting} · {unheard.removesuffix('台')}")
    await expect(page.locator("#list-title")).to_contain_text(title)
    await expect(page).to_have_title(f"({count}) {hall.said('hall.title')}")


async def test_a_table_is_found_by_a_players_name(hall: Hall) -> None:
    page = await hall.page("ref")
    await expect(page.locator("#list > li")).to_have_count(12)
    state = hall.tables.snapshot("T05").state
    assert state is not None
    pair = PublicPair(id="9", name="荷", players={"N": "欧阳雪"})
    match = msgspec.structs.replace(state.match, pairs=state.match.pairs | {"NS": pair})
    hall.tables.say("T05", msgspec.structs.replace(state, match=match))
    await page.locator("#search").fill("欧阳")
    await expect(page.locator("#list > li")).to_have_count(1)
    assert await listed(page) == ["T05"]


async def test_who_waits_is_counted_also_where_a_filter_hides_him(hall: Hall) -> None:
    page = await hall.page("ref")
    await expect(page.locator("#list-title")).to_contain_text(hall.said("hall.waiting", n=4))
    await page.locator("#search").fill("P19")
    await expect(page.locator("#list > li")).to_have_count(1)
    waiting, hidden = hall.said("hall.waiting", n=0), hall.said("hall.hidden", n=4)
    await expect(page.locator("#list-title")).to_contain_text(f"{waiting} · {hidden}")
    await expect(page).to_have_title(f"(4) {hall.said('hall.title')}")
    await page.set_viewport_size({"width": 820, "height": 1180})
    await page.get_by_role("button", name=hall.said("hall.to-tiles"), exact=True).click()
    to_list = f"{hall.said('hall.to-list')} 4"
    await expect(page.get_by_role("button", name=to_list)).to_be_visible()


async def test_a_long_archive_is_shown_in_part_and_whole_when_asked(hall: Hall) -> None:
    page = await hall.page("obs")
    known = await (await page.request.get(f"{hall.url}/api/history")).json()
    one = known["matches"][0]
    many = [one | {"match_no": n, "match": f"M{n}"} for n in range(450)]
    await page.route("**/api/history", lambda route: route.fulfill(json={"matches": many}))
    await page.goto(f"{hall.url}/history")
    await expect(page.locator("#rows > tr")).to_have_count(200)
    await expect(page.locator("#count")).to_have_text(hall.said("history.count", n=450))
    await page.get_by_role("button", name=hall.said("history.rest", n=250)).click()
    await expect(page.locator("#rows > tr")).to_have_count(450)
    await page.locator("#find").fill("M7")
    await expect(page.locator("#rest")).to_be_hidden()


async def test_two_who_press_at_once_do_not_both_go(hall: Hall) -> None:
    hall.watched.expected |= {409}
    one, other = await hall.page("ref"), await hall.page("ref2")
    row = other.locator("li[data-table=T02]")
    await expect(row).to_be_visible()
    # His page has not heard yet that the other goes.
    await other.route("**/api/tables/T02/take", lambda route: _later(route, one))
    await row.get_by_role("button", name=hall.other("take.of", table=2)).click()
    already = hall.other.either("ref正前往", "ref is already on the way")
    await expect(other.get_by_text(already)).to_be_visible()
    await expect(row).to_contain_text(hall.other("row.going", person="ref"))


@pytest.mark.parametrize(
    ("path", "where", "button"),
    [
        ("/", "li[data-table=T02]", "take.instead"),
        ("/table/T02", "#wait-who", "table.wait.instead"),
        ("/table/T02/rulings", "#calls", "rulings.go-instead"),
    ],
)
async def test_a_table_is_taken_over_from_who_was_shown_as_going_there(
    hall: Hall, path: str, where: str, button: str
) -> None:
    hall.calls("T02", "北家召请裁判")
    hall.console.call_assignments.assign("T02", "ref2")
    page = await hall.page("ref", path)
    going = page.locator(where)
    await expect(going).to_contain_text("ref2")
    await going.locator("button", has_text=hall.said(button)).click()
    await expect(going).not_to_contain_text("ref2")
    assert hall.console.call_assignments.assigned_to("T02") == "ref"


async def _later(route: Route, one: Page) -> None:
    body = {"over": None}
    url, headers = route.request.url, {"X-Dealtable": "1"}
    assert (await one.request.post(url, data=body, headers=headers)).ok
    await route.continue_()


async def test_the_hall_is_gone_through_by_keys(hall: Hall) -> None:
    page = await hall.page("ref")
    await expect(page.locator("#list > li")).to_have_count(12)
    await page.keyboard.press("?")
    await expect(page.get_by_role("dialog")).to_contain_text(hall.said("keys.take"))
    await page.keyboard.press("Escape")
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("ArrowDown")
    await expect(page.locator("li[data-table=T09] a")).to_be_focused()
    await page.keyboard.press("t")
    await expect(page.locator("li[data-table=T09]")).to_have_attribute("data-taken", "me")
    await expect(page.locator("li[data-table=T09] a")).to_be_focused()
    await page.keyboard.press("t")
    await expect(page.locator("li[data-table=T09]")).not_to_have_attribute("data-taken", "me")
    await page.keyboard.press("/")
    await page.keyboard.type("P19")
    await expect(page.locator("#list > li")).to_have_count(1)
    await page.keyboard.press("ArrowDown")
    await expect(page.locator("li[data-table=T10] a")).to_be_focused()
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/table/T10")


@pytest.mark.parametrize(
    ("path", "named"),
    [("/", "hall.help"), ("/chief", "chief.help"), ("/table/T02/rulings", "rulings.help")],
)
async def test_the_question_mark_says_what_the_page_is_for(
    hall: Hall, path: str, named: str
) -> None:
    page = await hall.page("chief", path)
    await page.get_by_role("button", name=hall.said("help.title"), exact=True).click()
    about = hall.said(named).splitlines()
    for words in (*about, hall.said("help.orders"), hall.said("keys.title")):
        await expect(page.get_by_role("dialog")).to_contain_text(words)


async def test_the_hall_shows_the_areas_states_and_levels_that_are_asked_for(hall: Hall) -> None:
    page = await hall.page("ref", size=PHONE)
    await expect(page.locator("#list > li")).to_have_count(12)
    await expect(page.locator("#search")).to_be_hidden()  # who waits stands above
    await page.get_by_role("button", name=hall.said("hall.filters")).click()
    await page.get_by_role("button", name="A", exact=True).click()
    assert {int(table[1:]) for table in await listed(page)} <= {*range(1, 7)}
    await page.reload()  # whose area it is lasts
    await expect(page.locator("#list > li")).to_have_count(6)
    await expect(page.get_by_role("region", name=re.compile("^B"))).to_be_hidden()  # its clock
    await page.get_by_role("button", name=hall.said("hall.filters")).click()
    await page.get_by_role("button", name="A", exact=True).click()
    await page.locator("#state").select_option("dark")
    await expect(page.locator("li[data-table=T12]")).to_be_visible()
    assert set(await listed(page)) <= {"T12", "T04"}
    await page.locator("#state").select_option("all")
    await page.locator("#level").select_option("2")
    assert set(await listed(page)) == {"T03", "T08", "T11"}
    await page.get_by_role("button", name=hall.said("hall.to-tiles"), exact=True).click()
    await expect(page.locator("#tiles a")).to_have_count(3)
    await expect(page.locator("#list")).not_to_be_visible()


async def test_tables_that_are_not_heard_say_why_and_since_when(hall: Hall) -> None:
    page = await hall.page("ref")
    hall.tables.cut_off("T05", TableConnectionState.OTHER_KEY, ago_s=65)
    hall.tables.cut_off("T06", TableConnectionState.DOWN, ago_s=3700)
    silent = hall.said("standing.silent", time=r"\d\d:\d\d")
    for table, words in (
        ("T05", hall.said.either("密钥不符", "different key since ")),
        ("T06", hall.said.either("失联（自", "silent since ")),
        ("T12", hall.said.either("密钥被拒", "key refused since ")),
    ):
        row = page.locator(f"li[data-table={table}]")
        await expect(row).to_contain_text(words)
        await expect(row).to_have_attribute("data-light", "dark")
    assert (await page.locator("li[data-table=T06] .since").inner_text()).startswith("1:01:")
    tile = page.locator("#tiles a[href='/table/T06']")
    await expect(tile).to_have_attribute("aria-label", re.compile(f"6: {silent}"))


async def test_what_nobody_goes_to_for_two_minutes_becomes_the_chiefs(hall: Hall) -> None:
    chief = await hall.page("chief", "/chief")
    await hall.rests(chief)
    hall.calls("T08", "北家召请裁判", ago_s=118)
    hall.tables.turn(3)
    matter = chief.locator("[data-matter=untaken]")
    await expect(matter).to_contain_text("北家召请裁判")
    await expect(chief.locator(".voice[role=alert]")).to_contain_text(hall.said("chief.new", n=1))
    referee = await hall.page("ref")
    row = referee.locator("li[data-table=T08]")
    await expect(row).to_contain_text(hall.said("row.chiefs"))
    await row.get_by_role("button", name=hall.said("take.of", table=8)).click()
    await expect(row.locator(".chiefs")).to_be_hidden()
    await expect(matter).not_to_contain_text("北家召请裁判")


async def test_the_wall_turns_its_pages_and_tells_nothing_of_calls(hall: Hall) -> None:
    page = await hall.page("obs", "/wall", size=WALL)
    hall.calls("T01", "北家召请裁判：对方报牌不清")
    number = page.locator(".no").get_by_text("1", exact=True)
    phase = page.locator("#tables > li", has=number).locator(".phase")
    await expect(phase).to_contain_text(hall.said("wall.waits"))  # nobody has gone there
    hall.console.call_assignments.assign("T01", "ref")
    await expect(phase).to_contain_text(hall.said("wall.referee"))
    text = await page.locator("body").inner_text()
    for private in ("报牌不清", "召请", "张数不符", "calls the referee", "wrong count"):
        assert private not in text
    await expect(page.locator("#tables > li")).to_have_count(12)
    await page.set_viewport_size({"width": 700, "height": 400})
    await expect(page.locator("#tables > li")).not_to_have_count(12)
    await expect(page.locator("#tables > li").first).to_be_visible()
    before = await page.locator("#tables .no").all_inner_texts()
    await page.keyboard.press("ArrowRight")
    assert await page.locator("#tables .no").all_inner_texts() != before


async def test_the_chief_stops_an_area_and_hears_which_tables_do_not(hall: Hall) -> None:
    page = await hall.page("chief")
    area = page.locator(".area", has=page.get_by_role("heading", name="A", exact=True))
    await expect(area).to_contain_text(hall.said("area.runs"))
    resume = area.get_by_role("button", name=hall.said("area.resume"))
    await expect(resume).to_be_disabled()
    await expect(area).to_contain_text(hall.said("area.nothing-stopped"))
    pause, reason = hall.said("area.hold"), hall.said("area.reason")
    await area.get_by_role("button", name=pause).click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_role("button", name=pause).click()
    missing = hall.said("field.missing", name=reason)
    await expect(dialog.get_by_role("alert")).to_contain_text(missing)
    await dialog.get_by_label(reason).fill("火警")
    await dialog.get_by_role("button", name=pause).click()
    told = area.locator(".acts")
    paused = hall.said.act_why("hold", "火警", "chief")
    await expect(told).to_contain_text(paused)
    done = hall.said.either(r"已(受理|执行) \d", r"\d (accepted|done)")
    await expect(told).to_contain_text(re.compile(done))
    hall.stops("T02", "火警")
    in_force = hall.said.either("停表 1/", "Clocks stopped at 1 of")
    await expect(area.locator(".stop")).to_have_text(re.compile(f"{in_force}.*火警"))
    row = page.locator('#list [data-table="T02"]')
    await expect(row).to_contain_text(hall.said("stop.area-why", why="火警"))
    await expect(resume).to_be_enabled()
    referee = await hall.page("ref")
    await expect(referee.locator(".area").first).to_be_visible()
    await expect(referee.get_by_role("button", name=pause)).to_have_count(0)


@pytest.mark.parametrize(
    ("path", "where"),
    [
        ("/", "#areas .stop"),
        ("/table/T02", "#head .area-stop"),
        ("/table/T02/rulings", "#about .area-stop"),
    ],
)
async def test_that_the_clocks_of_the_area_are_stopped_is_large_on_every_page(
    hall: Hall, path: str, where: str
) -> None:
    for table in hall.tables.ids:
        if hall.is_timed(table):
            hall.stops(table, "火警")
    page = await hall.page("ref", path)
    stop = page.locator(where).first
    await expect(stop).to_contain_text("火警")
    await expect(stop).to_be_in_viewport(ratio=1)
    look = await stop.evaluate("one => getComputedStyle(one).fontSize")
    assert float(look.removesuffix("px")) >= LARGE_PX


async def test_time_is_added_to_tables_by_the_numbers_that_people_call_them(hall: Hall) -> None:
    page = await hall.page("chief")
    area = page.locator(".area", has=page.get_by_role("heading", name="A", exact=True))
    await area.get_by_role("button", name=hall.said("area.time")).click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label(hall.said("area.length"), exact=True).fill("3:30")
    which = dialog.get_by_label(hall.said("area.which"))
    await which.fill("2 7")
    submit = dialog.get_by_role("button", name=hall.said("dialog.yes"))
    await submit.click()
    not_here = hall.said("area.no-table", tables=7)
    await expect(dialog.get_by_role("alert")).to_contain_text(not_here)
    await which.fill("2、t03")
    async with page.expect_request("**/api/areas/A/time") as asked:
        await submit.click()
    said = (await asked.value).post_data_json or {}
    assert (said["tables"], said["seconds"]) == (["T02", "T03"], 210)


async def test_many_areas_are_a_line_of_clocks_of_which_one_opens(hall: Hall) -> None:
    page = await hall.page("chief", size=PHONE)
    face = page.locator(".area", has=page.get_by_role("heading", name="A", exact=True))
    await expect(face).to_contain_text(re.compile(r"\d+:\d\d"))
    pause = face.get_by_role("button", name=hall.said("area.hold"))
    more = face.get_by_role("button", name=hall.said("area.more", area="A"))
    await expect(pause).to_be_hidden()
    first = await page.locator(FIRST).bounding_box()
    assert first is not None
    assert first["y"] < PHONE[1] / 2  # who waits is seen at once
    await more.click()
    await expect(pause).to_be_visible()
    await more.click()
    await expect(pause).to_be_hidden()
    await page.set_viewport_size({"width": TABLET[0], "height": TABLET[1]})
    pauses = page.get_by_role("button", name=hall.said("area.hold"))
    await expect(pauses).to_have_count(2)  # two have room


async def test_few_tables_are_larger_on_the_wall_and_areas_of_one_time_one_clock(
    hall: Hall,
) -> None:
    page = await hall.page("obs", "/wall", size=WALL)
    await expect(page.locator("#tables > li")).to_have_count(12)
    size = "node => parseFloat(getComputedStyle(node).fontSize)"
    small = await page.locator("#tables").evaluate(size)
    await expect(page.locator("#clocks section")).to_have_count(2)
    one = hall.tables.snapshot("T01").state
    assert one is not None
    for table in hall.tables.ids[:11]:
        hall.tables.say(table, msgspec.structs.replace(one, table=table))
    await expect(page.locator("#clocks h2")).to_have_text(["A B"])
    for table in hall.tables.ids[3:]:
        hall.tables.remove(table)
    await expect(page.locator("#tables > li")).to_have_count(3)
    assert await page.locator("#tables").evaluate(size) > 1.4 * small


async def test_what_the_console_can_show_no_more_is_not_known_on_the_chiefs_page(
    hall: Hall, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = await hall.page("chief", "/chief")
    referee = await hall.page("ref")
    matters, unknown = page.locator("[data-matter] .count"), hall.said("chief.unknown")
    unsigned = page.locator('[data-matter="unsigned"]')
    await expect(unsigned.locator("li")).to_have_count(1)
    await expect(referee.locator(".area")).to_have_count(2)

    def fails(*_: object) -> None:
        raise ValueError

    made = hall.console.hall._hall_parts
    with monkeypatch.context() as patch:
        for part in ("chief", "areas"):
            patch.setitem(made, part, (fails, made[part][1]))
        await expect(unsigned.locator("li")).to_have_count(0)
        await expect(matters.filter(has_text=unknown)).to_have_count(await matters.count() - 1)
        for one in (page, referee):
            await expect(one.locator(".areas")).to_have_text(hall.said("area.unknown"))
    await expect(unsigned.locator("li")).to_have_count(1)
    await expect(matters.filter(has_text=unknown)).to_have_count(0)
    await expect(referee.locator(".area")).to_have_count(2)
    monkeypatch.setitem(made, "acts", (fails, made["acts"][1]))
    orders = referee.locator(".areas > .unknown")
    await expect(orders).to_have_text(hall.said("area.acts-unknown"))


async def test_the_display_of_a_table_that_was_let_go_shows_nothing_as_its_present(
    hall: Hall,
) -> None:
    page = await hall.page("t01", "/display/T01")
    await expect(page.locator(".seat")).to_have_count(4)
    await expect(page.locator(".board")).to_be_visible()
    await expect(page.locator("#stale")).to_be_hidden()
    hall.tables.remove("T01")
    await expect(page.locator("#stale")).to_have_text(hall.said("display.gone"))
    for part in (".seat", ".board"):
        await expect(page.locator(part).first).to_be_hidden()


async def test_the_ruling_desk_of_a_table_that_was_removed_orders_nothing(hall: Hall) -> None:
    page = await hall.page("ref", "/table/T01/rulings")
    panel = page.locator("#panel-desk")
    await expect(panel).not_to_have_attribute("inert", "")
    hall.tables.remove("T01")
    await expect(page.locator("#about")).to_contain_text(hall.said("rulings.standing.gone"))
    await expect(panel).to_have_attribute("inert", "")


async def test_only_the_players_own_display_has_their_buttons(hall: Hall) -> None:
    players = await hall.page("t01", "/display/T01")
    await expect(players.locator(".seat .row button").first).to_be_visible()
    for who in ("chief", "ref"):
        page = await hall.page(who, "/display/T01")
        await expect(page.locator(".board .head")).not_to_be_empty()
        await expect(page.locator(".seat .name").first).to_be_visible()
        await expect(page.locator(".seat .row button")).to_have_count(0)


async def test_a_page_that_hears_nothing_says_since_when(hall: Hall) -> None:
    page = await hall.page("ref")
    await expect(page.locator("#list > li")).to_have_count(12)
    await hall.close.aclose()
    banner = page.locator("p.stale")
    await expect(banner).to_be_visible()
    stale = hall.said("shell.stale", time=r"\d\d:\d\d:\d\d")
    assert re.search(stale, await banner.inner_text())
    await expect(page.locator("body")).to_have_attribute("data-stale", "yes")
    hall.watched.wrong.clear()  # what a browser says of a server that is gone


_SHOWN = """(banner) => {
  window.shown = [];
  const note = () => banner.hidden || window.shown.push(banner.textContent);
  const of = { attributes: true, childList: true, characterData: true, subtree: true };
  new MutationObserver(note).observe(banner, of);
}"""
_STANDS_STILL = """() => {
  const now = performance.now.bind(performance);
  performance.now = () => now() + 60_000;
}"""


@pytest.mark.parametrize(
    ("who", "path", "banner", "wrong"),
    [("ref", "/", "p.stale", "shell.stale"), ("t01", "/display/T01", "#stale", "display.away")],
)
async def test_a_page_that_stood_still_itself_does_not_call_the_console_silent(
    hall: Hall, who: str, path: str, banner: str, wrong: str
) -> None:
    page = await hall.page(who, path)
    await expect(page.locator("#list > li, .seat .name").first).to_be_visible()
    await page.locator(banner).evaluate(_SHOWN)
    await page.evaluate(_STANDS_STILL)
    await page.wait_for_function("() => window.shown.length > 0")
    await expect(page.locator(banner)).to_be_hidden()
    silent, _, _ = hall.said(wrong, time="|").partition("|")
    assert [words for words in await page.evaluate("shown") if silent in words] == []


async def test_a_tribute_stands_on_the_display_once(hall: Hall) -> None:
    page = await hall.page("t01", "/display/T01")
    state = hall.tables.snapshot("T01").state
    assert state is not None
    owed = Tribute(payers=["E"], returns_shown="open")
    clock = PublicSeatClock(duty="tribute", seat="E", left_s=12, running=True)
    match = msgspec.structs.replace(
        state.match,
        phase="tribute",
        next_en="tribute: East lays it face up and confirms",
        next_zh="请东家亮出贡牌后按确认",
        tribute=owed,
        clocks=[clock],
        waiting_for=["E"],
    )
    hall.tables.say("T01", msgspec.structs.replace(state, match=match))
    body = page.locator(".board .body")
    pays = hall.said("display.owes", **{"from": hall.said.seat("E")})
    left = hall.said("display.seconds", s=12)
    await expect(body).to_have_text(f"{pays} · {left}")  # and nothing else
    await expect(page.locator("#voice")).to_contain_text(hall.said.either("请东家", "East lays"))


async def test_whoever_opened_a_proof_finds_the_way_back_and_a_telephone_needs_none(
    hall: Hall,
) -> None:
    page = await hall.page("obs", "/history?round=1")
    tried = {"attempts": [{"deal": 1, "of_deal": 1, "attempt": 7, "revealed": False}]}
    await page.route("**/attempts/**", lambda route: route.fulfill(json=tried))
    await page.locator("#rows button").first.click()
    box, back = page.locator("dialog[open]"), page.locator("#back")
    title = await box.locator("h2").inner_text()
    await box.locator(".attempts a").click()
    await expect(back).to_have_text(hall.said("proof.back.history"))
    await page.locator("#large").click()
    await expect(page.locator("body")).to_have_attribute("data-large", "yes")
    await back.click()
    await expect(box.locator("h2")).to_have_text(title)  # the same match is open
    assert "round=1" in page.url

    for strange in ("?from=https://elsewhere.example/", "?from=//elsewhere.example/", ""):
        await page.goto(f"{hall.url}/proof/T01/1{strange}")
        await expect(page.locator("#said")).to_have_text(hall.said("proof.unknown"))
        await expect(back).to_be_hidden()


async def test_an_invitation_is_in_the_language_of_the_page_unless_another_is_chosen(
    hall: Hall,
) -> None:
    page = await hall.page("tech", "/setup")
    await page.locator("#invite").click()
    asked = page.locator("dialog[open]")
    await asked.get_by_label(hall.said("setup.person")).fill("李娜")
    own, other = hall.said.either("中文", "English"), hall.said.either("English", "中文")
    await expect(asked.get_by_role("radio", name=own)).to_be_checked()
    await expect(asked.get_by_role("radio", name=other)).not_to_be_checked()
    await asked.locator("button[type=submit]").click()
    await expect(page.locator("dialog[open] .code")).to_be_visible()
    everybody = await (await page.request.get(f"{hall.url}/api/people")).json()
    assert {one["name"]: one["language"] for one in everybody["people"]}["李娜"] == (
        hall.said.language
    )


async def test_two_deals_with_the_same_to_be_said_of_them_are_two_lines_for_the_chief(
    hall: Hall,
) -> None:
    state = hall.tables.snapshot("T05").state
    assert state is not None
    assert state.fairness
    proofs = [
        msgspec.structs.replace(state.fairness[0], deal=deal, uncut=True, recalled=None)
        for deal in (3, 7)
    ]
    hall.tables.say("T05", msgspec.structs.replace(state, fairness=proofs))
    page = await hall.page("chief", "/chief")
    lines = page.locator("[data-matter=integrity] li", has_text=re.compile("T05|^.*5"))
    for deal in (3, 7):
        await expect(lines.filter(has_text=hall.said("row.deal", deal=deal))).to_have_count(1)
