// The hall's one list: waiting people first, then every other table. Rows change one by one.

import { attr, data, fill, h, keyed, shown, text } from "./dom.mjs";
import { orderButton } from "./order.mjs";
import { facts, leftWords, live, number, phaseWords, reasonWords, standingWords, whyWords } from "./rows.mjs";
import { lightSign, rankSign } from "./signs.mjs";
import { now, span, spoken } from "./time.mjs";
import { say } from "./words.mjs";

const UNHEARD = 9;

/** Make the list in `<ol>`; `take(table, wait)` and `leave(table)` are called on a press.
 *
 * Returns {order(tables), draw(table, row, wait, me), tick(), move(steps), focused()}.
 */
export function hallList(list, { take, leave }) {
  const nodes = new Map();
  const parts = new Map();
  let order = [];
  let current = null;

  function make(table) {
    const one = {
      sign: h("span", { class: "sign", "aria-hidden": "true" }),
      no: h("b", { class: "no" }),
      link: null,
      id: h("small", { class: "id" }),
      rank: h("span", { class: "rank" }),
      why: h("b", { class: "why" }),
      more: h("small", { class: "more" }),
      since: h("span", { class: "since" }),
      facts: h("span", { class: "facts" }),
      left: h("span", { class: "left" }),
      chiefs: h("b", { class: "chiefs", hidden: true }, say("row.chiefs")),
      who: h("span", { class: "who" }),
      go: h("button", { type: "button" }),
      there: h("span"),
      row: null,
      wait: null,
    };
    one.link = h("a", { class: "open", href: `/table/${encodeURIComponent(table)}`, tabindex: -1 }, one.no, one.id);
    one.go.addEventListener("click", () => press(one, table));
    one.node = h(
      "li",
      { data: { table } },
      one.sign,
      one.link,
      h("p", { class: "what" }, one.rank, one.why, one.more, one.chiefs),
      one.since,
      h("p", { class: "about" }, one.facts, one.left),
      h("div", { class: "going" }, one.who, one.there, one.go),
    );
    one.link.addEventListener("focus", () => {
      current = table;
      rove();
      if (one.row) name(one);
    });
    parts.set(table, one);
    return one.node;
  }

  function press(one, table) {
    one.go.disabled = true;
    const over = () => {
      one.go.disabled = false;
    };
    (one.mine ? leave(table) : take(table, one.wait)).then(over, over);
  }

  /** Exactly one row is in the way of the Tab key; the arrows go through the others. */
  function rove() {
    const known = order.includes(current) ? current : order[0];
    for (const table of order) {
      const link = parts.get(table).link;
      const wanted = table === known ? 0 : -1;
      if (link.tabIndex !== wanted) link.tabIndex = wanted;
    }
  }

  function draw(table, row, wait, me) {
    const one = parts.get(table);
    if (!one) return;
    [one.row, one.wait] = [row, wait];
    const reason = wait?.reasons[0];
    one.mine = Boolean(wait?.taken_by) && wait.taken_by === me?.name;
    data(one.node, "light", row.light);
    data(one.node, "rank", reason?.rank ?? null);
    data(one.node, "taken", wait?.taken_by ? (one.mine ? "me" : "other") : null);
    data(one.node, "chiefs", wait?.chiefs ? "yes" : null);
    text(one.sign, reason ? rankSign(reason.rank) : lightSign(row.light));
    const no = number(row);
    text(one.no, no);
    text(one.id, no === row.table ? row.area : `${row.table} · ${row.area}`);
    text(one.rank, reason && reason.rank !== UNHEARD ? say(`rank.${reason.rank}`) : "");
    text(one.why, reason ? whyWords(row, reason) : live(row) ? phaseWords(row) : standingWords(row));
    text(one.more, wait && wait.reasons.length > 1 ? say("row.more", { n: wait.reasons.length - 1 }) : "");
    one.more.title = wait ? wait.reasons.slice(1).map(reasonWords).join("\n") : "";
    const late = reason && reason.rank !== UNHEARD && !live(row) ? standingWords(row) : "";
    drawFacts(one, late, row.machine === "" ? [say("row.not-heard")] : [
      ...facts(row),
      reason ? phaseWords(row) : "",
    ]);
    shown(one.chiefs, wait?.chiefs);
    text(one.who, wait?.taken_by ? say("row.going", { person: wait.taken_by }) : "");
    button(one, no, wait, me);
    atTable(one, table, wait);
    tickOne(one);
    name(one);
  }

  /** What a voice says of a row; made anew when somebody comes to it, for the time it waits. */
  function name(one) {
    const [no, reason] = [number(one.row), one.wait?.reasons[0]];
    attr(one.link, "aria-label", reason
      ? say("row.waits-for", {
        table: no, rank: say(`rank.${reason.rank}`), words: whyWords(one.row, reason), time: spoken(now() - reason.since_ms),
      })
      : `${say("row.open", { table: no })}: ${one.why.textContent}`);
  }

  /** The facts of a row, first (`late`) that they are not of the present. */
  function drawFacts(one, late, found) {
    const said = [late, ...found].filter(Boolean);
    if (one.said === said.join("\n")) return;
    one.said = said.join("\n");
    fill(one.facts, said.map((fact) => h("span", { class: fact === late ? "late" : null }, fact)));
  }

  function button(one, no, wait, me) {
    const may = Boolean(wait) && ["referee", "chief", "technician"].includes(me?.role);
    shown(one.go, may);
    if (!may) return;
    const words = one.mine ? say("take.leave") : wait.taken_by ? say("take.instead") : say("take.take");
    const label = one.mine
      ? say("take.leave-of", { table: no })
      : wait.taken_by ? say("take.of-instead", { table: no }) : say("take.of", { table: no });
    text(one.go, words);
    one.go.setAttribute("aria-label", label);
    one.go.className = wait.taken_by ? "plain small" : "go";
  }

  /** Who went to raised hands says here that he is there: that ends all calls of the table. */
  function atTable(one, table, wait) {
    const called = one.mine ? wait.reasons.find((reason) => reason.name === "button") : null;
    const key = called ? `${called.seat} ${called.since_ms}` : "";
    if ((one.there.dataset.call ?? "") === key) return;
    data(one.there, "call", key || null);
    fill(one.there, called
      ? orderButton({ table, cmd: "attend", label: say("take.there"), kind: "go" }).node
      : []);
  }

  function tickOne(one) {
    const reason = one.wait?.reasons[0];
    text(one.since, reason ? span(now() - reason.since_ms) : "");
    text(one.left, live(one.row) ? leftWords(one.row) : "");
  }

  return {
    order: (tables) => {
      order = tables;
      keyed(list, nodes, tables, make);
      for (const table of parts.keys()) if (!nodes.has(table)) parts.delete(table);
      rove();
    },
    has: (table) => parts.has(table),
    draw,
    tick: () => {
      for (const one of parts.values()) if (one.row) tickOne(one);
    },
    /** Go to another row by the keys; `Infinity` and `-Infinity` are the ends. */
    move: (steps) => {
      if (!order.length) return;
      const at = order.indexOf(current);
      const to = Math.min(order.length - 1, Math.max(0, at < 0 ? 0 : at + steps));
      parts.get(order[to]).link.focus();
    },
    focused: () => {
      const node = document.activeElement?.closest("li[data-table]");
      return node && list.contains(node) ? node.dataset.table : null;
    },
    press: (table) => {
      const one = parts.get(table);
      if (one && !one.go.hidden && !one.go.disabled) press(one, table);
    },
  };
}
