"""A page that is open all day holds no more than what it shows."""

from playwright.async_api import Browser

from controller.messages import Role
from tests.browser.contexts import new_context
from tests.browser.scripted import WHO, scripted
from tests.console.fake import PIN

HAPPENS = """async (times) => {
  const { makeEventList } = await import("/static/js/table/journal.mjs");
  const shown = makeEventList({ table: "T01", path: "/table/T01", top: {} });
  for (let last = 50; last <= 50 * times; last += 25) {
    shown.newest(Array.from({ length: 50 }, (_, at) => (
      { n: last - at, time: "2027-01-01T00:00:00Z", kind: "x", en: "e", zh: "z", deal: 1 })));
  }
  return [...document.querySelectorAll("#journal-list > li time")].map((one) => one.title);
}"""


async def test_a_tables_journal_keeps_the_newest_lines_until_somebody_asks_for_older_ones(
    browser: Browser,
) -> None:
    async with scripted() as url:
        page = await (await new_context(browser)).new_page()
        said = {"name": WHO[Role.REFEREE], "pin": PIN}
        headers = {"X-Dealtable": "1"}
        assert (await page.request.post(f"{url}/api/login", data=said, headers=headers)).ok
        await page.goto(f"{url}/table/T01")
        await page.wait_for_selector("#journal-list > li, #journal-end")
        await page.evaluate("() => byJournal = document.getElementById('journal-list').cloneNode()")
        await page.evaluate("() => document.getElementById('journal-list').replaceWith(byJournal)")
        shown = await page.evaluate(HAPPENS, 20)
    assert [int(title.split()[0]) for title in shown] == list(range(1_000, 950, -1))
