// The filters of the hall: by area, state, level, and search text.

import { LEVELS } from "../cards.mjs";
import { attr, byId, data, fill, h, shown } from "../dom.mjs";
import { compareNames } from "../compare-names.mjs";
import { ownKey, storedValue, storeValue } from "../storage.mjs";
import { phaseText, reasonText, rowFacts, tableLabel } from "../rows.mjs";
import { say } from "../words.mjs";

const STATES = {
  all: () => true,
  waits: (row, wait) => Boolean(wait),
  untaken: (row, wait) => Boolean(wait) && !wait.taken_by,
  mine: (row, wait, me) => Boolean(wait?.taken_by) && wait.taken_by === me?.name,
  stands: (row) => row.light === "stands",
  busy: (row) => row.light === "busy" || row.light === "waits",
  calm: (row) => row.light === "calm",
  suspended: (row) => Boolean(row.suspended),
  unsigned: (row) => row.unsigned > 0,
  dark: (row) => row.light === "dark",
};

export class Filters {
  /** `changed` is called when the filters change. */
  constructor(changed) {
    this.changed = changed;
    this.mine = new Set(storedValue(ownKey("areas"), []));
    this.here = new Set();
    this.texts = new Map();
    this.search = byId("search");
    this.state = fill(byId("state"), Object.keys(STATES).map((one) => h("option", { value: one }, say(`state.${one}`))));
    this.level = fill(byId("level"), h("option", { value: "" }, say("hall.any-level")),
      LEVELS.map((one) => h("option", { value: one }, say("hall.plays", { level: one }))));
    for (const one of [this.search, this.state, this.level]) one.addEventListener("input", changed);
    byId("ask-for").addEventListener("click", () => this.open(!byId("filters").dataset.open));
    this.open(false);
  }

  /** Open or fold the filters. On a telephone they are folded, so that the waits are at the top. */
  open(whether) {
    data(byId("filters"), "open", whether ? "yes" : null);
    attr(byId("ask-for"), "aria-expanded", String(whether));
  }

  /** Move the focus to the search field. */
  find() {
    this.open(true);
    this.search.focus();
  }

  /** Return true if an area is chosen. If no area here is chosen, all count as chosen. */
  near(area) {
    return this.mine.has(area) || ![...this.mine].some((one) => this.here.has(one));
  }

  wanted(row, wait, me) {
    if (!this.near(row.area) || !STATES[this.state.value](row, wait, me)) return false;
    if (this.level.value && row.level !== this.level.value) return false;
    const typed = this.search.value.trim().toLowerCase();
    return !typed || typed.split(/\s+/).every((one) => this.textOf(row, wait).includes(one));
  }

  /** Return the searchable text of a row. It is made at the first search. */
  textOf(row, wait) {
    let found = this.texts.get(row.table);
    if (found === undefined) {
      const players = Object.values(row.pairs ?? {}).flatMap((pair) => pair?.players ?? []);
      found = [row.table, tableLabel(row), row.area, phaseText(row), ...rowFacts(row), ...players, wait?.taken_by ?? "",
        ...(wait?.reasons ?? []).map(reasonText)].join(" ").toLowerCase();
      this.texts.set(row.table, found);
    }
    return found;
  }

  /** Delete the search text of a table, because its row changed. */
  forget(table) {
    this.texts.delete(table);
  }

  /** Show these areas as choices. */
  draw(areas) {
    this.here = new Set(areas);
    const chips = byId("mine");
    shown(byId("whose"), areas.length > 1);
    if (chips.dataset.areas !== areas.join("\n")) {
      chips.dataset.areas = areas.join("\n");
      fill(chips, areas.sort(compareNames).map((area) =>
        h("button", { type: "button", class: "small", data: { area }, onclick: () => this.choose(area) }, area)));
    }
    for (const chip of chips.children) chip.setAttribute("aria-pressed", String(this.mine.has(chip.dataset.area)));
  }

  choose(area) {
    if (this.mine.has(area)) this.mine.delete(area);
    else this.mine.add(area);
    storeValue(ownKey("areas"), [...this.mine]);
    this.draw([...this.here]);
    this.changed();
  }
}
