"""Parts of the pages' scripts, each alone in a page: an order's button, a voice, a journal."""

from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest
import pytest_asyncio
from playwright.async_api import Browser, Route, expect

from controller.messages import RefereeCall
from tests.browser.halls import Hall, hall_of
from tests.browser.said import Said


@pytest_asyncio.fixture(loop_scope="session")
async def hall(tmp_path: Path, browser: Browser, said: Said) -> AsyncIterator[Hall]:
    """Serve a console over a few tables."""
    async with hall_of(tmp_path, browser, said, 3) as found:
        yield found


async def test_what_an_order_would_ask_and_cannot_look_up_is_said_and_nothing_goes_out(
    hall: Hall,
) -> None:
    page = await hall.page("ref")
    said = await page.evaluate(
        """async () => {
          const { makeCommandButton } = await import("/static/js/command-button.mjs");
          const { Refused } = await import("/static/js/api.mjs");
          const args = () => { throw new Refused(503, { en: "no answer", zh: "没有应答" }); };
          const { node } = makeCommandButton({ table: "T01", cmd: "hold", label: "x", args });
          document.body.append(node);
          const button = node.querySelector("button");
          button.click();
          await new Promise((done) => setTimeout(done, 50));
          return [node.dataset.fate, node.querySelector(".fate").textContent, button.disabled];
        }"""
    )
    words = hall.said.either("没有应答", "no answer")
    assert said == ["refused", f"{hall.said('order.unsent')} {words}", False]


@pytest.mark.parametrize("first", ["the answer", "the stream"])
async def test_a_second_tap_behind_the_answer_is_no_second_order(hall: Hall, first: str) -> None:
    page = await hall.page("ref")
    orders: list[str] = []

    async def answer(route: Route) -> None:
        order = route.request.post_data_json
        assert order is not None
        orders.append(str(order["id"]))
        if first == "the stream":
            await page.evaluate(
                """async (id) => {
                  const { updateCommandButtons } = await import("/static/js/command-button.mjs");
                  updateCommandButtons({ orders: [{ id, fate: "done", seen: 9 }] });
                }""",
                orders[-1],
            )
        await route.fulfill(json={"reply": {"id": orders[-1], "ok": True, "result": {}}})

    await page.route("**/api/tables/T01/do", answer)
    rests = await page.evaluate(
        """async () => {
          const { makeCommandButton } = await import("/static/js/command-button.mjs");
          let button = null;
          const answered = new Promise((after) => {
            const args = { seconds: 60 };
            const time = { table: "T01", cmd: "add_time", label: "x", args, after };
            const { node } = makeCommandButton(time);
            document.body.append(node);
            button = node.querySelector("button");
          });
          button.click();
          await answered;
          button.click();
          const resting = button.disabled;
          while (button.disabled) await new Promise((done) => setTimeout(done, 20));
          return resting;
        }"""
    )
    assert rests
    assert len(orders) == 1


async def test_a_voice_says_the_same_words_again(hall: Hall) -> None:
    page = await hall.page("ref")
    said = await page.evaluate(
        """async () => {
          const { makeShell } = await import("/static/js/shell.mjs");
          const top = makeShell({ title: "x" });
          const region = document.querySelector(".voice[role=alert]");
          const heard = [];
          new MutationObserver(() => region.textContent && heard.push(region.textContent))
            .observe(region, { childList: true });
          for (let time = 0; time < 2; time += 1) {
            top.say("12", { urgent: true });
            await new Promise((done) => setTimeout(done, 150));
          }
          return heard;
        }"""
    )
    assert said == ["12", "12"]


async def test_a_frame_that_never_comes_to_a_page_left_behind_holds_nothing_back(
    hall: Hall,
) -> None:
    page = await hall.page("ref")
    drawn = await page.evaluate(
        """async () => {
          const { framed } = await import("/static/js/dom.mjs");
          let drawn = 0;
          window.requestAnimationFrame = () => 0; // no frame comes any more
          const draw = framed(() => { drawn += 1; });
          draw();
          Object.defineProperty(document, "hidden", { value: true, configurable: true });
          document.dispatchEvent(new Event("visibilitychange"));
          await new Promise((done) => setTimeout(done, 600));
          draw();
          await new Promise((done) => setTimeout(done, 600));
          return drawn;
        }"""
    )
    assert drawn == 2


_JOURNAL = """
async (steps) => {
  const { addTexts } = await import("/static/js/words.mjs");
  addTexts((await import("/static/words/table.mjs")).default);
  const parts = { input: "journal-all", button: "journal-older", p: "journal-end" };
  for (const [tag, id] of Object.entries({ ...parts, ol: "journal-list" })) {
    const node = document.createElement(tag);
    node.id = id;
    document.body.append(node);
  }
  document.getElementById("journal-all").type = "checkbox";
  const { makeEventList } = await import("/static/js/table/journal.mjs");
  const line = (n) => ({ n, kind: "x", time: "2026-11-23T10:00:00Z", en: "e", zh: "z" });
  const lines = (from, to) => Array.from({ length: to - from + 1 }, (_, at) => line(from + at));
  const older = { told: lines(41, 60), before: 41, more: true };
  window.fetch = async () => new Response(JSON.stringify(older));
  const one = makeEventList({ table: "T01", top: { tell: () => null }, path: "" });
  const found = [];
  for (const step of steps) {
    if (step) one.newest(lines(...step));
    else document.getElementById("journal-older").click();
    await new Promise((done) => setTimeout(done, 100));
    found.push(document.querySelectorAll("#journal-list li").length);
  }
  return found;
}
"""
"""Brings the newest lines, from and to, or (null) asks for older ones: 41 to 60."""


async def test_what_was_missed_while_a_journal_lay_open_leaves_no_hole_in_it(hall: Hall) -> None:
    page = await hall.page("ref")
    shown = await page.evaluate(_JOURNAL, [[61, 110], None, [111, 112], [170, 219]])
    assert shown == [50, 70, 72, 50]


_SEAT = """
async (downs) => {
  const { addTexts } = await import("/static/js/words.mjs");
  addTexts((await import("/static/words/display.mjs")).default);
  const { SeatSide } = await import("/static/js/display/seat.mjs");
  let sent = 0;
  window.fetch = async () => {
    sent += 1;
    return new Response(JSON.stringify({ reply: { ok: true, result: {} } }));
  };
  const middle = { turn: () => null, chosen: () => null };
  const side = new SeatSide("N", "south", { table: "T01", middle });
  document.body.append(side.node);
  const out = { say: "out", cmd: "out", args: { seat: "N" }, hold: true, deal: 1, attempt: 1 };
  side.draw({ name: "", buttons: [out] }, { phase: "play" }, true, true);
  await new Promise((done) => setTimeout(done, 800));
  const [button] = side.row.children;
  for (const event of downs) button.dispatchEvent(new PointerEvent(event));
  await new Promise((done) => setTimeout(done, 1500));
  return sent;
}
"""
"""A seat's button that has to be held; what fingers do to it at once, then nothing for a while."""


async def test_two_fingers_that_come_and_go_at_once_hold_nothing(hall: Hall) -> None:
    page = await hall.page("ref")
    assert await page.evaluate(_SEAT, ["pointerdown", "pointerdown", "pointerup"]) == 0


async def test_two_fingers_that_stay_are_one_order(hall: Hall) -> None:
    page = await hall.page("ref")
    assert await page.evaluate(_SEAT, ["pointerdown", "pointerdown"]) == 1


async def test_a_button_that_stays_is_not_taken_out_of_the_page_when_its_row_is_filled_anew(
    hall: Hall,
) -> None:
    page = await hall.page("ref")
    seen = await page.evaluate(
        """async () => {
          const { fill, h } = await import("/static/js/dom.mjs");
          const [one, two, three] = ["1", "2", "3"].map((name) => h("button", null, name));
          const row = h("div", null, one, two);
          document.body.append(row);
          let removed = 0;
          new MutationObserver((all) => {
            for (const each of all) if ([...each.removedNodes].includes(two)) removed += 1;
          }).observe(row, { childList: true });
          two.focus();
          fill(row, "words", three, null, two);
          fill(row, two, "words");
          fill(row, [three, two]);
          await Promise.resolve();
          return [removed, document.activeElement === two, row.textContent];
        }"""
    )
    assert seen == [0, True, "32"]


_TAPS = """async (steps) => {
  const { framed, h } = await import("/static/js/dom.mjs");
  const limits = [];
  const timeout = window.setTimeout;
  window.setTimeout = (run, ms) => (ms >= 1000 ? limits.push(run) : timeout(run, ms));
  const frame = () => new Promise((done) => {
    requestAnimationFrame(() => requestAnimationFrame(() => timeout(done, 0)));
  });
  const button = h("button", null, "x");
  document.body.append(button);
  let drawn = 0;
  const draw = framed(() => { drawn += 1; });
  const found = [];
  for (const step of steps) {
    if (step === "draw") draw();
    else if (step === "limit") limits.splice(0).forEach((run) => run());
    else button.dispatchEvent(new PointerEvent(step, { bubbles: true }));
    await frame();
    found.push(drawn);
  }
  return found;
}"""
"""What a finger does to a button, one step a frame; how often the page was drawn behind each."""


@pytest.mark.parametrize("end", ["pointerup", "pointercancel", "limit"])
async def test_a_page_is_not_drawn_beneath_a_finger_and_is_as_soon_as_it_is_lifted(
    hall: Hall, end: str
) -> None:
    page = await hall.page("ref")
    steps = ["draw", "pointerdown", "draw", "draw", end, "draw"]
    assert await page.evaluate(_TAPS, steps) == [1, 1, 1, 1, 2, 3]


async def test_a_button_keeps_the_focus_while_the_clocks_panel_is_drawn_with_each_state(
    hall: Hall,
) -> None:
    state = hall.tables.snapshot("T01").state
    assert state is not None
    late = RefereeCall(seat="E", reason="play_violation", since=state.time)
    hall.tables.say("T01", msgspec.structs.replace(state, calls=[late]))
    page = await hall.page("ref", "/table/T01/rulings#clock")
    button = page.locator("#panel-clock .wait button")
    await button.focus()
    again = msgspec.structs.replace(state, calls=[late], seq=state.seq + 1)
    hall.tables.say("T01", again)
    await hall.rests(page)
    await expect(button).to_be_focused()


async def test_no_button_orders_anything_while_the_console_is_not_heard(hall: Hall) -> None:
    page = await hall.page("ref")
    found = await page.evaluate(
        """async () => {
          const { isConnected, setConnected } = await import("/static/js/connected.mjs");
          const { makeCommandButton } = await import("/static/js/command-button.mjs");
          const { makeSender } = await import("/static/js/api.mjs");
          const { makeAreaButton } = await import("/static/js/area-button.mjs");
          const order = makeCommandButton({ table: "T01", cmd: "hold", label: "x" }).node;
          const area = makeAreaButton("A", "hold", "x", "plain", order).node;
          document.body.append(order, area);
          const disabled = () => [order.querySelector("button").disabled, area.disabled];
          setConnected(false);
          const away = [...disabled(), await makeSender("/api/tables/T01/do", {})()];
          setConnected(true);
          return [away, disabled(), isConnected()];
        }"""
    )
    unsent = {"unsent": hall.said("api.away")}
    assert found == [[True, True, unsent], [False, False], True]
    await expect(page.locator("#list > li .going button").first).to_be_enabled()
    await hall.close.aclose()
    await expect(page.locator("p.stale")).to_be_visible()
    await expect(page.locator("#list > li .going button").first).to_be_disabled()
    hall.watched.wrong.clear()  # what a browser says of a server that is gone


async def test_a_length_of_time_is_written_in_minutes_and_seconds_everywhere(hall: Hall) -> None:
    page = await hall.page("ref")
    found = await page.evaluate(
        """async () => {
          const { field } = await import("/static/js/fields.mjs");
          const limits = { min: 1, max: 7200, value: 150 };
          const made = field({ name: "seconds", kind: "span", label: "x", ...limits });
          const control = made.node.querySelector("input");
          const read = (written) => {
            control.value = written;
            const { value, fault } = made.read();
            return fault ? "no" : value;
          };
          const right = ["5", "5:30", "0：45", "５：３０", "90", "90:00", "1:05:00", "2:00:00"];
          const wrong = ["5:7", "0", "120:01", "2:00:01", "1:5:00", "1:60:00", "five"];
          const proposed = [60, 3599, 3600, 3900, 7200].map((value) =>
            field({ name: "seconds", kind: "span", label: "x", ...limits, value }).read().value);
          return [control.value, right.map(read), wrong.map(read), proposed];
        }"""
    )
    assert found == [
        "2:30",
        [300, 330, 45, 330, 5400, 5400, 3900, 7200],
        ["no"] * 7,
        [60, 3599, 3600, 3900, 7200],
    ]
