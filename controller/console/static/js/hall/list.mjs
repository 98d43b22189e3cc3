// The hall's list: tables that wait come first, then all others. Rows change one by one.
//
// A row that moves to the top moves all rows below it. So the page has only the first rows, and
// adds more when a person scrolls near the end.

import { byId, data, keyed, shown, text } from "../dom.mjs";
import { say } from "../words.mjs";
import { HallRow } from "./row.mjs";

/** The number of rows at first and of each addition. One referee's forty tables all fit. */
const SOME = 40;
/** The list grows when its end is this near, before the end is visible. */
const NEAR = "800px";
/** A list whose end is further below than this many screens is shortened again. */
const FAR = 3;
/** With more rows, the browser skips invisible ones. Skipping costs frames. */
const MANY = 120;

export class HallList {
  /** Make the list in `<ol>`. `acts`: the functions that rows call, and `made(table)`. */
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

  /** Make the rows that are needed, including the focused one. */
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
    const lost = left <= 0 && document.activeElement === this.more; // the focus moves from the button to the first new row
    shown(this.more, left > 0);
    text(this.more, say("hall.more", { n: left }));
    data(this.list, "many", this.rows.size > MANY ? "yes" : null);
    this.rove();
    made.forEach(this.acts.made);
    if (lost && made.length) this.rows.get(made[0]).link.focus();
  }

  /** Add rows, because a person comes to the end of the list. */
  next() {
    if (this.rows.size >= this.tables.length) return;
    this.most = this.rows.size + SOME;
    this.lay();
    this.end.unobserve(this.more); // the observer reports only changes, and the end may still be visible
    this.end.observe(this.more);
  }

  /** Remove the rows below the first ones when the first row is visible again. */
  rest() {
    if (this.rows.size <= SOME || this.focused()) return;
    const top = Math.max(0, this.list.parentElement.getBoundingClientRect().top);
    const at = (node) => node.getBoundingClientRect();
    if (at(this.list.firstElementChild).bottom < top || at(this.list.lastElementChild).top < FAR * innerHeight) return;
    this.most = SOME;
    this.lay();
  }

  /** Return the table with the focus in its row, or null. */
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

  /** Make exactly one row reachable with Tab. The arrow keys reach the others. */
  rove() {
    const known = this.nodes.has(this.current) ? this.current : this.tables[0];
    for (const [table, { link }] of this.rows) {
      const wanted = table === known ? 0 : -1;
      if (link.tabIndex !== wanted) link.tabIndex = wanted;
    }
  }

  /** Move the focus by `steps` rows; `Infinity` and `-Infinity` are the ends. */
  move(steps) {
    if (!this.tables.length) return;
    const at = this.tables.indexOf(this.current);
    const to = Math.min(this.tables.length - 1, Math.max(0, at < 0 ? 0 : at + steps));
    while (!this.rows.has(this.tables[to])) this.next();
    this.rows.get(this.tables[to]).link.focus();
  }

  /** Press the button of the focused row: go there or give back. Return false without a focus. */
  press() {
    const row = this.rows.get(this.focused());
    if (!row) return false;
    row.press();
    return true;
  }
}
