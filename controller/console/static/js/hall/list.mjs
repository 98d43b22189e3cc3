// The hall's one list: waiting people first, then every other table. Rows change one by one.

import { keyed } from "../dom.mjs";
import { HallRow } from "./row.mjs";

export class HallList {
  /** Make the list in `<ol>`; `acts`: what a row calls, see there. */
  constructor(list, acts) {
    this.list = list;
    this.acts = { ...acts, entered: (table) => this.enter(table) };
    this.nodes = new Map();
    this.rows = new Map();
    this.tables = [];
    this.current = null;
  }

  /** Show these tables in this order. */
  order(tables) {
    this.tables = tables;
    keyed(this.list, this.nodes, tables, (table) => {
      const row = new HallRow(table, this.acts);
      this.rows.set(table, row);
      return row.node;
    });
    for (const table of this.rows.keys()) if (!this.nodes.has(table)) this.rows.delete(table);
    this.rove();
  }

  draw(table, row, wait, me) {
    this.rows.get(table)?.draw(row, wait, me);
  }

  tick() {
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
    this.rows.get(this.tables[to]).link.focus();
  }

  /** Go to the focused row's table, or give it back; false where no row has the focus. */
  press() {
    const table = document.activeElement?.closest("li[data-table]")?.dataset.table;
    const row = this.rows.get(table);
    if (!row?.node.contains(document.activeElement)) return false;
    row.press();
    return true;
  }
}
