// The chief's page: decisions that wait for the chief, possible problems, and delays.

import { makeAreaClocks } from "./areas.mjs";
import { listMatters, tableAddress } from "./chief/matters.mjs";
import { byId, data, fill, h, keyed, text } from "./dom.mjs";
import { waitNewsKey } from "./hall/announcements.mjs";
import { addKeys } from "./keys.mjs";
import { findTable, freshnessText, isCurrent, tableLabel } from "./rows.mjs";
import { makeShell } from "./shell.mjs";
import { beep, isSoundOn } from "./sound.mjs";
import { makeStoreLine } from "./store-line.mjs";
import { listen } from "./stream.mjs";
import { durationText, now, timeOfDay } from "./time.mjs";
import { addTexts, say } from "./words.mjs";
import areaWords from "../words/areas.mjs";
import words from "../words/chief.mjs";
import hallWords from "../words/hall.mjs";

addTexts(words);
addTexts(hallWords);
addTexts(areaWords);
document.title = say("chief.title");

const rows = new Map();
const top = makeShell({ title: say("chief.title"), help: say("chief.help"), sounds: true });
const clocks = makeAreaClocks(byId("areas"), {
  tell: top.tell,
  voice: top.say,
  near: () => true,
  tableOf: (area, name) => findTable(rows, area, name),
});
const store = makeStoreLine(byId("main"), top);
const ticking = new Set();
let me = null;
/** The last parts of the stream by name; null: not known, or no longer known. */
const parts = { chief: null, waits: null, areas: null };
/** The part that a matter is read from, if it is not the chief's own part. */
const PART_OF_MATTER = { untaken: "waits", late: "areas" };
let knownMatters = null;

/** Return the number or name by which people call a table. */
function tableName(table) {
  const row = rows.get(table);
  return row ? tableLabel(row) : table;
}

const MATTERS = listMatters();
const panels = new Map(MATTERS.map(([name, title]) => [name, panel(name, title)]));
const load = loadPanel();
fill(byId("matters"), [...panels.values()].map((one) => one.node), load.node);

/** Return a count, or words for none or for an unknown count. */
function countText(found) {
  return found ? found.length || say("chief.none") : say("chief.unknown");
}

function panel(name, title) {
  const count = h("b", { class: "count" });
  const list = h("ul", { role: "list" });
  const id = `matter-${name}`;
  const node = h("section", { class: "panel", data: { matter: name }, "aria-labelledby": id },
    h("h2", { id }, title, " ", count), list);
  const nodes = new Map();
  const lines = new Map();
  return {
    node,
    draw: (told_) => {
      const found = told_ ?? [];
      text(count, countText(told_));
      data(node, "any", found.length ? "yes" : null);
      data(node, "bad", found.some((line) => line.bad) ? "yes" : null);
      const ids = uniqueKeys(found.map((line) => `${line.table} ${line.key}`));
      keyed(list, nodes, ids, (key) => {
        const made = lineNode();
        lines.set(key, made);
        return made.node;
      });
      for (const [key, line] of lines) {
        if (nodes.has(key)) continue;
        ticking.delete(line);
        lines.delete(key);
      }
      found.forEach((line, at) => lines.get(ids[at]).draw(line));
    },
  };
}

/** Return the keys with a number added to repeated ones, so that each line has its own node. */
function uniqueKeys(ids) {
  const times = new Map();
  return ids.map((id) => {
    const n = (times.get(id) ?? 0) + 1;
    times.set(id, n);
    return n === 1 ? id : `${id} (${n})`;
  });
}

function lineNode() {
  const sign = h("span", { class: "sign", "aria-hidden": "true" });
  const table = h("b", { class: "no" });
  const what = h("span", { class: "what" });
  const note = h("small");
  const time = h("span", { class: "time" });
  const link = h("a", null, sign, table, what, note, time);
  const one = {
    node: h("li", null, link),
    line: null,
    draw: (line) => {
      one.line = line;
      link.href = line.href;
      data(link, "bad", line.bad ? "yes" : null);
      text(sign, line.sign);
      text(table, tableName(line.table));
      text(what, line.words);
      const row = rows.get(line.table);
      const late = row && !isCurrent(row) && row.machine !== "" ? freshnessText(row) : "";
      text(note, [line.note, late].filter(Boolean).join(" · "));
      data(link, "late", late ? "yes" : null);
      ticking.add(one);
      one.tick();
    },
    tick: () => {
      const { since, until } = one.line;
      text(time, since ? durationText(now() - since) : until ? say("row.left", { left: durationText(until - now()) }) : "");
    },
  };
  return one;
}

/** Make the table of the referees' load: the tables of each referee, and their work so far. */
function loadPanel() {
  const body = h("tbody");
  const count = h("b", { class: "count" });
  const table = h("table", null,
    h("thead", null, h("tr", null, [say("chief.who"), say("chief.where"), say("chief.done"), say("chief.mean"), say("chief.orders")]
      .map((words_) => h("th", { scope: "col" }, words_)))), body);
  const node = h("section", { class: "panel load", data: { matter: "load" }, "aria-labelledby": "matter-load" },
    h("h2", { id: "matter-load" }, say("chief.load"), " ", count), h("div", { class: "wide", tabindex: 0, role: "group", "aria-labelledby": "matter-load" }, table));
  return {
    node,
    draw: (told_) => {
      const found = told_ ?? [];
      text(count, countText(told_));
      data(node, "any", found.length ? "yes" : null);
      table.hidden = found.length === 0;
      fill(body, found.map((one) => h("tr", null,
        h("th", { scope: "row" }, one.person),
        h("td", null, one.tables.map((each, at) => [at ? " " : "", h("a", { href: tableAddress(each) }, tableName(each))]),
          one.since_ms ? h("small", null, say("chief.since", { time: timeOfDay(one.since_ms) })) : null),
        h("td", null, one.done),
        h("td", null, one.average_ms === null ? "–" : durationText(one.average_ms)),
        h("td", null, one.orders))));
    },
  };
}

function applyChanges(changed) {
  let late = false; // the freshness of a table has changed
  if (changed.me) {
    me = changed.me;
    top.me(me);
  }
  for (const [name, value] of Object.entries(changed)) {
    if (!name.startsWith("row/")) continue;
    late ||= rows.get(name.slice(4))?.standing !== value?.standing;
    if (value) rows.set(name.slice(4), value);
    else rows.delete(name.slice(4));
  }
  const due = Object.keys(parts).filter((name) => name in changed);
  for (const name of due) parts[name] = changed[name];
  if ("areas" in changed || "acts" in changed || changed.me) clocks.draw(changed.areas, me, changed.acts);
  if ("store" in changed) store.draw(changed.store);
  if (!late && !due.length) return;
  const { chief: view, waits, areas } = parts;
  for (const [name, , lines] of MATTERS) {
    panels.get(name).draw(parts[PART_OF_MATTER[name] ?? "chief"] && lines({ view, waits, areas }));
  }
  load.draw(view && view.load);
  if (view && waits) announceMatters(view, waits);
}

/** Announce new matters that wait for the chief. */
function announceMatters(view, waits) {
  const here = new Set([
    ...view.approvals.map((one) => `${one.table} ${one.ruling.id} ${one.verbal}`),
    ...view.spoken.map((one) => `${one.table} correction ${one.correction.row}`),
    ...waits.filter((wait) => wait.chiefs).map((wait) => waitNewsKey(wait)),
  ]);
  const fresh = knownMatters ? [...here].filter((one) => !knownMatters.has(one)) : [];
  knownMatters = here;
  if (!fresh.length) return;
  top.say(say("chief.new", { n: fresh.length }), { urgent: true });
  beep(3, fresh);
}

/** Move the focus from line to line, over all panels. */
function moveFocus(step) {
  const links = [...byId("matters").querySelectorAll("li a")];
  const at = links.indexOf(document.activeElement);
  links[Math.min(links.length - 1, Math.max(0, at + step))]?.focus();
}

addKeys([
  ["ArrowDown", say("keys.down"), () => moveFocus(1)],
  ["ArrowUp", say("keys.up"), () => moveFocus(-1)],
  ["Enter", say("keys.open"), () => false],
]);

setInterval(() => {
  if (document.hidden) return;
  clocks.tick();
  for (const one of ticking) one.tick();
}, 1000);

// With sound, the page also listens while it is hidden.
listen("/stream/hall", applyChanges, top.stale, isSoundOn);
