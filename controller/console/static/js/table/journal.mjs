// The events of a table in plain words, the newest first. Older pages are read on request.

import { get } from "../api.mjs";
import { byId, data, fill, h, keyed, shown, text } from "../dom.mjs";
import { storedValue, storeValue } from "../storage.mjs";
import { timeOfDay } from "../time.mjs";
import { say, textOf } from "../words.mjs";

/** Make the list of events. Call `newest(lines)` with the lines of the stream. */
export function makeEventList(ctx) {
  const lines = new Map();
  const nodes = new Map();
  let before = null;
  let began = 0; // how often the list was restarted after missed lines
  const all = byId("journal-all");
  all.checked = storedValue("journal-all", false);
  all.addEventListener("change", () => {
    storeValue("journal-all", all.checked);
    draw();
  });
  byId("journal-older").addEventListener("click", older);

  function newest(told) {
    const next = Math.max(...lines.keys()) + 1;
    const missed = told.length && !told.some((one) => one.n <= next);
    if (missed) {
      before = null;
      began += 1;
    }
    // Restart the list if lines were missed, or if no older lines were read: a page is open all day.
    if (missed || (before === null && !byId("journal-older").disabled)) lines.clear();
    for (const one of told) lines.set(one.n, one);
    draw();
  }

  async function older() {
    const button = byId("journal-older");
    button.disabled = true;
    const since = began;
    try {
      const page = await get(`/api/tables/${encodeURIComponent(ctx.table)}/told?before=${before ?? Math.min(...lines.keys())}`);
      if (since === began) take(page); // otherwise the page belongs to an earlier list
    } catch (error) {
      ctx.top.tell(error.message, "bad");
    }
    button.disabled = false;
  }

  function take(page) {
    before = page.before;
    for (const one of page.told) lines.set(one.n, one);
    shown(byId("journal-older"), page.more);
    text(byId("journal-end"), page.more ? "" : say("table.journal.begin"));
    draw();
  }

  function draw() {
    const wanted = [...lines.values()].filter((one) => all.checked || !one.quiet).sort((a, b) => b.n - a.n);
    keyed(byId("journal-list"), nodes, wanted.map((one) => one.n), (n) => line(lines.get(n)));
    const last = new Map([...wanted].reverse().map((one) => [one.corrects, one.n]));
    for (const [n, node] of nodes) shown(node.lastElementChild, !lines.get(n).corrects || last.get(lines.get(n).corrects) === n);
    if (!wanted.length) text(byId("journal-end"), say("table.journal.none"));
    else if (byId("journal-end").textContent === say("table.journal.none")) text(byId("journal-end"), "");
    shown(byId("journal-older"), lines.size && (before ?? Math.min(...lines.keys())) > 1);
  }

  function line(one) {
    const node = h("li", null);
    data(node, "quiet", one.quiet ? "yes" : null);
    fill(node, h("time", { datetime: one.time, title: `${one.n} · ${one.kind}` }, timeOfDay(Date.parse(one.time), true)),
      one.deal ? h("span", { class: "of" }, say("table.deal", { deal: one.deal })) : null,
      h("span", { class: "told" }, textOf(one)),
      one.corrects ? h("a", { class: "button small", href: `${ctx.path}/rulings#correct` }, say("table.journal.adjust")) : null);
    return node;
  }

  return { newest };
}
