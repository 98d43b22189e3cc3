// The hall's one list: waiting people first, then every other table. Rows change one by one.
//
// A row that comes to the top moves all below it, so the page has those alone that are looked at:
// the first ones, and more as somebody nears their end.

import { byId, data, keyed, shown, text } from "../dom.mjs";
import { say } from "../words.mjs";
import { HallRow } from "./row.mjs";

/** Rows at first, and how many come at once. A referee's forty tables are all there. */
const SOME = 40;
/** So near its end the list grows, before that is seen. */
const NEAR = "800px";
/** How many screens below one's eyes is far. */
const FAR = 3;
/** Of more rows than these the browser leaves out those that are not seen; that costs it frames. */
const MANY = 120;

export class HallList {
  /** Make the list in `<ol>`; `acts`: what a row calls, see there, and `made(table)`: draw it. */
  constructor(list, acts) {
    this.list = list;
    this.acts = { ...acts, entered: (table) => this.enter(table) };
    this.nodes = new Map();
    this.rows = new Map();
    this.tables = [];
    this.current = null;
    this.most = SOME;
    this.more = byId("more");
    this.more.addEventListener("click", () => {
      const first = this.rows.size;
      this.next();
      this.rows.get(this.tables[first])?.link.focus();
    });
    const near = { rootMargin: NEAR, scrollMargin: NEAR };
    this.end = new IntersectionObserver((seen) => seen.at(-1).isIntersecting && this.next(), near);
    this.end.observe(this.more);
  }

  /** Show these tables in this order. */
  order(tables) {
    this.tables = tables;
    this.lay();
  }

  /** Have so many rows, and the one that has the focus. */
  lay() {
    this.most = Math.max(this.most, this.tables.indexOf(this.focused()) + 1);
    const made = [];
    keyed(this.list, this.nodes, this.tables.slice(0, this.most), (table) => {
      const row = new HallRow(table, this.acts);
      this.rows.set(table, row);
      made.push(table);
      return row.node;
    });
    for (const table of this.rows.keys()) if (!this.nodes.has(table)) this.rows.delete(table);
    const left = this.tables.length - this.rows.size;
    const lost = left <= 0 && document.activeElement === this.more; // who stands on it goes on from there
    shown(this.more, left > 0);
    text(this.more, say("hall.more", { n: left }));
    data(this.list, "many", this.rows.size > MANY ? "yes" : null);
    this.rove();
    made.forEach(this.acts.made);
    if (lost && made.length) this.rows.get(made[0]).link.focus();
  }

  /** Have more rows: somebody comes to the end of those that there are. */
  next() {
    if (this.rows.size >= this.tables.length) return;
    this.most = this.rows.size + SOME;
    this.lay();
    this.end.unobserve(this.more); // it tells of a change alone, and may be in sight still
    this.end.observe(this.more);
  }

  /** Who is at the top again needs the first rows alone: far below nobody looks. */
  rest() {
    if (this.rows.size <= SOME || this.focused()) return;
    const top = Math.max(0, this.list.parentElement.getBoundingClientRect().top);
    const at = (node) => node.getBoundingClientRect();
    if (at(this.list.firstElementChild).bottom < top || at(this.list.lastElementChild).top < FAR * innerHeight) return;
    this.most = SOME;
    this.lay();
  }

  /** The table whose row has the focus, in its link or a button. */
  focused() {
    const row = this.list.contains(document.activeElement) && document.activeElement.closest("li[data-table]");
    return row ? row.dataset.table : null;
  }

  draw(table, row, wait, me) {
    this.rows.get(table)?.draw(row, wait, me);
  }

  tick() {
    this.rest();
    for (const one of this.rows.values()) if (one.row) one.tick();
  }

  enter(table) {
    this.current = table;
    this.rove();
  }

  /** Exactly one row is in the way of the Tab key; the arrows go through the others. */
  rove() {
    const known = this.nodes.has(this.current) ? this.current : this.tables[0];
    for (const [table, { link }] of this.rows) {
      const wanted = table === known ? 0 : -1;
      if (link.tabIndex !== wanted) link.tabIndex = wanted;
    }
  }

  /** Go to another row by the keys; `Infinity` and `-Infinity` are the ends. */
  move(steps) {
    if (!this.tables.length) return;
    const at = this.tables.indexOf(this.current);
    const to = Math.min(this.tables.length - 1, Math.max(0, at < 0 ? 0 : at + steps));
    while (!this.rows.has(this.tables[to])) this.next();
    this.rows.get(this.tables[to]).link.focus();
  }

  /** Go to the focused row's table, or give it back; false where no row has the focus. */
  press() {
    const row = this.rows.get(this.focused());
    if (!row) return false;
    row.press();
    return true;
  }
}
