// What happened at a table, in plain words, newest first; older pages are asked for.

import { get } from "../api.mjs";
import { byId, data, fill, h, keyed, shown, text } from "../dom.mjs";
import { keep, kept } from "../kept.mjs";
import { ofDay } from "../time.mjs";
import { both, say } from "../words.mjs";

/** The list of what happened: `newest(lines)` with each that the stream brings. */
export function journal(ctx) {
  const lines = new Map();
  const nodes = new Map();
  let before = null;
  const all = byId("journal-all");
  all.checked = kept("journal-all", false);
  all.addEventListener("change", () => {
    keep("journal-all", all.checked);
    draw();
  });
  byId("journal-older").addEventListener("click", older);

  function newest(told) {
    if (before === null) lines.clear(); // Nobody asked for older ones, and a page is open all day.
    for (const one of told) lines.set(one.n, one);
    draw();
  }

  async function older() {
    const button = byId("journal-older");
    button.disabled = true;
    try {
      const page = await get(`/api/tables/${encodeURIComponent(ctx.table)}/told?before=${before ?? Math.min(...lines.keys())}`);
      before = page.before;
      for (const one of page.told) lines.set(one.n, one);
      shown(button, page.more);
      text(byId("journal-end"), page.more ? "" : say("table.journal.begin"));
      draw();
    } catch (error) {
      ctx.top.tell(error.message, "bad");
    }
    button.disabled = false;
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
    fill(node, h("time", { datetime: one.time, title: `${one.n} · ${one.kind}` }, ofDay(Date.parse(one.time), true)),
      one.deal ? h("span", { class: "of" }, say("table.deal", { deal: one.deal })) : null,
      h("span", { class: "told" }, both(one)),
      one.corrects ? h("a", { class: "button small", href: `${ctx.path}/rulings#correct` }, say("table.journal.adjust")) : null);
    return node;
  }

  return { newest };
}
