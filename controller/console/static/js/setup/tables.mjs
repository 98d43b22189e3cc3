// The tables of this console: their addresses, their state, and the next action for each.

import { del } from "../api.mjs";
import { data, fill, h, keyed } from "../dom.mjs";
import { askConfirmation } from "../dialog.mjs";
import { HARDWARE, missingGuarantees } from "../hardware.mjs";
import { timeOfDay } from "../time.mjs";
import { pairText, say } from "../words.mjs";

const SIGNS = { live: "✓", connecting: "…", key_refused: "✕", other_key: "✕", silent: "✕", stale: "✕" };

export class TableList {
  constructor(node, top, look) {
    this.node = node;
    this.top = top;
    this.look = look;
    this.items = new Map();
  }

  draw(tables) {
    keyed(this.node, this.items, tables.map((one) => one.id), () => h("li"));
    for (const one of tables) {
      const item = this.items.get(one.id);
      const key = JSON.stringify(one.standing === "live" ? { ...one, since_ms: 0 } : one);
      if (item.key === key) continue;
      item.key = key;
      data(item, "standing", one.standing);
      fill(item, this.lines(one));
    }
  }

  lines(one) {
    const standing = say(`setup.standing.${one.standing}`, { time: timeOfDay(one.since_ms, true) });
    return [
      h("p", { class: "line" },
        h("b", null, one.id),
        h("span", null, say("setup.area", { area: one.area })),
        h("span", { class: one.standing === "live" ? "good" : "bad" }, h("span", { class: "sign" }, SIGNS[one.standing]), standing),
        h("a", { class: "button small", href: `/table/${encodeURIComponent(one.id)}` }, say("setup.open")),
        one.fixed ? h("small", null, say("setup.fixed")) : this.remove(one)),
      h("p", { class: "quiet" }, one.feed.replace("tcp://", ""), one.fingerprint ? [" · ", say("setup.fingerprint"), " ", h("code", null, one.fingerprint)] : ""),
      one.hardware ? h("ul", { class: "quiet hardware" }, HARDWARE.map((name) => h("li", null, say(`setup.hal-${name}`, { what: pairText(one.hardware[name]) })))) : null,
      missingGuarantees(one.hardware),
      one.standing === "key_refused" ? h("p", { class: "todo" }, say("setup.refused")) : null,
      one.standing === "other_key" ? h("p", { class: "todo" }, say("setup.other-key")) : null,
      one.standing === "silent" ? h("p", { class: "todo" }, say("setup.silent")) : null,
    ];
  }

  remove(one) {
    const act = async () => {
      const sure = await askConfirmation({
        title: say("setup.remove-title", { table: one.id }),
        text: say("setup.remove-text"),
        yes: say("setup.remove"),
        danger: true,
      });
      if (!sure) return;
      try {
        await del("/api/setup/tables", { id: one.id });
        this.top.tell(say("setup.removed", { table: one.id }));
      } catch (error) {
        this.top.tell(error.message, "bad");
      }
      this.look();
    };
    return h("button", { class: "small", onclick: act }, say("setup.remove"));
  }
}
