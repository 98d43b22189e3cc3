// All tables as tiles, by area. A tile has number, sign and colour; its label has the rest.

import { attr, data, h, keyed, text } from "../dom.mjs";
import { compareNames } from "../compare-names.mjs";
import { freshnessText, isCurrent, phaseText, rowFacts, tableLabel, waitReasonText } from "../rows.mjs";
import { GOING, lightSign, rankSign } from "../signs.mjs";
import { say } from "../words.mjs";

/** With more tables, tiles have no level: only number, sign and colour. */
const MANY = 160;

/** Return why a table waits, and who has gone there. */
function waitText(how, wait) {
  return wait.taken_by ? say("row.how-going", { how, going: say("row.going", { person: wait.taken_by }) }) : how;
}

/** Make the tiles in a block. Returns {order(rows), draw(table, row, wait)}. */
export function makeHallTiles(block) {
  const groups = new Map();
  const lists = new Map();
  const tiles = new Map();
  let entry = null;

  function group(area) {
    const list = h("ul", { role: "list" });
    lists.set(area, { list, nodes: new Map() });
    return h("section", null, h("h3", null, area), list);
  }

  function make(table) {
    const sign = h("span", { class: "sign", "aria-hidden": "true" });
    const no = h("b");
    const small = h("small");
    const link = h("a", { href: `/table/${encodeURIComponent(table)}`, tabindex: -1 }, sign, no, small);
    link.addEventListener("focus", () => enter(table));
    link.addEventListener("pointerenter", () => name(table));
    link.addEventListener("pointerleave", () => attr(link, "title", null)); // the text would become outdated
    link.addEventListener("keydown", (event) => walk(event, link));
    tiles.set(table, { link, sign, no, small, row: null, how: "" });
    return h("li", null, link);
  }

  /** Set the tile's tooltip: all facts of its table. */
  function name(table) {
    const { link, row, how } = tiles.get(table);
    if (row) attr(link, "title", [`${tableLabel(row)} ${table}`, how, phaseText(row), ...rowFacts(row)].join("\n"));
  }

  /** Make one tile reachable with Tab. */
  function enter(table) {
    if (entry && tiles.has(entry)) tiles.get(entry).link.tabIndex = -1;
    entry = table;
    tiles.get(table).link.tabIndex = 0;
  }

  function walk(event, link) {
    const all = [...block.querySelectorAll("a")];
    const at = all.indexOf(link);
    const top = (node) => node.getBoundingClientRect();
    const row = (step) => {
      const from = top(link);
      const found = (step > 0 ? all.slice(at + 1) : all.slice(0, at).reverse())
        .filter((one) => (step > 0 ? top(one).top > from.top + 4 : top(one).top < from.top - 4));
      if (!found.length) return null;
      const line = top(found[0]).top;
      return found.filter((one) => Math.abs(top(one).top - line) < 4)
        .reduce((best, one) => (Math.abs(top(one).left - from.left) < Math.abs(top(best).left - from.left) ? one : best));
    };
    const to = {
      ArrowRight: () => all[at + 1], ArrowLeft: () => all[at - 1],
      ArrowDown: () => row(1), ArrowUp: () => row(-1),
      Home: () => all[0], End: () => all.at(-1),
    }[event.key]?.();
    if (!to) return;
    event.preventDefault();
    event.stopPropagation();
    to.focus();
  }

  return {
    /** Show the tiles of these rows, in the order of areas and numbers. */
    order: (rows) => {
      const areas = [...new Set(rows.map((row) => row.area))].sort(compareNames);
      keyed(block, groups, areas, group);
      data(block, "areas", areas.length);
      block.style.setProperty("--chars", Math.max(2, ...rows.map((row) => tableLabel(row).length)));
      data(block, "many", rows.length > MANY ? "yes" : null);
      for (const area of lists.keys()) if (!groups.has(area)) lists.delete(area);
      for (const area of areas) {
        const { list, nodes } = lists.get(area);
        const here = rows.filter((row) => row.area === area);
        keyed(list, nodes, here.map((row) => row.table), make);
      }
      const known = new Set(rows.map((row) => row.table));
      for (const table of tiles.keys()) if (!known.has(table)) tiles.delete(table);
      if (rows.length && !tiles.has(entry)) enter(rows[0].table);
    },
    draw: (table, row, wait) => {
      const tile = tiles.get(table);
      if (!tile) return;
      const reason = wait?.reasons[0];
      const no = tableLabel(row);
      data(tile.link, "light", row.light);
      data(tile.link, "rank", reason?.rank ?? null);
      data(tile.link, "taken", wait?.taken_by ? "yes" : null);
      data(tile.link, "chiefs", wait?.chiefs ? "yes" : null);
      text(tile.sign, wait?.taken_by ? GOING : reason ? rankSign(reason.rank) : lightSign(row.light));
      text(tile.no, no);
      text(tile.small, row.level ?? "");
      const how = reason
        ? waitText(waitReasonText(row, reason), wait)
        : isCurrent(row) ? say(`light.${row.light}`) : freshnessText(row);
      attr(tile.link, "aria-label", `${no}: ${how}`);
      Object.assign(tile, { row, how });
      if (tile.link.title) name(table);
    },
  };
}
